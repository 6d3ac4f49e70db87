"""What may be done now, so that the provider holds what it should.

One pure, level-triggered function: `step` compares what is desired with what is held and returns
the operations that are legal at this moment. There is no stored plan; it runs again after every
acknowledgement, boundary and change, and being interrupted at any point is a normal state.

It is a sequence of small rules (`rules.py`). The first of them that needs a new session ends the
matter, since a new session is the universal move.
"""

from collections.abc import Sequence

from ..items import DesiredItem, Form
from .model import Capabilities
from .operations import Delete, Gate, ItemState, LedgerItem, NewSession, Operation, turn_of
from .rules import RULES, NewId, Situation


def step(  # noqa: PLR0913, PLR0917 - the six things that decide, and nothing hidden
    desired: Sequence[DesiredItem],
    revoked: frozenset[str],
    ledger: Sequence[LedgerItem],
    caps: Capabilities,
    gate: Gate,
    new_id: NewId,
) -> list[Operation]:
    """Return the operations that are legal now, in the order in which they are to be sent.

    `revoked` holds remote ids. A new session comes alone: all else follows in it.
    """
    if gate.busy:
        return []
    situation = survey(desired, revoked, ledger, caps, gate, new_id)
    done: tuple[Operation, ...] = ()
    for rule in RULES:
        for operation in rule(situation, done):
            if isinstance(operation, NewSession):
                return [operation]
            done += (operation,)
    return _one_at_a_time(situation, done)


def survey(  # noqa: PLR0913, PLR0917 - as `step`
    desired: Sequence[DesiredItem],
    revoked: frozenset[str],
    ledger: Sequence[LedgerItem],
    caps: Capabilities,
    gate: Gate,
    new_id: NewId,
) -> Situation:
    """Prepare what the rules look at."""
    wanted = {item.key: item for item in desired}
    texts = {(item.key, item.digest) for item in desired if item.form is Form.NOTE}
    # A note that is desired as it stands has nothing in it that may not be seen.
    gone = frozenset(
        item.remote_id
        for item in ledger
        if item.remote_id in revoked and not (item.is_note and (item.key, item.digest) in texts)
    )
    return Situation(
        desired=tuple(wanted.values()),
        revoked=gone,
        items=ledger,
        caps=caps,
        gate=gate,
        new_id=new_id,
        wanted=wanted,
        closed_turns=frozenset(turn for key in wanted if (turn := turn_of(key))),
    )


def _one_at_a_time(now: Situation, done: tuple[Operation, ...]) -> list[Operation]:
    """Keep one removal outstanding where acknowledgements do not say which item they mean."""
    if now.caps.ack_ids:
        return list(done)
    free = not any(item.state is ItemState.LEAVING for item in now.items)
    kept: list[Operation] = []
    for operation in done:
        if isinstance(operation, Delete):
            if free:
                kept.append(operation)
            free = False
        else:
            kept.append(operation)
    return kept
