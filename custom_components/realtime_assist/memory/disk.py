"""The memory's folder in Home Assistant's storage: reading, writing, and what goes wrong there.

    .storage/realtime_assist/index             which file is whose
    .storage/realtime_assist/entries/<hash>    the entries of one scope
    .storage/realtime_assist/threads/<hash>    one thread
    .storage/realtime_assist/archive/<hash>    a month of a thread, or one long tool result
    .storage/realtime_assist/forgetting        what is being forgotten, while it is

The name is a hash, since keys may hold what users typed; the true key stands inside.
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
from .files import ASIDE, FileIndex, sizes, taken, unlink_copies
from .kept import Dump
from .migration import VERSIONS
from .problems import Kind, StorageProblem, Trouble
from .store_file import StoreFile

AT_ONCE: Final = 4
"""Files that are written at once: more threads than that would only wait for each other."""


class Disk:
    """The files of the memory. A file that was not read, or must stay as it is, is not written."""

    def __init__(
        self,
        hass: HomeAssistant,
        dump: Callable[[Kind, str], Dump],
        on_problem: Callable[[StorageProblem], None] | None,
    ) -> None:
        """Prepare the folder. `dump` gives what a file should hold."""
        self._hass: Final = hass
        self._dump: Final = dump
        self._on_problem: Final = on_problem
        self._root: Final = Path(hass.config.path(STORAGE_DIR, DOMAIN))
        self._files: Final[dict[tuple[Kind, str], StoreFile]] = {}
        self._gate: Final = asyncio.Semaphore(AT_ONCE)
        self._listed = False
        self._refused: Final[dict[tuple[Kind, str], Trouble]] = {}
        self.index: Final = FileIndex()
        self.problems: Final[list[StorageProblem]] = []

    @property
    def listed(self) -> bool:
        """Whether it is known which files there are."""
        return self._listed

    async def async_list(self) -> None:
        """Learn which files there are, once. The index only tells whose: it may be lost."""
        if self._listed:
            return
        await self._hass.async_add_executor_job(self.index.found, self._root)
        if data := await self.async_read(Kind.INDEX):
            self.index.load(data)
        self._listed = True

    def is_read(self, kind: Kind, name: str) -> bool:
        """Whether all that there is under a name was read."""
        return self._listed and not self.index.is_unread(kind, name)

    def refusal(self, kind: Kind, name: str) -> Trouble | None:
        """Return why a file must stay as it is; None if it need not."""
        return self._refused.get((kind, name))

    async def async_read(self, kind: Kind, name: str = "") -> dict[str, Any] | None:
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
            await self.async_keep_aside(kind, name, move=True)
        else:
            self._report(Trouble.CORRUPT, kind, name)
        return None

    async def async_take[T](
        self, kind: Kind, names: Iterable[str], take: Callable[[str, dict[str, Any]], T]
    ) -> dict[str, T]:
        """Return what `take` makes, in another thread, of each file that is as we write it.

        Many at once: a hop to the thread and back costs more than what most files hold. What it
        leaves out, or `take` refuses, is to be read by `async_read`, which tells what is wrong.
        """
        paths = [self._path(kind, name) for name in names]
        version = VERSIONS.get(kind, 1)
        return await self._hass.async_add_executor_job(taken, paths, version, take)

    async def async_keep_aside(
        self, kind: Kind, name: str, *, move: bool = False, lost: int = 0
    ) -> None:
        """Keep a copy of a file of a wrong shape, before it is overwritten, and report it."""
        path = self._path(kind, name)
        aside = path.with_name(f"{path.name}.{ASIDE}.{dt_util.utcnow():%Y%m%dT%H%M%S}")
        keep = shutil.move if move else shutil.copy2
        await self._hass.async_add_executor_job(keep, path, aside)
        self._report(Trouble.SHAPE, kind, name, lost)

    @callback
    def changed(self, kind: Kind, name: str) -> None:
        """Have a file written soon, if it may be."""
        if (kind, name) not in self._refused:
            self._file(kind, name).changed()

    @callback
    def note(self, kind: Kind, name: str, key: str) -> None:
        """Enter whose file it is."""
        if self.index.note(kind, name, key):
            self.changed(Kind.INDEX, "")

    async def async_write(self, kind: Kind, name: str) -> bool:
        """Write a file now, if it may be; return whether it is on the disk."""
        if (kind, name) in self._refused:
            return False
        file = self._file(kind, name)
        file.changed()
        await file.async_flush()
        return not file.busy

    def busy(self, kind: Kind, name: str) -> bool:
        """Whether a file is still to be written, or being written."""
        file = self._files.get((kind, name))
        return file is not None and file.busy

    async def async_sizes(self, kind: Kind, names: Iterable[str]) -> list[int]:
        """Return how many bytes files have; 0 where there is none."""
        return await self.async_run(sizes, [self._path(kind, name) for name in names])

    async def async_run[*Ts, T](self, job: Callable[[*Ts], T], *args: *Ts) -> T:
        """Do something outside the event loop."""
        return await self._hass.async_add_executor_job(job, *args)

    async def async_flush(self) -> None:
        """Write now what is not written yet."""
        for file in [file for file in self._files.values() if file.busy]:
            await file.async_flush()

    async def async_remove(self, kind: Kind, name: str = "") -> None:
        """Remove one file, and copies of it that were kept aside."""
        self._refused.pop((kind, name), None)
        await self._file(kind, name).async_end()
        del self._files[kind, name]
        await self.async_remove_copies(kind, name)
        if self.index.drop(kind, name):
            self.changed(Kind.INDEX, "")

    async def async_remove_copies(self, kind: Kind, name: str) -> None:
        """Remove the copies of a broken file."""
        await self._hass.async_add_executor_job(unlink_copies, self._path(kind, name))

    async def async_remove_all(self) -> None:
        """Remove the folder; what was about to be written is not."""
        for file in tuple(self._files.values()):
            await file.async_end()
        self._files.clear()
        remove = partial(shutil.rmtree, self._root, ignore_errors=True)
        await self._hass.async_add_executor_job(remove)

    def _path(self, kind: Kind, name: str) -> Path:
        return self._root / kind / name

    def _file(self, kind: Kind, name: str) -> StoreFile:
        if (kind, name) not in self._files:
            dump = self.index.dump if kind is Kind.INDEX else partial(self._dump, kind, name)
            self._files[kind, name] = StoreFile(
                self._hass,
                kind=kind,
                name=name,
                dump=dump,
                report=self._report,
                gate=self._gate,
            )
        return self._files[kind, name]

    @callback
    def _report(self, trouble: Trouble, kind: Kind, name: str, lost: int = 0) -> None:
        problem = StorageProblem(trouble=trouble, kind=kind, name=name, lost=lost)
        if problem not in self.problems:
            self.problems.append(problem)
            if self._on_problem:
                self._on_problem(problem)
