"""What passed between Home Assistant and the realtime server, read from the server's own log.

The log has one line of JSON for each event: the Unix time `at`, the number of the `session`, and
the event as what the server `received` or `sent`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One event, and which way it went as the server sees it."""

    at: float
    session: int
    way: Literal["received", "sent"]
    event: Json

    @property
    def kind(self) -> str:
        """The event's type."""
        return str(self.event.get("type", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model asked for."""

    name: str
    arguments: str


class Wire:
    """Reads the log while it grows."""

    def __init__(self, path: Path) -> None:
        """Read the log at `path`, which may come later."""
        self.path = path

    def mark(self) -> int:
        """Return a position: what is logged from now on lies behind it."""
        return self.path.stat().st_size if self.path.exists() else 0

    def since(self, mark: int = 0) -> tuple[Frame, ...]:
        """Return the events behind a position, in order."""
        if not self.path.exists():
            return ()
        with self.path.open("rb") as log:
            log.seek(mark)
            data = log.read()
        # A line that is being written counts the next time.
        return tuple(_frame(line) for line in data[: data.rfind(b"\n") + 1].splitlines())


def calls(frames: Iterable[Frame]) -> tuple[ToolCall, ...]:
    """Return the tools that completed responses asked for."""
    return tuple(
        ToolCall(name=item["name"], arguments=item["arguments"])
        for response in _responses(frames)
        for item in response.get("output", ())
        if item.get("type") == "function_call"
    )


def input_tokens(frames: Iterable[Frame]) -> tuple[int, ...]:
    """Return what the server reports each response to have read, in tokens, in order."""
    usages = (response.get("usage") or {} for response in _responses(frames))
    return tuple(usage["input_tokens"] for usage in usages if "input_tokens" in usage)


def replies(frames: Iterable[Frame]) -> str:
    """Return the words of what was said aloud."""
    return " ".join(
        content["transcript"]
        for response in _responses(frames)
        for item in response.get("output", ())
        for content in item.get("content", ())
        if content.get("transcript")
    )


def notes(frames: Iterable[Frame]) -> tuple[str, ...]:
    """Return the texts that the client put into the conversation."""
    return tuple(
        content["text"]
        for frame in frames
        if frame.way == "received" and frame.kind == "conversation.item.create"
        for content in frame.event["item"].get("content") or ()
        if content.get("text")
    )


def instructions(frames: Sequence[Frame]) -> str:
    """Return the newest instructions, and the tools as the text that they cost."""
    for frame in reversed(frames):
        if frame.way == "received" and frame.kind == "session.update":
            session = frame.event["session"]
            return str(session.get("instructions", "")) + json.dumps(session.get("tools", []))
    return ""


def sessions(frames: Iterable[Frame]) -> tuple[int, ...]:
    """Return the numbers of the sessions that took part, in order."""
    return tuple(dict.fromkeys(frame.session for frame in frames))


def items_held(frames: Iterable[Frame]) -> int:
    """Return how many items the newest session holds, going by its acknowledgements."""
    held: dict[int, set[str]] = {}
    for frame in frames:
        if frame.way == "received":
            continue
        items = held.setdefault(frame.session, set())
        if frame.kind in ("conversation.item.added", "conversation.item.created"):
            items.add(frame.event["item"]["id"])
        elif frame.kind == "conversation.item.deleted":
            items.discard(frame.event.get("item_id", ""))
    return len(held[max(held)]) if held else 0


def count(frames: Iterable[Frame], kind: str) -> int:
    """Return how many events of a type there are."""
    return sum(frame.kind == kind for frame in frames)


def about_tokens(text: str) -> int:
    """Return about how many tokens an English text has: one for every four letters."""
    return -(-len(text) // 4)


def _responses(frames: Iterable[Frame]) -> Iterator[Json]:
    for frame in frames:
        if frame.way == "sent" and frame.kind == "response.done":
            yield frame.event["response"]


def _frame(line: bytes) -> Frame:
    told = json.loads(line)
    way: Literal["received", "sent"] = "received" if "received" in told else "sent"
    return Frame(at=told["at"], session=told["session"], way=way, event=told[way])
