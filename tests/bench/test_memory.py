"""What remembering costs is measured as it is, beside the same work done another way."""

import asyncio
import gc
import json
import time
from pathlib import Path
from typing import Any

import pytest

from . import memory, run
from .remembered import Remembered, Size
from .report import Figure
from .timing import Times, Watch
from .whole_files import MAX_PREVIOUS, WholeFiles

SMALL = Size(scopes=12, each=4, rounds=20, tries=3)


def test_every_figure_of_the_memory_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever wonders whether it is fast enough sees each aim, and whether it is met."""
    monkeypatch.setattr(memory, "SIZE", SMALL)
    monkeypatch.setattr(memory, "FEW", 3)
    assert run.main(["memory", "--json"]) == 0
    told: list[dict[str, Any]] = [json.loads(s) for s in capsys.readouterr().out.splitlines()]
    figures = {item["name"]: item for item in told}
    assert len(figures) == len(told)
    for work in ("get", "set", "search", "prompt", "durable_write", "load"):
        assert figures[f"memory.ours.{work}.median"]["value"] > 0
        assert f"memory.ours.{work}.worst" in figures
    with_aim = {name for name, item in figures.items() if "met" in item}
    assert {"memory.ours.get.median", "memory.ours.load.block"} <= with_aim
    one, many = (figures[f"memory.ours.bytes_per_entry{which}"] for which in ("", "_of_many"))
    assert 100 < many["value"] < one["value"]
    for work in ("get.median", "set.median", "load.median", "bytes_per_entry"):
        ours, plain = (figures[f"memory.{whose}.{work}"]["value"] for whose in ("ours", "plain"))
        if ours:
            assert figures[f"memory.ratio.{work}"]["value"] == pytest.approx(plain / ours, abs=0.01)


def test_the_same_is_remembered_in_every_run() -> None:
    """Two runs can be compared."""
    one, other = Remembered(SMALL), Remembered(SMALL)
    assert list(one.writes(5)) == list(other.writes(5))
    assert list(one.turns(5)) == list(other.turns(5))
    assert len(one.scopes) == len(set(one.scopes)) == SMALL.scopes
    for visible, key in one.turns(20):
        assert set(visible) <= set(one.scopes)
        assert any(key in one.keys(scope) for scope in visible)


async def test_a_held_loop_is_seen() -> None:
    """Work that nobody can interrupt is found, and told apart from waiting."""
    async with Watch() as watch:
        time.sleep(0.05)  # noqa: ASYNC251 - this is what must be seen
    assert watch.blocked >= 0.045
    assert watch.worked < 0.045
    async with Watch() as watch:
        await asyncio.sleep(0.05)
    assert watch.blocked < 0.045
    figures = [figure.name for figure in watch.figures("n", 10)]
    assert figures == ["n.block", "n.block_own_work", "n.block_by_collector"]


async def test_garbage_is_named_where_it_holds_the_loop() -> None:
    """Nobody looks in our code for what Python's own collector does."""
    async with Watch() as watch:
        gc.collect()
    assert watch.collected > 0
    assert not any(getattr(each, "__self__", None) is watch for each in gc.callbacks)


async def test_what_the_collector_works_is_not_called_our_own() -> None:
    """Our own work is told without it, even where it runs in the middle of that."""
    async with Watch() as watch:
        watch._collecting("start", {})
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        watch._collecting("stop", {})
    assert watch.collected >= 0.05
    assert watch.worked < 0.05


def test_times_are_told_in_their_unit() -> None:
    """A microsecond is not taken for a millisecond."""
    times = Times([0.001, 0.002, 0.009])
    assert list(times.figures("n", "us", 2000)) == [
        Figure(name="n.median", value=2000, unit="us", aim=2000, at_most=True),
        Figure(name="n.worst", value=9000, unit="us", at_most=True),
    ]


def test_what_we_compare_with_does_what_is_said_of_it(tmp_path: Path) -> None:
    """The comparison is fair: entries, versions and limits are there, and survive a restart."""
    plain = WholeFiles(tmp_path, capacity=3)
    entry = plain.set("home", "cat", 0, ["pet"])
    for number in range(1, MAX_PREVIOUS + 5):
        plain.set("home", "cat", number)
    assert entry.version == MAX_PREVIOUS + 5
    assert [old["value"] for old in entry.previous] == list(range(4, MAX_PREVIOUS + 4))
    plain.set("home", "dog", "Rex")
    again = WholeFiles(tmp_path)
    assert again.load() == 2
    assert again.get(["hall", "home"], "cat") == MAX_PREVIOUS + 4
    assert (again.hits, again.misses) == (1, 1)
    assert [found.key for found in again.search_tag(["home"], "pet")] == ["cat"]
    plain.get(["home"], "cat")
    plain.set("home", "a", 1)
    plain.set("home", "b", 2)
    assert plain.get(["home"], "dog") is None
    assert plain.get(["home"], "cat") == MAX_PREVIOUS + 4


def test_a_write_rewrites_its_scope_alone(tmp_path: Path) -> None:
    """What is written to the disk for one change is what is counted."""
    plain = WholeFiles(tmp_path)
    plain.prepare("home", {"cat": ("Minka", ("pet",)), "dog": ("Rex", ())})
    plain.prepare("hall", {"lamp": ("on", ())})
    before = memory.written(tmp_path)
    plain.set("home", "cat", "Mau")
    size = plain.path("home").stat().st_size
    assert sum(stamp.size for stamp in memory.written(tmp_path) - before) == size
