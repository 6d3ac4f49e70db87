"""Cutting text where a word ends, in any script."""

import unicodedata
from typing import Final

from .usage import estimate_tokens

ELLIPSIS: Final = "\u2026"

_GLUED: Final = frozenset({"Mn", "Mc", "Me", "Sk", "Cf"})
"""Categories of signs that belong to the one before them: accents, skin tones, joiners."""
_WITHOUT_SPACES: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai, Lao, Burmese and Khmer: words stand without spaces, as in Chinese and Japanese."""


def _stands_alone(sign: str) -> bool:
    """Whether a sign is of a script that puts no spaces between words."""
    if unicodedata.east_asian_width(sign) in "WF":
        return True
    return any(first <= ord(sign) <= last for first, last in _WITHOUT_SPACES)


def _ends_word(text: str, at: int) -> bool:
    """Whether a word ends between `text[at - 1]` and `text[at]`."""
    before, after = text[at - 1], text[at]
    if after.isspace() or before.isspace():
        return True
    if unicodedata.category(after) in _GLUED or unicodedata.category(before) == "Cf":
        return False
    return _stands_alone(before) or _stands_alone(after)


def cut_at_word(text: str, length: int) -> str:
    """Return the beginning of a text, at most `length` characters, without a broken word."""
    if length >= len(text):
        return text
    end = max(length, 0)
    while end > 0 and not _ends_word(text, end):
        end -= 1
    return text[:end].rstrip()


def shorten(text: str, tokens: int) -> str:
    """Return a text of at most `tokens` (estimated), with an ellipsis where it was cut."""
    if estimate_tokens(text) <= tokens:
        return text
    room = tokens - estimate_tokens(ELLIPSIS)
    if room < 0:
        return ""
    low, high = 0, min(len(text), 4 * room)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    cut = cut_at_word(text, low)
    if 2 * len(cut) < low:  # one endless word: better half of it than nothing
        cut = text[:low]
    return cut + ELLIPSIS


def indented(text: str) -> str:
    """Return a text whose further lines are set in, so that none of them looks like one of ours."""
    return "\n    ".join(text.splitlines())


def is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8: it has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_of(text: str) -> str:
    """Return a text with lone surrogates replaced."""
    return text.encode(errors="replace").decode()
