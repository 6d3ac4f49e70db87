"""Commands: what we ask of a provider. One command is one frame."""

from dataclasses import dataclass

from ..items import DesiredItem
from .config import SessionConfig


@dataclass(frozen=True, slots=True)
class Configure:
    """Set instructions, tools, voice, formats and turn detection, all at once."""

    config: SessionConfig


@dataclass(frozen=True, slots=True)
class AppendAudio:
    """Append PCM16 mono audio of `Capabilities.input_rate` to the input buffer."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class CommitAudio:
    """Make a user item of the input buffer."""


@dataclass(frozen=True, slots=True)
class ClearAudio:
    """Empty the input buffer."""


@dataclass(frozen=True, slots=True)
class CreateItem:
    """Append a note or an output under an id of ours."""

    remote_id: str
    item: DesiredItem


@dataclass(frozen=True, slots=True)
class DeleteItem:
    """Remove an item."""

    remote_id: str


@dataclass(frozen=True, slots=True)
class CutItem:
    """Keep only the first `ms` milliseconds of a reply's audio."""

    remote_id: str
    ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """Ask for a response."""

    turn_id: str
    """Echoed by servers that echo metadata: so the response finds its Turn. Empty: not sent."""
    audio: bool = True
    isolated_input: str | None = None
    """Out-of-band: answer only this text, as text, without tools; nothing joins the history."""
    instructions: str | None = None
    """In place of the session's, for this response alone."""
    max_tokens: int | None = None
    """Tokens that the answer may have; None: as many as the session says."""


@dataclass(frozen=True, slots=True)
class CancelResponse:
    """Stop the active response."""

    response_id: str | None = None


type Command = (
    Configure
    | AppendAudio
    | CommitAudio
    | ClearAudio
    | CreateItem
    | DeleteItem
    | CutItem
    | Respond
    | CancelResponse
)
