"""Finding what is remembered: the search index, and the memory that it is made of.

Nothing is read before somebody searches, and then only what the searcher may see; what the index
holds already is not entered again.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util

from .memory.documents import (
    archive_group,
    entries_group,
    entry_document,
    segment_documents,
    thread_documents,
    thread_group,
)
from .memory.entries import ContextEntry
from .memory.moving import audiences
from .memory.scopes import Scope, ScopeKey
from .memory.search import SearchIndex
from .memory.searching import Document, Hit, Kind, Query
from .memory.segments import ArchiveKey
from .memory.transcript import Thread, ThreadKey

if TYPE_CHECKING:
    from .house import House


_BESIDE: Final = 100
"""Hits that may belong to other scopes than those that are asked for."""
MAX_ARCHIVED: Final = 20_000
"""Archived turns in the index: of more than that the oldest are not found."""


@dataclass(frozen=True, slots=True)
class _Entered:
    """A segment of the archive as it is in the index."""

    changes: int
    turns: int


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
        self._archived: Final[dict[ArchiveKey, _Entered]] = {}
        """The segments of the archive that are in the index, those last that were used last."""
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
            if not query.kinds or Kind.ARCHIVE in query.kinds:
                await self._async_enter_archive(visible)
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
        threads = await self._async_threads(scopes)
        told = {who for thread in threads for who in audiences(thread)}
        told |= await self._house.storage.archive.async_audiences(scopes)
        people = {ScopeKey.parse(key) for who in told for key in who}
        return tuple(
            sorted((k for k in people if k.scope is Scope.SPEAKER and allowed(k)), key=str)
        )

    async def _async_threads(self, scopes: Collection[ScopeKey]) -> list[Thread]:
        storage = self._house.storage
        keys = [key for key in await storage.async_thread_keys() if key.scope in scopes]
        return [await storage.async_load_thread(key) for key in keys]

    async def _async_enter_archive(self, scopes: Collection[ScopeKey]) -> None:
        """Have the archive of the threads of these scopes in the index, the newest first."""
        keys = await self._house.storage.archive.async_keys(scopes)
        room = MAX_ARCHIVED
        for key in keys:
            if room <= 0:
                break
            room -= await self._async_enter(key)
        gone = [key for key in self._archived if key.thread.scope in scopes and key not in keys]
        count = sum(entered.turns for entered in self._archived.values())
        for key in [*gone, *(key for key in self._archived if key not in keys)]:
            if key in gone or count > MAX_ARCHIVED:
                await self._index.fill(archive_group(key), ())
                if entered := self._archived.pop(key, None):
                    count -= entered.turns

    async def _async_enter(self, key: ArchiveKey) -> int:
        """Have a segment in the index as it is now; return how many turns it has."""
        archive = self._house.storage.archive
        entered = self._archived.pop(key, None)
        if entered is None or entered.changes != archive.changes(key):
            changes = archive.changes(key)
            segment = await archive.async_read(key)
            await self._index.fill(archive_group(key), segment_documents(segment))
            entered = _Entered(changes, len(segment.turns))
        self._archived[key] = entered
        return entered.turns

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
            archived = ArchiveKey.parse(group) if document.kind is Kind.ARCHIVE else None
            thread = archived.thread if archived else ThreadKey.parse(group)
            scope = thread.scope
            if not self._holds(self._house.thread(thread), document, archived):
                return None
        return Found(
            kind=document.kind,
            scope=scope,
            text=document.text,
            at=document.at,
            speaker=document.speaker or None,
            score=hit.score,
            entry=entry,
            thread=thread,
            turn_id=document.key if document.kind in (Kind.TURN, Kind.ARCHIVE) else None,
        )

    def _holds(self, thread: Thread, document: Document, archived: ArchiveKey | None) -> bool:
        """Whether what was entered is there still: something may have been forgotten since.

        A turn on its way into the archive is found in its thread.
        """
        turns = {turn.id for turn in (*thread.leaving, *thread.turns)}
        if archived is not None:
            entered, archive = self._archived.get(archived), self._house.storage.archive
            return (
                document.key not in turns
                and entered is not None
                and entered.changes == archive.changes(archived)
            )
        if document.kind is Kind.TURN:
            return document.key in turns
        lines = thread.summary.lines if thread.summary else ()
        return any(line.text == document.text for line in lines)
