"""What a realtime model is to us: commands that we send, events that it sends, and what it can do.

An adapter (`providers/`) is a codec between these words and one provider's wire. It has no state of the conversation and
opens no socket: `connection.py` owns the socket, `session.py` the conversation, `ledger.py` what the provider holds.

    session --Command--> adapter.encode --text frame--> socket
    session <--Event---- adapter.decode <--text frame-- socket
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from ..items import DesiredItem


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
    clear: bool = True
    """The input buffer can be cleared."""
    note_role: NoteRole = NoteRole.SYSTEM
    verbatim: Verbatim = Verbatim.NONE
    input_rate: int = 24_000
    """Sample rate in Hz of the PCM16 mono audio that we send."""
    output_rate: int = 24_000
    """Sample rate in Hz of the PCM16 mono audio that we get."""
    commit_min_ms: int = 100
    """A shorter commit is refused (`input_audio_buffer_commit_empty`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConfig:
    """What a session is opened with: the cached prefix. Byte-identical across sessions while nothing of it changed."""

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


# Commands: what we ask of a provider. One command is one frame.


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
    """Echoed by servers that echo metadata, so that the response finds its Turn."""
    audio: bool = True
    isolated_input: str | None = None
    """Out-of-band: answer only this text, in text, without tools; nothing joins the conversation."""
    instructions: str | None = None


@dataclass(frozen=True, slots=True)
class CancelResponse:
    """Stop the active response."""

    response_id: str | None = None


type Command = (
    Configure | AppendAudio | CommitAudio | ClearAudio | CreateItem | DeleteItem | CutItem | Respond | CancelResponse
)


# Events: what a provider tells us. Ids are the wire's.


class ItemKind(StrEnum):
    """What an item of the conversation is."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    CALL = "call"
    OUTPUT = "output"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """The server greets. `expires_at` in seconds since the epoch, None if it does not say."""

    session_id: str | None = None
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class SessionConfigured:
    """Our configuration is in force."""


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The server's turn detection hears speech; it may name the item that the speech will become."""

    item_id: str | None = None


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """The server's turn detection hears the end of speech."""

    item_id: str | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The input buffer became a user item."""

    item_id: str


@dataclass(frozen=True, slots=True)
class Cleared:
    """The input buffer is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAdded:
    """An item is in the conversation (`added`, `created`). May repeat: upsert by id."""

    item_id: str
    kind: ItemKind
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ItemDeleted:
    """An item is gone. The id may be empty (xAI)."""

    item_id: str


@dataclass(frozen=True, slots=True)
class ItemCut:
    """An item was shortened to `ms` milliseconds."""

    item_id: str
    ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptDelta:
    """More of what a user item says. `replaces`: the text so far, not an addition."""

    item_id: str
    text: str
    replaces: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptDone:
    """All of what a user item says; None if transcription failed."""

    item_id: str
    text: str | None
    confidence: float | None = None
    """0 to 1, the mean probability of its tokens where the provider tells; None if it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseStarted:
    """A response begins. `turn_id` is what we put into its metadata, where the server echoes it."""

    response_id: str
    turn_id: str | None = None
    isolated: bool = False
    """Not part of the conversation (out-of-band)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyItem:
    """A response has this item; it may come more than once (added, done)."""

    response_id: str
    item_id: str
    output_index: int
    kind: ItemKind
    call_id: str | None = None
    phase: str | None = None
    """`commentary` or `final_answer` (gpt-realtime-2.1), else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioDelta:
    """More PCM16 mono audio (`Capabilities.output_rate`) of a reply item."""

    response_id: str
    item_id: str
    output_index: int
    pcm: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More text of a reply item: the transcript of its audio (`spoken`) or plain text."""

    response_id: str
    item_id: str
    output_index: int
    text: str
    spoken: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDone:
    """A call is complete. It may run only when its response is completed."""

    response_id: str
    item_id: str
    output_index: int
    call_id: str
    name: str
    arguments: str
    """JSON text as the model wrote it: it may be broken."""


class ResponseStatus(StrEnum):
    """How a response ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider reports them; None is unknown, not zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    input_audio_tokens: int | None = None
    output_audio_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseDone:
    """A response is over; its error, if any, is here and in no other event."""

    response_id: str
    status: ResponseStatus
    usage: Usage = field(default_factory=Usage)
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """The provider refuses or fails. `code` is its code, else its type. Its message is not kept: it may quote content."""

    code: str
    event_id: str | None = None
    """Id of our command that caused it, where the server says."""
    param: str | None = None


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event that means nothing to us; kept so that it can be counted."""

    type: str


type Event = (
    SessionOpened
    | SessionConfigured
    | SpeechStarted
    | SpeechStopped
    | Committed
    | Cleared
    | ItemAdded
    | ItemDeleted
    | ItemCut
    | TranscriptDelta
    | TranscriptDone
    | ResponseStarted
    | ReplyItem
    | AudioDelta
    | TextDelta
    | CallDone
    | ResponseDone
    | ErrorEvent
    | OtherEvent
)


class RealtimeModel(Protocol):
    """An adapter: one provider's wire in these words."""

    @property
    def capabilities(self) -> Capabilities:
        """What this provider can do."""

    def handshake(self, config: SessionConfig) -> Handshake:
        """Return where and how to open the socket for this model."""

    def encode(self, command: Command, event_id: str) -> str:
        """Return the text frame of a command; `event_id` comes back in errors where the server names it."""

    def decode(self, frame: str) -> tuple[Event, ...]:
        """Return what a text frame says, in order; garbage and unknown frames become an `OtherEvent`, never an exception."""

    def speech(self, text: str, voice: str | None) -> SpeechRequest | None:
        """Return the request that says exactly `text`, None if this provider has no speech endpoint."""


# Failures that end a connection, or a turn.


class RealtimeError(Exception):
    """Something went wrong with the provider. Its text is a code, never content."""

    def __init__(self, code: str) -> None:
        """Keep the provider's code, or ours."""
        super().__init__(code)
        self.code: Final = code


class AuthenticationFailed(RealtimeError):
    """The key is refused: a person must act."""


class ModelNotFound(RealtimeError):
    """The provider does not know the model, or this account may not use it."""


class QuotaExceeded(RealtimeError):
    """The account has no money or no quota left: a person must act."""


class RateLimited(RealtimeError):
    """Too much at once; it passes by itself."""


class CannotConnect(RealtimeError):
    """The server cannot be reached in time."""


class NotRealtime(RealtimeError):
    """Something answers, but it speaks no realtime protocol."""


class ConnectionLost(RealtimeError):
    """The socket ended in the middle."""


class ResponseFailed(RealtimeError):
    """The provider could not answer this turn."""
