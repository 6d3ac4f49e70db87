"""What is indexed for one audience: rows, the words that lead to them, and words that are alike."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ..items import Audience
from .folding import each_word, words
from .kinship import Grams, grams
from .searching import Document, Kind
from .stemming import stem

MAX_TEXT: Final = 4000
"""Characters of one document that are indexed: what one step may cost is bounded."""
MAX_WORDS: Final = 1000
"""Words of them: in a script without spaces almost every character begins one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One document, and what it says as stems with how often."""

    document: Document
    terms: dict[str, int] = field(repr=False)
    speaker: frozenset[str] = field(repr=False)
    """Stems of the speaker's name."""
    length: int


def row_of(document: Document) -> Row:
    """Return a document as the row of an index: what names it counts like its text.

    Of a very long text only the first 4,000 characters are indexed.
    """
    key = document.key if document.kind is Kind.ENTRY else ""  # elsewhere it is an id
    named = " ".join((key, *document.tags))
    found = [
        stem(word)
        for text in (named, document.text)
        for word in islice(each_word(text[:MAX_TEXT]), MAX_WORDS)
    ]
    return Row(
        document=document,
        terms=dict(Counter(found)),
        speaker=frozenset(map(stem, words(document.speaker))),
        length=len(found),
    )


@dataclass(slots=True)
class Shard:
    """What leads to the rows of one audience.

    One that may not be seen is left out whole, so that not even the rarity of its words or their
    spelling has an influence on what others find.
    """

    audience: Audience
    slots: set[int] = field(default_factory=set)
    postings: dict[str, dict[int, int]] = field(default_factory=dict)
    """Stem -> slot -> how often."""
    kinship: Grams = field(default_factory=dict)
    speakers: Counter[str] = field(default_factory=Counter)
    length: int = 0
    """Words of all rows."""

    def add(self, slot: int, row: Row) -> None:
        """Enter a row."""
        self.slots.add(slot)
        self.length += row.length
        self.speakers.update(row.speaker)
        for term, count in row.terms.items():
            slots = self.postings.get(term)
            if slots is None:
                slots = self.postings[term] = {}
                for run in grams(term):
                    self.kinship.setdefault(run, set()).add(term)
            slots[slot] = count

    def remove(self, slot: int, row: Row) -> None:
        """Take a row out, and every word that only it had."""
        self.slots.discard(slot)
        self.length -= row.length
        for name in row.speaker:
            self.speakers[name] -= 1
            if not self.speakers[name]:
                del self.speakers[name]
        for term in row.terms:
            slots = self.postings[term]
            del slots[slot]
            if not slots:
                del self.postings[term]
                self._unlink(term)

    def _unlink(self, term: str) -> None:
        for run in grams(term):
            alike = self.kinship[run]
            alike.discard(term)
            if not alike:
                del self.kinship[run]
