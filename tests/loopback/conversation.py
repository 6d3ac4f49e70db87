"""The conversation a session holds: items, their order, their audio, their tokens. Pure, no I/O.

What a client may do to it is refused here with the codes that are known for it; where the code or the
outcome is not recorded, a switch decides (see `switches.py`).
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from .audio import BYTES_PER_MS, duration_ms
from .refusal import RefusedError
from .switches import Switches

type Json = dict[str, Any]
type Status = Literal["in_progress", "completed", "incomplete"]

ID_LENGTH = 32
_ID_PATTERN = re.compile(r"[a-zA-Z0-9_-]+")
_ALLOWED_PARTS = {
    "system": ("input_text",),
    "user": ("input_text", "input_audio", "input_image"),
    "assistant": ("output_text",),
}
_ITEM_OVERHEAD = 3
_NOT_AUDIO = "Only model output audio messages can be truncated"
_USER_TOKENS_PER_SECOND = 10
_ASSISTANT_TOKENS_PER_SECOND = 20


@dataclass(slots=True)
class Part:
    """One piece of a message. `audio` is PCM; `transcript` is another model's guess at it, or None."""

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


@dataclass(slots=True)
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
        """Return the audio tokens it costs: 10 a second of a user, 20 of an assistant, rounded up."""
        rate = _USER_TOKENS_PER_SECOND if self.role == "user" else _ASSISTANT_TOKENS_PER_SECOND
        return -(-duration_ms(self.audio) * rate // 1000)

    def tokens(self) -> int:
        """Return all tokens it costs in a prompt."""
        return self.text_tokens() + self.audio_tokens()


def text_tokens(text: str) -> int:
    """Return the tokens of a text that is no item, such as instructions."""
    return -(-len(text) // 4)


class Conversation:
    """The ordered items of one session, and which of them a model no longer sees."""

    def __init__(self, switches: Switches, new_id: Callable[[str], str]) -> None:
        """Start empty; `new_id("item")` makes an id for an item that comes without one."""
        self.items: list[Item] = []
        self.forgotten: set[str] = set()
        self._switches = switches
        self._new_id = new_id

    def __contains__(self, item_id: object) -> bool:
        """Tell whether an item of that id is held."""
        return any(item.id == item_id for item in self.items)

    def find(self, item_id: str) -> Item | None:
        """Return the item of that id, or None."""
        return next((item for item in self.items if item.id == item_id), None)

    def before(self, item: Item) -> str | None:
        """Return the id of the item in front of `item`, or None if it is the first or gone."""
        place = next((i for i, held in enumerate(self.items) if held is item), 0)
        return self.items[place - 1].id if place else None

    def seen(self) -> list[Item]:
        """Return the items that a model sees: held, and not silently dropped."""
        return [item for item in self.items if item.id not in self.forgotten]

    def append(self, item: Item) -> None:
        """Add an item that the server itself made."""
        self.items.append(item)

    def create(self, raw: Json, previous: str | None) -> Item:
        """Add a client's item after `previous` (absent: last; `root`: first). Raises RefusedError."""
        item = self._parse(raw)
        if item.id in self and self._switches.duplicate_id == "refused":
            says = f"Error adding item: an item with id '{item.id}' already exists."
            raise RefusedError(code="item_create_duplicate_item_id", says=says)
        self.items.insert(self._place(previous), item)
        return item

    def parse_input(self, raw: Json, param: str) -> Item:
        """Return an item of `response.create.input`, which may refer to a held one. Raises RefusedError."""
        if raw.get("type") != "item_reference":
            return self._parse(raw, param)
        found = self.find(str(raw.get("id")))
        if found is None:
            says = f"Item with id '{raw.get('id')}' not found."
            raise RefusedError(code="invalid_value", says=says, param=f"{param}.id")
        return found

    def delete(self, item_id: str) -> Item:
        """Take an item out, text and audio. Raises RefusedError if it is not held."""
        item = self.find(item_id)
        if item is None or (
            item.status == "in_progress" and self._switches.delete_in_progress == "refused"
        ):
            says = f"Error deleting item: the item with id '{item_id}' does not exist."
            raise RefusedError(code="item_delete_invalid_item_id", says=says)
        self.items.remove(item)
        return item

    def retrieve(self, item_id: str) -> Item:
        """Return an item. Raises RefusedError if it is not held."""
        item = self.find(item_id)
        if item is None:
            says = f"Error retrieving item: the item with id '{item_id}' does not exist."
            raise RefusedError(code="item_retrieve_invalid_item_id", says=says)
        return item

    def truncate(self, item_id: str, content_index: int, audio_end_ms: int) -> None:
        """Cut an assistant's audio after `audio_end_ms`, and erase its transcript. Raises RefusedError."""
        item = self.find(item_id)
        if item is None:
            says = f"Error truncating item: the item with id '{item_id}' does not exist."
            raise RefusedError(code="item_truncate_invalid_item_id", says=says)
        spoken = item.role == "assistant" and content_index < len(item.content)
        if not spoken or item.content[content_index].type != "output_audio":
            raise RefusedError(code=None, says=_NOT_AUDIO)
        part = item.content[content_index]
        if not part.audio or (audio_end_ms == 0 and self._switches.truncate_at_zero == "refused"):
            raise RefusedError(code=None, says=_NOT_AUDIO)
        held = duration_ms(part.audio)
        if audio_end_ms > held:
            says = f"Audio content of {held}ms is already shorter than {audio_end_ms}ms"
            raise RefusedError(code="invalid_value", says=says, param="audio_end_ms")
        self._cut(item, part, audio_end_ms)

    def _cut(self, item: Item, part: Part, audio_end_ms: int) -> None:
        """Cut as the server at hand does it: truly, by blanking all of it, or not at all."""
        match self._switches.truncate:
            case "cuts":
                del part.audio[audio_end_ms * BYTES_PER_MS :]
                part.transcript = None
                item.sealed = True
            case "blanks":
                part.audio.clear()
                part.transcript = ""
                item.sealed = True
            case "acks_only":
                pass

    def trim(self, limit: int, keep: float) -> int:
        """Forget the oldest items until what is seen costs at most `limit` tokens; return how many.

        `keep` is the share of the limit down to which it goes once it goes at all. No event tells of
        it, and the items stay held: only the model no longer sees them.
        """
        seen = self.seen()
        total = sum(item.tokens() for item in seen)
        if total <= limit:
            return 0
        dropped = 0
        for item in seen[:-1]:
            if total <= limit * keep:
                break
            self.forgotten.add(item.id)
            total -= item.tokens()
            dropped += 1
        return dropped

    def discard(self, item: Item) -> None:
        """Take out an item without a word, if it is held."""
        self.items = [held for held in self.items if held is not item]

    def _place(self, previous: str | None) -> int:
        """Return where an item goes that shall follow `previous`. Raises RefusedError for an unknown id."""
        if previous is None or self._switches.previous_item_id != "honoured":
            return len(self.items)
        if previous == "root":
            return 0
        for place, item in enumerate(self.items):
            if item.id == previous:
                return place + 1
        if self._switches.unknown_previous == "appended":
            return len(self.items)
        says = f"Error adding item: the previous item with id '{previous}' does not exist."
        raise RefusedError(code="item_create_invalid_previous_item_id", says=says)

    def _parse(self, raw: Json, param: str = "item") -> Item:
        """Check and build an item that a client sent. Raises RefusedError."""
        item_id = raw.get("id") or self._new_id("item")
        _check_id(item_id, f"{param}.id")
        match raw.get("type"):
            case "message":
                return self._parse_message(raw, item_id, param)
            case "function_call":
                call_id = raw.get("call_id") or self._new_id("call")
                _check_id(call_id, f"{param}.call_id")
                name, arguments = str(raw["name"]), str(raw["arguments"])
                return Item(
                    item_id, "function_call", name=name, call_id=call_id, arguments=arguments
                )
            case "function_call_output":
                return self._parse_output(raw, item_id, param)
            case None:
                raise RefusedError.missing(f"{param}.type")
        supported = "'message', 'function_call', and 'function_call_output'"
        says = f"Invalid value: '{raw['type']}'. Supported values are: {supported}."
        raise RefusedError(code="invalid_value", says=says, param=f"{param}.type")

    def _parse_output(self, raw: Json, item_id: str, param: str) -> Item:
        """Build the output of a call that must be held, or named in the same request."""
        call_id = str(raw.get("call_id"))
        _check_id(call_id, f"{param}.call_id")
        known = any(item.type == "function_call" and item.call_id == call_id for item in self.items)
        if not known and param == "item" and self._switches.unknown_call == "refused":
            says = f"Tool call ID '{call_id}' not found in conversation."
            raise RefusedError(code="invalid_tool_call_id", says=says, names_event=False)
        return Item(item_id, "function_call_output", call_id=call_id, output=str(raw["output"]))

    def _parse_message(self, raw: Json, item_id: str, param: str) -> Item:
        """Build a message whose parts fit its role."""
        role = raw.get("role")
        if role not in _ALLOWED_PARTS:
            says = (
                f"Invalid value: '{role}'. Supported values are: 'system', 'user', and 'assistant'."
            )
            raise RefusedError(code="invalid_value", says=says, param=f"{param}.role")
        content = raw.get("content")
        if content is None:
            raise RefusedError.missing(f"{param}.content")
        if not content:
            says = (
                f"Invalid '{param}.content': empty array. Expected an array with minimum length 1."
            )
            raise RefusedError(code="empty_array", says=says, param=f"{param}.content")
        parts = [
            self._parse_part(part, str(role), f"{param}.content[{i}]")
            for i, part in enumerate(content)
        ]
        return Item(item_id, "message", role=str(role), content=parts)

    def _parse_part(self, raw: Json, role: str, param: str) -> Part:
        """Build one part, refused where its kind does not belong to that role."""
        kind = raw.get("type")
        if kind == "output_audio" and role == "assistant":
            if self._switches.assistant_audio == "missing_text":
                raise RefusedError.missing(f"{param}.text")
            says = "Invalid value: 'output_audio'. Value must be 'output_text'."
            raise RefusedError(code="invalid_value", says=says, param=f"{param}.type")
        if kind not in _ALLOWED_PARTS[role]:
            allowed = ", ".join(f"'{name}'" for name in _ALLOWED_PARTS[role])
            says = f"Invalid value: '{kind}'. Supported values are: {allowed}."
            raise RefusedError(code="invalid_value", says=says, param=f"{param}.type")
        if kind == "input_audio":
            if "audio" not in raw:
                raise RefusedError.missing(f"{param}.audio")
            audio = bytearray(decode(raw["audio"], f"{param}.audio"))
            return Part(kind, audio=audio, transcript=raw.get("transcript"))
        if kind == "input_image":
            return Part(kind, text="(image)")
        if not isinstance(raw.get("text"), str):
            raise RefusedError.missing(f"{param}.text")
        return Part(str(kind), text=raw["text"])


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


def decode(audio: object, param: str) -> bytes:
    """Return the bytes of base64 text. Raises RefusedError if it is none."""
    try:
        return base64.b64decode(str(audio), validate=True)
    except binascii.Error:
        says = f"Invalid '{param}': expected valid base64-encoded audio."
        raise RefusedError(code="invalid_value", says=says, param=param) from None


def _check_id(item_id: object, param: str) -> None:
    """Refuse an id that is too long or has other letters than OpenAI's pattern allows."""
    if not isinstance(item_id, str) or not _ID_PATTERN.fullmatch(item_id):
        says = f"Invalid '{param}': expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        raise RefusedError(code="invalid_value", says=says, param=param)
    if len(item_id) > ID_LENGTH:
        says = (
            f"Invalid '{param}': string too long. Expected a string with maximum length {ID_LENGTH}, "
            f"but got a string with length {len(item_id)} instead."
        )
        raise RefusedError(code="string_above_max_length", says=says, param=param)
