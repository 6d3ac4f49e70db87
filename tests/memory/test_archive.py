"""What was summarised away is kept word for word: never lost, never twice, never for others."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from homeassistant.helpers.storage import Store
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.archive import MAX_HELD
from custom_components.realtime_assist.memory.archiving import async_archive, async_whole_thread
from custom_components.realtime_assist.memory.compression import checkpoint, committed
from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.files import file_name
from custom_components.realtime_assist.memory.problems import Kind, StorageProblem, Trouble
from custom_components.realtime_assist.memory.storage import MemoryStorage
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord
from tests.longer import LONGER

from .history import KEY, KITCHEN, turn
from .virtual import BEGIN, Machine

TOKENS = 300
"""Of a recap: a few turns."""
OTHER = ThreadKey("other", KITCHEN)


class Home:
    """A memory on a machine that may lose its power at any step."""

    def __init__(self, folder: Path) -> None:
        """Start with an empty disk."""
        self.folder = folder
        self.machine = Machine(folder)
        self.problems: list[StorageProblem] = []
        self.start()

    def start(self) -> None:
        """Start what is tested, with nothing read yet."""
        self.storage = MemoryStorage(
            self.machine.hass, ContextStore(self.machine.now), self.problems.append
        )

    def restart(self) -> None:
        """Cut the power, start again, read all."""
        self.machine.kill()
        self.start()
        self.machine.run(self.storage.async_load())
        self.machine.run(self.storage.async_load_thread(KEY))

    def say(self, *turns: TurnRecord, key: ThreadKey = KEY) -> None:
        """Let turns join a thread, on the disk."""
        thread = self.machine.run(self.storage.async_load_thread(key))
        for each in turns:
            thread = thread.joined(each)
        self.storage.save_thread(thread)
        self.machine.run(self.storage.async_flush())

    async def async_summarize(self, key: ThreadKey = KEY) -> None:
        """Fold in what a recap has no room for, and archive it."""
        thread = await self.storage.async_load_thread(key)
        made = checkpoint(thread, TOKENS, self.machine.now())
        if made is not None:
            self.storage.save_thread(committed(thread, made))
        await async_archive(self.storage, key, self.machine.now())

    def summarize(self, key: ThreadKey = KEY) -> None:
        """Do that to its end."""
        self.machine.run(self.async_summarize(key))

    def told(self, key: ThreadKey = KEY) -> list[str]:
        """Return the ids of all turns that are kept, wherever."""
        whole = self.machine.run(async_whole_thread(self.storage, key))
        return [each.id for each in (*whole.leaving, *whole.turns)]

    def archived(self, key: ThreadKey = KEY) -> list[str]:
        """Return the ids of the turns that are in the archive."""
        return [each.id for each in self.machine.run(self.storage.archive.async_turns(key))]

    @property
    def files(self) -> list[Path]:
        """Return the files of the archive."""
        folder = self.folder / ".storage/realtime_assist/archive"
        return sorted(folder.iterdir()) if folder.is_dir() else []

    @property
    def words(self) -> str:
        """Return all that stands in any file of ours."""
        folder = self.folder / ".storage/realtime_assist"
        return "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@contextmanager
def a_home() -> Iterator[Home]:
    """Give a home that leaves nothing behind."""
    memory = Path("/dev/shm")  # noqa: S108 - only to be quick, where there is one
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    home = Home(folder)
    try:
        yield home
    finally:
        home.machine.close()
        shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Home]:
    """Give a home."""
    with a_home() as made:
        yield made


def said(number: int, words: str = "the blue bicycle") -> TurnRecord:
    """Return a turn of some length, each in another minute."""
    return replace(
        turn(f"t{number}", heard=f"Number {number}: {words} stands behind the house, as always."),
        at=BEGIN + timedelta(minutes=number),
    )


def test_what_is_summarised_away_is_kept_word_for_word(home: Home) -> None:
    """After a summary and a restart, every sentence can still be found as it was said."""
    spoken = [said(number) for number in range(40)]
    home.say(*spoken)
    home.summarize()
    thread = home.storage.thread(KEY)
    assert thread is not None
    assert thread.summary is not None
    assert not thread.leaving
    assert home.archived() == [f"t{n}" for n in range(40 - len(thread.turns))]
    home.machine.run(home.storage.async_flush())
    home.restart()
    kept = home.machine.run(home.storage.archive.async_turns(KEY))
    assert [each.heard_text for each in kept] == [each.heard_text for each in spoken[: len(kept)]]
    cited = {n for line in thread.summary.lines for n in line.turns}
    assert cited
    assert cited <= {each.number for each in kept}


def test_each_month_has_its_file(home: Home) -> None:
    """Old months are not written again for every word that is said today."""
    home.say(*(replace(said(n), at=BEGIN + timedelta(days=8 * n)) for n in range(30)))
    home.summarize()
    keys = home.machine.run(home.storage.archive.async_keys([KITCHEN]))
    assert [key.when for key in keys] == sorted((key.when for key in keys), reverse=True)
    assert len(keys) == len(home.files) > MAX_HELD
    assert {path.name for path in home.files} == {file_name(key) for key in keys}
    before = {path.name: path.stat().st_mtime_ns for path in home.files}
    home.say(*(replace(said(n), at=BEGIN + timedelta(days=8 * n)) for n in range(30, 40)))
    home.summarize()
    newest = sorted(before)
    assert (
        sum(
            before[path.name] == path.stat().st_mtime_ns
            for path in home.files
            if path.name in before
        )
        >= len(newest) - 1
    )
    assert home.told() == [f"t{n}" for n in range(40)]


def test_an_archive_that_cannot_be_written_loses_nothing(home: Home) -> None:
    """While the disk is full all stays where it was, and goes its way when there is room."""
    home.say(*(said(number) for number in range(30)))
    write = Store._async_write_data

    async def full(store: Store[dict[str, Any]], data: dict[str, Any]) -> None:
        if "/archive/" in store.path:
            raise OSError("no space left")
        await write(store, data)

    with patch.object(Store, "_async_write_data", full):
        home.summarize()
        home.machine.run(home.storage.async_flush())
    assert [problem.trouble for problem in home.problems] == [Trouble.NOT_WRITTEN]
    home.restart()
    thread = home.storage.thread(KEY)
    assert thread is not None
    assert thread.leaving
    assert home.told() == [f"t{n}" for n in range(30)]
    home.summarize()
    assert not home.storage.thread(KEY).leaving  # type: ignore[union-attr]
    assert home.told() == [f"t{n}" for n in range(30)]


@settings(max_examples=25 * LONGER, deadline=None, derandomize=LONGER == 1)
@given(st.lists(st.tuples(st.integers(1, 25), st.integers(1, 60)), min_size=1, max_size=6))
def test_a_power_cut_at_any_step_loses_nothing(runs: list[tuple[int, int]]) -> None:
    """Whenever the power goes, each turn that was on the disk is there afterwards, once."""
    with a_home() as home:
        count = 0
        for turns, steps in runs:
            home.say(*(said(count + n) for n in range(turns)))
            count += turns
            done = home.machine.run_steps(home.async_summarize(), steps)
            if done and steps % 2:
                home.machine.run(home.storage.async_flush())
            home.restart()
            assert home.told() == [f"t{n}" for n in range(count)]
            archived = home.archived()
            assert len(archived) == len(set(archived))
        assert not home.problems


@settings(max_examples=25 * LONGER, deadline=None, derandomize=LONGER == 1)
@given(st.integers(1, 120), st.integers(1, 30), st.booleans())
def test_what_is_forgotten_never_comes_back(before: int, steps: int, late: bool) -> None:  # noqa: FBT001
    """Forgotten words are in no file, whenever the power goes, and whatever runs meanwhile."""
    with a_home() as home:
        home.say(*(said(n, "the red kite" if n % 3 else "Zwetschgenkuchen") for n in range(30)))
        if late:
            home.summarize()
        else:
            home.machine.run_steps(home.async_summarize(), steps)
        done = home.machine.run_steps(home.storage.async_forget_words(["zwetschgenkuchen"]), before)
        home.restart()
        left = [f"t{n}" for n in range(30) if n % 3]
        if done:
            assert home.told() == left
        else:
            # All or nothing: it was not told that it is done.
            assert home.told() in ([f"t{n}" for n in range(30)], left)
            home.machine.run(home.storage.async_forget_words(["Zwetschgenkuchen"]))
        home.summarize()
        home.machine.run(home.storage.async_flush())
        assert "wetschgen" not in home.words
        home.restart()
        assert home.told() == left


def test_what_is_forgotten_while_it_waits_is_not_archived(home: Home) -> None:
    """A turn that is forgotten on its way into the archive never arrives there."""
    home.say(*(said(n, "the red kite" if n else "Zwetschgenkuchen") for n in range(30)))

    async def race() -> None:
        thread = await home.storage.async_load_thread(KEY)
        made = checkpoint(thread, TOKENS, home.machine.now())
        assert made is not None
        home.storage.save_thread(committed(thread, made))
        async with home.storage.archive._lock:
            archiving = asyncio.create_task(async_archive(home.storage, KEY, home.machine.now()))
            await asyncio.sleep(1)
            thread = await home.storage.async_load_thread(KEY)
            home.storage.save_thread(thread.without(["Zwetschgenkuchen"]))
        await archiving
        await home.storage.async_flush()

    home.machine.run(race())
    assert "wetschgen" not in home.words
    assert home.told() == [f"t{n}" for n in range(1, 30)]


@pytest.mark.parametrize(
    "broken", ["{", '{"version": 1, "minor_version": 1, "key": "k", "data": 5}']
)
def test_a_broken_month_loses_nothing_else(home: Home, broken: str) -> None:
    """One unreadable file costs one month, is reported, and can be written again."""
    home.say(*(replace(said(n), at=BEGIN + timedelta(days=8 * n)) for n in range(30)))
    home.summarize()
    home.machine.run(home.storage.async_flush())
    key = home.machine.run(home.storage.archive.async_keys())[-1]
    lost = [each.id for each in home.machine.run(home.storage.archive.async_read(key)).turns]
    path = home.folder / ".storage/realtime_assist/archive" / file_name(key)
    path.write_text(broken)
    home.restart()
    left = [f"t{n}" for n in range(30) if f"t{n}" not in lost]
    assert home.told() == left
    assert [(p.kind, p.name) for p in home.problems] == [(Kind.ARCHIVE, file_name(key))]
    assert not path.exists()
    home.say(replace(said(99), at=BEGIN))
    home.summarize()
    assert set(home.told()) == {*left, "t99"}


def test_a_broken_turn_loses_only_itself(home: Home) -> None:
    """A file that somebody edited costs what was edited, and a copy of it is kept."""
    home.say(*(said(n) for n in range(30)))
    home.summarize()
    home.machine.run(home.storage.async_flush())
    (path,) = home.files
    path.write_text(re.sub(r'"id": ?"t3"', '"id": 7', path.read_text()))
    home.restart()
    assert home.told() == [f"t{n}" for n in range(30) if n != 3]
    assert [problem.lost for problem in home.problems] == [1]
    assert len(home.files) == 2


def test_a_newer_file_is_not_overwritten(home: Home) -> None:
    """Going back to an older version does not destroy what the newer one archived."""
    home.say(*(said(n) for n in range(30)))
    home.summarize()
    home.machine.run(home.storage.async_flush())
    (path,) = home.files
    newer = re.sub(r'"version": ?1', '"version": 99', path.read_text(), count=1)
    path.write_text(newer)
    home.restart()
    assert not home.archived()
    assert [problem.trouble for problem in home.problems] == [Trouble.NEWER]
    home.say(*(said(n) for n in range(30, 60)))
    home.summarize()
    home.machine.run(home.storage.async_forget_words(["bicycle"]))
    assert path.read_text() == newer


def test_the_index_may_be_lost(home: Home) -> None:
    """What a file holds stands in the file."""
    home.say(*(said(n) for n in range(30)))
    home.summarize()
    home.machine.run(home.storage.async_flush())
    (home.folder / ".storage/realtime_assist/index").unlink()
    home.restart()
    assert home.told() == [f"t{n}" for n in range(30)]
    assert not home.problems


def test_a_month_that_is_too_old_is_gone(home: Home) -> None:
    """What was said is not kept for ever."""
    home.say(*(replace(said(n), at=BEGIN + timedelta(days=n - 420)) for n in range(60)))
    home.summarize()
    months = {key.when for key in home.machine.run(home.storage.archive.async_keys())}
    assert min(months) == "2025-11"
    home.machine.run(home.storage.archive.async_expire(BEGIN + timedelta(days=45)))
    months = {key.when for key in home.machine.run(home.storage.archive.async_keys())}
    assert min(months) == "2026-01" if months else True
    assert len(home.files) == len(months)


def test_a_thread_that_is_removed_takes_its_archive_along(home: Home) -> None:
    """Nothing of one history is left, and nothing of another is touched."""
    for key in (KEY, OTHER):
        home.say(*(said(n) for n in range(30)), key=key)
        home.summarize(key)
    home.machine.run(home.storage.async_remove_thread(KEY))
    home.restart()
    assert home.told() == []
    assert home.told(OTHER) == [f"t{n}" for n in range(30)]
    assert len(home.files) == 1


def test_what_is_archived_too_late_leaves_no_file(home: Home) -> None:
    """Who removes the integration while something is archived finds nothing left behind."""
    home.say(*(said(n) for n in range(30)))
    thread = home.storage.thread(KEY)
    assert thread is not None

    async def race() -> None:
        made = checkpoint(thread, TOKENS, home.machine.now())
        assert made is not None
        home.storage.save_thread(committed(thread, made))
        async with home.storage.archive._lock:
            removing = asyncio.create_task(home.storage.async_remove_all())
            await asyncio.sleep(0)
            archiving = asyncio.create_task(
                home.storage.archive.async_add(KEY, lambda: thread.turns, home.machine.now())
            )
            await asyncio.sleep(0)
        await asyncio.gather(removing, archiving)
        await asyncio.sleep(5)

    home.machine.run(race())
    assert not (home.folder / ".storage/realtime_assist").exists()


def test_few_segments_are_held(home: Home) -> None:
    """A long search through old months does not fill the memory."""
    home.say(*(replace(said(n), at=BEGIN + timedelta(days=30 * n - 300)) for n in range(13)))
    home.summarize()
    home.told()
    assert len(home.storage.archive._held) <= MAX_HELD


def test_audiences_are_known(home: Home) -> None:
    """Whom something was told alone is known of the archive, too."""
    anna = frozenset({"speaker:anna"})
    home.say(*(replace(said(n), audience=anna if n == 3 else frozenset()) for n in range(30)))
    home.summarize()
    assert home.machine.run(home.storage.archive.async_audiences([KITCHEN])) == {anna, frozenset()}
    home.machine.run(
        home.storage.archive.async_revise(
            lambda _: lambda each: None if each.audience else each, [KEY]
        )
    )
    assert home.machine.run(home.storage.archive.async_audiences()) == {frozenset()}
    assert home.machine.run(home.storage.archive.async_audiences([])) == set()
