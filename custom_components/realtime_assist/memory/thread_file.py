"""How a thread stands on the disk: checked where it comes in, plain dataclasses afterwards."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from .transcript import Summary, SummaryLine, Thread, ThreadKey, TurnRecord

_TURN: Final = TypeAdapter(TurnRecord)
_LINE: Final = TypeAdapter(SummaryLine)


class _Summary(BaseModel):
    lines: list[Any]
    upto: int = Field(ge=0)
    made_by: str
    at: AwareDatetime


class _Thread(BaseModel):
    """The outside of a thread. Fields that a newer version added are ignored."""

    key: str
    turns: list[Any]
    summary: _Summary | None = None
    next_number: int = Field(ge=1)
    revision: int = Field(ge=0)
    last_at: AwareDatetime | None = None
    leaving: list[Any] = []


def thread_to_dict(thread: Thread) -> dict[str, Any]:
    """Return a thread as JSON for the disk."""
    summary = thread.summary
    return {
        "key": str(thread.key),
        "turns": [turn_to_dict(turn) for turn in thread.turns],
        "summary": summary
        and {
            "lines": [
                _sorted_audience(_LINE.dump_python(line, mode="json")) for line in summary.lines
            ],
            "upto": summary.upto,
            "made_by": summary.made_by,
            "at": summary.at.isoformat(),
        },
        "next_number": thread.next_number,
        "revision": thread.revision,
        "last_at": thread.last_at and thread.last_at.isoformat(),
        "leaving": [turn_to_dict(turn) for turn in thread.leaving],
    }


def turn_to_dict(turn: TurnRecord) -> dict[str, Any]:
    """Return a turn as JSON; equal turns are equal texts."""
    return _sorted_audience(_TURN.dump_python(turn, mode="json"))


def thread_from_dict(data: object) -> tuple[Thread, int]:
    """Read a thread from the disk, and how many turns and lines of it could not be read.

    Raises ValueError if there is no thread in it at all.
    """
    found = _Thread.model_validate(data)
    turns, unread = turns_from(found.turns)
    leaving, lost = turns_from(found.leaving)
    unread += lost
    summary = None
    if found.summary:
        lines = tuple(_readable(_LINE, found.summary.lines))
        unread += len(found.summary.lines) - len(lines)
        summary = Summary(
            lines=lines, upto=found.summary.upto, made_by=found.summary.made_by, at=found.summary.at
        )
    last = max((turn.number for turn in (*leaving, *turns)), default=0)
    thread = Thread(
        key=ThreadKey.parse(found.key),
        turns=turns,
        summary=summary,
        next_number=max(found.next_number, last + 1),
        revision=found.revision,
        last_at=found.last_at,
        leaving=leaving,
    )
    return thread, unread


def turns_from(found: list[Any]) -> tuple[tuple[TurnRecord, ...], int]:
    """Read turns, in the order of their numbers, and how many could not be read."""
    turns = tuple(sorted(_readable(_TURN, found), key=lambda turn: turn.number))
    return turns, len(found) - len(turns)


def _readable[T: (TurnRecord, SummaryLine)](kind: TypeAdapter[T], found: list[Any]) -> list[T]:
    """Return what can be read; one broken turn does not take the others with it."""
    read: list[T] = []
    for data in found:
        # Without a stated audience it would be everybody's.
        if not isinstance(data, Mapping) or "audience" not in data:
            continue
        try:
            item = kind.validate_python(data)
        except ValidationError:
            continue
        if item.at is None or item.at.tzinfo is not None:
            read.append(item)
    return read


def _sorted_audience(data: dict[str, Any]) -> dict[str, Any]:
    """Return it with the audience in an order that does not change from run to run."""
    return {**data, "audience": sorted(data["audience"])}
