"""The rules by which what is held becomes what is desired.

Each rule is small, sees the whole situation and what the rules before it have found, and returns
the operations that are legal now. Their order is the order in which things matter: what may not be
seen, what was not heard, what must be there, and last what would merely be tidy.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ..items import DesiredItem, Form
from .model import Capabilities, Cut
from .operations import (
    Create,
    CutTo,
    Delete,
    Gate,
    ItemState,
    LedgerItem,
    NewSession,
    Operation,
    Reason,
)

type NewId = Callable[[DesiredItem], str]
type Rule = Callable[[Situation, tuple[Operation, ...]], Iterable[Operation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that a rule may look at."""

    desired: Sequence[DesiredItem]
    revoked: frozenset[str]
    """Remote ids of what may not be seen any more."""
    items: Sequence[LedgerItem]
    caps: Capabilities
    gate: Gate
    new_id: NewId
    wanted: dict[str, DesiredItem]
    """What is desired, by key."""
    closed_turns: frozenset[str]
    """Turns of which the record speaks: it says what of their replies was heard."""

    @property
    def is_settled(self) -> bool:
        """Whether no turn is open, so that a new session interrupts nobody."""
        return not any(item.open for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """Remote ids of what must not be there when a response starts."""

    revoked: frozenset[str]
    """May not be seen and is not gone; and what is left of a call and its output."""
    uncut: frozenset[str]
    """Holds words that nobody heard."""

    def __bool__(self) -> bool:
        """Tell whether there is anything to wait for."""
        return bool(self.revoked or self.uncut)


def withdraw_revoked(now: Situation, _done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Take away what may not be seen any more: must."""
    for item in now.items:
        if item.remote_id in now.revoked and not item.open:
            yield from _take_away(now, item, Reason.REVOKED)


def withdraw_orphans(now: Situation, done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Take away what is nobody's (noise, a reply nobody asked for) where that is possible."""
    going = _going(done)
    for item in now.items:
        if item.key is not None or item.open or item.remote_id in going:
            continue
        if now.caps.delete and item.state is not ItemState.LOST:
            yield from _take_away(now, item, Reason.ORPHANS)
        elif now.gate.cold and now.is_settled:
            yield NewSession(Reason.ORPHANS)


def cut_to_heard(now: Situation, done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Shorten replies to what was heard: must. What was not heard at all is taken away."""
    going = _going(done)
    for item in now.items:
        ms = _heard(now, item)
        if ms is None or item.remote_id in going:
            continue
        truncates = now.caps.cut is Cut.TRUNCATE and item.state is not ItemState.LOST
        if ms > 0 and truncates:
            if item.state is ItemState.HELD:
                yield CutTo(item.remote_id, ms)
        elif item.open:
            continue
        elif ms == 0:
            yield from _take_away(now, item, Reason.CUT)
        else:
            yield NewSession(Reason.CUT)


def keep_pairs(now: Situation, done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Let a call and its output die together: must, since a call without output is made again."""
    going = _going(done) | {i.remote_id for i in now.items if i.state is ItemState.LEAVING}
    for item in _halves(now, going):
        yield from _take_away(now, item, Reason.HALF_PAIR)


def append_outputs(now: Situation, done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Answer calls that are held: must. A call is answered once, whatever became of the text."""
    going = _going(done)
    answered = {i.pair for i in now.items if i.form is Form.OUTPUT}
    asked = {
        i.pair
        for i in now.items
        if i.form is Form.NATIVE and i.state is not ItemState.LEAVING and i.remote_id not in going
    }
    for item in now.desired:
        if item.form is Form.OUTPUT and item.pair in asked and item.pair not in answered:
            yield Create(item, now.new_id(item))


def append_notes(now: Situation, _done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Say what is missing: must. Appended, whatever order is desired."""
    staying = [i for i in now.items if i.state is not ItemState.LEAVING]
    have = {(i.key, i.digest) for i in staying if i.form is Form.NOTE}
    words = {i.key for i in staying if i.form is not Form.NOTE or i.digest}
    for item in now.desired:
        if item.form is not Form.NOTE:
            continue
        missing = item.key not in words if item.by_user else (item.key, item.digest) not in have
        if missing:
            yield Create(item, now.new_id(item))


def drop_superseded(now: Situation, done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Take away notes that others replace: may, where it costs nothing or pressure forces it."""
    stale = [
        i
        for i in now.items
        if i.is_note
        and i.key
        and i.state is ItemState.HELD
        and i.remote_id not in now.revoked
        and not _is_wanted(now, i)
    ]
    if not stale or done:
        return
    if now.gate.cold and now.is_settled:
        yield NewSession(Reason.SUPERSEDED)
    elif now.gate.hard and now.caps.delete:
        held = {i.key for i in now.items if i.state is ItemState.HELD and _is_wanted(now, i)}
        for item in stale:
            if item.key in held or item.key not in now.wanted:
                yield Delete(item.remote_id)
    elif now.gate.hard and now.is_settled:
        yield NewSession(Reason.SUPERSEDED)


def relieve_pressure(now: Situation, done: tuple[Operation, ...]) -> Iterable[Operation]:
    """Start anew from the recap when the conversation is too long and all else is done: may."""
    turns = any(not item.is_note for item in now.items)
    if now.gate.hard and turns and now.is_settled and not done:
        yield NewSession(Reason.PRESSURE)


RULES: Final[tuple[Rule, ...]] = (
    withdraw_revoked,
    withdraw_orphans,
    cut_to_heard,
    keep_pairs,
    append_outputs,
    append_notes,
    drop_superseded,
    relieve_pressure,
)


def unfinished(now: Situation) -> Unfinished:
    """Return what the barrier before a response waits for."""
    revoked = {i.remote_id for i in now.items if i.remote_id in now.revoked and not i.open}
    # A pair of which one half is leaving may be a half already.
    parting = [i for i in now.items if i.pair and i.state is ItemState.LEAVING]
    revoked |= {i.remote_id for i in (*parting, *_halves(now, set()))}
    truncates = now.caps.cut is Cut.TRUNCATE
    uncut = {
        i.remote_id
        for i in now.items
        if (ms := _heard(now, i)) is not None and (not i.open or (ms > 0 and truncates))
    }
    return Unfinished(revoked=frozenset(revoked), uncut=frozenset(uncut - revoked))


def _heard(now: Situation, item: LedgerItem) -> int | None:
    """Return to how many milliseconds a reply must still be cut, None if it is as it should be."""
    if item.form is not Form.NATIVE or item.key is None:
        return None
    wanted = now.wanted.get(item.key)
    if wanted is not None:
        ms = wanted.cut_ms
    elif item.is_reply and item.turn_id in now.closed_turns and not item.open:
        ms = 0  # the record of its turn does not know it: nobody heard it
    else:
        return None
    if ms is None:
        return None
    ms = min(ms, int(item.received_ms))
    return None if item.cut_ms is not None and item.cut_ms <= ms and ms > 0 else ms


def _halves(now: Situation, going: set[str]) -> list[LedgerItem]:
    """Return settled calls that have no output and get none, and outputs that have no call."""
    staying = [i for i in now.items if i.pair and i.remote_id not in going]
    calls = {i.pair for i in staying if i.form is Form.NATIVE}
    outputs = {i.pair for i in staying if i.form is Form.OUTPUT}
    outputs |= {i.pair for i in now.desired if i.form is Form.OUTPUT}
    return [
        i
        for i in staying
        if not i.open and i.pair not in (calls if i.form is Form.OUTPUT else outputs)
    ]


def _take_away(now: Situation, item: LedgerItem, reason: Reason) -> Iterable[Operation]:
    """Remove an item in place, wait for its acknowledgement, or start anew where it cannot go."""
    if not now.caps.delete or item.state is ItemState.LOST:
        yield NewSession(reason)
    elif item.state is ItemState.HELD:
        yield Delete(item.remote_id)


def _is_wanted(now: Situation, item: LedgerItem) -> bool:
    wanted = now.wanted.get(item.key or "")
    return wanted is not None and wanted.digest == item.digest


def _going(done: tuple[Operation, ...]) -> set[str]:
    return {operation.remote_id for operation in done if isinstance(operation, Delete)}
