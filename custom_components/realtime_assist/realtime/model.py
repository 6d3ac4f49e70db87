"""What a realtime model is to us: what it can do, and the codec that an adapter is.

An adapter (`providers/`) is a codec between our words (`commands.py`, `events.py`) and one
provider's wire. It has no state of the conversation and opens no socket: `connection.py` owns the
socket, `session.py` the conversation, `ledger.py` what the provider holds.

    session --Command--> adapter.encode --text frame--> socket
    session <--Event---- adapter.decode <--text frame-- socket
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from .commands import Command
from .config import SessionConfig
from .events import Event


class Cut(StrEnum):
    """How a reply can be shortened to what was heard."""

    TRUNCATE = "truncate"
    """In place: `conversation.item.truncate`, only where a person has seen it work."""
    REPLACE = "replace"
    """By a new session, whose recap carries the heard words."""
    NONE = "none"
    """As `replace`; the provider has no command for it at all."""


class NoteRole(StrEnum):
    """The role in which a note is appended."""

    SYSTEM = "system"
    USER = "user"


class Verbatim(StrEnum):
    """How a provider can say exactly a given text."""

    SPEECH_ENDPOINT = "speech_endpoint"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a provider can do with the items of a conversation. Defaults: OpenAI."""

    delete: bool = True
    cut: Cut = Cut.TRUNCATE
    acks: bool = True
    """Creates are acknowledged."""
    ack_ids: bool = True
    """Acknowledgements name the item (xAI: `deleted` with an empty id)."""
    error_ids: bool = True
    """Errors name the client event that caused them."""
    commits_at_once: bool = True
    """A commit makes an item whatever the server's own turn detection hears, so that the response
    can be asked for right behind it. Else the item is waited for."""
    clear: bool = True
    """The input buffer can be cleared."""
    isolates: bool = False
    """Out-of-band responses (`conversation` none, `input` given) stay apart from the conversation.

    Documented of OpenAI. LocalAI appends the input all the same and speaches refuses the fields
    (PROTOCOL.md 2.3), so it is assumed of nobody. Needs `error_ids`.
    """
    note_role: NoteRole = NoteRole.SYSTEM
    verbatim: Verbatim = Verbatim.NONE
    input_rate: int = 24_000
    """Sample rate in Hz of the PCM16 mono audio that we send."""
    output_rate: int = 24_000
    """Sample rate in Hz of the PCM16 mono audio that we get."""
    commit_min_ms: int = 100
    """A shorter commit is refused (`input_audio_buffer_commit_empty`)."""
    reports_context: bool = True
    """Reported input is all that the session holds (xAI: only what was added since)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """Where and how the socket is opened."""

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRequest:
    """An HTTP request whose answer is PCM16 mono audio that says exactly one text."""

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    sample_rate: int
    """Hz of the answered PCM16."""


class RealtimeModel(Protocol):
    """An adapter: one provider's wire in these words."""

    @property
    def capabilities(self) -> Capabilities:
        """What this provider can do."""

    def handshake(self, config: SessionConfig) -> Handshake:
        """Return where and how to open the socket for this model."""

    def encode(self, command: Command, event_id: str) -> str:
        """Return the text frame of a command; `event_id` comes back in errors, where named."""

    def decode(self, frame: str) -> tuple[Event, ...]:
        """Return what a text frame says, in order.

        Never raises: garbage and unknown frames become an `OtherEvent`.
        """

    def speech(self, text: str, voice: str | None) -> SpeechRequest | None:
        """Return the request that says exactly `text`; None if this provider has no such thing."""
