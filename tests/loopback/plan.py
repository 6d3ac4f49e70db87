"""From a reply to the steps of a response: every event in the recorded order, at its pace."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .audio import BYTES_PER_MS, tone
from .brain import Call, Reply, ReplyPart, Speech, Text
from .items import Item, text_tokens
from .stream import OutputItem, Sink

if TYPE_CHECKING:
    from .session import LoopbackSession

_WORD = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
_TEXT_STEP = 0.02
"""Seconds between two deltas of a text that is not spoken."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something a response does after `seconds`; a `delta` may still come after a cancel."""

    seconds: float
    act: Callable[[], None]
    delta: bool = False


class Answering(Sink, Protocol):
    """The response for which steps are laid out."""

    @property
    def modality(self) -> str:
        """Whether it shall be `audio` or `text`."""

    def opened(self, output: OutputItem) -> None:
        """Count an item as part of the response."""


class Planner:
    """Lays out one response, and counts the tokens that its steps sent."""

    def __init__(self, session: LoopbackSession, response: Answering) -> None:
        """Plan for `response`."""
        self.text_tokens = 0
        self.audio_tokens = 0
        self._session = session
        self._response = response
        self._switches = session.switches

    @property
    def tokens(self) -> int:
        """All tokens that were sent."""
        return self.text_tokens + self.audio_tokens

    async def plan(self, reply: Reply) -> list[Step]:
        """Lay out all events of a reply in their order and pace."""
        opened: list[tuple[OutputItem, list[Step]]] = []
        calls_follow = any(isinstance(part, Call) for part in reply.parts)
        for index, part in enumerate(reply.parts):
            output = self._output(index, part, calls_follow=calls_follow)
            opened.append((output, [step async for step in self._deltas(output, part)]))
        return list(self._ordered(opened))

    def _ordered(self, opened: list[tuple[OutputItem, list[Step]]]) -> Iterator[Step]:
        """Yield the steps of all items: one after the other, or a message around its calls."""
        waiting: OutputItem | None = None
        for output, deltas in opened:
            if waiting is not None and output.kind != "call":
                yield Step(0, waiting.close)
                waiting = None
            yield Step(0, self._opening(output))
            yield from deltas
            if output.kind != "call" and self._session.model.interleaves:
                waiting = output
                continue
            if waiting is not None:
                yield Step(0, waiting.close)
                waiting = None
            yield Step(0, output.close)
        if waiting is not None:
            yield Step(0, waiting.close)

    def _opening(self, output: OutputItem) -> Callable[[], None]:
        """Return what opens an item and makes it part of the response."""

        def act() -> None:
            self._response.opened(output)
            output.open()

        return act

    def _output(self, index: int, part: ReplyPart, *, calls_follow: bool) -> OutputItem:
        """Return the empty item for one part of a reply."""
        session = self._session
        item_id = session.new_id("item")
        closing = self._switches.audio_close
        if isinstance(part, Call):
            call_id = session.new_id("call")
            item = Item(item_id, "function_call", "in_progress", name=part.name, call_id=call_id)
            return OutputItem(self._response, index, item, "call", closing)
        assert isinstance(part, Speech | Text)
        item = Item(item_id, "message", "in_progress", role="assistant")
        if session.model.interleaves:
            item.phase = part.phase or ("commentary" if calls_follow else "final_answer")
        aloud = isinstance(part, Speech) and self._response.modality == "audio"
        return OutputItem(self._response, index, item, "audio" if aloud else "text", closing)

    async def _deltas(self, output: OutputItem, part: ReplyPart) -> AsyncIterator[Step]:
        """Yield the steps that fill one item."""
        if isinstance(part, Speech) and output.kind == "audio":
            for step in self._spoken(output, part.text, await self._sound(part)):
                yield step
            return
        assert isinstance(part, Speech | Text | Call)
        written = part.arguments if isinstance(part, Call) else part.text
        for piece in _WORD.findall(written):
            yield Step(_TEXT_STEP, self._letters(output, piece), delta=True)

    def _spoken(self, output: OutputItem, text: str, pcm: bytes) -> Iterator[Step]:
        """Yield audio at the pace at which it is made, and its words a little ahead of it."""
        words: list[str] = _WORD.findall(text)
        size = self._switches.audio_delta_ms * BYTES_PER_MS
        letters = 0
        for start in range(0, len(pcm), size):
            due = start / BYTES_PER_MS / 1000 * self._switches.characters_per_second
            while words and letters < due + self._switches.text_lead:
                word = words.pop(0)
                letters += len(word)
                yield Step(0, self._letters(output, word), delta=True)
            chunk = pcm[start : start + size]
            pace = len(chunk) / BYTES_PER_MS / 1000 / self._switches.audio_speed
            yield Step(pace, self._audio(output, chunk), delta=True)
        for word in words:
            yield Step(0, self._letters(output, word), delta=True)

    async def _sound(self, part: Speech) -> bytes:
        """Return the PCM of a speech."""
        if part.pcm is not None:
            return part.pcm
        if part.ms is not None:
            return tone(part.ms)
        return await self._session.brain.speak(part.text)

    def _letters(self, output: OutputItem, letters: str) -> Callable[[], None]:
        """Return what sends letters and counts them."""

        def act() -> None:
            self.text_tokens += text_tokens(letters)
            output.text(letters)

        return act

    def _audio(self, output: OutputItem, chunk: bytes) -> Callable[[], None]:
        """Return what sends audio and counts it: 20 tokens a second."""

        def act() -> None:
            self.audio_tokens += -(-len(chunk) * 20 // (BYTES_PER_MS * 1000))
            output.sound(chunk)

        return act
