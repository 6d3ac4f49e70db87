"""What the model answers in one turn, gathered over all of its responses."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from . import failures
from .assembly import Message, Part
from .errors import RealtimeError, ResponseFailed
from .events import ResponseDone, ResponseStatus, Usage
from .replies import Call, FirstAudio, Replies, ReplyCalls, ReplyEnd, ReplyText
from .speech import Speech

FIRST_AUDIO_MS: Final = 300
LINGER_SECONDS: Final = 0.08
"""Some servers send the last audio just behind the end of its response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidItem:
    """One reply of the model, as far as it has come."""

    index: int
    text: str
    received_ms: float
    phase: str | None = None


class Answer:
    """Words, speech and calls of one turn."""

    def __init__(self, rate: int, *, on_audio: Callable[[], None]) -> None:
        """Begin with nothing; `on_audio` is called when the first audio has come."""
        self.replies = Replies()
        self.speech = Speech(rate)
        self.usage: list[Usage] = []
        self.failure: RealtimeError | None = None
        self.interrupted = False
        self.incomplete = False
        self._rate = rate
        self._on_audio = on_audio
        self._said: dict[int, SaidItem] = {}
        self._calls: dict[str, Call] = {}
        self._epochs: dict[str, int] = {}
        self._first_audio = False

    @property
    def said(self) -> tuple[SaidItem, ...]:
        """What was said, in order."""
        return tuple(self._said.values())

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls of completed responses, in order."""
        return tuple(self._calls.values())

    @property
    def unanswered(self) -> bool:
        """Whether a call waits for its answer."""
        return any(call.output is None for call in self._calls.values())

    @property
    def begun(self) -> bool:
        """Whether anything has been passed on, so that beginning again would be noticed."""
        return bool(self._said or self._calls)

    def born_in(self, call: Call) -> int:
        """Return the number of the session in which a call was made."""
        return self._epochs[call.call_id]

    def take(self, index: int, message: Message, part: Part) -> None:
        """Pass on words or audio of the reply with this index."""
        said = self._said.get(index) or SaidItem(index=index, text="", received_ms=0)
        if isinstance(part, str):
            self._said[index] = replace(said, text=said.text + part, phase=message.phase)
            self.replies.put(ReplyText(index=index, text=part, phase=message.phase))
            return
        ms = len(part) / (self._rate * 2) * 1000
        self._said[index] = replace(said, received_ms=said.received_ms + ms, phase=message.phase)
        if not self.speech.received_bytes:
            self._on_audio()
        self.speech.append(part)
        if self.speech.received_ms >= FIRST_AUDIO_MS:
            self._announce()

    def called(self, calls: tuple[Call, ...], epoch: int) -> None:
        """Pass on the calls of a completed response."""
        new = tuple(call for call in calls if call.call_id not in self._calls)
        self._calls |= {call.call_id: call for call in new}
        self._epochs |= {call.call_id: epoch for call in new}
        self._announce()
        self.replies.put(ReplyCalls(new))

    def answer(self, call_id: str, output: str) -> bool:
        """Keep the answer to a call; return False if there is no such call, or it has one."""
        call = self._calls.get(call_id)
        if call is None or call.output is not None:
            return False
        self._calls[call_id] = replace(call, output=output)
        return True

    def settle(self, event: ResponseDone) -> float:
        """Take the end of the last response; return the seconds to wait for what comes late.

        An answer that is too short to be announced before can be heard now.
        """
        self._announce()
        code = event.error_code
        match event.status:
            case ResponseStatus.FAILED:
                self.failure = failures.failure(code or "response_failed")
            case _ if not self.begun:
                self.failure = ResponseFailed(f"response_{event.status}_empty")
            case ResponseStatus.INCOMPLETE | ResponseStatus.CANCELLED:
                self.incomplete = True
            case ResponseStatus.COMPLETED:
                pass
        return LINGER_SECONDS if self.speech.received_bytes else 0.0

    def end(self, *, dropped: bool) -> None:
        """Let replies and speech end; `dropped`: what was not taken is not wanted any more."""
        if dropped:
            self.replies.drop()
            self.speech.drop()
            return
        self._announce()
        self.replies.put(ReplyEnd(failure=self.failure, incomplete=self.incomplete))
        self.speech.end()

    def _announce(self) -> None:
        if self.speech.received_bytes and not self._first_audio:
            self._first_audio = True
            self.replies.put(FirstAudio())
