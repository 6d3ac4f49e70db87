"""The model of the soak: it answers the number that it hears, and looks at all that it is told."""

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.loopback import Brain, Call, ItemView, Reply, Request, Speech, Transcript

from .voice import SOUND_MS, number_of, sound

RATE: Final = 24_000
TOOL: Final = "HassTurnOn"
EVERY: Final = 6
"""So many-th questions are answered with a tool."""
MARK: Final = re.compile(r"#(\d+)")
_COUNTER: Final = re.compile(r"- counter: (\d+)")


@dataclass
class Known:
    """What the lane knows, and the model must be told accordingly."""

    counter: int = 0
    """The fact as it was when the answer was asked for: it may have changed since."""
    forgotten: list[str] = field(default_factory=list)
    heard_ms: dict[int, int] = field(default_factory=dict)
    """How much was heard of a reply, by its number, once its turn is over."""


class Mind(Brain):
    """Hears numbers, says numbers; whatever is not as it should be goes to `problem`."""

    def __init__(self, chance: random.Random, problem: Callable[[str], None]) -> None:
        """Have heard nothing."""
        self.known: Final = Known()
        self.said: Final[dict[int, list[str]]] = {}
        """Question -> the texts of all answers that were begun."""
        self.lengths: Final[dict[str, int]] = {}
        self.deaf: bool = False
        """The next transcription fails."""
        self._chance: Final = chance
        self._problem: Final = problem
        self._answers = 0

    async def hear(self, audio: bytes) -> Transcript:
        """Write down the number."""
        if self.deaf:
            return Transcript(failure="server_error")
        return Transcript(f"question #{number_of(audio, RATE)}")

    def expects(self) -> str | None:
        """Know nothing before it is said."""
        return None

    async def speak(self, text: str) -> bytes:
        """Say nothing verbatim."""
        return sound(len(text), RATE)

    async def reply(self, request: Request) -> Reply:
        """Answer the last question, or call the tool for it, if that was not done."""
        self._look(request)
        number = self._question(request)
        if number is None:  # half of the speech, on a line that is ending
            return Reply((Speech("What?"),))
        done = any(f'"n": {number}}}' in text and "outcome" in text for text in request.texts())
        called = any(
            i.kind == "call" and f'"n": {number}}}' in i.arguments for i in request.context
        )
        if number % EVERY == 0 and not done and not called:
            return Reply((Call(TOOL, f'{{"n": {number}}}'),))
        self._answers += 1
        words = " and so on" * self._chance.randrange(4)
        text = f"Answer to {number}, the {self._answers}th{words}."
        ms = self._chance.randrange(SOUND_MS, 4 * SOUND_MS)
        self.said.setdefault(number, []).append(text)
        self.lengths[text] = ms
        return Reply((Speech(text, pcm=sound(self._answers % 65_536, RATE, ms)),))

    def _question(self, request: Request) -> int | None:
        for item in reversed(request.context):
            if item.kind != "message" or item.role != "user":
                continue
            if item.audio:
                return number_of(item.audio, RATE)
            if item.text.startswith("typed ") and (found := MARK.search(item.text)):
                return int(found[1])
        return None

    def _look(self, request: Request) -> None:
        """See that what is told is what should be: no more, no less, and once."""
        texts = request.texts()
        for secret in self.known.forgotten[-20:]:
            if any(secret in text for text in texts):
                self._problem("something that was forgotten was told")
        counters = [int(found) for text in texts for found in _COUNTER.findall(text)]
        if self.known.counter and counters[-1:] < [self.known.counter]:
            self._problem(f"counter {self.known.counter} is not told: {counters}")
        latest = [text for text in texts if 'kind="recap"' in text][-1:]
        latest += [text for text in texts if 'kind="meanwhile"' in text]
        latest += [text for text in texts if text.startswith("typed ")]
        told = Counter(mark for text in latest for mark in set(MARK.findall(text)))
        told += Counter(
            str(number_of(item.audio, RATE))
            for item in request.context
            if item.role == "user" and item.audio
        )
        if twice := [mark for mark, times in told.items() if times > 1]:
            self._problem(f"told more than once: {twice}")
        for item in request.context:
            self._look_at_reply(item)

    def _look_at_reply(self, item: ItemView) -> None:
        """See that nothing is held of a reply that was not heard."""
        if item.role != "assistant" or not item.audio:
            return
        number = number_of(item.audio, RATE)
        heard = self.known.heard_ms.get(number or 0)
        if heard is not None and len(item.audio) / (2 * RATE / 1000) > heard + 1:
            self._problem(f"reply {number} is held beyond the {heard} ms that were heard")
