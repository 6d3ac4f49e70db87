"""Items that a client writes: checked against what the API accepts, and built."""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from .items import Item, Part
from .refusal import RefusedError
from .switches import Switches

type Json = dict[str, Any]

_ID_LENGTH = 32
_ID_PATTERN = re.compile(r"[a-zA-Z0-9_-]+")
_ALLOWED_PARTS = {
    "system": ("input_text",),
    "user": ("input_text", "input_audio", "input_image"),
    "assistant": ("output_text",),
}


class ItemParser:
    """Builds items, or refuses them with the known codes. `param` is where an item stands."""

    def __init__(self, switches: Switches, new_id: Callable[[str], str]) -> None:
        """Build as `switches` say; `new_id("item")` makes an id for what comes without one."""
        self._switches = switches
        self._new_id = new_id

    def parse(self, raw: Json, param: str = "item") -> Item:
        """Check and build an item that a client sent. Raises RefusedError."""
        item_id = raw.get("id") or self._new_id("item")
        _check_id(item_id, f"{param}.id")
        match raw.get("type"):
            case "message":
                return self._parse_message(raw, item_id, param)
            case "function_call":
                _require(raw, param, "name", "arguments")
                call_id = raw.get("call_id") or self._new_id("call")
                _check_id(call_id, f"{param}.call_id")
                named = {"name": raw["name"], "arguments": raw["arguments"]}
                return Item(item_id, "function_call", call_id=call_id, **named)
            case "function_call_output":
                _require(raw, param, "call_id", "output")
                _check_id(raw["call_id"], f"{param}.call_id")
                return Item(item_id, raw["type"], call_id=raw["call_id"], output=raw["output"])
            case None:
                raise RefusedError.missing(f"{param}.type")
        supported = "'message', 'function_call', and 'function_call_output'"
        raise RefusedError.value(
            f"{param}.type", raw["type"], f"Supported values are: {supported}."
        )

    def _parse_message(self, raw: Json, item_id: str, param: str) -> Item:
        """Build a message whose parts fit its role."""
        role = raw.get("role")
        if role not in _ALLOWED_PARTS:
            supported = "Supported values are: 'system', 'user', and 'assistant'."
            raise RefusedError.value(f"{param}.role", role, supported)
        _require(raw, param, "content")
        content = raw["content"]
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
            raise RefusedError.value(f"{param}.type", kind, "Value must be 'output_text'.")
        if kind not in _ALLOWED_PARTS[role]:
            allowed = ", ".join(f"'{name}'" for name in _ALLOWED_PARTS[role])
            raise RefusedError.value(f"{param}.type", kind, f"Supported values are: {allowed}.")
        if kind == "input_audio":
            _require(raw, param, "audio")
            audio = bytearray(decode(raw["audio"], f"{param}.audio"))
            return Part(kind, audio=audio, transcript=raw.get("transcript"))
        if kind == "input_image":
            return Part(kind, text="(image)")
        _require(raw, param, "text")
        return Part(str(kind), text=str(raw["text"]))


def _require(raw: Json, param: str, *names: str) -> None:
    """Refuse an object that lacks one of these fields. Raises RefusedError."""
    for name in names:
        if raw.get(name) is None:
            raise RefusedError.missing(f"{param}.{name}")


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
        says = f"Invalid '{param}': expected a string that matches '^[a-zA-Z0-9_-]+$'."
        raise RefusedError(code="invalid_value", says=says, param=param)
    if len(item_id) > _ID_LENGTH:
        says = (
            f"Invalid '{param}': string too long. Expected a string with maximum length "
            f"{_ID_LENGTH}, but got a string with length {len(item_id)} instead."
        )
        raise RefusedError(code="string_above_max_length", says=says, param=param)
