"""A ledger with somebody who sends what it asks for."""

from custom_components.realtime_assist.items import (
    Composition,
    DesiredItem,
    hear_key,
    native,
    say_key,
)
from custom_components.realtime_assist.realtime.events import ItemKind
from custom_components.realtime_assist.realtime.ledger import Ledger
from custom_components.realtime_assist.realtime.model import Capabilities, Cut
from custom_components.realtime_assist.realtime.operations import (
    Create,
    Gate,
    LedgerItem,
    NewSession,
    Operation,
)

OPEN = Gate()
NAMELESS = Capabilities(cut=Cut.NONE, ack_ids=False, error_ids=False)


def want(*items: DesiredItem, visible: frozenset[str] = frozenset()) -> Composition:
    """Return what should be held."""
    return Composition(desired=items, visible=visible)


class Desk:
    """A ledger whose operations are sent under the ids e1, e2, ..."""

    def __init__(self, caps: Capabilities | None = None) -> None:
        """Open an empty ledger."""
        self.ledger = Ledger(caps or Capabilities())
        self.sent: list[Operation] = []

    def send(
        self, *items: DesiredItem, gate: Gate = OPEN, visible: frozenset[str] = frozenset()
    ) -> list[Operation]:
        """Plan, and send all of it."""
        operations = self.ledger.plan(want(*items, visible=visible), gate)
        for operation in operations:
            assert not isinstance(operation, NewSession)
            self.sent.append(operation)
            self.ledger.issue(operation, f"e{len(self.sent)}", now=0)
        return operations

    def hold(self, *items: DesiredItem, visible: frozenset[str] = frozenset()) -> list[str]:
        """Let notes be held; return their ids."""
        ids = []
        for operation in self.send(*items, visible=visible):
            assert isinstance(operation, Create)
            self.ledger.settle_added(operation.remote_id, ItemKind.SYSTEM)
            ids.append(operation.remote_id)
        return ids

    def spoken(self, turn_id: str, ms: int = 1000) -> None:
        """Let a turn be heard and answered, and settle."""
        self.ledger.begin(turn_id)
        self.ledger.bind_user(f"{turn_id}_user", turn_id)
        self.ledger.bind_reply(f"{turn_id}_reply", turn_id)
        self.ledger.received(f"{turn_id}_reply", ms)
        self.ledger.settle(turn_id)

    def item(self, remote_id: str) -> LedgerItem:
        """Return what is known of an item."""
        return next(i for i in self.ledger.items if i.remote_id == remote_id)


def turn(turn_id: str, audience: frozenset[str] = frozenset()) -> tuple[DesiredItem, ...]:
    """Return what a record says of `Desk.spoken`."""
    return (
        native(hear_key(turn_id), audience=audience),
        native(say_key(turn_id), audience=audience),
    )
