"""The words in which one searches: what is there, what is asked, what was found."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from ..items import EVERYBODY, Audience
from .folding import words

MAX_QUESTION: Final = 2000
"""Characters of a question that are read."""


class EmptyQuery(ValueError):
    """There is nothing to look for. That never means everything."""


class Kind(StrEnum):
    """What a document is."""

    ENTRY = "entry"
    TURN = "turn"
    SUMMARY = "summary"
    ARCHIVE = "archive"
    """A turn that was summarised away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One thing that can be found."""

    id: str
    """Unique in an index; a document with the same id takes its place."""
    kind: Kind
    text: str = field(repr=False)
    audience: Audience = EVERYBODY
    """Keys that a reader must all be allowed to see."""
    at: datetime
    """When it was said or set; with a time zone."""
    group: str = ""
    """What it is part of: a scope or a thread, as text."""
    number: int | None = None
    """Its place among what was said in its group: what stands beside it gives it meaning."""
    key: str = ""
    """Of an entry: its words count as text, too. Of a turn: its id."""
    tags: tuple[str, ...] = ()
    source: str = ""
    speaker: str = field(default="", repr=False)
    """Name of who spoke, where it is known."""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked: words, conditions, or both. Raises EmptyQuery if it asks for nothing.

    Case and accents do not matter in any of them.
    """

    words: str = field(default="", repr=False)
    """A question or some words, of which the first 2,000 characters are read."""
    key: str = ""
    """The key of an entry, or its beginning followed by `*`."""
    tags: tuple[str, ...] = ()
    """All of these must be there."""
    source: str = ""
    kinds: frozenset[Kind] = frozenset()
    """Any of these; empty: all. No condition by itself."""
    since: datetime | None = None
    until: datetime | None = None
    """Not this moment itself. As `since` no condition by itself."""

    def __post_init__(self) -> None:
        """Refuse what would find everything, and cut a question that is too long."""
        object.__setattr__(self, "words", self.words[:MAX_QUESTION])
        named = (self.key.strip().removesuffix("*"), self.source, *self.tags)
        if not self.asks and not any(text.strip() for text in named):
            raise EmptyQuery("a search needs words, a key, a tag or a source")

    @property
    def asks(self) -> bool:
        """Whether there are words to look for."""
        return bool(words(self.words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One document that was found."""

    document: Document
    score: float
    """How well it fits, compared with the other hits of this search only; 0 without words."""
