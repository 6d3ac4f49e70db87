"""Words that are alike: parts of compounds, endings that no rule knows, slips of a recogniser.

By runs of three characters, so in any language, and only among the words that are visible.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

type Grams = dict[str, set[str]]
"""Run of three characters -> the words that have it."""

_LONGEST: Final = 32
"""Longer words have no kin: they are ids and addresses."""
_SHORTEST: Final = 3
_PART: Final = 4
"""A part of a compound has at least this many characters."""
_ALIKE: Final = 0.55
"""Share of common runs from which two words are alike."""
_MOST: Final = 8
"""Kin of one word."""


def grams(word: str) -> frozenset[str]:
    """Return the runs of three characters of a word, its ends marked; none if it has no kin."""
    if not _SHORTEST <= len(word) <= _LONGEST or not word.isalpha():
        return frozenset()
    marked = f"^{word}$"
    return frozenset(marked[at : at + 3] for at in range(len(marked) - 2))


def kin(word: str, tables: Iterable[Grams]) -> list[tuple[str, float]]:
    """Return words of the tables that are alike, best first, each with how much (0 to 1)."""
    own = grams(word)
    common: Counter[str] = Counter()
    for table in tables:
        counted: Counter[str] = Counter()
        for run in own:
            counted.update(table.get(run, ()))
        common |= counted
    found = sorted(_alike(word, len(own), common), key=lambda pair: (-pair[1], pair[0]))
    return found[:_MOST]


def _alike(word: str, runs: int, common: Counter[str]) -> Iterator[tuple[str, float]]:
    for other, count in common.items():
        if count == 1 or other == word:
            continue
        likeness = 2 * count / (runs + len(other))  # a word has as many runs as characters
        if likeness >= _ALIKE:
            yield other, min(likeness, 1.0)
        elif _compound(word, other):
            yield other, _ALIKE


def _compound(one: str, other: str) -> bool:
    """Whether one word begins or ends with the other."""
    short, long = (one, other) if len(one) < len(other) else (other, one)
    return len(short) >= _PART and (long.startswith(short) or long.endswith(short))
