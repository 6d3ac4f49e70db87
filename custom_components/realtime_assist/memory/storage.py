"""All that is remembered, in Home Assistant's storage folder.

    .storage/realtime_assist/index             which file is whose
    .storage/realtime_assist/entries/<hash>    the entries of one scope
    .storage/realtime_assist/threads/<hash>    one thread

One file for each scope and each thread, private, written in one go, so that a broken file takes
nothing else with it. The name is a hash, since keys may hold what users typed; the true key stands
inside. A change is on the disk within a second, even if changes never stop.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, UnsupportedStorageVersionError
from homeassistant.helpers.storage import STORAGE_DIR
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from .context import ContextStore
from .files import ASIDE, FileIndex, file_name, unlink_copies
from .problems import Kind, StorageProblem, Trouble
from .scopes import ScopeKey
from .store_file import StoreFile
from .thread_file import thread_from_dict, thread_to_dict
from .transcript import Thread, ThreadKey

MAX_FLEETING: Final = 100
"""Threads of single conversations: they are never on the disk."""


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
        self._on_problem: Final = on_problem
        self._root: Final = Path(hass.config.path(STORAGE_DIR, DOMAIN))
        self._lock: Final = asyncio.Lock()
        self._files: Final[dict[tuple[Kind, str], StoreFile]] = {}
        self._index: Final = FileIndex()
        self._listed = False
        self._refused: Final[dict[tuple[Kind, str], Trouble]] = {}
        self._waiting: Final[set[ScopeKey]] = set()
        self._threads: Final[dict[str, Thread]] = {}
        self._problems: Final[list[StorageProblem]] = []
        context.guard(self._refusal)
        self._unsubscribe: Final = context.subscribe(self._scope_changed)

    @property
    def problems(self) -> tuple[StorageProblem, ...]:
        """What went wrong with files since the start."""
        return tuple(self._problems)

    # Entries

    async def async_load(self) -> None:
        """Read the entries of all scopes, one file after the other."""
        async with self._lock:
            await self._list()
        for name in self._index.unread(Kind.ENTRIES):
            async with self._lock:
                await self._load_scope(name)

    async def async_load_scopes(self, keys: Iterable[ScopeKey]) -> None:
        """Read the entries of these scopes first; at once if they are read already."""
        for key in keys:
            if key.durable and not self._is_read(Kind.ENTRIES, file_name(key)):
                async with self._lock:
                    await self._list()
                    await self._load_scope(file_name(key))

    async def _load_scope(self, name: str) -> None:
        """Read the file of one scope, if it was not read."""
        if not self._index.is_unread(Kind.ENTRIES, name):
            return
        if (data := await self._read(Kind.ENTRIES, name)) is not None:
            await self._take_scope(name, data)
        self._index.read(Kind.ENTRIES, name)
        for scope in [key for key in self._waiting if file_name(key) == name]:
            self._waiting.discard(scope)
            self._scope_changed(scope)

    async def _take_scope(self, name: str, data: dict[str, Any]) -> None:
        """Give what a file holds to the context store."""
        try:
            scope = ScopeKey.parse(data["scope"])
            lost = self._context.load(scope, data) if file_name(scope) == name else None
        except AttributeError, KeyError, TypeError, ValueError:
            lost = None
        if lost is None:
            await self._keep_aside(Kind.ENTRIES, name, move=True)
            return
        self._note(Kind.ENTRIES, name, data["scope"])
        if lost:
            await self._keep_aside(Kind.ENTRIES, name, lost=lost)

    @callback
    def _scope_changed(self, scope: ScopeKey) -> None:
        """Have a scope written soon, but never before its file was read."""
        name = file_name(scope)
        if not scope.durable or (Kind.ENTRIES, name) in self._refused:
            return
        if not self._is_read(Kind.ENTRIES, name):
            self._waiting.add(scope)
            return
        self._note(Kind.ENTRIES, name, str(scope))
        self._file(Kind.ENTRIES, name).changed()

    def _refusal(self, scope: ScopeKey) -> str | None:
        """Return why a scope takes no writes."""
        return self._refused.get((Kind.ENTRIES, file_name(scope))) if scope.durable else None

    # Threads

    async def async_load_thread(self, key: ThreadKey) -> Thread:
        """Return a thread, read from its file the first time; an empty one if there is none."""
        name = file_name(key)
        async with self._lock:
            await self._list()
            if name not in self._threads:
                found = await self._load_thread(name) if key.scope.durable else None
                self._threads.setdefault(name, found or Thread(key=key))
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
        elif (Kind.THREADS, name) not in self._refused:
            self._note(Kind.THREADS, name, str(thread.key))
            self._file(Kind.THREADS, name).changed()

    def _bound_fleeting(self) -> None:
        """Let go of the oldest conversations that are in memory only."""
        fleeting = [n for n, held in self._threads.items() if not held.key.scope.durable]
        for name in fleeting[:-MAX_FLEETING]:
            del self._threads[name]

    async def async_remove_thread(self, key: ThreadKey) -> None:
        """Remove a thread, its file, and copies of it that were kept aside."""
        name = file_name(key)
        async with self._lock:
            await self._list()
            self._threads.pop(name, None)
            await self._remove(Kind.THREADS, name)
            await self.async_remove_copies(key)

    async def async_thread_keys(self) -> tuple[ThreadKey, ...]:
        """Return the keys of all threads that are on the disk or in memory, sorted."""
        async with self._lock:
            await self._list()
            for name in self._index.nameless(Kind.THREADS):
                if found := await self._load_thread(name):
                    self._threads.setdefault(name, found)
        keys = {ThreadKey.parse(text) for text in self._index.keys(Kind.THREADS)}
        return tuple(sorted(keys | {thread.key for thread in self._threads.values()}, key=str))

    async def _load_thread(self, name: str) -> Thread | None:
        """Read the file of a thread, if it was not read."""
        if not self._index.is_unread(Kind.THREADS, name):
            return None
        data = await self._read(Kind.THREADS, name)
        self._index.read(Kind.THREADS, name)
        if data is None:
            return None
        try:
            thread, lost = thread_from_dict(data)
        except ValueError:
            thread, lost = None, 0
        if thread is None or file_name(thread.key) != name:
            await self._keep_aside(Kind.THREADS, name, move=True)
            return None
        self._note(Kind.THREADS, name, str(thread.key))
        if lost:
            await self._keep_aside(Kind.THREADS, name, lost=lost)
        return thread

    # All of it

    async def async_flush(self) -> None:
        """Write now what is not on the disk yet."""
        for file in tuple(self._files.values()):
            await file.async_flush()

    async def async_remove_copies(self, key: ScopeKey | ThreadKey) -> None:
        """Remove copies of a broken file: they may hold what was forgotten since."""
        kind = Kind.ENTRIES if isinstance(key, ScopeKey) else Kind.THREADS
        await self._hass.async_add_executor_job(unlink_copies, self._path(kind, file_name(key)))

    async def async_remove_all(self) -> None:
        """Remove every file and stop following. Nothing can be kept here afterwards."""
        self._unsubscribe()
        async with self._lock:
            for file in tuple(self._files.values()):
                await file.async_end()
            self._files.clear()
            self._threads.clear()
            await self._hass.async_add_executor_job(
                partial(shutil.rmtree, self._root, ignore_errors=True)
            )

    @callback
    def close(self) -> None:
        """Stop following; what is not on the disk yet still gets there."""
        self._unsubscribe()

    # Inside

    def _path(self, kind: Kind, name: str) -> Path:
        return self._root / kind if kind is Kind.INDEX else self._root / kind / name

    def _is_read(self, kind: Kind, name: str) -> bool:
        """Whether all that the disk has under a name is in memory."""
        return self._listed and not self._index.is_unread(kind, name)

    async def _list(self) -> None:
        """Learn which files there are. The index only tells whose they are: it may be lost."""
        if self._listed:
            return
        await self._hass.async_add_executor_job(self._index.found, self._root)
        if data := await self._read(Kind.INDEX, ""):
            self._index.load(data)
        self._listed = True

    @callback
    def _note(self, kind: Kind, name: str, key: str) -> None:
        """Enter whose file it is."""
        if self._index.note(kind, name, key) and (Kind.INDEX, "") not in self._refused:
            self._file(Kind.INDEX, "").changed()

    def _file(self, kind: Kind, name: str) -> StoreFile:
        if (kind, name) not in self._files:
            dump = partial(self._dump, kind, name)
            self._files[kind, name] = StoreFile(self._hass, kind, name, dump, self._report)
        return self._files[kind, name]

    @callback
    def _dump(self, kind: Kind, name: str) -> dict[str, Any]:
        """Return what a file should hold now."""
        if kind is Kind.ENTRIES:
            return self._context.dump(ScopeKey.parse(self._index.key(kind, name)))
        if kind is Kind.THREADS:
            return thread_to_dict(self._threads[name])
        return self._index.dump()

    async def _read(self, kind: Kind, name: str) -> dict[str, Any] | None:
        """Return what a file holds; None if that is nothing we can use, which is then reported."""
        path = self._path(kind, name)
        file = self._file(kind, name)
        if not await self._hass.async_add_executor_job(path.exists):
            return None
        try:
            data: object = await file.async_load()
        except HomeAssistantError as err:
            newer = isinstance(err, UnsupportedStorageVersionError)
            self._refused[kind, name] = Trouble.NEWER if newer else Trouble.UNREADABLE
            file.make_read_only()
            self._report(self._refused[kind, name], kind, name)
            return None
        except AttributeError, KeyError, TypeError, ValueError:
            data = None
        if isinstance(data, dict):
            return data
        if await self._hass.async_add_executor_job(path.exists):
            await self._keep_aside(kind, name, move=True)
        else:
            self._report(Trouble.CORRUPT, kind, name)
        return None

    async def _keep_aside(
        self, kind: Kind, name: str, *, move: bool = False, lost: int = 0
    ) -> None:
        """Keep a copy of a file of a wrong shape, before it is overwritten, and report it."""
        path = self._path(kind, name)
        aside = path.with_name(f"{path.name}.{ASIDE}.{dt_util.utcnow():%Y%m%dT%H%M%S}")
        await self._hass.async_add_executor_job(shutil.move if move else shutil.copy2, path, aside)
        self._report(Trouble.SHAPE, kind, name, lost)

    async def _remove(self, kind: Kind, name: str) -> None:
        """Remove one file."""
        self._refused.pop((kind, name), None)
        await self._file(kind, name).async_end()
        del self._files[kind, name]
        if self._index.drop(kind, name):
            self._file(Kind.INDEX, "").changed()

    @callback
    def _report(self, trouble: Trouble, kind: Kind, name: str, lost: int = 0) -> None:
        problem = StorageProblem(trouble=trouble, kind=kind, name=name, lost=lost)
        if problem not in self._problems:
            self._problems.append(problem)
            if self._on_problem:
                self._on_problem(problem)
