"""Giving the memory of somebody or something that is gone to another: pure, thread by thread."""

from collections.abc import Iterator
from dataclasses import replace

from ..items import Audience
from .scopes import ScopeKey
from .transcript import Summary, SummaryLine, Thread, ThreadKey


def merged(old: Thread, new: Thread, key: ThreadKey) -> Thread:
    """Return the thread of `key` with what an older one holds before what is in it already.

    Numbers change: a session that projects either of them must begin anew.
    """
    shift = old.next_number - 1
    turns = (*old.turns, *(replace(turn, number=turn.number + shift) for turn in new.turns))
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
    )


def given(thread: Thread, before: ScopeKey, after: ScopeKey) -> Thread:
    """Return a thread in which what one person alone may see is another's."""
    old, new = str(before), str(after)
    if not _concerns(thread, old):
        return thread

    def who(audience: Audience) -> Audience:
        return audience - {old} | {new} if old in audience else audience

    return replace(
        thread,
        turns=tuple(replace(turn, audience=who(turn.audience)) for turn in thread.turns),
        summary=thread.summary
        and replace(
            thread.summary,
            lines=tuple(replace(line, audience=who(line.audience)) for line in _lines(thread)),
        ),
        revision=thread.revision + 1,
    )


def without(thread: Thread, person: ScopeKey) -> Thread:
    """Return a thread without what one person alone may see."""
    gone = str(person)
    if not _concerns(thread, gone):
        return thread
    return replace(
        thread,
        turns=tuple(turn for turn in thread.turns if gone not in turn.audience),
        summary=thread.summary
        and replace(
            thread.summary,
            lines=tuple(line for line in _lines(thread) if gone not in line.audience),
        ),
        revision=thread.revision + 1,
    )


def _concerns(thread: Thread, key: str) -> bool:
    return any(key in audience for audience in audiences(thread))


def audiences(thread: Thread) -> Iterator[Audience]:
    """Yield who may see each part of a thread."""
    yield from (turn.audience for turn in thread.turns)
    yield from (line.audience for line in _lines(thread))


def _lines(thread: Thread) -> tuple[SummaryLine, ...]:
    return thread.summary.lines if thread.summary else ()


def _shifted(line: SummaryLine, shift: int) -> SummaryLine:
    return replace(line, turns=tuple(number + shift for number in line.turns))
