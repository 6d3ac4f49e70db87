"""Keeps what the provider holds as it should be.

The only sender of item operations. It composes what should be held, lets the ledger say what may
be done about it now, and sends that: at the opening, after each acknowledgement, boundary and
change, and as the barrier before each response. Nothing is planned: each time it begins from what
is.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from ..items import Composition, DesiredItem, View
from .commands import Command, CreateItem, CutItem, DeleteItem
from .config import SessionConfig
from .ledger import Ledger
from .model import Capabilities
from .operations import Create, CutTo, Delete, Gate, ItemOperation, NewSession, Reason
from .replies import Call
from .timers import Timers

OPERATION_SECONDS: Final = 3.0
"""How long the answer to an item operation is waited for."""


class SessionSource(Protocol):
    """How a session learns of the record."""

    async def prepare(self) -> SessionConfig:
        """Load what a first turn needs, and return what a session is opened with."""

    def fresh_view(self) -> View:
        """Return the view of a session that opens now."""

    def compose(self, view: View) -> Composition:
        """Return what a session with this view should hold; pure and quick."""

    def outcome(self, call: Call) -> DesiredItem:
        """Return the note that tells a session what became of a call that it does not know."""


class Keeper:
    """The ledger, what it is compared with, and the way to the provider."""

    def __init__(
        self, source: SessionSource, caps: Capabilities, settled: Callable[[], None]
    ) -> None:
        """Hold nothing yet; `settled` is called when an operation has not been answered in time."""
        self.ledger = Ledger(caps, timeout=OPERATION_SECONDS)
        self._source = source
        self._settled = settled
        self._recap_upto = 0
        self._send: Callable[[Command], str] | None = None
        self._timers = Timers()

    @property
    def is_settled(self) -> bool:
        """Whether no turn's items are open, so that a new session interrupts nobody."""
        return not any(item.open for item in self.ledger.items)

    def open(self, send: Callable[[Command], str]) -> None:
        """Begin with an empty conversation, over this way to the provider."""
        self._recap_upto = self._source.fresh_view().recap_upto
        self._send = send

    def drop(self) -> None:
        """Hold nothing any more: the conversation is gone."""
        self._send = None
        self._timers.close()
        self._timers = Timers()
        self.ledger.renew()

    def reconcile(self, live: Sequence[DesiredItem], gate: Gate) -> Reason | None:
        """Send what is legal now; return why a new session is needed instead, if it is."""
        operations = self.ledger.plan(self._compose(), gate, live)
        for operation in operations:
            if isinstance(operation, NewSession):
                return operation.reason
            self._issue(operation)
        return None

    def barrier(self, live: Sequence[DesiredItem]) -> Reason | bool:
        """Before a response: send what must be so; True if the response may be asked for.

        False: something may not be seen, and its removal is not acknowledged yet.
        """
        if (reason := self.reconcile(live, Gate())) is not None:
            return reason
        return not self.ledger.unfinished(self._compose(), live).revoked

    def is_clean(self, live: Sequence[DesiredItem]) -> bool:
        """Whether nothing is left to do, or to wait for."""
        composition = self._compose()
        return (
            not self.ledger.outstanding
            and not self.ledger.unfinished(composition, live)
            and not self.ledger.plan(composition, Gate(), live)
        )

    def cut(self, turn_id: str, heard_ms: int) -> None:
        """Cut the replies of a turn to what was heard; legal also while one is being made."""
        for operation in self.ledger.interrupt(turn_id, heard_ms):
            self._issue(operation)

    def answered(self) -> None:
        """Watch the operation whose deadline is next."""
        deadline = self.ledger.deadline
        if deadline is None:
            self._timers.stop("operation")
        else:
            wait = deadline - asyncio.get_running_loop().time()
            self._timers.start("operation", wait, self._expired)

    def close(self) -> None:
        """End the watch."""
        self._timers.close()

    def _compose(self) -> Composition:
        view = View(natives=self.ledger.natives, recap_upto=self._recap_upto)
        return self._source.compose(view)

    def _issue(self, operation: ItemOperation) -> None:
        if self._send is None:
            return
        command: Command
        match operation:
            case Create(item, remote_id):
                command = CreateItem(remote_id, item)
            case Delete(remote_id):
                command = DeleteItem(remote_id)
            case CutTo(remote_id, ms):
                command = CutItem(remote_id, ms)
        event_id = self._send(command)
        self.ledger.issue(operation, event_id, asyncio.get_running_loop().time())
        self.answered()

    def _expired(self) -> None:
        self.ledger.settle_expired(asyncio.get_running_loop().time())
        self.answered()
        self._settled()
