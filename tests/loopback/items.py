"""What a conversation is made of: items, their parts, their audio, and what they cost in tokens."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from .audio import duration_ms

type Json = dict[str, Any]
type Status = Literal["in_progress", "completed", "incomplete"]

_ITEM_OVERHEAD = 3
_USER_TOKENS_PER_SECOND = 10
_ASSISTANT_TOKENS_PER_SECOND = 20


@dataclass(slots=True, eq=False)
class Part:
    """One piece of a message.

    `audio` is PCM; `transcript` is another model's guess at it, or None.
    """

    type: str
    text: str = ""
    audio: bytearray = field(default_factory=bytearray)
    transcript: str | None = None

    def wire(self, *, with_audio: bool = False) -> Json:
        """Return the part as it goes over the wire; audio only when it was asked for."""
        if not self.type.endswith("_audio"):
            return {"type": self.type, "text": self.text}
        shown: Json = {"type": self.type, "transcript": self.transcript}
        if with_audio:
            shown["audio"] = base64.b64encode(self.audio).decode()
        return shown


@dataclass(slots=True, eq=False)
class Item:
    """One item of the conversation. `sealed` audio was cut: what is generated later is not kept."""

    id: str
    type: str
    status: Status = "completed"
    role: str = ""
    content: list[Part] = field(default_factory=list)
    name: str = ""
    call_id: str = ""
    arguments: str = ""
    output: str = ""
    phase: str | None = None
    sealed: bool = False

    def wire(self, *, with_audio: bool = False) -> Json:
        """Return the item as it goes over the wire, fields in the recorded order."""
        shown: Json = {"id": self.id, "type": self.type}
        if self.type == "function_call_output":
            return shown | {"call_id": self.call_id, "output": self.output}
        shown["status"] = self.status
        if self.type == "function_call":
            return shown | {"name": self.name, "call_id": self.call_id, "arguments": self.arguments}
        shown["role"] = self.role
        shown["content"] = [part.wire(with_audio=with_audio) for part in self.content]
        if self.phase is not None:
            shown["phase"] = self.phase
        return shown

    @property
    def audio(self) -> bytes:
        """The PCM of all its parts, in order."""
        return b"".join(part.audio for part in self.content)

    @property
    def text(self) -> str:
        """What it holds in letters: no transcript, since no model sees one."""
        return "\n".join(part.text for part in self.content if part.text)

    def text_tokens(self) -> int:
        """Return the text tokens it costs in a prompt: four letters each, three for the item."""
        letters = len(self.text) + len(self.name) + len(self.arguments) + len(self.output)
        return -(-letters // 4) + _ITEM_OVERHEAD

    def audio_tokens(self) -> int:
        """Return the audio tokens it costs.

        10 a second of a user, 20 of an assistant, rounded up.
        """
        rate = _USER_TOKENS_PER_SECOND if self.role == "user" else _ASSISTANT_TOKENS_PER_SECOND
        return -(-duration_ms(self.audio) * rate // 1000)

    def tokens(self) -> int:
        """Return all tokens it costs in a prompt."""
        return self.text_tokens() + self.audio_tokens()


def text_tokens(text: str) -> int:
    """Return the tokens of a text that is no item, such as instructions."""
    return -(-len(text) // 4)


def unanswered_calls(items: Iterable[Item]) -> list[Item]:
    """Return the complete calls among `items` that have no output among them."""
    held = list(items)
    answered = {item.call_id for item in held if item.type == "function_call_output"}
    return [
        item
        for item in held
        if item.type == "function_call"
        and item.status == "completed"
        and item.call_id not in answered
    ]
