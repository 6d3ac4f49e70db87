"""The other model, that writes down what users say: when, and how well."""

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .audio import duration_ms
from .brain import Transcript
from .items import Item

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]

_WORD = re.compile(r"\s*\w+|\s*[^\w\s]")
_MS_PER_WORD = 400
"""How long into the speech each word is written, where that happens while one speaks."""


class Scribe:
    """The other model, that writes down one user item, in its own time."""

    def __init__(self, session: LoopbackSession, item_id: str) -> None:
        """Prepare for the item of that id, which may not be there yet."""
        self.item_id = item_id
        self._session = session
        self._written = 0
        self._audio_before = 0
        self._started_before = 0
        self._wanted_audio = session.dice.randint(*session.switches.transcript_after)

    def overhear(self, ms: int) -> None:
        """Write the first words while they are spoken, `ms` into the speech, if so wanted."""
        switches = self._session.switches
        if not switches.transcript_while_speaking or switches.transcript_style != "deltas":
            return
        words = _words(self._session.brain.expects() or "")
        due = min(len(words) // 2, ms // _MS_PER_WORD)
        self._deltas(words[self._written : due])
        self._written = max(self._written, due)

    async def write_down(self, item: Item, audio: bytes) -> None:
        """Hear the audio, then send deltas and the outcome when their time has come."""
        session = self._session
        self._audio_before = session.responder.audio_deltas
        self._started_before = session.responder.started
        transcript = await session.brain.hear(audio)
        if transcript.after is not None:
            await session.clock.lapse(transcript.after)
            self._wanted_audio = 0
        style = session.switches.transcript_style
        if transcript.failure is None and style == "deltas":
            words = _words(transcript.text)
            half = max(self._written, len(words) // 2)
            self._deltas(words[self._written : half])
            await self._wait(self._wanted_audio // 2)
            self._deltas(words[half:])
        await self._wait(self._wanted_audio)
        deleted = not session.conversation.holds(item)
        if deleted and session.switches.transcript_of_deleted == "withheld":
            return
        if style == "cumulative":
            self._cumulative(transcript)
        elif style == "whole" and transcript.failure is None:
            self._deltas([transcript.text])
        self._outcome(item, transcript, math.ceil(duration_ms(audio) / 1000))

    async def _wait(self, audio: int) -> None:
        """Wait for that many audio deltas, the end of the response, or long enough without one."""
        session = self._session
        if not audio:
            return
        for _ in range(20):
            if session.responder.started > self._started_before or session.responder.active:
                break
            await session.clock.sleep(session.switches.transcript_alone / 20)
        while (
            session.responder.active is not None
            and session.responder.audio_deltas - self._audio_before < audio
        ):
            await session.progress.wait()

    def _deltas(self, words: list[str]) -> None:
        """Send words as they are understood."""
        for word in words:
            self._session.emit(
                "conversation.item.input_audio_transcription.delta",
                item_id=self.item_id,
                content_index=0,
                delta=word,
                **self._session.obfuscation(),
            )

    def _cumulative(self, transcript: Transcript) -> None:
        """Send what is understood so far, again and again, each time from the beginning."""
        name = "conversation.item.input_audio_transcription."
        place: Json = {"item_id": self.item_id, "content_index": 0}
        for text in _prefixes(transcript.text):
            self._session.emit(name + "updated", **place, transcript=text)
            self._session.emit(name + "completed", **place, transcript=text, status="in_progress")

    def _outcome(self, item: Item, transcript: Transcript, seconds: int) -> None:
        """Send the final transcript, or that there is none."""
        place: Json = {"item_id": self.item_id, "content_index": 0}
        name = "conversation.item.input_audio_transcription."
        if transcript.failure is not None:
            error = {
                "type": "transcription_error",
                "code": transcript.failure,
                "message": transcript.says,
                "param": None,
            }
            self._session.emit(name + "failed", **place, error=error)
            return
        for part in item.content:
            part.transcript = transcript.text
        fields: Json = {"transcript": transcript.text}
        if self._session.switches.transcript_style == "cumulative":
            fields["status"] = "completed"
        else:
            fields["usage"] = {"type": "duration", "seconds": seconds}
        self._session.emit(name + "completed", **place, **fields)


def _words(text: str) -> list[str]:
    """Return the words of a transcript as its deltas have them: a blank in front of each."""
    return _WORD.findall(f" {text}") if text else []


def _prefixes(text: str) -> Iterator[str]:
    """Yield the first third and the first two thirds of a text's words."""
    words = text.split()
    for share in (1, 2):
        if words[: len(words) * share // 3]:
            yield " ".join(words[: len(words) * share // 3])
