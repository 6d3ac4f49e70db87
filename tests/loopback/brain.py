"""What thinks behind the server, and a scripted one for tests.

A brain sees only what a model would see: texts and audio bytes in their order, instructions and
tools. It sees no item ids, no metadata, and no transcript of audio: what was said, it must hear.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from .audio import voice_for

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item as a model sees it. `kind` says which of the fields are set.

    `text` of a message are its texts; `audio` is PCM at 24 kHz. A call has `name` and `arguments`,
    an output `output` and the `name` of its call.
    """

    kind: Literal["message", "call", "output"]
    role: str = ""
    text: str = ""
    audio: bytes = b""
    name: str = ""
    arguments: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model gets to answer: all that it may know. `aside`: out of band, nobody listens."""

    context: tuple[ItemView, ...]
    instructions: str = ""
    tools: tuple[Json, ...] = ()
    tool_choice: str | Json = "auto"
    modality: Literal["audio", "text"] = "audio"
    aside: bool = False
    model: str = ""

    @property
    def last(self) -> ItemView | None:
        """The newest item, or None."""
        return self.context[-1] if self.context else None

    def texts(self) -> list[str]:
        """Return every text that is held, in order, outputs of tools included."""
        return [text for item in self.context if (text := item.text or item.output)]


class ReplyPart:
    """One thing that a model says, writes or calls."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Speech(ReplyPart):
    """Something said aloud; in a text response the same words as text.

    `pcm` is what it sounds like (default: the brain's own voice); `ms` instead asks for a tone of
    that length. `phase` overrides what gpt-realtime-2.1 would say about it.
    """

    text: str
    pcm: bytes | None = None
    ms: int | None = None
    phase: str | None = None


@dataclass(frozen=True, slots=True)
class Text(ReplyPart):
    """Something written, even where audio was asked for, as older models do at times."""

    text: str
    phase: str | None = None


@dataclass(frozen=True, slots=True)
class Call(ReplyPart):
    """A tool called with `arguments`, as JSON text that a model may well get wrong."""

    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Failure:
    """How a response goes wrong: `failed` with an error, or `incomplete` with a reason.

    It comes after the parts of its reply were sent.
    """

    status: Literal["failed", "incomplete"] = "failed"
    code: str = "server_error"
    says: str = "The server had an error while processing your request."
    kind: str = "server_error"
    reason: str = "max_output_tokens"


@dataclass(frozen=True, slots=True)
class Reply:
    """All of one response. `after` seconds of thinking replace the usual ones."""

    parts: tuple[ReplyPart, ...] = ()
    failure: Failure | None = None
    after: float | None = None

    @classmethod
    def of(cls, made: Answer) -> Reply:
        """Return a reply for a text, one part, several, or a reply itself."""
        if isinstance(made, Reply):
            return made
        if isinstance(made, str):
            return cls((Speech(made),))
        if isinstance(made, ReplyPart):
            return cls((made,))
        return cls(tuple(made))


type Answer = Reply | str | ReplyPart | Sequence[ReplyPart]
type Script = Answer | Callable[[Request], Answer]


@dataclass(frozen=True, slots=True)
class Transcript:
    """What the other model, that only writes down, made of a user's audio.

    Right, wrong, or failed.
    """

    text: str = ""
    failure: str | None = None
    says: str = "Transcription failed."
    after: float | None = None


class Brain(Protocol):
    """What the server needs of a mind, its ears and its mouth."""

    async def hear(self, audio: bytes) -> Transcript:
        """Return what the transcribing model makes of a committed user's audio."""

    def expects(self) -> str | None:
        """Return what the audio being spoken now will say, if the brain can know that already."""

    async def reply(self, request: Request) -> Reply:
        """Return the answer to what the model sees."""

    async def speak(self, text: str) -> bytes:
        """Return how `text` sounds, as PCM at 24 kHz."""


@dataclass
class ScriptedBrain:
    """Says and hears what a test wrote down.

    `replies` are used up in order by responses in the conversation, `asides` by out-of-band ones;
    then `default` is said. An answer may be a function of the request. `hears` are the transcripts
    of the user's audio, in order, then `default_hears`. `requests` keeps every request that was
    answered.
    """

    replies: Iterable[Script] = ()
    hears: Iterable[Transcript | str] = ()
    asides: Iterable[Script] = ()
    default: Script = "OK."
    default_aside: Script = "A summary."
    default_hears: Transcript | str = "hello"
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make queues of the scripts, so that a test may append to them while it runs."""
        self.replies = list(self.replies)
        self.hears = list(self.hears)
        self.asides = list(self.asides)
        self._sounds: list[tuple[bytes, str]] = []

    async def hear(self, audio: bytes) -> Transcript:
        """Return the next scripted transcript, and remember how these words sounded."""
        queue = _queue(self.hears)
        made = queue.pop(0) if queue else self.default_hears
        transcript = Transcript(made) if isinstance(made, str) else made
        self._sounds.append((audio, transcript.text))
        return transcript

    def expects(self) -> str | None:
        """Return the next scripted transcript."""
        queue = _queue(self.hears)
        made = queue[0] if queue else self.default_hears
        return made if isinstance(made, str) else None if made.failure else made.text

    async def reply(self, request: Request) -> Reply:
        """Return the next scripted answer."""
        self.requests.append(request)
        queue = _queue(self.asides if request.aside else self.replies)
        default = self.default_aside if request.aside else self.default
        script = queue.pop(0) if queue else default
        return Reply.of(script(request) if callable(script) else script)

    async def speak(self, text: str) -> bytes:
        """Return a tone that belongs to these words, and remember it."""
        sound = voice_for(text)
        self._sounds.append((sound, text))
        return sound

    def words(self, item: ItemView) -> str:
        """Return the words of an item: its text, or what its audio is known to say.

        Audio that was cut yields the words up to the cut; audio never heard of yields nothing.
        """
        if not item.audio:
            return item.text or item.output
        for sound, text in reversed(self._sounds):
            if sound.startswith(item.audio):
                return text[: len(text) * len(item.audio) // len(sound)]
        return ""


def _queue[T](scripts: Iterable[T]) -> list[T]:
    """Return the list that `__post_init__` made."""
    return scripts if isinstance(scripts, list) else list(scripts)
