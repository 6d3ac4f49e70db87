"""(thread, facts, visible keys, view) -> what a session should hold.

Pure: equal input gives byte-identical output, in every process. Whatever a turn may not see is
left out here, and every item says who must be allowed to see it, so that a session that holds it
can take it back.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Final

from ..items import (
    FACTS,
    NOW,
    RECAP,
    Audience,
    Composition,
    DesiredItem,
    View,
    call_key,
    hear_key,
    meanwhile_key,
    native,
    note,
    output,
    say_key,
)
from . import render
from .entries import ContextEntry
from .render import ENVELOPE_INSTRUCTIONS
from .scopes import Scope, ScopeKey
from .transcript import Source, Summary, Thread, TurnRecord
from .usage import estimate_tokens
from .words import shorten

__all__ = ["ENVELOPE_INSTRUCTIONS", "FACTS_TOKENS", "compose", "note_body"]

FACTS_TOKENS: Final = 4000
"""More facts than this are not told but searched."""
FACT_TOKENS: Final = 500
MEANWHILE_TOKENS: Final = 400
_TURN_SHARE: Final = 4
"""While turns compete for the recap, none takes more than one part in this many of it."""
_ORDINARY: Final = 96
"""Tokens that no turn is too long for."""
_LEAST: Final = 24
"""Tokens below which a shortened turn says nothing."""


def compose(  # noqa: PLR0913 - the whole state that it is pure in, by name
    *,
    thread: Thread | None,
    entries: Sequence[ContextEntry],
    now: str | None,
    visible: Sequence[ScopeKey],
    view: View,
    resume_tokens: int,
    base: Thread | None = None,
) -> Composition:
    """Return what the session of a view should hold.

    `thread`: the history, None for none; left out as well if its scope is not visible.
    `entries`: the facts; where several scopes hold a key, the one that is visible first wins.
    `now`: the situation of this moment as plain text, frozen for the turn.
    `resume_tokens`: what the recap may cost, estimated. Its summary always stays.
    `base`: the thread as it was when the session opened. The recap is made of it as long as
    nothing was forgotten since, so that a summary made meanwhile does not rewrite it.
    """
    seen = frozenset(map(str, visible))
    desired: list[DesiredItem] = []
    if thread is not None and str(thread.key.scope) in seen:
        told = base if base is not None and _same(base, thread) else thread
        desired += _recap(told, seen, view, resume_tokens)
    desired += _facts(entries, visible)
    if thread is not None and str(thread.key.scope) in seen:
        desired += _turns(thread, seen, view)
    if now and now.strip():
        # It may name who speaks, so it is for that person only.
        people = frozenset(str(key) for key in visible if key.scope is Scope.SPEAKER)
        desired.append(note(NOW, note_body(NOW, now), people))
    return Composition(desired=tuple(desired), visible=seen)


def note_body(kind: str, text: str) -> str:
    """Return a note of plain text in its envelope, escaped so that the text cannot close it."""
    return render.envelope(kind, text.strip().replace("<", "&lt;"))


def _same(base: Thread, thread: Thread) -> bool:
    """Whether nothing of a thread was forgotten since."""
    return base.key == thread.key and base.revision == thread.revision


def _allowed(turn: TurnRecord, seen: frozenset[str]) -> bool:
    return turn.audience <= seen


# The recap


def _recap(thread: Thread, seen: frozenset[str], view: View, budget: int) -> Iterable[DesiredItem]:
    """Return the note that tells what was said before this session."""
    summary = _summary(thread, seen)
    upto = summary.upto if summary else 0
    turns = [
        turn
        for turn in thread.turns
        if upto < turn.number <= view.recap_upto
        and turn.id not in view.natives
        and _allowed(turn, seen)
    ]
    shown = _shown(turns, recap_room(summary, budget))
    parts = _recap_head(summary)
    known = len(parts) > 1
    if shown:
        parts += [render.LAST, *(text for _, text in shown)]
    if not known and not shown:
        return
    who: Audience = frozenset({str(thread.key.scope)})
    who = who.union(*(turn.audience for turn, _ in shown))
    if summary:
        who = who.union(*(line.audience for line in summary.lines))
    yield note(RECAP, render.envelope(RECAP, "\n".join(parts)), who)


def _recap_head(summary: Summary | None) -> list[str]:
    """Return what a recap begins with, its summary included."""
    known = render.summary_lines(summary) if summary else ""
    return [render.RECAP_HEAD, render.EARLIER, known] if known else [render.RECAP_HEAD]


def recap_room(summary: Summary | None, resume_tokens: int) -> int:
    """Return how many tokens a recap has for turns, beside its summary and its frame."""
    frame = render.envelope(RECAP, "\n".join((*_recap_head(summary), render.LAST, "")))
    return resume_tokens - estimate_tokens(frame)


def turn_cost(turn: TurnRecord, room: int) -> int:
    """Return what a turn costs in a recap; an over-long one is shortened when others need it."""
    return min(_cost(render.turn_lines(turn)), _cap(room))


def _cap(room: int) -> int:
    return max(room // _TURN_SHARE, _ORDINARY)


def _summary(thread: Thread, seen: frozenset[str]) -> Summary | None:
    """Return the summary with only the lines that may be seen."""
    if thread.summary is None:
        return None
    summary = thread.summary
    lines = tuple(line for line in summary.lines if line.audience <= seen)
    return Summary(lines=lines, upto=summary.upto, made_by=summary.made_by, at=summary.at)


def _shown(turns: list[TurnRecord], budget: int) -> list[tuple[TurnRecord, str]]:
    """Return the newest turns that fit, oldest first, each verbatim as far as there is room.

    An over-long turn is shortened rather than hide others, and gets back what they leave.
    """
    cap = _cap(budget)
    chosen: list[tuple[TurnRecord, str, str, int]] = []
    left = budget
    for turn in reversed(turns):
        text = full = render.turn_lines(turn)
        cost = _cost(text)
        if cost > cap:
            room = cap if cap <= left else left // 2
            if room < _LEAST:
                break
            text = _shortened(turn, room)
            cost = _cost(text)
        if cost > left:
            break
        left -= cost
        chosen.append((turn, full, text, cost))
    shown: list[tuple[TurnRecord, str]] = []
    for turn, whole, text, cost in chosen:
        full = whole
        if text != full:
            full = full if _cost(full) <= cost + left else _shortened(turn, cost + left)
            left -= _cost(full) - cost
        shown.append((turn, full))
    return shown[::-1]


def _cost(text: str) -> int:
    return estimate_tokens(f"{text}\n")


def _shortened(turn: TurnRecord, tokens: int) -> str:
    """Return a turn that costs at most `tokens`: its longest texts are cut, the short ones stay."""
    low, high = 0, max(tokens, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if _cost(render.turn_lines(turn, middle)) <= tokens:
            low = middle
        else:
            high = middle - 1
    text = render.turn_lines(turn, low)
    return text if _cost(text) <= tokens else shorten(text, tokens - 1)


# Facts


def _facts(entries: Sequence[ContextEntry], visible: Sequence[ScopeKey]) -> Iterable[DesiredItem]:
    """Return the note of what is remembered."""
    by_scope: dict[ScopeKey, list[ContextEntry]] = {key: [] for key in visible}
    for scope, those in groupby(entries, key=attrgetter("scope")):
        if scope in by_scope:
            by_scope[scope].extend(those)
    held: dict[str, ContextEntry] = {}
    for entry in chain.from_iterable(by_scope.values()):
        held.setdefault(entry.key, entry)
    told = _worth_telling(list(held.values()))
    if not told:
        return
    body = render.fact_lines(told)
    if len(told) < len(held):
        body += f"\n{render.MORE_FACTS}"
    who = frozenset(str(entry.scope) for entry, _ in told)
    yield note(FACTS, render.envelope(FACTS, body), who)


def _worth_telling(entries: list[ContextEntry]) -> list[tuple[ContextEntry, str]]:
    """Return the facts that come first, as many as may be told, with the line of each.

    Pinned ones, then by priority, then the newest.
    """
    ranked = sorted(entries, key=attrgetter("key"))
    ranked.sort(key=attrgetter("pinned", "priority", "updated"), reverse=True)
    told, left = [], FACTS_TOKENS
    for entry in ranked:
        line = entry.line
        if line is None:
            line = render.fact_line(entry, FACT_TOKENS)
            entry.told_as(line)
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            break
        told.append((entry, line))
    return told


# Turns since the session opened


def _turns(thread: Thread, seen: frozenset[str], view: View) -> Iterable[DesiredItem]:
    """Return what was said in this session, and elsewhere since it opened."""
    place = frozenset({str(thread.key.scope)})
    for turn in thread.turns:
        if not _allowed(turn, seen):
            continue
        who = turn.audience | place
        if turn.id in view.natives and turn.source is not Source.LOCAL:
            yield from _native(turn, who)
        elif turn.number > view.recap_upto:
            text = render.turn_lines(turn)
            if estimate_tokens(text) > MEANWHILE_TOKENS:
                text = _shortened(turn, MEANWHILE_TOKENS)
            yield note(meanwhile_key(turn.id), render.envelope("meanwhile", text), who)


def _native(turn: TurnRecord, who: Audience) -> Iterable[DesiredItem]:
    """Return the items of a turn that were born in this session."""
    if turn.source is Source.TEXT:
        yield note(hear_key(turn.id), turn.heard_text or "", who)
    else:
        yield native(hear_key(turn.id), audience=who)
    for said in turn.said:
        yield native(
            say_key(turn.id, said.index), cut_ms=said.heard_ms if said.cut else None, audience=who
        )
    for call in turn.calls:
        yield native(call_key(call.call_id), pair=call.call_id, audience=who)
        if call.output is not None:
            yield output(call.call_id, call.output, who)
