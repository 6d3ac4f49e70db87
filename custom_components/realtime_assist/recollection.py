"""Finding what is remembered: the search index, and the memory that it is made of.

Nothing is read before somebody searches, and then only what the searcher may see; what the index
holds already is not entered again.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util

from .memory.documents import entries_group, entry_document, thread_documents, thread_group
from .memory.entries import ContextEntry
from .memory.scopes import Scope, ScopeKey
from .memory.search import SearchIndex
from .memory.searching import Hit, Kind, Query
from .memory.transcript import Thread, ThreadKey

if TYPE_CHECKING:
    from .house import House


_BESIDE: Final = 100
"""Hits that may belong to other scopes than those that are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that was found."""

    kind: Kind
    scope: ScopeKey
    """Whom it belongs to: its entry, or its thread."""
    text: str = field(repr=False)
    at: datetime
    speaker: str | None = None
    score: float
    entry: ContextEntry | None = None
    thread: ThreadKey | None = None
    turn_id: str | None = None


class Recollection:
    """Search over the memory of a house."""

    def __init__(self, house: House) -> None:
        """Start with an empty index."""
        self._house: Final = house
        self._index: Final = SearchIndex()
        self._lock: Final = asyncio.Lock()
        """One search at a time: another's filling would end this one's."""

    async def async_find(
        self,
        query: Query,
        visible: Collection[ScopeKey],
        limit: int,
        *,
        within: Collection[ScopeKey] | None = None,
    ) -> list[Found]:
        """Return what fits, best first, of what somebody who sees these scopes may see.

        `within`: only what belongs to these of them; None: to any.
        """
        await self._house.storage.async_load_scopes(visible)
        async with self._lock:
            for scope in visible:
                held = self._house.context.visible((scope,))
                await self._index.fill(entries_group(scope), map(entry_document, held))
            for thread in await self._async_threads(visible):
                await self._index.fill(thread_group(thread.key), thread_documents(thread))
            most = limit if within is None else 5 * limit + _BESIDE
            hits = self._index.find(query, visible, now=dt_util.utcnow(), limit=most)
            for scope in visible:
                if not scope.durable:
                    # Nothing of a conversation outlives it, in an index neither.
                    self._index.drop(entries_group(scope))
        found = (each for hit in hits if (each := self._found(hit)) is not None)
        fitting = (each for each in found if within is None or each.scope in within)
        return list(islice(fitting, limit))

    async def async_people(
        self, scopes: Collection[ScopeKey], allowed: Callable[[ScopeKey], bool]
    ) -> tuple[ScopeKey, ...]:
        """Return the people to whom something in the threads of these scopes was said alone."""
        people = {
            ScopeKey.parse(key)
            for thread in await self._async_threads(scopes)
            for who in _audiences(thread)
            for key in who
        }
        return tuple(
            sorted((k for k in people if k.scope is Scope.SPEAKER and allowed(k)), key=str)
        )

    async def _async_threads(self, scopes: Collection[ScopeKey]) -> list[Thread]:
        storage = self._house.storage
        keys = [key for key in await storage.async_thread_keys() if key.scope in scopes]
        return [await storage.async_load_thread(key) for key in keys]

    def _found(self, hit: Hit) -> Found | None:
        """Return a hit with what it was made of; None if that is gone by now."""
        document = hit.document
        entry: ContextEntry | None = None
        thread: ThreadKey | None = None
        _, _, group = document.group.partition("/")
        if document.kind is Kind.ENTRY:
            scope = ScopeKey.parse(group)
            entry = self._house.context.get((scope,), document.key)
            if entry is None:
                return None
        else:
            thread = ThreadKey.parse(group)
            scope = thread.scope
        return Found(
            kind=document.kind,
            scope=scope,
            text=document.text,
            at=document.at,
            speaker=document.speaker or None,
            score=hit.score,
            entry=entry,
            thread=thread,
            turn_id=document.key if document.kind is Kind.TURN else None,
        )


def _audiences(thread: Thread) -> Iterator[Collection[str]]:
    yield from (turn.audience for turn in thread.turns)
    yield from (line.audience for line in (thread.summary.lines if thread.summary else ()))
