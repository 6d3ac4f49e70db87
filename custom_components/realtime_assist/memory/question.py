"""What a question asks for: the words it is about, and the date in it."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self

from .folding import words
from .stemming import stem
from .word_forms import MONTHS, STOP_WORDS

MAX_TERMS: Final = 32
"""Different words of a question that count."""
MONTH_WEIGHT: Final = 0.5
DAY_WEIGHT: Final = 0.5
YEAR_WEIGHT: Final = 0.25

_DAYS: Final = range(1, 32)
_YEARS: Final = range(1900, 2200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as a search understands it."""

    terms: dict[str, int] = field(repr=False)
    """Stems of what it is about, with how often."""
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a question in any language: the words that only make it a question are left out."""
        found = words(text)
        numbers = {int(word) for word in found if word.isdecimal() and len(word) in (1, 2, 4)}
        months = frozenset(MONTHS[word] for word in found if word in MONTHS)
        return cls(
            terms=dict(Counter(map(stem, _content(found))).most_common(MAX_TERMS)),
            months=months,
            days=frozenset(number for number in numbers if months and number in _DAYS),
            years=frozenset(number for number in numbers if number in _YEARS),
        )

    @property
    def has_date(self) -> bool:
        """Whether it names a month or a year."""
        return bool(self.months or self.years)

    def dated(self, at: datetime) -> float:
        """Return by what a moment's worth grows because the question names its date; 1: nothing."""
        factor = 1.0
        if at.month in self.months:
            factor += MONTH_WEIGHT
            if at.day in self.days:
                factor += DAY_WEIGHT
        if at.year in self.years:
            factor += YEAR_WEIGHT
        return factor


def _content(found: list[str]) -> list[str]:
    """Return the words that say something, or all if none does.

    What is a mere particle in one language is a thing in another (`war`, `die`, `son`): only
    those of the language go that most of the words speak for.
    """
    known = {
        language: sum(word in particles for word in found)
        for language, particles in STOP_WORDS.items()
    }
    most = max(known.values())
    content = [
        word
        for word in found
        if (len(word) > 1 or not word.isalpha() or not word.isascii())
        and not any(
            word in STOP_WORDS[language] for language, count in known.items() if count == most
        )
    ]
    return content or found
