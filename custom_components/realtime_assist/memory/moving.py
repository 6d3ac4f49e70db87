"""Giving the memory of somebody or something that is gone to another: pure, thread by thread."""

from collections.abc import Iterator
from dataclasses import replace

from ..items import Audience
from .scopes import ScopeKey
from .transcript import Summary, SummaryLine, Thread, ThreadKey, TurnRecord


def merged(old: Thread, new: Thread, key: ThreadKey) -> Thread:
    """Return the thread of `key` with what an older one holds before what is in it already.

    Numbers change: a session that projects either of them must begin anew.
    """
    shift = old.next_number - 1
    turns = (*old.turns, *(shifted(turn, shift) for turn in new.turns))
    lines = (*_lines(old), *(_shifted(line, shift) for line in _lines(new)))
    first = old.summary or new.summary
    summary = first and Summary(
        lines=lines,
        # What the younger one summed up is not among the turns any more; the older one's turns are.
        upto=old.summary.upto if old.summary else 0,
        made_by=first.made_by,
        at=first.at,
    )
    return Thread(
        key=key,
        turns=turns,
        summary=summary,
        next_number=old.next_number + new.next_number - 1,
        revision=max(old.revision, new.revision) + 1,
        last_at=max((at for at in (old.last_at, new.last_at) if at), default=None),
        leaving=(*old.leaving, *(shifted(turn, shift) for turn in new.leaving)),
    )


def shifted(turn: TurnRecord, by: int) -> TurnRecord:
    """Return a turn whose place is further back: so many turns came before its thread."""
    return replace(turn, number=turn.number + by)


def given(thread: Thread, before: ScopeKey, after: ScopeKey) -> Thread:
    """Return a thread in which what one person alone may see is another's."""
    if not _concerns(thread, str(before)):
        return thread
    lines = (
        replace(line, audience=_others(line.audience, before, after)) for line in _lines(thread)
    )
    return replace(
        thread,
        turns=tuple(turn_given(turn, before, after) for turn in thread.turns),
        leaving=tuple(turn_given(turn, before, after) for turn in thread.leaving),
        summary=thread.summary and replace(thread.summary, lines=tuple(lines)),
        revision=thread.revision + 1,
    )


def turn_given(turn: TurnRecord, before: ScopeKey, after: ScopeKey) -> TurnRecord:
    """Return a turn that another person may see if one person alone could."""
    return replace(turn, audience=_others(turn.audience, before, after))


def _others(audience: Audience, before: ScopeKey, after: ScopeKey) -> Audience:
    old, new = str(before), str(after)
    return audience - {old} | {new} if old in audience else audience


def without(thread: Thread, person: ScopeKey) -> Thread:
    """Return a thread without what one person alone may see."""
    gone = str(person)
    return thread.with_only(
        lambda turn: gone not in turn.audience, lambda line: gone not in line.audience
    )


def _concerns(thread: Thread, key: str) -> bool:
    return any(key in audience for audience in audiences(thread))


def audiences(thread: Thread) -> Iterator[Audience]:
    """Yield who may see each part of a thread."""
    yield from (turn.audience for turn in (*thread.leaving, *thread.turns))
    yield from (line.audience for line in _lines(thread))


def _lines(thread: Thread) -> tuple[SummaryLine, ...]:
    return thread.summary.lines if thread.summary else ()


def _shifted(line: SummaryLine, shift: int) -> SummaryLine:
    return replace(line, turns=tuple(number + shift for number in line.turns))
