"""What was summarised away, word for word: one file for each thread and month.

    summary committed ──> Thread.leaving ──> archive, on the disk ──> out of Thread.leaving

So at no moment a turn is in no file; that it is in two for a moment is known by its id. Nothing is
read before it is needed, and only a few segments are held.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from ..items import Audience
from .files import file_name
from .kept import Dump
from .problems import Kind
from .scopes import ScopeKey
from .segments import (
    ArchiveKey,
    Revise,
    Segment,
    oldest_month,
    segment_from_dict,
    segment_to_dict,
    too_much,
)
from .transcript import ThreadKey, TurnRecord, free_of

if TYPE_CHECKING:
    from .disk import Disk

MAX_HELD: Final = 4
"""Segments in memory that nobody needs at the moment."""
ALL_COPIES: Final = "*"


class Archive:
    """The archived turns of all threads, and their long tool results."""

    def __init__(
        self,
        disk: Disk,
        prepare: Callable[[], Awaitable[None]],
        forgetting: Callable[[], frozenset[str]],
    ) -> None:
        """Work on a disk.

        `prepare` learns which files there are; of the words that `forgetting` gives nothing is read
        any more.
        """
        self._disk: Final = disk
        self._prepare: Final = prepare
        self._forgetting: Final = forgetting
        self._lock: Final = asyncio.Lock()
        self._ended = False
        self._held: Final[OrderedDict[str, Segment]] = OrderedDict()
        self._changes: Final[dict[ArchiveKey, int]] = {}
        self._audiences: Final[dict[ArchiveKey, tuple[int, frozenset[Audience]]]] = {}

    # Reading

    async def async_keys(self, scopes: Collection[ScopeKey] | None = None) -> list[ArchiveKey]:
        """Return the months of which there is anything, of the threads of some scopes or of all.

        The newest come first.
        """
        async with self._lock:
            await self._ready()
        found = (
            key
            for key in self._keys()
            if not key.result and (scopes is None or key.thread.scope in scopes)
        )
        return sorted(found, key=lambda key: (key.when, str(key)), reverse=True)

    async def async_audiences(self, scopes: Collection[ScopeKey] | None = None) -> set[Audience]:
        """Return for whom the archived turns are, of the threads of some scopes or of all."""
        found: set[Audience] = set()
        for key in await self.async_keys(scopes):
            changes, who = self._audiences.get(key, (-1, frozenset[Audience]()))
            if changes != (now := self.changes(key)):
                who = frozenset(turn.audience for turn in (await self.async_read(key)).turns)
                self._audiences[key] = (now, who)
            found |= who
        return found

    def changes(self, key: ArchiveKey) -> int:
        """Return how often a segment was changed since the start: else it is as it was read."""
        return self._changes.get(key, 0)

    async def async_read(self, key: ArchiveKey) -> Segment:
        """Return a segment; an empty one if there is none."""
        async with self._lock:
            await self._ready()
            return await self._read(key)

    async def async_turns(self, thread: ThreadKey) -> list[TurnRecord]:
        """Return all archived turns of a thread, the oldest first."""
        async with self._lock:
            await self._ready()
            keys = sorted(
                (key for key in self._keys((thread,)) if not key.result), key=lambda key: key.when
            )
            return [turn for key in keys for turn in (await self._read(key)).turns]

    async def async_result(self, thread: ThreadKey, result: str) -> TurnRecord | None:
        """Return the turn that got a long tool result, with that whole; None if it is gone."""
        async with self._lock:
            await self._ready()
            for key in self._keys((thread,)):
                if key.result and key.result == result:
                    return next(iter((await self._read(key)).turns), None)
        return None

    # Writing

    async def async_add(
        self,
        thread: ThreadKey,
        turns: Callable[[], Iterable[TurnRecord]],
        now: datetime,
        result: str = "",
    ) -> frozenset[str]:
        """Add turns to a thread's archive; return the ids of those that are on the disk.

        `turns` is asked when nobody else changes the archive: so nothing comes back that was
        forgotten while this waited.
        """
        kept: set[str] = set()
        async with self._lock:
            if self._ended:
                return frozenset()
            await self._ready()
            for key, those in _by_key(thread, turns(), result).items():
                before = await self._read(key)
                if self._disk.refusal(Kind.ARCHIVE, file_name(key)):
                    continue
                after = await self._disk.async_run(before.holding, those)
                if await self._write(after):
                    kept.update(turn.id for turn in those)
            await self._trim(thread, now)
        return frozenset(kept)

    async def async_revise(
        self, revise: Callable[[ThreadKey], Revise], threads: Collection[ThreadKey] | None = None
    ) -> dict[ThreadKey, tuple[TurnRecord, ...]]:
        """Change turns or take them out, in all threads or some; it is on the disk on return.

        Returns those that are gone, by thread. Copies of broken files go as well: they may hold
        what is to go, and nobody can tell.
        """
        gone: dict[ThreadKey, tuple[TurnRecord, ...]] = {}
        async with self._lock:
            await self._ready()
            for key in self._keys(threads):
                before = await self._read(key)
                after = await self._disk.async_run(before.revised, revise(key.thread))
                if after is before:
                    continue
                left = {turn.id for turn in after.turns}
                out = tuple(turn for turn in before.turns if turn.id not in left)
                gone[key.thread] = (*gone.get(key.thread, ()), *out)
                if after.turns:
                    await self._write(after)
                else:
                    await self._remove(key)
            await self._disk.async_remove_copies(Kind.ARCHIVE, ALL_COPIES)
        return gone

    async def async_move(self, before: ThreadKey, after: ThreadKey) -> None:
        """Give a copy of what a thread has to another, on the disk on return."""
        async with self._lock:
            await self._ready()
            for key in self._keys((before,)):
                moved = ArchiveKey(after, key.when, key.result)
                turns = (await self._read(key)).turns
                await self._write((await self._read(moved)).holding(turns))

    async def async_remove(self, thread: ThreadKey) -> int:
        """Remove all that a thread has; return how many turns that was."""
        count = 0
        async with self._lock:
            await self._ready()
            for key in self._keys((thread,)):
                count += 0 if key.result else len((await self._read(key)).turns)
                await self._remove(key)
            await self._disk.async_remove_copies(Kind.ARCHIVE, ALL_COPIES)
        return count

    async def async_expire(self, now: datetime) -> None:
        """Remove what is too old."""
        async with self._lock:
            await self._ready()
            for key in self._keys():
                if key.when < oldest_month(now):
                    await self._remove(key)

    async def async_end(self) -> None:
        """Add nothing any more: all is going to be removed."""
        async with self._lock:
            self._ended = True

    def dump(self, name: str) -> Dump:
        """Return what makes what a file should hold."""
        return partial(segment_to_dict, self._held[name])

    # Inside, under the lock

    async def _ready(self) -> None:
        """Know all keys: also of files that the index does not know any more."""
        await self._prepare()
        for name in self._disk.index.nameless(Kind.ARCHIVE):
            await self._load(name)

    def _keys(self, threads: Collection[ThreadKey] | None = None) -> list[ArchiveKey]:
        keys = map(ArchiveKey.parse, self._disk.index.keys(Kind.ARCHIVE))
        return [key for key in keys if threads is None or key.thread in threads]

    async def _read(self, key: ArchiveKey) -> Segment:
        name = file_name(key)
        if name not in self._held:
            found = await self._load(name) or Segment(key=key)
            clean = free_of(self._forgetting())
            left = found.revised(lambda turn: turn if clean(turn.texts()) else None)
            self._hold(name, left)
            if left is not found:
                await self._write(left)
        self._held.move_to_end(name)
        return self._held[name]

    async def _load(self, name: str) -> Segment | None:
        """Read a file; what cannot be read is not there, and a file that must stay stays."""
        data = await self._disk.async_read(Kind.ARCHIVE, name)
        self._disk.index.read(Kind.ARCHIVE, name)
        if data is None:
            self._disk.index.drop(Kind.ARCHIVE, name)
            return None
        try:
            found, lost = await self._disk.async_run(segment_from_dict, data)
        except ValueError:
            found, lost = None, 0
        if found is None or file_name(found.key) != name:
            await self._disk.async_keep_aside(Kind.ARCHIVE, name, move=True)
            self._disk.index.drop(Kind.ARCHIVE, name)
            return None
        if lost:
            await self._disk.async_keep_aside(Kind.ARCHIVE, name, lost=lost)
        self._disk.note(Kind.ARCHIVE, name, str(found.key))
        return found

    def _hold(self, name: str, segment: Segment) -> None:
        """Keep a segment at hand, and let go of the ones that were not used for longest."""
        self._held[name] = segment
        self._held.move_to_end(name)
        idle = [each for each in self._held if not self._disk.busy(Kind.ARCHIVE, each)]
        for each in idle[: max(len(self._held) - MAX_HELD, 0)]:
            if each != name:
                del self._held[each]

    async def _write(self, segment: Segment) -> bool:
        """Have a segment written; return whether it is on the disk."""
        name = file_name(segment.key)
        self._changes[segment.key] = self.changes(segment.key) + 1
        self._hold(name, segment)
        self._disk.note(Kind.ARCHIVE, name, str(segment.key))
        return await self._disk.async_write(Kind.ARCHIVE, name)

    async def _remove(self, key: ArchiveKey) -> None:
        name = file_name(key)
        self._changes[key] = self.changes(key) + 1
        self._held.pop(name, None)
        await self._disk.async_remove(Kind.ARCHIVE, name)

    async def _trim(self, thread: ThreadKey, now: datetime) -> None:
        keys = self._keys((thread,))
        sizes = await self._disk.async_sizes(Kind.ARCHIVE, [file_name(key) for key in keys])
        for key in too_much(keys, sizes, oldest_month(now)):
            await self._remove(key)


def _by_key(
    thread: ThreadKey, turns: Iterable[TurnRecord], result: str
) -> dict[ArchiveKey, list[TurnRecord]]:
    """Return turns by where they belong."""
    found: dict[ArchiveKey, list[TurnRecord]] = {}
    for turn in turns:
        key = (
            ArchiveKey.of_result(thread, turn, result)
            if result
            else ArchiveKey.of_turn(thread, turn)
        )
        found.setdefault(key, []).append(turn)
    return found
