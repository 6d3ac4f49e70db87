"""Finding what is remembered: the search index, and the memory that it is made of.

Nothing is read before somebody searches, and then only what the searcher may see. What is in the
index is not even looked at again until it changes.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util

from .memory.documents import (
    archive_group,
    entries_group,
    entry_document,
    is_of_entries,
    segment_documents,
    thread_documents,
    thread_group,
)
from .memory.entries import ContextEntry
from .memory.indexed import Indexed
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
"""Archived turns that are searched: of more than that the oldest are not found."""


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
    cited: tuple[str, ...] = field(default=(), repr=False)
    """Of a line of a summary: what was said in the turns that it cites, as far as it is kept."""


class Recollection:
    """Search over the memory of a house."""

    def __init__(self, house: House) -> None:
        """Start with an empty index."""
        self._house: Final = house
        self._index: Final = SearchIndex()
        self._indexed: Final = Indexed(self._index)
        self._lock: Final = asyncio.Lock()
        """One search at a time: another's filling would end this one's."""
        house.context.subscribe(lambda scope: self._indexed.changed(entries_group(scope)))

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
            needed = [await self._async_enter_entries(scope) for scope in visible]
            threads = await self._async_threads(visible)
            needed += [await self._async_enter_thread(thread) for thread in threads]
            if not query.kinds or Kind.ARCHIVE in query.kinds:
                needed += await self._async_enter_archive(visible)
            await self._indexed.make_room(needed, await self._async_gone())
            most = limit if within is None else 5 * limit + _BESIDE
            hits = self._index.find(query, visible, now=dt_util.utcnow(), limit=most)
            for scope in visible:
                if not scope.durable:
                    # Nothing of a conversation outlives it, in an index neither.
                    self._indexed.drop(entries_group(scope))
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

    async def _async_enter_entries(self, scope: ScopeKey) -> str:
        """Have the entries of a scope in the index as they are now; return their group."""
        group = entries_group(scope)
        if not self._indexed.current(group, scope):
            held = self._house.context.visible((scope,))
            await self._indexed.enter(group, scope, map(entry_document, held))
        return group

    async def _async_enter_thread(self, thread: Thread) -> str:
        """Have a thread in the index as it is now; return its group."""
        group = thread_group(thread.key)
        if not self._indexed.current(group, thread):
            await self._indexed.enter(group, thread, thread_documents(thread))
        return group

    async def _async_enter_archive(self, scopes: Collection[ScopeKey]) -> list[str]:
        """Have the archive of the threads of these scopes in the index, the newest first."""
        archive = self._house.storage.archive
        groups: list[str] = []
        turns = 0
        for key in await archive.async_keys(scopes):
            if turns >= MAX_ARCHIVED:
                break
            groups.append(group := archive_group(key))
            changes = archive.changes(key)
            if not self._indexed.current(group, changes):
                segment = await archive.async_read(key)
                await self._indexed.enter(group, changes, segment_documents(segment))
            turns += self._index.count(group)
        return groups

    async def _async_gone(self) -> list[str]:
        """Return the groups of threads, and of what was archived, that there are not any more."""
        storage = self._house.storage
        there = {thread_group(key) for key in await storage.async_thread_keys()}
        there |= {archive_group(key) for key in await storage.archive.async_keys()}
        return [g for g in self._indexed if g not in there and not is_of_entries(g)]

    def _found(self, hit: Hit) -> Found | None:
        """Return a hit with what it was made of; None if that is gone by now."""
        document = hit.document
        entry: ContextEntry | None = None
        cited: tuple[str, ...] = ()
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
            if document.kind is Kind.SUMMARY:
                cited = tuple(self._cited(self._house.thread(thread), document))
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
            cited=cited,
        )

    def _cited(self, thread: Thread, document: Document) -> Iterator[str]:
        """Yield what was said in the turns that a line of a summary was made of."""
        groups = [thread_group(thread.key), *self._archived(thread.key)]
        for line in thread.summary.lines if thread.summary else ():
            # Lines of one wording may be for several audiences.
            if line.text != document.text or not line.audience <= document.audience:
                continue
            for number in line.turns:
                turns = (self._index.placed(group, number) for group in groups)
                turn = next((turn for turn in turns if turn is not None), None)
                if turn is not None and turn.audience <= document.audience:
                    yield turn.text

    def _archived(self, thread: ThreadKey) -> Iterator[str]:
        """Yield the groups of what is archived of a thread that are in the index as they are."""
        for group in self._indexed:
            kind, _, rest = group.partition("/")
            if kind != Kind.ARCHIVE or (key := ArchiveKey.parse(rest)).thread != thread:
                continue
            if self._indexed.made_of(group) == self._house.storage.archive.changes(key):
                yield group

    def _holds(self, thread: Thread, document: Document, archived: ArchiveKey | None) -> bool:
        """Whether what was entered is there still: something may have been forgotten since.

        A turn on its way into the archive is found in its thread.
        """
        turns = {turn.id for turn in (*thread.leaving, *thread.turns)}
        if archived is not None:
            entered = self._indexed.made_of(archive_group(archived))
            changes = self._house.storage.archive.changes(archived)
            return document.key not in turns and entered == changes
        if document.kind is Kind.TURN:
            return document.key in turns
        lines = thread.summary.lines if thread.summary else ()
        return any(line.text == document.text for line in lines)
