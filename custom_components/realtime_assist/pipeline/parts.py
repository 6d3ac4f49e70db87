"""Long texts in parts: each fits what a model may be told at once, and together they are all of it.

A part ends with a line, else with a word: never within a sign, never within an escape of JSON.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..memory.usage import estimate_tokens
from ..memory.words import cut_at_word
from .json_safe import json_text

MAX_CHARS: Final = 1_000_000
"""Longest result of which all can be read; of a longer one the rest is left out."""
LEFT_OUT: Final = "\n(The rest was left out: it is too long.)"

_GLUED: Final = frozenset({"Mn", "Mc", "Me", "Sk", "Cf"})
"""Categories of signs that belong to the one before them: accents, skin tones, joiners."""


def cost(data: object) -> int:
    """Return how many tokens something costs as JSON, estimated."""
    return estimate_tokens(json_text(data))


def readable(data: Mapping[str, Any]) -> str:
    """Return JSON as text with a line for each value, so that a part of it can be understood."""
    text = "\n".join(_lines(data, ""))
    return text if len(text) <= MAX_CHARS else cut_at_word(text, MAX_CHARS) + LEFT_OUT


def parts(text: str, tokens: int) -> list[str]:
    """Return the parts of a text, each of at most `tokens` as a JSON string. Joined they are it.

    `tokens` is at least 8, so that every sign fits.
    """
    found: list[str] = []
    at = 0
    while at < len(text):
        end = at + _length(text[at : at + 4 * tokens], tokens)
        found.append(text[at:end])
        at = end
    return found or [""]


def _length(text: str, tokens: int) -> int:
    """Return how much of the beginning of a text is its next part."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _string_cost(text[:middle]) <= tokens:
            low = middle
        else:
            high = middle - 1
    if low == len(text):
        return low
    line = text.rfind("\n", low // 2, low) + 1
    return line or _word_end(text, low)


def _string_cost(text: str) -> int:
    return estimate_tokens(json.dumps(text, ensure_ascii=False))


def _word_end(text: str, most: int) -> int:
    """Return where the last word ends that ends by there; in an endless one, where a sign ends."""
    word = len(cut_at_word(text, most))
    if 2 * word >= most:
        return word
    end = most
    while end > most // 2 and _glued(text, end):
        end -= 1
    return end if end > most // 2 else most


def _glued(text: str, at: int) -> bool:
    """Whether the sign at a place belongs to the one before it."""
    joined = unicodedata.category(text[at]) in _GLUED
    return joined or unicodedata.category(text[at - 1]) == "Cf"


def _lines(value: object, pad: str) -> Iterator[str]:
    """Yield the lines of a JSON object, list or text."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _item(f"{pad}{_name(key)}:", inner, f"{pad}  ")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            if inner and isinstance(inner, Mapping | list):
                first, *rest = _lines(inner, f"{pad}  ")
                yield f"{pad}- {first.lstrip(' ')}"
                yield from rest
            else:
                yield from _item(f"{pad}-", inner, f"{pad}  ")
    else:
        yield from (f"{pad}{line}" for line in str(value).splitlines())


def _item(head: str, value: object, pad: str) -> Iterator[str]:
    """Yield a value behind its name: on its line, or on lines of its own."""
    if (isinstance(value, Mapping | list) and value) or (
        isinstance(value, str) and len(value.splitlines()) > 1
    ):
        yield head
        yield from _lines(value, pad)
    else:
        yield f"{head} {value if isinstance(value, str) else json.dumps(value)}"


def _name(key: str) -> str:
    return key if key.isprintable() else json.dumps(key)
