"""One turn on the wire: what the user says, and what the model answers.

Whoever serves the turn uses the first half of `Exchange`; it never waits for the wire, except where
it says so. The session uses the second half. What is sent, and when, only the session decides.

    SPEAKING --end of speech--> ENDED --commit--> COMMITTING --acknowledged--> COMMITTED --> OVER

A typed turn begins as COMMITTED. `wanted` tells that a response is to be asked for.
"""

from collections.abc import AsyncIterator, Callable
from typing import Final

from ..items import DesiredItem, hear_key, note, output
from .answer import Answer
from .errors import RealtimeError, ResponseFailed
from .events import ResponseDone, ResponseStatus
from .hearing import Heard, Hearing, How
from .listening import Ended, Listening
from .model import Capabilities
from .recording import Recording
from .replies import Call, Reply
from .speech import Speech
from .stages import ExchangeRecord, Host, Stage
from .timers import Timers

__all__ = ["Exchange", "ExchangeRecord", "Host", "Stage"]

SOCKET_SECONDS: Final = 2.5
"""How long a turn whose speech has ended waits for the socket."""


SPEAKING_SECONDS: Final = 120.0
"""A turn that never says that its speech has ended is given up."""
MOST_ROUNDS: Final = 15
"""Responses with calls in one turn: a model that goes on calling goes round in circles."""
MOST_CALLS: Final = 128
"""Calls in one turn: a model that wants more than that has lost its mind."""
CALLS_SECONDS: Final = 120.0
"""A turn whose calls are never answered is given up; tools have limits of their own."""


class Exchange:
    """One turn: audio or text in; words, speech and calls out."""

    def __init__(
        self,
        turn_id: str,
        *,
        voice: bool,
        caps: Capabilities,
        host: Host,
        mute: bool = False,
    ) -> None:
        """Begin a turn; use `RealtimeSession.begin`. `mute`: see `Hearing`."""
        self.turn_id: Final = turn_id
        self.voice: Final = voice
        self.stage = Stage.SPEAKING if voice else Stage.COMMITTED
        self.wanted = False
        self.cancelled = False
        self.closed = False
        self.provider_committed = False
        self.needs_clear = voice
        self.replays: set[str] = set()
        """Why this turn went to another session; each reason is good for once."""
        self.attempts = 0
        """Responses that were refused because another one was active."""
        self.recording = Recording(caps.input_rate)
        self.listening = Listening()
        self.hearing = Hearing(self._nobody_spoke, mute=mute)
        self.answers = Answer(caps.output_rate, on_audio=self.hearing.audio_in_hand)
        self.timers = Timers()
        self._commit_min_ms = caps.commit_min_ms
        self._host = host
        self._typed: str | None = None
        self._asked = False
        self._rounds = 0
        self.ended_by = Ended.GIVEN_UP
        """Why the speech is over."""
        if voice:
            self.timers.start("speaking", SPEAKING_SECONDS, self.cancel)

    # For whoever serves the turn

    @property
    def speech(self) -> Speech:
        """The spoken answer; iterate once."""
        return self.answers.speech

    @property
    def record(self) -> ExchangeRecord:
        """What is known now: it may still get better until the turn closes."""
        return ExchangeRecord(
            turn_id=self.turn_id,
            heard_text=self._typed or self.hearing.text,
            confidence=self.hearing.confidence,
            said=self.answers.said,
            calls=self.answers.calls,
            usage=tuple(self.answers.usage),
            failure=self.answers.failure,
            interrupted=self.answers.interrupted,
        )

    @property
    def dropped(self) -> dict[str, int]:
        """What did not fit into the buffers of this turn."""
        return {
            "recorded_bytes": self.recording.dropped_bytes,
            "spoken_bytes": self.speech.dropped_bytes,
            "reply_characters": self.answers.replies.dropped_characters,
        }

    def append(self, pcm: bytes) -> None:
        """Send PCM16 mono of 16 kHz as it is spoken; ignored after the end of speech."""
        if self.stage is not Stage.SPEAKING or self.listening.ended:
            return
        self.listening.feed(pcm)
        self.recording.feed(pcm)
        self._host.advance()

    def end_of_speech(self, *, respond: bool) -> None:
        """All was said. `respond`: ask for the answer in the same write."""
        if self.stage is not Stage.SPEAKING:
            return
        self.timers.stop("speaking")
        self.listening.end(Ended.GIVEN_UP)
        self.ended_by = self.listening.ended or Ended.GIVEN_UP
        self.hearing.speech_seen = self.listening.spoke
        self.hearing.speech_ended()
        self.recording.finish()
        self.stage = Stage.ENDED
        too_short = self.recording.ms < self._commit_min_ms or self.ended_by is Ended.NO_SPEECH
        if too_short and not self.provider_committed:
            self.hearing.settle(How.NO_SPEECH)
            return
        if respond:
            self._want()
        self._host.advance()

    async def speech_ended(self) -> Ended:
        """Return when the provider, or one of our own limits, says that the speech is over."""
        return await self.listening.wait()

    def say(self, text: str) -> None:
        """Take typed words as the user's, and ask for the answer."""
        if self.voice or self._typed is not None or self.stage is Stage.OVER:
            return
        self._typed = text
        self.hearing.typed(text)
        self._want()
        self._host.advance()

    def respond(self) -> None:
        """Ask for the answer, unless that was done."""
        if self.stage is not Stage.OVER:
            self._want()
            self._host.advance()

    async def heard(self) -> Heard:
        """Return what the user said as soon as that is settled (see `hearing`)."""
        return await self.hearing.wait()

    def replies(self) -> AsyncIterator[Reply]:
        """Give the answer as it comes, up to and with one `ReplyEnd`; iterate once."""
        return aiter(self.answers.replies)

    def answer(self, call_id: str, output: str) -> None:
        """Answer a call, once. The last answer asks for the next response."""
        if not self.answers.answer(call_id, output) or self.stage is Stage.OVER:
            return
        if not self.answers.unanswered:
            self.timers.stop("calls")
            self.wanted = True
        self._host.advance()

    def interrupt(self, heard_ms: int) -> None:
        """Stop the answer: the user heard `heard_ms` milliseconds of the turn's speech."""
        if self.cancelled or self.closed or self.answers.interrupted:
            return
        self.answers.interrupted = True
        self._host.stop(self, max(0, heard_ms))
        self._over()

    def cancel(self) -> None:
        """Stop everything: nothing of this turn is wanted, nothing of it is kept."""
        if self.cancelled or self.closed:
            return
        self.cancelled = True
        self._host.stop(self, None)
        self._over()

    def close(self) -> None:
        """End the exchange: the turn is closed. What still runs for it is cancelled."""
        if self.closed:
            return
        if self.stage is not Stage.OVER:
            self.cancel()
        self.closed = True
        self.timers.close()
        self.listening.close()
        self.hearing.close()
        self.recording.discard()
        self._host.forget(self)

    # For the session

    def live(self, epoch: int) -> list[DesiredItem]:
        """Return what the session should hold of this turn, which no record knows yet."""
        items: list[DesiredItem] = []
        if self.cancelled:
            return items
        if self._typed is not None:
            items.append(note(hear_key(self.turn_id), self._typed))
        for call in self.answers.calls:
            if call.output is None:
                continue
            if self.answers.born_in(call) == epoch:
                items.append(output(call.call_id, call.output))
            elif self.stage is Stage.COMMITTED:
                items.append(self._host.outcome(call))
        return items

    def let_provider_commit(self) -> None:
        """Wait again for the end of speech that the provider finds."""
        self.stage = Stage.ENDED
        self.ended_by = Ended.PROVIDER
        self.wanted = self._asked

    def ask_again(self) -> None:
        """Ask for the answer once more, unless it is not wanted any more."""
        if self.stage is not Stage.OVER:
            self.wanted = True
            self._host.advance()

    def has_outcomes(self, epoch: int) -> bool:
        """Whether calls of another session are to be told of, behind their speech."""
        return any(self.answers.born_in(call) != epoch for call in self.answers.calls)

    @property
    def answered(self) -> bool:
        """Whether the answer is complete, and only what comes late is waited for."""
        return self.timers.runs("linger")

    def rewind(self) -> None:
        """Go to another session from the start; one that is answered already is over."""
        if self.answered:
            self._over()
            return
        self.recording.rewind()
        self.hearing.rewind()
        self.provider_committed = False
        self.needs_clear = False
        if self.voice and self.stage in {Stage.COMMITTING, Stage.COMMITTED}:
            self.stage = Stage.ENDED
        if self._asked and not self.answers.unanswered:
            self.wanted = True

    def await_socket(self, give_up: Callable[[], None]) -> None:
        """Give up if the socket does not come in time; while the user speaks there is time."""
        if self.stage is not Stage.SPEAKING:
            self.timers.start_once("socket", SOCKET_SECONDS, give_up)

    def committed(self) -> None:
        """Take it that the provider has all of the speech."""
        if self.stage in {Stage.ENDED, Stage.COMMITTING}:
            self.stage = Stage.COMMITTED
        self.hearing.committed()

    def response_done(self, event: ResponseDone, calls: tuple[Call, ...], epoch: int) -> None:
        """Take the end of a response: calls to answer, or the end of the answer."""
        self.answers.usage.append(event.usage)
        self.hearing.audio_in_hand()
        if calls and event.status is ResponseStatus.COMPLETED:
            self._rounds += 1
            most = len(self.answers.calls) + len(calls) > MOST_CALLS
            if most or self._rounds > MOST_ROUNDS:
                self.fail(ResponseFailed("too_many_calls"))
                return
            self.answers.called(calls, epoch)
            self.timers.start("calls", CALLS_SECONDS, self._not_answered)
            return
        linger = self.answers.settle(event)
        self.timers.start("linger", linger, self._over)

    def fail(self, error: RealtimeError) -> None:
        """Give up: the answer ends with this failure, unless it is complete."""
        if self.stage is Stage.OVER:
            return
        if self.answered:
            self._over()
            return
        self.answers.failure = self.answers.failure or error
        self.hearing.settle(How.LOST)
        self._over()

    def _want(self) -> None:
        if not self._asked:
            self._asked = self.wanted = True

    def _not_answered(self) -> None:
        self.fail(ResponseFailed("calls_not_answered"))

    def _nobody_spoke(self) -> None:
        self.cancel()

    def _over(self) -> None:
        """End what is waited for; the record stays."""
        if self.stage is Stage.OVER:
            return
        self.stage = Stage.OVER
        self.wanted = False
        self.timers.close()
        self.listening.close()
        self.answers.end(dropped=self.cancelled or self.answers.interrupted)
        if self.answers.interrupted or self.cancelled:
            self.hearing.settle(How.LOST)
        else:
            self.hearing.audio_in_hand()
        self._host.advance()
