"""What a session is opened with: the cached prefix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """What a session is opened with.

    Byte-identical across sessions while nothing of it has changed: it is what a provider caches.
    """

    model: str
    instructions: str
    tools: tuple[ToolSpec, ...] = ()
    voice: str | None = None
    audio: bool = True
    """Whether replies are spoken; False: text only (a typed turn)."""
    transcription_model: str | None = None
    language: str | None = None
    """Language hint of the transcription (ISO 639-1), None: the provider guesses."""
    turn_detection: str = "home_assistant"
    """`home_assistant` (we commit), `server_vad` or `semantic_vad`."""
