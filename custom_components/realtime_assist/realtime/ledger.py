"""What the provider holds, as far as anybody can know.

The ledger does no I/O. It knows the items (`holdings.py`), remembers what was asked of the provider
until it is answered, and says (`plan`) what to ask next. Every item operation goes through it;
there is no other sender.

How an answer finds its operation: by the id in the acknowledgement, else by the event id in the
error, else as the oldest outstanding one of its kind, else by the deadline. An item that was
refused three times is LOST: it stays as it is, and only a new session changes that.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from ..items import Composition, DesiredItem, Form
from .events import ItemKind
from .holdings import Holdings
from .model import Capabilities, Cut
from .operations import (
    Counts,
    Create,
    CutTo,
    Delete,
    Gate,
    ItemOperation,
    ItemState,
    LedgerItem,
    Operation,
    turn_of,
)
from .outstanding import Outstanding
from .reconcile import step, survey
from .rules import Unfinished, unfinished

REFUSALS: Final = 3
"""So many refusals of one item, and it is LOST."""


class Ledger(Holdings):
    """Items, bindings and outstanding operations of one session after another."""

    def __init__(self, caps: Capabilities, *, timeout: float = 3.0) -> None:
        """Start empty. `timeout`: seconds after which an unanswered operation counts as expired."""
        super().__init__()
        self.caps: Final = caps
        self.epoch = 1
        """Number of the session, from 1."""
        self._timeout: Final = timeout
        self._outstanding: Final = Outstanding()
        self._refusals: Counter[str] = Counter()
        self._revoked: frozenset[str] = frozenset()
        self._trusted = True
        self._made = 0
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> Counts:
        """What became of item operations so far."""
        return Counts(**self._counts)

    @property
    def outstanding(self) -> int:
        """Number of operations that are not answered yet."""
        return len(self._outstanding)

    @property
    def deadline(self) -> float | None:
        """When the next outstanding operation expires, on the clock given to `issue`."""
        return self._outstanding.deadline

    # What to do

    def plan(
        self, composition: Composition, gate: Gate, live: Sequence[DesiredItem] = ()
    ) -> list[Operation]:
        """Return what is legal now; send it in this order, and tell `issue` of each.

        `live`: what the open turn adds to the composition (typed words, outputs, cuts).
        """
        self._learn(composition)
        caps = self.caps if self._trusted else replace(self.caps, delete=False)
        self._revoked = self.revoked(composition.visible)
        return step(
            _merge(composition, live),
            self._revoked,
            self.items,
            caps,
            gate,
            self.new_id,
        )

    def unfinished(self, composition: Composition, live: Sequence[DesiredItem] = ()) -> Unfinished:
        """Return what the barrier before a response waits for; false when there is nothing."""
        self._learn(composition)
        revoked = self.revoked(composition.visible)
        desired = _merge(composition, live)
        return unfinished(survey(desired, revoked, self.items, self.caps, Gate(), self.new_id))

    def new_id(self, item: DesiredItem) -> str:
        """Return an id for a new item: of 27 letters, digits and underscores, never used before."""
        self._made += 1
        text = f"{self.epoch}|{item.key}|{item.digest}|{self._made}"
        return "ra_" + hashlib.sha256(text.encode()).hexdigest()[:24]

    def interrupt(self, turn_id: str, heard_ms: int) -> list[CutTo]:
        """Return the cuts of a barge-in: `heard_ms` of the turn's speech were heard.

        They may be sent while the response is active, just before its cancellation. Replies of
        which nothing was heard are taken away later, when the turn has settled.
        """
        cuts: list[CutTo] = []
        left = heard_ms
        replies = [i for i in self._items.values() if i.turn_id == turn_id and i.is_reply]
        for item in replies:
            got = int(item.received_ms)
            ms = min(left, got)
            left -= ms
            whole = ms == got and item is not replies[-1]
            if ms > 0 and not whole and item.state is ItemState.HELD:
                cuts.append(CutTo(item.remote_id, ms))
        return cuts if self.caps.cut is Cut.TRUNCATE else []

    def issue(self, operation: ItemOperation, event_id: str, now: float) -> None:
        """Record that an operation was sent under an event id, at `now` seconds."""
        if isinstance(operation, Create):
            self._created(operation)
            if not self.caps.acks:
                self._counts["created"] += 1
                return
        else:
            leaving = isinstance(operation, Delete)
            self._change(
                operation.remote_id, state=ItemState.LEAVING if leaving else ItemState.SENT
            )
            if leaving and operation.remote_id in self._revoked:
                self._ban(operation.remote_id)
        self._outstanding.add(event_id, operation, now + self._timeout)

    def renew(self) -> None:
        """Begin a new session: an empty ledger and the next epoch. An open turn stays open."""
        self.epoch += 1
        self.clear()
        self._outstanding.clear()
        self._refusals.clear()
        self._trusted = True
        self._counts["rebuilt"] += 1

    # What the server answered

    def settle_added(self, item_id: str, kind: ItemKind, call_id: str | None = None) -> None:
        """Learn that an item is there: one of ours is acknowledged, or one was born.

        An empty id acknowledges the oldest create.
        """
        if operation := self._outstanding.pop_kind((Create,), item_id):
            self._change(operation.remote_id, state=ItemState.HELD)
            self._counts["created"] += 1
        elif item := self._items.get(item_id):
            if item.form is not Form.NATIVE and item.state is ItemState.LOST:
                self._change(item_id, state=ItemState.HELD)  # its refusal was a wrong guess
        elif item_id and kind in {ItemKind.USER, ItemKind.ASSISTANT, ItemKind.CALL}:
            self._born(item_id, self._turn)
            self._change(item_id, pair=call_id)

    def settle_deleted(self, item_id: str) -> None:
        """Learn that an item is gone. An empty id means the one whose removal is oldest."""
        if operation := self._outstanding.pop_kind((Delete,), item_id):
            item_id = operation.remote_id
        self._outstanding.forget(item_id)
        if self._items.pop(item_id, None) is not None:
            self._counts["deleted"] += 1

    def settle_cut(self, item_id: str, ms: int) -> None:
        """Learn that a reply was cut to `ms`. An empty id means the one whose cut is oldest."""
        if operation := self._outstanding.pop_kind((CutTo,), item_id):
            item_id = operation.remote_id
        if item := self._items.get(item_id):
            state = ItemState.HELD if item.state is ItemState.SENT else item.state
            self._change(item_id, cut_ms=ms, state=state)

    def settle_error(self, event_id: str | None, *, unknown: bool = False) -> ItemOperation | None:
        """Take a refusal; return the item operation that it was of, None if it was not.

        `unknown`: the provider knows no such item. What we made ourselves is gone then, as it
        should be; of what was born there some providers announce another id than they keep.

        Without an event id it is taken as that of the oldest operation, since servers answer in
        order: call it so only for errors that nothing else explains.
        """
        if event_id is not None:
            operation = self._outstanding.pop(event_id)
        else:
            operation = self._outstanding.pop_kind((Create, Delete, CutTo))
        if operation is None:
            return None
        item = self._items.get(operation.remote_id)
        if unknown and event_id and isinstance(operation, Delete) and item and item.is_ours:
            self.settle_deleted(operation.remote_id)
            return operation
        self._counts["refused"] += 1
        if isinstance(operation, Create):
            self._not_created(operation, certain=event_id is not None)
        else:
            self._not_done(operation.remote_id)
        return operation

    def settle_expired(self, now: float) -> int:
        """Give up waiting for what was due by `now`; return how many operations that were.

        A create is taken as done, since a provider that refuses says so; a removal or a cut is
        tried again. Where acknowledgements name no item, a late one could be mistaken for
        another's: from then on nothing is believed to be removed in this session.
        """
        late = self._outstanding.pop_expired(now)
        self._counts["expired"] += len(late)
        for operation in late:
            if isinstance(operation, Create):
                self._change(operation.remote_id, state=ItemState.HELD)
                self._counts["created"] += 1
            else:
                self._not_done(operation.remote_id)
                if isinstance(operation, Delete) and not self.caps.ack_ids:
                    self._trusted = False
        return len(late)

    # Inside

    def _created(self, operation: Create) -> None:
        """Enter what was just sent."""
        wanted = operation.item
        same = {
            i.key for i in self._items.values() if i.is_note and i.remote_id not in self._marked
        }
        call = self._call(wanted.pair)
        turn_id = call.turn_id if call else turn_of(wanted.key)
        self._items[operation.remote_id] = LedgerItem(
            remote_id=operation.remote_id,
            form=wanted.form,
            key=wanted.key,
            digest=wanted.digest,
            pair=wanted.pair,
            audience=wanted.audience,
            state=ItemState.SENT if self.caps.acks else ItemState.HELD,
            open=turn_id is not None and turn_id not in self._settled,
            turn_id=turn_id,
            text=wanted.body,
        )
        self._counts["superseded"] += wanted.key in same

    def _not_created(self, operation: Create, *, certain: bool) -> None:
        """Let a refused item be tried again under another id, three times in all."""
        wanted, remote_id = operation.item, operation.remote_id
        name = f"{wanted.key} {wanted.digest}"
        self._refusals[name] += 1
        if self._refusals[name] >= REFUSALS:
            self._counts["failed"] += 1
            self._change(remote_id, state=ItemState.LOST)
        elif certain:
            self._items.pop(remote_id, None)
        else:  # it may be there all the same, so it is kept, as the like of nothing
            self._change(remote_id, state=ItemState.LOST, digest="", pair=None)

    def _not_done(self, remote_id: str) -> None:
        """Let a refused removal or cut be tried again, three times in all."""
        if remote_id not in self._items:
            return
        self._refusals[remote_id] += 1
        lost = self._refusals[remote_id] >= REFUSALS
        self._counts["failed"] += lost
        self._change(remote_id, state=ItemState.LOST if lost else ItemState.HELD)


def _merge(composition: Composition, live: Iterable[DesiredItem]) -> tuple[DesiredItem, ...]:
    """Return what is desired, with what only the open turn knows; the record wins."""
    known = {item.key for item in composition.desired}
    return (*composition.desired, *(item for item in live if item.key not in known))
