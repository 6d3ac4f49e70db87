"""One response, from the moment it is asked for."""

from ..items import Form
from .assembly import Assembly, Message, Part
from .events import ResponseDone, ResponseStatus
from .exchange import Exchange
from .ledger import Ledger
from .metering import Purpose, Spent
from .operations import LedgerItem


class Flight:
    """Whose it is, whether it is still wanted, and what has come of it."""

    def __init__(self, exchange: Exchange, event_id: str, ledger: Ledger) -> None:
        """Remember whose it is; its id comes with its first event."""
        self.exchange = exchange
        self.event_id = event_id
        self.response_id: str | None = None
        self.dropped = False
        """Not wanted any more: what it still says reaches nobody."""
        self.said = False
        """Something of it was passed on."""
        self.last_event = 0.0
        self.assembly = Assembly(self._pass_on)
        self._ledger = ledger
        self._before = frozenset(item.remote_id for item in ledger.items)

    def spent(self, event: ResponseDone) -> Spent:
        """Return what it used, now that it has ended."""
        for call in self.assembly.calls:
            self._ledger.called(call.call_id, f"{call.name} {call.arguments}")
        read, made = self._read_and_made()
        return Spent(
            purpose=Purpose.ANSWER,
            usage=event.usage,
            whole=event.status is ResponseStatus.COMPLETED and not self.dropped,
            read=read,
            made=made,
        )

    def _read_and_made(self) -> tuple[tuple[LedgerItem, ...], tuple[LedgerItem, ...]]:
        """Return what the model has read for it, and what came of it, of what is held now.

        Speech that was committed just before may be known later than the request for an answer.
        """
        read: list[LedgerItem] = []
        made: list[LedgerItem] = []
        for item in self._ledger.items:
            born = item.form is Form.NATIVE and (item.is_reply or item.pair is not None)
            of_it = born and item.remote_id not in self._before
            (made if of_it else read).append(item)
        return tuple(read), tuple(made)

    def _pass_on(self, message: Message, part: Part) -> None:
        self.said = True
        index = self._ledger.bind_reply(message.item_id, self.exchange.turn_id)
        self.exchange.answers.take(index, message, part)
