"""What a document must be, beside its words, to be found."""

from datetime import datetime

from .folding import fold
from .searching import Document, Query


class Condition:
    """The conditions of a query, made ready to be tried on many documents."""

    def __init__(self, query: Query, now: datetime | None) -> None:
        """Take a query, and the moment by which what has expired is out; None: nothing is."""
        self._query = query
        self._now = now
        self._key = _same(query.key)
        self._tags = frozenset(tag for tag in map(_same, query.tags) if tag)
        self._source = _same(query.source)

    @property
    def always(self) -> bool:
        """Whether every document meets it."""
        query = self._query
        limits = (self._now, query.since, query.until)
        return not (self._key or self._tags or self._source or query.kinds or any(limits))

    def met(self, document: Document) -> bool:
        """Whether a document is what the query asks for."""
        query = self._query
        if query.kinds and document.kind not in query.kinds:
            return False
        if query.since is not None and document.at < query.since:
            return False
        if query.until is not None and document.at >= query.until:
            return False
        if self._now is not None and document.expires_at and document.expires_at <= self._now:
            return False
        return self._key_met(document) and self._marks_met(document)

    def _key_met(self, document: Document) -> bool:
        if not self._key:
            return True
        if self._key.endswith("*"):
            return _same(document.key).startswith(self._key[:-1])
        return _same(document.key) == self._key

    def _marks_met(self, document: Document) -> bool:
        if self._source and _same(document.source) != self._source:
            return False
        return not self._tags or self._tags <= set(map(_same, document.tags))


def _same(text: str) -> str:
    return fold(text).strip()
