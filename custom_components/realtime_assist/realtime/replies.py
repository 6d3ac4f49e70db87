"""What the model answers in one turn, as the conversation stage gets it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from .errors import RealtimeError

MAX_CHARACTERS: Final = 200_000
"""Longest answer in text; more of it is counted and left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of the model, and our answer to it."""

    call_id: str
    name: str
    arguments: str
    """JSON text as the model wrote it: it may be broken."""
    output: str | None = None
    """What was answered; None: not yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyText:
    """More words of a reply."""

    index: int
    """Which reply of the turn: a preamble and the answer are two."""
    text: str
    phase: str | None = None
    """`commentary` or `final_answer` where the model says so."""


@dataclass(frozen=True, slots=True)
class FirstAudio:
    """The answer can be heard without a gap from here on. Comes once."""


@dataclass(frozen=True, slots=True)
class ReplyCalls:
    """Tool calls of a complete response; each is to be answered once."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEnd:
    """The answer is over."""

    failure: RealtimeError | None = None
    incomplete: bool = False
    """It was cut off: by a limit, a filter, or because it was not wanted any more."""


type Reply = ReplyText | FirstAudio | ReplyCalls | ReplyEnd


class Replies:
    """A stream of replies that ends with one `ReplyEnd`; iterate once.

    Words that nobody has taken yet are joined, so a slow reader costs no more than the text itself.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.dropped_characters = 0
        self.ended = False
        self._waiting: deque[Reply] = deque()
        self._characters = 0
        self._wake = asyncio.Event()

    def put(self, reply: Reply) -> None:
        """Add a reply; nothing comes after the end."""
        if self.ended:
            return
        if isinstance(reply, ReplyText):
            self._characters += len(reply.text)
            if self._characters > MAX_CHARACTERS:
                self.dropped_characters += len(reply.text)
                return
            last = self._waiting[-1] if self._waiting else None
            if isinstance(last, ReplyText) and last.index == reply.index:
                self._waiting[-1] = replace(last, text=last.text + reply.text)
                return
        self.ended = isinstance(reply, ReplyEnd)
        self._waiting.append(reply)
        self._wake.set()

    def drop(self) -> None:
        """End now: what was not taken is not wanted any more."""
        if not self.ended:
            self._waiting.clear()
            self.put(ReplyEnd(incomplete=True))

    async def __aiter__(self) -> AsyncIterator[Reply]:
        """Give the replies as they come."""
        while True:
            while self._waiting:
                reply = self._waiting.popleft()
                yield reply
                if isinstance(reply, ReplyEnd):
                    return
            self._wake.clear()
            await self._wake.wait()
