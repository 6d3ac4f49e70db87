"""Finding what is remembered, by words and by what is known of it, among what may be seen.

An index holds documents (entries, turns, lines of summaries, archived turns: `documents.py` makes
them) and is kept up to date one by one; it never reads anything itself. What a reader may not see
has no influence on what is found: neither by its words nor by their number.

`put`, `discard` and `find` take a few milliseconds at most. Whoever has thousands of documents to
enter awaits `fill`, which lets others run in between.
"""

import asyncio
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from ..items import Audience
from .conditions import Condition
from .question import Question
from .ranking import ENOUGH, Corpus, best, rank
from .scopes import ScopeKey, audience
from .searching import Document, Hit, Query
from .shard import Row, Shard, row_of

SLICE: Final = 0.004
"""Seconds that `fill` works before it lets others run."""


class SearchIndex:
    """Documents by their words, apart by audience."""

    def __init__(self) -> None:
        """Start empty."""
        self._documents: Final[dict[str, Document]] = {}
        self._slots: Final[dict[str, int]] = {}
        self._rows: Final[dict[int, Row]] = {}
        self._groups: Final[dict[str, set[str]]] = {}
        self._places: Final[dict[str, dict[int, int]]] = {}
        self._shards: Final[dict[Audience, Shard]] = {}
        self._fills: Final[dict[str, set[str]]] = {}
        """Group that is being filled -> ids that were changed meanwhile."""
        self._next = 0
        self._until = 0.0
        """When others must run again, however many groups are filled one after the other."""

    def __len__(self) -> int:
        """Return how many documents there are."""
        return len(self._documents)

    def groups(self) -> frozenset[str]:
        """Return the groups of which there is anything."""
        return frozenset(self._groups)

    def count(self, group: str) -> int:
        """Return how many documents of a group there are."""
        return len(self._groups.get(group, ()))

    # Keeping

    def put(self, document: Document) -> None:
        """Enter a document in place of the one with its id."""
        self._claim(document.id)
        self._enter(document)

    def discard(self, document_id: str) -> None:
        """Take a document out, if it is there, and every word that only it had."""
        self._claim(document_id)
        self._leave(document_id)

    def drop(self, group: str) -> None:
        """Take out all documents of a group; a `fill` of it that is under way ends."""
        self._fills.pop(group, None)
        for document_id in tuple(self._groups.get(group, ())):
            self.discard(document_id)

    async def fill(self, group: str, documents: Iterable[Document]) -> None:
        """Make a group what `documents` yields; what is there already costs next to nothing.

        All of them must be of this group. What is put or discarded meanwhile is newer and stays
        so; a later `fill` or a `drop` of the group ends this one. Raises ValueError for a document
        of another group.
        """
        claimed = self._fills[group] = set[str]()
        left = set(self._groups.get(group, ()))
        try:
            for document in documents:
                if document.group != group:
                    raise ValueError("a document is of another group")
                left.discard(document.id)
                if document.id not in claimed:
                    self._enter(document)
                await self._let_others_run()
                if self._fills.get(group) is not claimed:
                    return
            for document_id in left:
                if document_id not in claimed:
                    self._leave(document_id)
                await self._let_others_run()
                if self._fills.get(group) is not claimed:
                    return
        finally:
            if self._fills.get(group) is claimed:
                del self._fills[group]

    # Finding

    def find(
        self,
        query: Query,
        visible: Iterable[ScopeKey],
        *,
        now: datetime | None = None,
        limit: int = 10,
    ) -> tuple[Hit, ...]:
        """Return what fits, best first, of what a reader of these keys may see.

        With words: by how well they fit. Without: the newest first. `now` leaves out what has
        expired by then. Raises ValueError if `limit` is under 1.
        """
        if limit < 1:
            raise ValueError("limit is at least 1")
        keys = audience(*visible)
        shards = [shard for who, shard in self._shards.items() if who <= keys]
        corpus = Corpus(
            shards, rows=self._rows, places=self._places, enough=max(ENOUGH, 20 * limit)
        )
        if query.asks:
            scores = rank(Question.read(query.words), corpus)
        else:
            scores = {slot: 0.0 for shard in shards for slot in shard.slots}
        condition = Condition(query, now)
        if not condition.always:
            rows = self._rows
            scores = {s: v for s, v in scores.items() if condition.met(rows[s].document)}
        return tuple(
            Hit(document=self._rows[slot].document, score=round(scores[slot], 6))
            for slot in best(scores, corpus, limit)
        )

    def placed(self, group: str, number: int) -> Document | None:
        """Return what has this place among what was said in a group."""
        slot = self._places.get(group, {}).get(number)
        return None if slot is None else self._rows[slot].document

    # Inside

    async def _let_others_run(self) -> None:
        if time.perf_counter() > self._until:
            await asyncio.sleep(0)
            self._until = time.perf_counter() + SLICE

    def _claim(self, document_id: str) -> None:
        for claimed in self._fills.values():
            claimed.add(document_id)

    def _enter(self, document: Document) -> None:
        if self._documents.get(document.id) == document:
            return
        self._leave(document.id)
        slot = self._next
        self._next += 1
        row = row_of(document)
        self._documents[document.id] = document
        self._slots[document.id] = slot
        self._rows[slot] = row
        self._groups.setdefault(document.group, set()).add(document.id)
        if document.number is not None:
            self._places.setdefault(document.group, {})[document.number] = slot
        who = document.audience
        self._shards.setdefault(who, Shard(who)).add(slot, row)

    def _leave(self, document_id: str) -> None:
        document = self._documents.pop(document_id, None)
        if document is None:
            return
        slot = self._slots.pop(document_id)
        shard = self._shards[document.audience]
        shard.remove(slot, self._rows.pop(slot))
        if not shard.slots:
            del self._shards[document.audience]
        group = self._groups[document.group]
        group.discard(document_id)
        if not group:
            del self._groups[document.group]
        places = self._places.get(document.group, {})
        if document.number is not None and places.get(document.number) == slot:
            del places[document.number]
            if not places:
                del self._places[document.group]
