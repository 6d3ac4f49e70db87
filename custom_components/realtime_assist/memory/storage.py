"""All that is remembered, kept on the disk.

One file for each scope and each thread, private, written in one go, so that a broken file takes
nothing else with it. A change is on the disk within a second, even if changes never stop.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import batched
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback

from .archive import Archive
from .context import ContextStore
from .disk import Disk
from .files import file_name
from .kept import Dump, Kept
from .problems import Kind, StorageProblem
from .scopes import ScopeKey
from .thread_file import thread_from_dict, thread_to_dict
from .transcript import Thread, ThreadKey, free_of

MAX_FLEETING: Final = 100
"""Threads of single conversations: they are never on the disk."""

AT_ONCE: Final = 32
"""Files that are read together; whoever needs a certain one waits for no more than these."""

_WORDS: Final = "words"


class MemoryStorage:
    """Keeps a context store and the threads of the house on the disk.

    The entries of a scope are there after `async_load_scopes` has named it, or `async_load` is
    done; threads are read when they are needed. Nothing is written over what was not read.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        context: ContextStore,
        on_problem: Callable[[StorageProblem], None] | None = None,
    ) -> None:
        """Follow a context store. `on_problem` is called in the event loop, once per problem."""
        self._hass: Final = hass
        self._context: Final = context
        self._disk: Final = Disk(hass, self._dump, on_problem)
        self._lock: Final = asyncio.Lock()
        self._waiting: Final[set[ScopeKey]] = set()
        self._threads: Final[dict[str, Thread]] = {}
        self._forgetting: frozenset[str] = frozenset()
        self.archive: Final = Archive(self._disk, self._async_list, lambda: self._forgetting)
        context.guard(self._refusal)
        self._unsubscribe: Final = context.subscribe(self._scope_changed)

    @property
    def problems(self) -> tuple[StorageProblem, ...]:
        """What went wrong with files since the start."""
        return tuple(self._disk.problems)

    # Entries

    async def async_load(self) -> None:
        """Read the entries of all scopes; end a forgetting that was interrupted."""
        async with self._lock:
            await self._list()
        for names in batched(self._disk.index.unread(Kind.ENTRIES), AT_ONCE, strict=False):
            async with self._lock:
                await self._load_entries(names)
        if self._forgetting:
            await self.async_forget_words(self._forgetting)

    async def async_load_scopes(self, keys: Iterable[ScopeKey]) -> None:
        """Read the entries of these scopes first; at once if they are read already."""
        names = [file_name(key) for key in keys if key.durable]
        if not all(self._disk.is_read(Kind.ENTRIES, name) for name in names):
            async with self._lock:
                await self._list()
                await self._load_entries(names)

    async def _async_list(self) -> None:
        async with self._lock:
            await self._list()

    async def _list(self) -> None:
        """Learn once which files there are, and what was being forgotten at a sudden end."""
        if self._disk.listed:
            return
        if left := await self._disk.async_read(Kind.FORGETTING):
            words = left.get(_WORDS)
            found = words if isinstance(words, list) else []
            self._forgetting = frozenset(word for word in found if isinstance(word, str))
        await self._disk.async_list()
        self._write_waiting()

    async def _load_entries(self, names: Iterable[str]) -> None:
        """Read the files of some scopes, as far as they were not read."""
        unread = [name for name in names if self._disk.index.is_unread(Kind.ENTRIES, name)]
        found = await self._disk.async_take(Kind.ENTRIES, unread, _whole)
        for name, (scope, kept) in found.items():
            self._context.load(scope, kept)
            self._disk.note(Kind.ENTRIES, name, str(scope))
            self._disk.index.read(Kind.ENTRIES, name)
        for name in unread:
            if name not in found:
                await self._load_scope(name)
        self._write_waiting()

    async def _load_scope(self, name: str) -> None:
        """Read the file of one scope with which something may be wrong."""
        if (data := await self._disk.async_read(Kind.ENTRIES, name)) is not None:
            await self._take_scope(name, data)
        self._disk.index.read(Kind.ENTRIES, name)

    @callback
    def _write_waiting(self) -> None:
        """Have what was changed before its file was read written, where there is none to read."""
        for scope in [s for s in self._waiting if self._disk.is_read(Kind.ENTRIES, file_name(s))]:
            self._waiting.discard(scope)
            self._scope_changed(scope)

    async def _take_scope(self, name: str, data: dict[str, Any]) -> None:
        """Give what a file holds to the context store."""
        try:
            scope = ScopeKey.parse(data["scope"])
            lost = None
            if file_name(scope) == name:
                found = await self._hass.async_add_executor_job(Kept.read, scope, data)
                lost = self._context.load(scope, found)
        except AttributeError, KeyError, TypeError, ValueError:
            lost = None
        if lost is None:
            await self._disk.async_keep_aside(Kind.ENTRIES, name, move=True)
            return
        self._disk.note(Kind.ENTRIES, name, data["scope"])
        if lost:
            await self._disk.async_keep_aside(Kind.ENTRIES, name, lost=lost)

    @callback
    def _scope_changed(self, scope: ScopeKey) -> None:
        """Have a scope written soon, but never before its file was read."""
        name = file_name(scope)
        if not scope.durable or self._disk.refusal(Kind.ENTRIES, name):
            return
        if not self._disk.is_read(Kind.ENTRIES, name):
            self._waiting.add(scope)
            return
        self._disk.note(Kind.ENTRIES, name, str(scope))
        self._disk.changed(Kind.ENTRIES, name)

    def _refusal(self, scope: ScopeKey) -> str | None:
        """Return why a scope takes no writes."""
        return self._disk.refusal(Kind.ENTRIES, file_name(scope)) if scope.durable else None

    # Threads

    async def async_load_thread(self, key: ThreadKey) -> Thread:
        """Return a thread, read from its file the first time; an empty one if there is none."""
        name = file_name(key)
        if name not in self._threads:
            async with self._lock:
                await self._list()
                if key.scope.durable:
                    await self._load_thread(name)
                self._threads.setdefault(name, Thread(key=key))
        return self._threads[name]

    def thread(self, key: ThreadKey) -> Thread | None:
        """Return a thread as it is now; None if it was not loaded."""
        return self._threads.get(file_name(key))

    @callback
    def save_thread(self, thread: Thread) -> None:
        """Keep a thread, and have it written soon. Raises LookupError if it was not loaded before.

        Where its file must not be overwritten it is kept in memory only; that problem is known.
        So is a conversation's of its own: the newest `MAX_FLEETING` of those are kept.
        """
        name = file_name(thread.key)
        if name not in self._threads and thread.key.scope.durable:
            raise LookupError(name)
        if self._threads.get(name) == thread:
            return
        self._threads[name] = thread
        if not thread.key.scope.durable:
            self._bound_fleeting()
        elif not self._disk.refusal(Kind.THREADS, name):
            self._disk.note(Kind.THREADS, name, str(thread.key))
            self._disk.changed(Kind.THREADS, name)

    async def async_remove_thread(self, key: ThreadKey) -> None:
        """Remove a thread, its file, and copies of it that were kept aside."""
        name = file_name(key)
        async with self._lock:
            await self._list()
            self._threads.pop(name, None)
            await self._disk.async_remove(Kind.THREADS, name)
        await self.archive.async_remove(key)

    async def async_thread_keys(self) -> tuple[ThreadKey, ...]:
        """Return the keys of all threads of which anything is on the disk or in memory, sorted."""
        async with self._lock:
            await self._list()
            for name in self._disk.index.nameless(Kind.THREADS):
                await self._load_thread(name)
        keys = {ThreadKey.parse(text) for text in self._disk.index.keys(Kind.THREADS)}
        keys |= {key.thread for key in await self.archive.async_keys()}
        return tuple(sorted(keys | {thread.key for thread in self._threads.values()}, key=str))

    async def async_forget_words(self, words: Iterable[str]) -> dict[ThreadKey, tuple[str, ...]]:
        """Take the turns and summary lines that hold any of these texts out of all threads.

        Returns the ids of the turns that are gone, by thread; a thread that only lost lines has
        none. It is on the disk on return; if it is interrupted, the next start ends it.
        """
        wanted = self._forgetting | {word for word in words if word.strip()}
        if not wanted:
            return {}
        threads = [await self.async_load_thread(key) for key in await self.async_thread_keys()]
        self._forgetting = wanted
        self._disk.changed(Kind.FORGETTING, "")
        await self._disk.async_flush()
        gone: dict[ThreadKey, tuple[str, ...]] = {}
        for key in [thread.key for thread in threads]:
            before = self._threads.get(file_name(key), Thread(key=key))
            after = before.without(wanted)
            if after is not before:
                self.save_thread(after)
                left = {turn.id for turn in (*after.leaving, *after.turns)}
                there = (*before.leaving, *before.turns)
                gone[key] = tuple(turn.id for turn in there if turn.id not in left)
        await self._disk.async_flush()
        clean = free_of(wanted)
        out = await self.archive.async_revise(
            lambda _: lambda turn: turn if clean(turn.texts()) else None
        )
        for key, turns in out.items():
            gone[key] = (*gone.get(key, ()), *(turn.id for turn in turns))
            # Another revision in any case: sessions may have been told of them.
            thread = await self.async_load_thread(key)
            self.save_thread(replace(thread, revision=thread.revision + 1))
        await self._disk.async_flush()
        self._forgetting -= wanted
        if not self._forgetting:
            await self._disk.async_remove(Kind.FORGETTING)
        return gone

    async def _load_thread(self, name: str) -> None:
        """Read the file of a thread, if it was not read."""
        if not self._disk.index.is_unread(Kind.THREADS, name):
            return
        data = await self._disk.async_read(Kind.THREADS, name)
        self._disk.index.read(Kind.THREADS, name)
        if data is None:
            return
        try:
            thread, lost = thread_from_dict(data)
        except ValueError:
            thread, lost = None, 0
        if thread is None or file_name(thread.key) != name:
            await self._disk.async_keep_aside(Kind.THREADS, name, move=True)
            return
        self._threads[name] = thread
        self._disk.note(Kind.THREADS, name, str(thread.key))
        if lost:
            await self._disk.async_keep_aside(Kind.THREADS, name, lost=lost)
        self.save_thread(thread.without(self._forgetting))

    def _bound_fleeting(self) -> None:
        """Let go of the oldest conversations that are in memory only."""
        fleeting = [n for n, held in self._threads.items() if not held.key.scope.durable]
        for name in fleeting[:-MAX_FLEETING]:
            del self._threads[name]

    # All of it

    async def async_flush(self) -> None:
        """Write now what is not on the disk yet."""
        await self._disk.async_flush()

    async def async_remove_copies(self, key: ScopeKey | ThreadKey) -> None:
        """Remove copies of a broken file: they may hold what was forgotten since."""
        kind = Kind.ENTRIES if isinstance(key, ScopeKey) else Kind.THREADS
        await self._disk.async_remove_copies(kind, file_name(key))

    async def async_remove_all(self) -> None:
        """Remove every file and stop following. Nothing can be kept here afterwards."""
        self._unsubscribe()
        async with self._lock:
            self._threads.clear()
            await self._disk.async_remove_all()

    @callback
    def close(self) -> None:
        """Stop following; what is not on the disk yet still gets there."""
        self._unsubscribe()

    @callback
    def _dump(self, kind: Kind, name: str) -> Dump:
        """Return what makes what a file should hold, as that is now."""
        if kind is Kind.ENTRIES:
            scope = ScopeKey.parse(self._disk.index.key(kind, name))
            return partial(self._context.kept(scope).to_dict, scope)
        if kind is Kind.THREADS:
            return partial(thread_to_dict, self._threads[name])
        if kind is Kind.ARCHIVE:
            return self.archive.dump(name)
        return partial(dict[str, Any], {_WORDS: sorted(self._forgetting)})


def _whole(name: str, data: dict[str, Any]) -> tuple[ScopeKey, Kept]:
    """Return what a file keeps of a scope; raises ValueError if not all of it can be read."""
    scope = ScopeKey.parse(data["scope"])
    kept = Kept.read(scope, data)
    if file_name(scope) != name or kept.unread:
        raise ValueError("only a part can be read")
    return scope, kept
