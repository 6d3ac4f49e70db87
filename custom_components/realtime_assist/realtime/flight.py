"""One response, from the moment it is asked for."""

from .assembly import Assembly, Message, Part
from .exchange import Exchange
from .ledger import Ledger


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

    def _pass_on(self, message: Message, part: Part) -> None:
        self.said = True
        index = self._ledger.bind_reply(message.item_id, self.exchange.turn_id)
        self.exchange.answers.take(index, message, part)
