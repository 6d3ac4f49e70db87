"""The configuration of one session.

What it starts with, and how an update changes it or is refused.
"""

import copy
from typing import Any

from .items import text_tokens
from .models import Model
from .refusal import RefusedError

type Json = dict[str, Any]

INSTRUCTION_LIMIT = 16_384
"""Tokens that instructions may have [documented by developers' notes]."""

_INSTRUCTIONS = "Your knowledge ends before this conversation. You are a helpful and friendly AI."


class SessionConfig:
    """The session object as the GA reference has it; `wire` is what `session.updated` shows."""

    def __init__(self, model: Model, session_id: str, expires_at: int) -> None:
        """Start with the recorded defaults of `model`; `expires_at` is a Unix time."""
        self.model = model
        self.wire: Json = {
            "type": "realtime",
            "object": "realtime.session",
            "id": session_id,
            "model": model.name,
            "output_modalities": ["audio"],
            "instructions": _INSTRUCTIONS,
            "tools": [],
            "tool_choice": "auto",
            "max_output_tokens": "inf",
            "tracing": None,
            "truncation": "auto",
            "prompt": None,
            "expires_at": expires_at,
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": 24_000},
                    "transcription": None,
                    "noise_reduction": None,
                    "turn_detection": self._turn_detection({"type": "server_vad"}),
                },
                "output": {
                    "format": {"type": "audio/pcm", "rate": 24_000},
                    "voice": model.voice,
                    "speed": 1.0,
                },
            },
            "include": None,
        }

    @property
    def turn_detection(self) -> Json | None:
        """How turns are found, or None: the client commits."""
        found: Json | None = self.wire["audio"]["input"]["turn_detection"]
        return found

    @property
    def transcription(self) -> Json | None:
        """How user audio is written down, or None: not at all."""
        found: Json | None = self.wire["audio"]["input"]["transcription"]
        return found

    @property
    def voice(self) -> object:
        """The voice of replies: a name or an object with an id."""
        return self.wire["audio"]["output"]["voice"]

    def update(self, changes: Json, *, spoke: bool, busy: bool) -> None:
        """Change what `changes` names and nothing else.

        Raises RefusedError, and then nothing changed.

        `spoke`: assistant audio exists, so the voice is fixed. `busy`: a response runs.
        """
        self.check(changes, spoke=spoke)
        if (
            self.wire["tracing"] is not None
            and changes.get("tracing", self.wire["tracing"]) != (self.wire["tracing"])
        ):
            says = "Cannot update tracing once it is enabled."
            raise RefusedError(code="invalid_value", says=says, param="session.tracing")
        speed = changes.get("audio", {}).get("output", {}).get("speed")
        if busy and speed not in {None, self.wire["audio"]["output"]["speed"]}:
            says = "Cannot update the speed while a response is in progress."
            raise RefusedError(code="invalid_value", says=says, param="session.audio.output.speed")
        merged = copy.deepcopy(self.wire)
        self._merge(merged, copy.deepcopy(changes))
        self.wire = merged

    def check(self, changes: Json, *, spoke: bool, at: str = "session") -> None:
        """Refuse what this model or this moment does not allow. Raises RefusedError."""
        if changes.get("model", self.model.name) != self.model.name:
            says = "Cannot update a session's model."
            raise RefusedError(code="invalid_value", says=says, param=f"{at}.model")
        for name in ("reasoning", "parallel_tool_calls"):
            if name in changes and not self.model.reasons:
                says = f"Unsupported parameter: '{at}.{name}' is not supported with this model."
                raise RefusedError(code="unsupported_parameter", says=says, param=f"{at}.{name}")
        if text_tokens(changes.get("instructions") or "") > INSTRUCTION_LIMIT:
            says = f"Invalid '{at}.instructions': string too long."
            raise RefusedError(
                code="string_above_max_length", says=says, param=f"{at}.instructions"
            )
        voice = changes.get("audio", {}).get("output", {}).get("voice")
        if spoke and voice not in {None, self.voice}:
            says = "Cannot update a conversation's voice if assistant audio is present."
            raise RefusedError(code="cannot_update_voice", says=says)

    def _merge(self, merged: Json, changes: Json) -> None:
        """Put the changes into `merged`, filling in defaults as the recordings show."""
        audio = changes.pop("audio", {})
        for name, value in changes.items():
            merged[name] = [_tool(tool) for tool in value] if name == "tools" else value
        merged["audio"]["output"].update(audio.get("output", {}))
        hearing = audio.get("input", {})
        if hearing.get("turn_detection"):
            hearing["turn_detection"] = self._turn_detection(hearing["turn_detection"])
        if hearing.get("transcription"):
            defaults = {"model": "gpt-realtime-whisper", "language": None, "prompt": None}
            hearing["transcription"] = defaults | hearing["transcription"]
        merged["audio"]["input"].update(hearing)

    def _turn_detection(self, given: Json) -> Json:
        """Return turn detection with the recorded defaults of this model."""
        common = {"create_response": True, "interrupt_response": True}
        if given["type"] == "semantic_vad":
            return {"type": "semantic_vad", "eagerness": "auto"} | common | given
        defaults: Json = {
            "type": "server_vad",
            "threshold": 0.5,
            "prefix_padding_ms": 300,
            "silence_duration_ms": self.model.silence_ms,
            "idle_timeout_ms": None,
        }
        return defaults | common | given


def _tool(given: Json) -> Json:
    """Return a tool with its fields in the order in which the server shows them."""
    order = ("type", "name", "description", "parameters")
    return {name: given[name] for name in order if name in given}
