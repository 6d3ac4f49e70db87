"""What does it cost to remember? 100,000 entries over 1,000 scope keys.

`memory.ours` is the memory of the integration, with its storage following; `memory.plain` is a
context that keeps each scope as one JSON file (`whole_files`), doing the same work. Ratios say how
many times ours is as good: over 1 is better.
"""

import asyncio
import gc
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from homeassistant.core import HomeAssistant

from custom_components.realtime_assist.house import House
from custom_components.realtime_assist.items import View
from custom_components.realtime_assist.memory.compose import compose
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.searching import Query
from custom_components.realtime_assist.memory.store_file import SAVE_SECONDS

from .remembered import TAGS, Remembered, Size
from .report import Figure
from .timing import Times, Watch
from .whole_files import WholeFiles

SIZE = Size()
FEW = 10
"""Scopes of a small memory, in which a durable write should cost the same."""
AIM_GET: Final = 5.0
AIM_SET: Final = 20.0
"""Microseconds."""
AIM_PROMPT: Final = 1.0
LONGEST: Final = 10.0
"""Milliseconds."""
AIM_LOAD: Final = 1.0
"""Seconds."""
AIM_GROWTH: Final = 1.5
"""By what a durable write may grow with a hundred times the scopes; disks are not that steady."""
RESUME_TOKENS: Final = 1500
SHARED_TRIES: Final = 3


class Stamp(NamedTuple):
    """A file as it is at one moment."""

    path: Path
    inode: int
    changed: int
    size: int


def figures() -> Iterator[Figure]:
    """Measure ours, then what it is compared with, then tell the ratios."""
    with TemporaryDirectory() as folder:
        ours = list(asyncio.run(_ours(Path(folder))))
        yield from ours
        plain = list(_plain(Path(folder)))
    yield from plain
    yield from _ratios(ours, plain)


def _ratios(ours: list[Figure], plain: list[Figure]) -> Iterator[Figure]:
    """Set side by side what both can do."""
    costs = {figure.name.removeprefix("memory.ours."): figure for figure in ours}
    for other in plain:
        what = other.name.removeprefix("memory.plain.")
        mine = costs.get(what.removeprefix("shared_"))
        if mine is not None and mine.value > 0:
            ratio = round(other.value / mine.value, 2)
            yield Figure(name=f"memory.ratio.{what}", value=ratio, unit="times")


class Ours:
    """A memory of ours on a disk, and what is done with it."""

    def __init__(self, folder: Path, size: Size) -> None:
        """Make a home without anything else in it."""
        folder.mkdir()
        self.hass: Final = HomeAssistant(str(folder))
        self.disk: Final = folder / ".storage" / "realtime_assist"
        self.remembered: Final = Remembered(size)
        self.size: Final = size
        self.house = House(self.hass)

    async def remember(self) -> Times:
        """Write all entries, and have them on the disk."""
        times = Times()
        await self.house.storage.async_load()
        context = self.house.context
        for scope in self.remembered.scopes:
            for key in self.remembered.keys(scope):
                value, tags = self.remembered.value(), self.remembered.tags()
                with times.take():
                    context.set(scope, key, value, tags=tags, source="action")
            await asyncio.sleep(0)
        await self.house.storage.async_flush()
        return times

    async def start_again(self) -> Times:
        """Read all of it, as a start does: nothing else is in memory then."""
        self.house.storage.close()
        self.house = House(self.hass)
        gc.collect()
        times = Times()
        with times.take():
            await self.house.storage.async_load()
        return times

    def get(self) -> Times:
        """Look up entries, each among the four scopes of a turn."""
        times = Times()
        for visible, key in self.remembered.turns(self.size.rounds):
            times.call(self.house.context.get, visible, key)
        return times

    def set(self) -> Times:
        """Change values."""
        times = Times()
        for scope, key, value in self.remembered.writes(self.size.rounds):
            times.call(self.house.context.set, scope, key, value)
        return times

    def prompt(self) -> Times:
        """Compose what a session holds in a turn: what was said before, the facts, the moment."""
        times = Times()
        thread = self.remembered.thread(GLOBAL)
        view = View(recap_upto=thread.next_number - 1)
        for visible, _ in self.remembered.turns(self.size.tries):
            # Processor time, since others use it, too.
            with times.take(time.thread_time):
                compose(
                    thread=thread,
                    entries=self.house.context.visible(visible),
                    now="It is Monday, 30 November, 19:05. You are in the kitchen.",
                    visible=visible,
                    view=view,
                    resume_tokens=RESUME_TOKENS,
                )
        return times

    async def search(self, *, by_tag: bool) -> tuple[Times, Times]:
        """Search among what a turn may see: (the first time in a place, once that was read)."""
        first, again = Times(), Times()
        find = self.house.recollection.async_find
        for number, (visible, _) in enumerate(self.remembered.turns(self.size.tries)):
            tag, words = TAGS[number % len(TAGS)], self.remembered.question()
            query = Query(tags=(tag,)) if by_tag else Query(words=words)
            with first.take():
                await find(query, visible, limit=10)
            await asyncio.sleep(0)
            with again.take():
                await find(query, visible, limit=10)
            await asyncio.sleep(0)
        return first, again

    async def write(self) -> tuple[Times, float, float]:
        """Change one entry and have it on the disk, time after time.

        Returns the times, and the bytes per changed entry: of one, and of many at once.
        """
        times, counts = Times(), []
        for _ in range(self.size.tries):
            before = await asyncio.to_thread(written, self.disk)
            await self.write_one(times)
            counts.append(await asyncio.to_thread(_bytes, self.disk, before))
        before = written(self.disk)
        keys = self.remembered.keys(GLOBAL)
        for key in keys:
            self.house.context.set(GLOBAL, key, self.remembered.value())
        await self.house.storage.async_flush()
        return times, sum(counts) / len(counts), _bytes(self.disk, before) / len(keys)

    async def write_one(self, times: Times) -> None:
        """Change one entry and have it on the disk."""
        for scope, key, value in self.remembered.writes(1):
            with times.take():
                self.house.context.set(scope, key, value)
                await self.house.storage.async_flush()

    async def change_all(self) -> Watch:
        """Change something in every scope at once, and wait until all of it is on the disk."""
        remembered = self.remembered
        changes = [(s, remembered.keys(s)[0], remembered.value()) for s in remembered.scopes]
        async with Watch() as watch:
            for number, (scope, key, value) in enumerate(changes):
                self.house.context.set(scope, key, value)
                if number % 100 == 0:
                    await asyncio.sleep(0)
            await asyncio.sleep(2 * SAVE_SECONDS)
            await self.house.storage.async_flush()
        return watch

    async def end(self) -> None:
        """Leave nothing behind."""
        await self.house.storage.async_flush()
        self.house.storage.close()
        await self.hass.async_block_till_done()


async def _ours(folder: Path) -> list[Figure]:
    found: list[Figure] = []
    ours = Ours(folder / "ours", SIZE)
    found += (await ours.remember()).figures("memory.ours.set_new", "us", AIM_SET)
    gc.collect()
    async with Watch() as watch:
        load = await ours.start_again()
    found += load.figures("memory.ours.load", "s", AIM_LOAD)
    found += watch.figures("memory.ours.load", LONGEST)
    found += ours.get().figures("memory.ours.get", "us", AIM_GET)
    async with Watch() as watch:
        by_words = await ours.search(by_tag=False)
    found += by_words[0].figures("memory.ours.search_first", "ms")
    found += by_words[1].figures("memory.ours.search", "ms")
    found += watch.figures("memory.ours.search", LONGEST)
    found += (await ours.search(by_tag=True))[1].figures("memory.ours.search_tag", "ms")
    found += ours.prompt().figures("memory.ours.prompt", "ms", AIM_PROMPT)
    async with Watch() as watch:
        times, alone, together = await ours.write()
    found += times.figures("memory.ours.durable_write", "ms")
    found.append(await _growth(folder, ours))
    found += watch.figures("memory.ours.durable_write", LONGEST)
    found += [
        Figure(name="memory.ours.bytes_per_entry", value=round(alone), unit="bytes"),
        Figure(name="memory.ours.bytes_per_entry_of_many", value=round(together), unit="bytes"),
    ]
    found += ours.set().figures("memory.ours.set", "us", AIM_SET)
    await ours.house.storage.async_flush()
    watch = await ours.change_all()
    found += watch.figures("memory.ours.change_all_scopes", LONGEST)
    await ours.end()
    return found


async def _growth(folder: Path, ours: Ours) -> Figure:
    """Return by what a durable write is slower than in a memory of a few scopes.

    Both in turn, since a disk has its moods.
    """
    size = Size(scopes=FEW, each=SIZE.each, rounds=0, tries=SIZE.tries)
    small = Ours(folder / "small", size)
    await small.remember()
    few, many = Times(), Times()
    for _ in range(SIZE.tries):
        await small.write_one(few)
        await ours.write_one(many)
    await small.end()
    return Figure(
        name="memory.ours.durable_write.growth",
        value=round(many.median / few.median, 2),
        unit="times",
        aim=AIM_GROWTH,
        at_most=True,
    )


def _plain(folder: Path) -> Iterator[Figure]:
    """Do the same with a file of a scope key each, then with one file that all share."""
    remembered = Remembered(SIZE)
    names = {scope: str(scope).replace(":", "_") for scope in remembered.scopes}
    (folder / "plain").mkdir()
    plain = WholeFiles(folder / "plain")
    for scope, name in names.items():
        keys = remembered.keys(scope)
        plain.prepare(name, {key: (remembered.value(), remembered.tags()) for key in keys})
    load, get, sets, search = Times(), Times(), Times(), Times()
    plain = WholeFiles(folder / "plain")
    gc.collect()
    with load.take():
        plain.load()
    yield from load.figures("memory.plain.load", "s")
    for visible, key in remembered.turns(SIZE.rounds):
        scopes = [names[scope] for scope in visible]
        get.call(plain.get, scopes, key)
    yield from get.figures("memory.plain.get", "us")
    for scope, key, value in remembered.writes(SIZE.tries):
        sets.call(plain.set, names[scope], key, value)
    yield from sets.figures("memory.plain.set", "us")
    in_ms = Times(sets.seconds)
    yield from in_ms.figures("memory.plain.durable_write", "ms")
    size = sum(plain.path(name).stat().st_size for name in names.values()) / len(names)
    yield Figure(name="memory.plain.bytes_per_entry", value=round(size), unit="bytes")
    yield Figure(name="memory.plain.bytes_per_entry_of_many", value=round(size), unit="bytes")
    for number, (visible, _) in enumerate(remembered.turns(SIZE.tries)):
        scopes = [names[scope] for scope in visible]
        search.call(plain.search_tag, scopes, TAGS[number % len(TAGS)])
    yield from search.figures("memory.plain.search_tag", "ms")
    yield from _shared(folder, remembered)


def _shared(folder: Path, remembered: Remembered) -> Iterator[Figure]:
    """Do it as the class itself would: its scopes know no ids, so that all keys are in one file."""
    (folder / "shared").mkdir()
    plain, sets = WholeFiles(folder / "shared", SIZE.entries), Times()
    plain.prepare(
        "shared",
        {
            f"{scope}/{key}": (remembered.value(), remembered.tags())
            for scope in remembered.scopes
            for key in remembered.keys(scope)
        },
    )
    for scope, key, value in remembered.writes(SHARED_TRIES):
        sets.call(plain.set, "shared", f"{scope}/{key}", value)
    yield from sets.figures("memory.plain.shared_durable_write", "ms")
    yield Figure(
        name="memory.plain.shared_bytes_per_entry",
        value=plain.path("shared").stat().st_size,
        unit="bytes",
    )


def written(folder: Path) -> set[Stamp]:
    """Return the files of a folder as they are now: what was written since is another."""
    stats = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {Stamp(path, stat.st_ino, stat.st_mtime_ns, stat.st_size) for path, stat in stats}


def _bytes(folder: Path, before: set[Stamp]) -> int:
    """Return the bytes of the files that were written since."""
    return sum(stamp.size for stamp in written(folder) - before)
