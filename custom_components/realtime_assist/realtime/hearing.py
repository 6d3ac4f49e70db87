"""What the user said, as far as it is known: the provider's transcript and when to stop waiting.

The pipeline goes on only when it has a text, while the answer may be on its way already. So the
words are settled at the earliest of:

    completed    every spoken item has its transcript
    quiet        it came in pieces, none for 200 ms (600 ms where no sentence has ended), and audio
                 of the answer is in hand
    failed       the provider could not transcribe, or heard nothing where we heard something
    late         3 s after the first audio (or the end of a response without any), or 10 s after the
                 end of speech; sooner with a provider that never tells what it heard
    no_speech    the transcript is empty and nobody heard speech
    lost         the session is gone, or could not be opened
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .events import TranscriptDelta, TranscriptDone
from .timers import Timers

QUIET_SECONDS: Final = 0.2
UNFINISHED_SECONDS: Final = 0.6
"""Pieces of one sentence were seen 210 ms apart: half a sentence would be taken for the whole."""
_SENTENCE_ENDS: Final = tuple(".!?…。\uff01\uff1f\u061f\u0964")
LATE_SECONDS: Final = 3.0
MUTE_SECONDS: Final = 0.3
LIMIT_SECONDS: Final = 10.0
MAX_CHARACTERS: Final = 20_000
"""Longest transcript of one item that is kept."""


class How(StrEnum):
    """How the words of the user were settled."""

    COMPLETED = "completed"
    QUIET = "quiet"
    FAILED = "failed"
    LATE = "late"
    NO_SPEECH = "no_speech"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The words of the user; `text` is None where nobody knows them."""

    text: str | None
    how: How
    confidence: float | None = None
    """0 to 1, None if the provider does not tell."""


@dataclass(slots=True)
class _Words:
    """The transcript of one item."""

    text: str = ""
    done: bool = False
    failed: bool = False
    confidence: float | None = None


class Hearing:
    """Gathers the transcript of one turn; `wait` returns once, the text may still get better."""

    def __init__(self, no_speech: Callable[[], None], *, mute: bool = False) -> None:
        """Wait for nothing yet; `no_speech` is called at most once, when that is found.

        `mute`: this provider has not said a word of what it heard before, so it is not waited for
        as long as others.
        """
        self._late_seconds = MUTE_SECONDS if mute else LATE_SECONDS
        self.speech_seen = False
        """Somebody heard speech: the provider's turn detection, or we by its loudness."""
        self._no_speech = no_speech
        self._items: dict[str, _Words] = {}
        self._before: str | None = None
        """The words that were settled before another session began to write them down again."""
        self._timers = Timers()
        self._settled: Heard | None = None
        self._changed = asyncio.Event()
        self._committed = False
        self._audio = False

    @property
    def text(self) -> str | None:
        """The words as they are known now, None while there are none."""
        words = " ".join(w.text.strip() for w in self._items.values() if w.text.strip())
        return words or self._before

    @property
    def confidence(self) -> float | None:
        """The least confidence of all items, None if the provider does not tell."""
        known = [w.confidence for w in self._items.values() if w.confidence is not None]
        return min(known, default=None)

    @property
    def told(self) -> bool:
        """Whether the provider said anything about what it heard."""
        return any(words.done or words.text for words in self._items.values())

    @property
    def settled(self) -> Heard | None:
        """The result, None while it is waited for."""
        return self._settled

    async def wait(self) -> Heard:
        """Return the words as soon as they are settled."""
        while self._settled is None:
            await self._changed.wait()
        return self._settled

    def typed(self, text: str) -> None:
        """Take words that were typed: nothing is to be heard."""
        self._items["typed"] = _Words(text, done=True)
        self.settle(How.COMPLETED)

    def speech_ended(self) -> None:
        """Begin to wait; the provider has this long at most."""
        self._timers.start_once("limit", LIMIT_SECONDS, lambda: self.settle(How.LATE))

    def bind(self, item_id: str) -> None:
        """Take the words of this item for words of this turn."""
        self._items.setdefault(item_id, _Words())

    def committed(self) -> None:
        """All of the speech is with the provider: from now on silence may mean completeness."""
        self._committed = True
        self._check()

    def delta(self, event: TranscriptDelta) -> None:
        """Take more words."""
        words = self._items.setdefault(event.item_id, _Words())
        if words.done:
            return
        words.text = (event.text if event.replaces else words.text + event.text)[:MAX_CHARACTERS]
        self._check()

    def done(self, event: TranscriptDone) -> None:
        """Take all words of an item, or that there will be none."""
        words = self._items.setdefault(event.item_id, _Words())
        words.done = True
        words.failed = event.text is None
        if event.text is not None:
            words.text = event.text[:MAX_CHARACTERS]
        words.confidence = event.confidence
        self._check()

    def audio_in_hand(self) -> None:
        """Take it that the answer is there: there is little time to wait for its question."""
        self._audio = True
        self._timers.start_once("late", self._late_seconds, lambda: self.settle(How.LATE))
        self._check()

    def rewind(self) -> None:
        """Begin again: the speech goes to another session, which will transcribe it."""
        self._before = self.text if self._settled is not None else None
        self._items.clear()
        self._committed = self._audio = False
        self._timers.stop("quiet")
        self._timers.stop("late")

    def settle(self, how: How) -> None:
        """Settle with the words as they are; nothing happens if that was done before."""
        if self._settled is not None:
            return
        known = how in {How.COMPLETED, How.QUIET}
        self._settled = Heard(
            text=self.text if known else None, how=how, confidence=self.confidence
        )
        self._timers.close()
        self._changed.set()
        if how is How.NO_SPEECH:
            self._no_speech()

    def close(self) -> None:
        """Wait no more."""
        self.settle(How.LOST)

    def _check(self) -> None:
        if self._settled is not None or not self._committed or not self._items:
            return
        if all(words.done for words in self._items.values()):
            if self.text is not None:
                self.settle(How.COMPLETED)
            elif self.speech_seen or any(words.failed for words in self._items.values()):
                self.settle(How.FAILED)
            else:
                self.settle(How.NO_SPEECH)
        elif self._audio and self.text is not None:
            ended = self.text.rstrip().endswith(_SENTENCE_ENDS)
            wait = QUIET_SECONDS if ended else UNFINISHED_SECONDS
            self._timers.start("quiet", wait, lambda: self.settle(How.QUIET))
