"""Events: what a provider tells us. Ids are the wire's."""

from dataclasses import dataclass, field
from enum import StrEnum


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
    """The server's turn detection hears speech; it may name the item it will become."""

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
class Usage:
    """Tokens as the provider reports them; None is unknown, not zero. Cached ones are input too."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    input_text_tokens: int | None = None
    input_audio_tokens: int | None = None
    input_image_tokens: int | None = None
    cached_text_tokens: int | None = None
    cached_audio_tokens: int | None = None
    cached_image_tokens: int | None = None
    output_text_tokens: int | None = None
    output_audio_tokens: int | None = None
    seconds: float | None = None
    """Seconds of audio, where a provider counts those (transcription)."""


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
    usage: Usage | None = None
    """What it cost to write it down, where the provider tells."""


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
class ResponseDone:
    """A response is over; its error, if any, is here and in no other event."""

    response_id: str
    status: ResponseStatus
    usage: Usage = field(default_factory=Usage)
    error_code: str | None = None
    retry_after: float | None = None
    """Seconds until it may be asked for again, where the refusal says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """The provider refuses or fails. Its message is not kept: it may quote content."""

    code: str
    """Its code, else its type."""
    event_id: str | None = None
    """Id of our command that caused it, where the server says."""
    param: str | None = None
    retry_after: float | None = None
    """Seconds until it may be tried again, where the refusal says so."""


@dataclass(frozen=True, slots=True)
class LimitReached:
    """What a provider limits is used up, and there again in `seconds`."""

    seconds: float


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
    | LimitReached
    | OtherEvent
)
