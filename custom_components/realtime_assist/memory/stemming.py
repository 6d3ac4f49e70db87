"""Words without their endings: plural and singular, and most forms of a verb, become one.

One set of rules for English, German, French, Spanish, Italian and Dutch, since nobody says which
language a sentence is in. It is made to bring the forms of a word together, not to be right about
grammar; what it misses, `kinship.py` finds by likeness.
"""

import re
from functools import lru_cache
from typing import Final

from .word_forms import RELATED

_SHORT: Final = 3
"""Words that are no longer have no ending, and no ending leaves less of a word."""
_LATIN: Final = re.compile(r"[a-z]+")
_DIGRAPH: Final = re.compile(r"(?<![aeq])([aou])e(?=[a-z])(?!s$)")
_VOWEL: Final = re.compile(r"[aeiouy]")
_CLOSED: Final = re.compile(r"[^aeiouy]*[aeiouy][b-df-hj-np-tvz]")
"""One vowel before one consonant: what is left of `hiking` or `Hosen` lacks its e."""
_TWICE: Final = re.compile(r"([b-df-hj-np-tv-z])\1$")
_LONG: Final = re.compile(r"([aeou])\1([b-df-hj-np-tv-z])$")
_PARTICIPLE: Final = re.compile(r"ge([a-z]{3,})t")
_PLURALS: Final = (("eaux", "eau"), ("aux", "al"), ("euse", "eux"), ("euses", "eux"), ("ied", "y"))
_SOUNDS: Final = str.maketrans({"z": "s", "v": "f", "c": "s"})


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return what a folded word is looked up by."""
    if not _LATIN.fullmatch(word):
        return word
    word = _plain(RELATED.get(word, word))
    if len(word) > _SHORT:
        word = _without_ending(_singular(word))
    return _sounding(word)


def _plain(word: str) -> str:
    """Write the German `ae`, `oe` and `ue` as folding leaves `ä`, `ö` and `ü`: without the e."""
    return _DIGRAPH.sub(r"\1", word)


def _singular(word: str) -> str:
    """Take the ending of a plural away, in the ways that English, French and Spanish have it."""
    for plural, singular in _PLURALS:
        if len(word) > len(plural) + 1 and word.endswith(plural):
            return word[: -len(plural)] + singular
    if (
        word.endswith("s")
        and word[-2] not in "sui"
        and (len(word) > _SHORT + 1 or word[-2] not in "ao")
    ):
        word = word[:-1]
    if word.endswith("ie") and len(word) > _SHORT + 1:
        word = word[:-2] + "y"
    return word


def _without_ending(word: str) -> str:
    """Take the ending of a verb, of a German or Dutch plural, of a gender away."""
    if match := _PARTICIPLE.fullmatch(word):
        return _complete(match[1])
    for ending in ("ing", "ed", "ern", "em", "en", "e"):
        base = word.removesuffix(ending)
        if base != word and _is_word(base) and not word.endswith("eed"):
            word = _complete(base)
            break
    base = word[:-1]
    return base if word[-1] in "ao" and _is_word(base) else word


def _is_word(base: str) -> bool:
    return len(base) >= _SHORT and _VOWEL.search(base) is not None


def _complete(base: str) -> str:
    """Give back the e that a short word lost with its ending."""
    return base + "e" if _CLOSED.fullmatch(base) else base


def _sounding(word: str) -> str:
    """Write the end of a word as all its forms have it: `bomen` and `boom`, `huizen` and `huis`."""
    word = _LONG.sub(r"\1\2e", _TWICE.sub(r"\1", word))
    return word[:-1] + word[-1].translate(_SOUNDS)
