"""Text as a search compares it: without case, accents and signs, cut into words, in any script."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_MARKS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
"""Accents, Hebrew points, Arabic vowels. The vowel signs of Indic scripts are letters to us."""
_LETTERS: Final = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)
_UNSPACED: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese, Japanese and Korean: words stand without spaces, or with their particles."""
_SOUTH_EAST: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese and Khmer."""
_INDIC: Final = "\u0900-\u0df4"
_PICTURES: Final = "\u2600-\u27bf\U0001f300-\U0001faff"

_WORD: Final = re.compile(
    rf"(?P<run>[{_UNSPACED}{_SOUTH_EAST}]+)|[{_PICTURES}]"
    rf"|(?:(?![{_UNSPACED}{_SOUTH_EAST}])(?:[^\W_]|[{_INDIC}]))+"
)


def fold(text: str) -> str:
    """Return a text without case and accents: `Ä` is `a`, `ß` is `ss`, a wide letter a plain one.

    `ae` for `ä` is a matter of words and left to `stemming.stem`.
    """
    if text.isascii():
        return text.lower()
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold())).casefold()
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)


def words(text: str) -> list[str]:
    """Return the words of a text, folded. Where a script has no spaces, every two signs are one."""
    return list(each_word(text))


def each_word(text: str) -> Iterator[str]:
    """Yield what `words` returns."""
    for match in _WORD.finditer(fold(text)):
        word = match[0]
        if match["run"] is None or len(word) == 1:
            yield word
        else:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
