"""OpenAI, and every server that speaks the protocol of its Realtime API.

The GA names are sent. `compatible` is any server but OpenAI's own: of it only what every known
server can do is expected, and nothing is sent that only OpenAI understands.
"""

import binascii
from collections.abc import Mapping
from typing import Any, Final, override
from urllib.parse import quote, urlsplit, urlunsplit

import orjson

from ...items import DesiredItem, Form
from ..commands import (
    AppendAudio,
    CancelResponse,
    ClearAudio,
    Command,
    CommitAudio,
    Configure,
    CreateItem,
    CutItem,
    DeleteItem,
    Respond,
)
from ..config import SessionConfig, ToolSpec
from ..events import Event
from ..model import Capabilities, Cut, Handshake, NoteRole, RealtimeModel, SpeechRequest, Verbatim
from . import openai_wire

DEFAULT_TRANSCRIPTION_MODEL: Final = "gpt-realtime-whisper"
SPEECH_MODEL: Final = "gpt-4o-mini-tts"
SPEECH_VOICE: Final = "marin"
_SPEECH_MAX_CHARACTERS: Final = 4096
_RATE: Final = 24_000
_FORMAT: Final = {"type": "audio/pcm", "rate": _RATE}
_RETENTION: Final = {"type": "retention_ratio", "retention_ratio": 0.8}
"""A net, should the conversation ever outgrow the model unnoticed."""

_OPENAI: Final = Capabilities(verbatim=Verbatim.SPEECH_ENDPOINT, isolates=True)
_COMPATIBLE: Final = Capabilities(
    cut=Cut.REPLACE,
    ack_ids=False,
    error_ids=False,
    commits_at_once=False,
    note_role=NoteRole.USER,
    reports_context=False,
)


class OpenAIModel(RealtimeModel):
    """A codec. It knows an address and a key, and nothing of any conversation."""

    def __init__(self, *, base_url: str, api_key: str, compatible: bool) -> None:
        """Keep where to go: an http or https address, and a key that may be empty."""
        self._base_url: Final = base_url
        self._headers: Final = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._official: Final = not compatible

    @property
    @override
    def capabilities(self) -> Capabilities:
        return _OPENAI if self._official else _COMPATIBLE

    @override
    def handshake(self, config: SessionConfig) -> Handshake:
        parts = urlsplit(self._base_url)
        scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
        model = f"model={quote(config.model, safe='')}"
        query = f"{parts.query}&{model}" if parts.query else model
        path = f"{parts.path.rstrip('/')}/realtime"
        return Handshake(
            url=urlunsplit((scheme, parts.netloc, path, query, "")), headers=dict(self._headers)
        )

    @override
    def encode(self, command: Command, event_id: str) -> str:
        kind, fields = self._command(command)
        frame = {"type": kind, "event_id": event_id, **fields}
        return orjson.dumps(frame, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode()

    @override
    def decode(self, frame: str) -> tuple[Event, ...]:
        return openai_wire.decode(frame, null_is_isolated=self._official)

    @override
    def speech(self, text: str, voice: str | None) -> SpeechRequest | None:
        """Return the request, None also for a text that is longer than the endpoint takes."""
        if not self._official or len(text) > _SPEECH_MAX_CHARACTERS:
            return None
        return SpeechRequest(
            url=f"{self._base_url.rstrip('/')}/audio/speech",
            headers=dict(self._headers),
            body={
                "model": SPEECH_MODEL,
                "voice": voice or SPEECH_VOICE,
                "input": text,
                "response_format": "pcm",
            },
            sample_rate=_RATE,
        )

    def _command(self, command: Command) -> tuple[str, dict[str, Any]]:  # noqa: PLR0911 - one each
        match command:
            case AppendAudio(pcm):
                audio = binascii.b2a_base64(pcm, newline=False).decode("ascii")
                return "input_audio_buffer.append", {"audio": audio}
            case CommitAudio():
                return "input_audio_buffer.commit", {}
            case ClearAudio():
                return "input_audio_buffer.clear", {}
            case Configure(config):
                return "session.update", {"session": self._session(config)}
            case CreateItem(remote_id, item):
                return "conversation.item.create", {"item": self._item(remote_id, item)}
            case DeleteItem(remote_id):
                return "conversation.item.delete", {"item_id": remote_id}
            case CutItem(remote_id, ms):
                cut = {"item_id": remote_id, "content_index": 0, "audio_end_ms": ms}
                return "conversation.item.truncate", cut
            case Respond():
                return "response.create", {"response": _response(command)}
            case CancelResponse(response_id):
                return "response.cancel", {"response_id": response_id} if response_id else {}

    def _session(self, config: SessionConfig) -> dict[str, Any]:
        """Return all of a session's configuration; equal configurations give equal bytes."""
        audio_in: dict[str, Any] = {"format": _FORMAT, "turn_detection": _turn_detection(config)}
        audio_out: dict[str, Any] = {"format": _FORMAT}
        session: dict[str, Any] = {
            "type": "realtime",
            "instructions": config.instructions,
            "output_modalities": _modalities(audio=config.audio),
            "audio": {"input": audio_in, "output": audio_out},
            "tools": [_tool(tool) for tool in config.tools],
            "tool_choice": "auto",
        }
        transcription = self._transcription(config)
        if transcription:
            audio_in["transcription"] = transcription
        if config.voice:
            audio_out["voice"] = config.voice
        if self._official:
            audio_in["noise_reduction"] = {"type": "far_field"}
            session["truncation"] = _RETENTION
            if transcription.get("model", "").endswith("-transcribe"):
                session["include"] = ["item.input_audio_transcription.logprobs"]
        return session

    def _transcription(self, config: SessionConfig) -> dict[str, str]:
        model = config.transcription_model
        if self._official:
            model = model or DEFAULT_TRANSCRIPTION_MODEL
        hints = {"model": model, "language": config.language}
        return {key: value for key, value in hints.items() if value}

    def _item(self, remote_id: str, item: DesiredItem) -> dict[str, Any]:
        if item.form is Form.OUTPUT:
            answer = {"type": "function_call_output", "call_id": item.pair, "output": item.body}
            return {"id": remote_id, **answer}
        role = NoteRole.USER if item.by_user else self.capabilities.note_role
        return {"id": remote_id, **_message(role, item.body)}


def _message(role: NoteRole, text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": role.value, "content": content}


def _response(command: Respond) -> dict[str, Any]:
    isolated = command.isolated_input is not None
    response: dict[str, Any] = {
        "output_modalities": _modalities(audio=command.audio and not isolated)
    }
    if command.turn_id:
        response["metadata"] = {openai_wire.TURN: command.turn_id}
    if command.instructions is not None:
        response["instructions"] = command.instructions
    if command.max_tokens is not None:
        response["max_output_tokens"] = command.max_tokens
    if command.isolated_input is not None:
        response["metadata"] = response.get("metadata", {}) | {openai_wire.ISOLATED: "true"}
        response["conversation"] = "none"
        response["input"] = [_message(NoteRole.USER, command.isolated_input)]
        response["tools"] = []
    return response


def _modalities(*, audio: bool) -> list[str]:
    """Return exactly one: both together are refused, and spoken replies have a transcript."""
    return ["audio"] if audio else ["text"]


def _turn_detection(config: SessionConfig) -> dict[str, Any] | None:
    """Return how the server detects turns. Both flags are off: we alone ask for responses."""
    if config.turn_detection not in {"server_vad", "semantic_vad"}:
        return None
    flags = {"create_response": False, "interrupt_response": False}
    return {"type": config.turn_detection, **flags}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }


def _plain(value: object) -> object:
    """Return what JSON can say of a schema's parts."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(type(value).__name__)
