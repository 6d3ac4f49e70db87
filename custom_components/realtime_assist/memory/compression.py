"""The rolling checkpoint: turns that would not be told verbatim any more become a summary.

    snapshot(thread) ──> tasks ──> a way to summarise, in its own time ──> committed(thread now)

A snapshot is immutable, so nothing waits for a summary, and a summary that comes too late for its
thread is dropped: the next turn begins another. Everything here is pure but `summarized`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from ..items import EVERYBODY, Audience, digest
from .checking import checked
from .compose import recap_room, turn_cost
from .extractive import ExtractiveSummarizer
from .summarizer import HomeSummary, SummaryTask, SummaryWay, line_cost, lines_of, unchanged
from .thread_file import turn_to_dict
from .transcript import Summary, SummaryLine, Thread, ThreadKey, TurnRecord

SUMMARY_SHARE: Final = 0.4
"""Of what a resumed session is told, this much may be summary."""
TAIL_SHARE: Final = 0.4
"""So much stays verbatim when turns are folded in; the rest is room for new ones until the next."""
MAX_LEAVING: Final = 1000
"""Turns that wait for the archive: more only where the disk does not take it for a long time."""
SETTLING: Final = timedelta(minutes=10)
"""A call that has no answer by then never gets one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is to be summarised of a thread, as it was at one moment."""

    key: ThreadKey
    turns: tuple[TurnRecord, ...]
    """The settled turns to fold in, the oldest ones of the thread; never the tail."""
    previous: Summary | None
    revision: int
    digest: str
    tasks: tuple[SummaryTask, ...]
    """One for each audience: no way ever sees two of them together."""

    @property
    def upto(self) -> int:
        """Number of the last turn that is folded in."""
        return self.turns[-1].number


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A summary, and the snapshot that it was made of."""

    snapshot: Snapshot
    summary: Summary


def snapshot(thread: Thread, resume_tokens: int, at: datetime) -> Snapshot | None:
    """Return what should be summarised now; None if a resumed session is told all turns verbatim.

    `resume_tokens` is what its recap may cost. The newest turns stay.
    """
    room = recap_room(thread.summary, resume_tokens)
    costs = [turn_cost(turn, room) for turn in thread.turns]
    if sum(costs) <= room:
        return None
    tail = _tail(costs, min(int(resume_tokens * TAIL_SHARE), room))
    turns = _settled(thread.turns[: len(costs) - tail], at)
    if not turns:
        return None
    lines = thread.summary.lines if thread.summary else ()
    own = [line for line in lines if not line.turns]
    tokens = max(int(resume_tokens * SUMMARY_SHARE) - sum(line_cost(line.text) for line in own), 0)
    return Snapshot(
        key=thread.key,
        turns=turns,
        previous=thread.summary,
        revision=thread.revision,
        digest=_digest(turns, thread.summary),
        tasks=_tasks(turns, [line for line in lines if line.turns], tokens),
    )


def checkpoint(thread: Thread, resume_tokens: int, at: datetime) -> Checkpoint | None:
    """Return a checkpoint by the built-in way, which needs no model; None if nothing is due."""
    found = snapshot(thread, resume_tokens, at)
    if found is None:
        return None
    way = ExtractiveSummarizer()
    return _made(found, [way.extract(task) for task in found.tasks], way.name, at)


async def summarized(found: Snapshot, way: SummaryWay, at: datetime) -> Checkpoint:
    """Return a checkpoint by any way; raises SummaryFailed as the way does, or for no summary.

    For an audience that heard nothing new it is not asked: its lines stay.
    """
    drafts = [
        checked(await way.summarize(task), task) if task.turns else unchanged(task)
        for task in found.tasks
    ]
    return _made(found, drafts, way.name, at)


def committed(thread: Thread, made: Checkpoint) -> Thread:
    """Return a thread with a checkpoint in place of the turns it was made of.

    The thread comes back as it is if it is another one by now: something was forgotten, an answer
    came late, or another checkpoint was faster.
    """
    found = made.snapshot
    prefix = thread.turns[: len(found.turns)]
    same = (
        thread.key == found.key
        and thread.revision == found.revision
        and [turn.id for turn in prefix] == [turn.id for turn in found.turns]
        and _digest(prefix, thread.summary) == found.digest
    )
    if not same:
        return thread
    return replace(
        thread,
        turns=thread.turns[len(prefix) :],
        summary=made.summary,
        leaving=(*thread.leaving, *prefix)[-MAX_LEAVING:],
    )


def _made(found: Snapshot, drafts: Sequence[HomeSummary], name: str, at: datetime) -> Checkpoint:
    """Return the checkpoint of what a way gave for each task.

    Lines that cite no turn were written by a person: they stay as they are.
    """
    before = found.previous.lines if found.previous else ()
    lines = [line for line in before if not line.turns]
    for task, draft in zip(found.tasks, drafts, strict=True):
        lines += lines_of(draft, task)
    summary = Summary(lines=tuple(lines), upto=found.upto, made_by=name, at=at)
    return Checkpoint(snapshot=found, summary=summary)


def _tail(costs: Sequence[int], tokens: int) -> int:
    """Return how many of the newest turns fit; the newest always does."""
    kept, left = 0, tokens
    for cost in reversed(costs):
        left -= cost
        if left < 0 and kept:
            break
        kept += 1
    return kept


def _settled(turns: Sequence[TurnRecord], at: datetime) -> tuple[TurnRecord, ...]:
    """Return the turns before the first one that may still change."""
    settled: list[TurnRecord] = []
    for turn in turns:
        if not turn.answered and turn.at > at - SETTLING:
            break
        settled.append(turn)
    return tuple(settled)


def _tasks(
    turns: Sequence[TurnRecord], lines: Sequence[SummaryLine], tokens: int
) -> tuple[SummaryTask, ...]:
    """Return the work by audience, everybody's first.

    Who listens sees everybody's lines and their own, so those two share the tokens.
    """
    audiences = {turn.audience for turn in turns} | {line.audience for line in lines}
    groups: list[Audience] = sorted(audiences | {EVERYBODY}, key=sorted)
    share = tokens if len(groups) == 1 else tokens // 2
    tasks = (
        SummaryTask(
            turns=tuple(turn for turn in turns if turn.audience == group),
            previous=tuple(line for line in lines if line.audience == group),
            tokens=share,
            audience=group,
        )
        for group in groups
    )
    return tuple(task for task in tasks if task.turns or task.previous)


def _digest(turns: Sequence[TurnRecord], summary: Summary | None) -> str:
    """Return what changes whenever a turn or the summary before them does."""
    upto = summary.upto if summary else 0
    made = summary.at.isoformat() if summary else ""
    texts = [line.text for line in summary.lines] if summary else []
    told = [upto, made, texts, [turn_to_dict(turn) for turn in turns]]
    return digest(json.dumps(told, sort_keys=True))
