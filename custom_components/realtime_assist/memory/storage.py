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

from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback

from .archive import Archive
from .context import ContextStore
from .disk import Disk
from .files import file_name
from .kept import Dump
from .problems import Kind, StorageProblem
from .scope_files import ScopeFiles
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
        self._disk: Final = Disk(hass, self._dump, on_problem)
        self._lock: Final = asyncio.Lock()
        self._threads: Final[dict[str, Thread]] = {}
        self._forgetting: frozenset[str] = frozenset()
        self._closed = False
        self.archive: Final = Archive(self._disk, self._async_list, lambda: self._forgetting)
        self._scopes: Final = ScopeFiles(context, self._disk)
        self._unlisten: Final = hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self._stopping)

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
                await self._scopes.async_load(names)
        if self._forgetting:
            await self.async_forget_words(self._forgetting)

    async def async_load_scopes(self, keys: Iterable[ScopeKey]) -> None:
        """Read the entries of these scopes first; at once if they are read already."""
        names = [file_name(key) for key in keys if key.durable]
        if not self._scopes.is_read(names):
            async with self._lock:
                await self._list()
                await self._scopes.async_load(names)

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
        self._scopes.write_waiting()

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

    async def async_glance_at_thread(self, key: ThreadKey) -> Thread:
        """Return a thread without keeping it: for who looks at all of them.

        An empty one if there is none, or none that can be read: who loads it deals with that.
        """
        name = file_name(key)
        async with self._lock:
            await self._list()
            if name in self._threads or not self._disk.index.is_unread(Kind.THREADS, name):
                return self._threads.get(name, Thread(key=key))
            data = await self._disk.async_read(Kind.THREADS, name)
        try:
            return Thread(key=key) if data is None else thread_from_dict(data)[0]
        except ValueError:
            return Thread(key=key)

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
        self.close()
        await self.archive.async_end()
        async with self._lock:
            self._threads.clear()
            await self._disk.async_remove_all()

    @callback
    def close(self) -> None:
        """Stop following; what is not on the disk yet still gets there."""
        if not self._closed:
            self._closed = True
            self._scopes.unfollow()
            self._unlisten()

    @callback
    def _stopping(self, _event: Event) -> None:
        """Home Assistant stops: what it writes last shall tell what was used."""
        self._scopes.stopping()

    @callback
    def _dump(self, kind: Kind, name: str) -> Dump:
        """Return what makes what a file should hold, as that is now."""
        if kind is Kind.ENTRIES:
            return self._scopes.dump(name)
        if kind is Kind.THREADS:
            return partial(thread_to_dict, self._threads[name])
        if kind is Kind.ARCHIVE:
            return self.archive.dump(name)
        return partial(dict[str, Any], {_WORDS: sorted(self._forgetting)})
