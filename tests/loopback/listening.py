"""The session's ear.

The input audio buffer, turns found in it, commits.
"""

from typing import TYPE_CHECKING, Any

from .audio import BYTES_PER_MS, RATE, duration_ms, resample
from .items import Item, Part
from .refusal import RefusedError
from .scribe import Scribe
from .vad import Edge, EnergyVad

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]

_LEAST_MS = 100
_KEPT_BYTES = 60_000 * BYTES_PER_MS
"""What is kept of a buffer in which a voice detector hears nobody: a minute."""


class Ear:
    """Hears what the client appends. Positions are milliseconds of all audio of the session."""

    def __init__(self, session: LoopbackSession) -> None:
        """Start with an empty buffer."""
        self._session = session
        self._buffer = bytearray()
        self._start_ms = 0
        self._item_id: str | None = None
        self._item: Item | None = None
        self._scribe: Scribe | None = None
        self._vad: EnergyVad | None = None
        self._vad_settings: Json | None = None
        self._speech_ms = 0
        self.reconfigure()

    @property
    def _end_ms(self) -> int:
        """Where the buffer ends."""
        return self._start_ms + duration_ms(self._buffer)

    def reconfigure(self) -> None:
        """Take up another turn detection; an unchanged one leaves speech that goes on alone."""
        settings = self._session.config.turn_detection
        if settings == self._vad_settings and self._vad is not None:
            return
        self._vad_settings = settings
        self._forget_speech()

    def append(self, pcm: bytes) -> None:
        """Take more audio, and act on what it ends or begins."""
        heard = resample(pcm, self._session.switches.input_rate, RATE)
        self._buffer += heard
        if self._vad is None:
            return
        for edge in self._vad.feed(heard):
            if edge.kind == "started":
                self._started(edge)
            else:
                self._stopped(edge)
        if self._vad.speaking and self._scribe is not None:
            self._scribe.overhear(self._end_ms - self._speech_ms)
        if not self._vad.speaking and len(self._buffer) > _KEPT_BYTES:
            self._drop_until(self._end_ms - 1_000)

    def clear(self) -> None:
        """Empty the buffer and forget speech that goes on."""
        self._drop_until(self._end_ms)
        self._forget_speech()

    def commit(self) -> None:
        """Make an item of the whole buffer. Raises RefusedError if that is less than 100 ms."""
        if self._vad is not None and self._session.switches.commit_with_vad == "not_implemented":
            says = "Committing while turn detection is on is not implemented."
            raise RefusedError(code="not_implemented", says=says)
        held = len(self._buffer) / BYTES_PER_MS
        if held < _LEAST_MS:
            says = (
                "Error committing input audio buffer: buffer too small. Expected at least "
                f"{_LEAST_MS}ms of audio, but buffer only has {held:.2f}ms of audio."
            )
            raise RefusedError(code="input_audio_buffer_commit_empty", says=says)
        audio = bytes(self._buffer)
        item_id = self._item_id
        self.clear()
        self._commit(audio, item_id)

    def response_ended(self) -> None:
        """Wait for speech after a response, if the client wants to be told of a long silence."""
        if self._vad is not None and (self._vad_settings or {}).get("idle_timeout_ms"):
            self._session.spawn(self._idle(self._session.responder.started, self._speech_ms))

    async def _idle(self, started: int, speech_ms: int) -> None:
        """Commit silence and answer it, unless something happened meanwhile."""
        session = self._session
        await session.clock.lapse((self._vad_settings or {}).get("idle_timeout_ms", 0) / 1000)
        quiet = self._vad is not None and not self._vad.speaking and self._speech_ms == speech_ms
        if not quiet or session.responder.started != started:
            return
        item_id, start = session.new_id("item"), self._start_ms
        audio = bytes(self._buffer)
        self.clear()
        span = {"audio_start_ms": start, "audio_end_ms": self._end_ms, "item_id": item_id}
        session.emit("input_audio_buffer.timeout_triggered", **span)
        self._commit(audio, item_id)
        self._answer()

    def _forget_speech(self) -> None:
        """Start to look for speech anew, at the end of the buffer."""
        self._item_id = None
        settings = self._vad_settings
        dead = self._session.switches.semantic_vad == "dead"
        if settings is None or (dead and settings["type"] == "semantic_vad"):
            self._vad = None
        else:
            self._vad = EnergyVad(settings, self._end_ms)

    def _drop_until(self, at_ms: int) -> None:
        """Drop the buffer's audio before `at_ms`."""
        del self._buffer[: max(0, at_ms - self._start_ms) * BYTES_PER_MS]
        self._start_ms = max(self._start_ms, at_ms)

    def _started(self, edge: Edge) -> None:
        """Announce speech, and interrupt a response if that is wanted."""
        session = self._session
        self._speech_ms = edge.at_ms
        self._item_id = session.new_id("item")
        session.emit(
            "input_audio_buffer.speech_started", audio_start_ms=edge.at_ms, item_id=self._item_id
        )
        if session.config.transcription is not None:
            self._scribe = Scribe(session, self._item_id)
        if session.switches.user_item_at == "speech_started":
            part = Part("input_audio", transcript="")
            self._item = Item(self._item_id, "message", "in_progress", "user", [part])
            session.conversation.append(self._item)
            session.announce_item(self._item, None)
        active = session.responder.active
        wanted = (self._vad_settings or {}).get("interrupt_response", True)
        if active is not None and (wanted or session.switches.vad_cancels_anyway):
            active.stop("turn_detected")

    def _stopped(self, edge: Edge) -> None:
        """Announce the end of speech, commit it, and answer it if that is wanted."""
        session = self._session
        assert self._vad is not None
        item_id = self._item_id or session.new_id("item")
        session.emit("input_audio_buffer.speech_stopped", audio_end_ms=edge.at_ms, item_id=item_id)
        end = (edge.at_ms - self._start_ms) * BYTES_PER_MS
        audio = bytes(self._buffer[max(0, self._speech_ms - self._start_ms) * BYTES_PER_MS : end])
        self._drop_until(edge.at_ms)
        self._item_id = None
        self._commit(audio, item_id)
        if (self._vad_settings or {}).get("create_response", True):
            self._answer()

    def _answer(self) -> None:
        """Ask for a response to speech that ended; one may be running already."""
        session = self._session
        active = session.responder.active
        if active is not None and active.stopping:
            session.after_response(self._answer)
            return
        try:
            session.responder.create({})
        except RefusedError as refused:
            if session.switches.vad_while_active == "error":
                session.refuse(refused, None)

    def _commit(self, audio: bytes, item_id: str | None) -> None:
        """Put audio into the conversation as the user's item."""
        session = self._session
        previous = session.conversation.items[-1].id if session.conversation.items else None
        item, self._item = self._item, None
        if item is None or item.id != item_id:
            part = Part("input_audio", audio=bytearray(audio))
            new_id = item_id or session.new_id("item")
            item = Item(new_id, "message", "completed", "user", [part])
            session.emit("input_audio_buffer.committed", previous_item_id=previous, item_id=item.id)
            session.conversation.append(item)
            session.announce_item(item, None)
        else:
            item.content[0].audio += audio
            item.status = "completed"
            session.emit("input_audio_buffer.committed", previous_item_id=None, item_id=item.id)
        scribe, self._scribe = self._scribe, None
        if session.config.transcription is not None:
            if scribe is None or scribe.item_id != item.id:
                scribe = Scribe(session, item.id)
            session.spawn(scribe.write_down(item, audio))
