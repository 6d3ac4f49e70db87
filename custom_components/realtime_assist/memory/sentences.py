"""Text in sentences, and sentences in words, in any script."""

import re
from collections.abc import Iterator
from typing import Final

from .usage import estimate_tokens
from .words import shorten

MAX_WORDS: Final = 40
MAX_TOKENS: Final = 72

_END: Final = re.compile(
    r"""(?<=[.!?\u2026\u061f\u0964])["'\u201d\u00bb)]*\s+(?=[^\sa-z\u00e0-\u00ff])"""
    r"""|(?<=[\u3002\uff01\uff1f])|\n+"""
)
_GOES_ON: Final = re.compile(
    r"(?:^|\s)(?:[^\W\d_]{1,2}|\d{1,2}|Mrs|bzw|usw|etc|Str|Sra|Mme|Prof)\.$"
)
"""An abbreviation, or an ordinal: `am 3. Dezember`."""
_WHOLE: Final = re.compile(r"""[.!?\u2026\u061f\u0964\u3002\uff01\uff1f]["'\u201d\u00bb)]*$""")
_CLAUSE: Final = re.compile(r"(?<=[,;:\u2013\u2014\u060c])\s+|(?<=[\u3001\uff0c])")
_WORD: Final = re.compile(r"\w+")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, those that are too long in parts, none over 40 words."""
    held = ""
    for part in _END.split(text):
        held = f"{held} {part}".strip() if held else part.strip()
        if not held or _GOES_ON.search(held):
            continue
        yield from _parts(held)
        held = ""
    if held:
        yield from _parts(held)


def whole(sentence: str) -> bool:
    """Whether a sentence has its end."""
    return _WHOLE.search(sentence) is not None


def _parts(sentence: str) -> Iterator[str]:
    """Yield a sentence, or as many clauses of it at a time as a line may have."""
    start = end = 0
    for found in (*_CLAUSE.finditer(sentence), None):
        ahead = found.end() if found else len(sentence)
        if start < end and not _fits(sentence[start:ahead]):
            yield sentence[start:end].strip()
            start = end
        end = ahead
    rest = sentence[start:].strip()
    if rest:
        yield rest if _fits(rest) else shorten(" ".join(rest.split()[:MAX_WORDS]), MAX_TOKENS)


def _fits(text: str) -> bool:
    return len(text.split()) <= MAX_WORDS and estimate_tokens(text) <= MAX_TOKENS


def words(text: str) -> Iterator[str]:
    """Yield the words of a text, folded; of scripts without spaces, each pair of signs."""
    for word in _WORD.findall(text):
        if not _UNSPACED.search(word):
            yield word.casefold()
            continue
        for at in range(max(len(word) - 1, 1)):
            yield word[at : at + 2]
