"""Values that the disk gives back as they were."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import orjson

from .words import is_text

MAX_DEPTH: Final = 32

# `json.dumps` makes an encoder for each call.
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


class NotJson(ValueError):
    """A value that cannot be kept as JSON: `key` is the entry's, `kind` the type that cannot be."""

    def __init__(self, key: str, kind: str) -> None:
        """Keep both."""
        super().__init__(f"{key}: {kind} is not JSON")
        self.key: Final = key
        self.kind: Final = kind


def json_text(value: object, key: str) -> str:
    """Return the canonical JSON text of a value; NotJson names the key and the type."""
    if type(value) is str:  # most are, and both write a text in the same way
        try:
            return orjson.dumps(value).decode()
        except TypeError as err:
            raise NotJson(key, "text with lone surrogates") from err
    _check_json(value, key, MAX_DEPTH)
    return _ENCODE(_plain(value))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return mappings and tuples of any kind as dict and list."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _check_json(value: object, key: str, depth: int) -> None:
    """Refuse what the disk could not give back as it was."""
    if depth == 0:
        raise NotJson(key, "value that is nested too deeply")
    match value:
        case str() if is_text(value):  # first, since most are
            return
        case list() | tuple():
            for inner in value:
                _check_json(inner, key, depth - 1)
        case Mapping():
            for name, inner in value.items():
                if not isinstance(name, str):
                    raise NotJson(key, f"mapping with a key of type {type(name).__name__}")
                _check_json(name, key, depth - 1)
                _check_json(inner, key, depth - 1)
        case _ if wrong := _wrong_scalar(value):
            raise NotJson(key, wrong)


def _wrong_scalar(value: object) -> str:
    """Return what is wrong with a value that holds no others; empty if it can be kept."""
    match value:
        case None | bool():
            return ""
        case str():
            return "" if is_text(value) else "text with lone surrogates"
        case int():
            return "" if -(2**63) <= value < 2**64 else "integer of more than 64 bits"
        case float():
            return "" if math.isfinite(value) else "number that is not finite"
        case _:
            return type(value).__name__
