"""What the archive is made of: the turns of a month, or the whole of one long tool result.

Pure. A segment is one file; its key says whose it is and how old, so that what is too old or too
much is found without reading any.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Any, Final, Self, override

from pydantic import BaseModel

from ..items import digest
from .thread_file import turn_to_dict, turns_from
from .transcript import ThreadKey, TurnRecord

MONTHS: Final = 13
"""Months of which what was said is kept, this one included: a year at least."""
MAX_BYTES: Final = 8 * 1024 * 1024
"""Of what was said in one thread, on the disk: about a year of fifty turns a day."""
MAX_RESULT_BYTES: Final = 4 * 1024 * 1024
"""Of the long tool results of one thread, on the disk."""
MAX_RESULTS: Final = 100
"""Long tool results of one thread."""
_TURN_BYTES: Final = 450
"""What a turn costs on the disk beside its texts."""

type Revise = Callable[[TurnRecord], TurnRecord | None]
"""Returns a turn as it should be; None: it should not be there."""


@dataclass(frozen=True, slots=True)
class ArchiveKey:
    """Which segment of which thread."""

    thread: ThreadKey
    when: str
    """`2026-11`, or the moment of a tool result. Sorted as text they are sorted by time."""
    result: str = ""
    """Id of the long tool result that it holds; empty: it holds the turns of a month."""

    @override
    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.when}.{self.result}/{self.thread}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key from its text; raises ValueError if it is none."""
        place, _, thread = text.partition("/")
        when, dot, result = place.partition(".")
        if not when or not dot:
            raise ValueError("no key of an archive")
        return cls(ThreadKey.parse(thread), when, result)

    @classmethod
    def of_turn(cls, thread: ThreadKey, turn: TurnRecord) -> Self:
        """Return where a turn belongs. It is told apart from others by its own clock."""
        return cls(thread, month(turn.at))

    @classmethod
    def of_result(cls, thread: ThreadKey, turn: TurnRecord, result: str) -> Self:
        """Return where a long tool result belongs."""
        return cls(thread, f"{turn.at:%Y-%m-%dT%H:%M:%S}", result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The turns of one key, by time. Of a tool result: its turn, with nothing else in it."""

    key: ArchiveKey
    turns: tuple[TurnRecord, ...] = ()

    def holding(self, turns: Iterable[TurnRecord], most: int = MAX_BYTES) -> Self:
        """Return it with more turns; one that is in it already is replaced.

        If that is more than about `most` bytes the oldest are let go.
        """
        by_id = {turn.id: turn for turn in (*self.turns, *turns)}
        ordered = sorted(by_id.values(), key=lambda turn: (turn.at, turn.number))
        sizes = accumulate(_size(turn) for turn in reversed(ordered))
        fitting = sum(size <= most for size in sizes)
        return replace(self, turns=tuple(ordered[-max(fitting, 1) :]))

    def revised(self, revise: Revise) -> Self:
        """Return it with each turn as `revise` says; itself if all are as they were."""
        turns = tuple(turn for each in self.turns if (turn := revise(each)) is not None)
        return self if turns == self.turns else replace(self, turns=turns)


def result_id(turn_id: str, call_id: str) -> str:
    """Return what a long tool result is known by, in this home and to the model."""
    return digest(f"{turn_id}/{call_id}")


def month(at: datetime) -> str:
    """Return the month of a moment, in the time zone that it was in."""
    return f"{at:%Y-%m}"


def oldest_month(now: datetime) -> str:
    """Return the first month of which anything is kept."""
    months = now.year * 12 + now.month - MONTHS
    return f"{months // 12:04}-{months % 12 + 1:02}"


def too_much(keys: Iterable[ArchiveKey], sizes: Sequence[int], oldest: str) -> list[ArchiveKey]:
    """Return the segments of a thread that must go: too old, or the oldest of too many bytes.

    What was said and what tools told are counted apart. The newest segment of each stays.
    """
    gone: list[ArchiveKey] = []
    held = sorted(zip(keys, sizes, strict=True), key=lambda pair: pair[0].when, reverse=True)
    for results, most, count in ((False, MAX_BYTES, MONTHS), (True, MAX_RESULT_BYTES, MAX_RESULTS)):
        these = [(key, size) for key, size in held if bool(key.result) is results]
        total = 0
        for place, (key, size) in enumerate(these):
            total += size
            if key.when < oldest or (place and (total > most or place >= count)):
                gone.append(key)
    return gone


class _Segment(BaseModel):
    """The outside of a segment. Fields that a newer version added are ignored."""

    key: str
    turns: list[Any]


def segment_to_dict(segment: Segment) -> dict[str, Any]:
    """Return a segment as JSON for the disk."""
    return {"key": str(segment.key), "turns": [turn_to_dict(turn) for turn in segment.turns]}


def segment_from_dict(data: object) -> tuple[Segment, int]:
    """Read a segment from the disk, and how many turns of it could not be read.

    Raises ValueError if there is none in it at all.
    """
    found = _Segment.model_validate(data)
    turns, lost = turns_from(found.turns)
    return Segment(key=ArchiveKey.parse(found.key)).holding(turns), lost


def _size(turn: TurnRecord) -> int:
    """Return about how many bytes a turn costs on the disk."""
    return _TURN_BYTES + sum(len(text.encode(errors="replace")) for text in turn.texts())
