"""Benches are run by name, tell what they do, and make the README's tables anew."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from . import run
from .report import Figure
from .run import BENCHES, TOGETHER, Bench
from .tables import tables


def met() -> Iterator[Figure]:
    yield Figure(name="good.a", value=1.0, unit="ms", aim=2.0, at_most=True)
    yield Figure(name="good.b", value=1.0, unit="ms")


def missed() -> Iterator[Figure]:
    yield Figure(name="bad.a", value=3.0, unit="ms", aim=2.0, at_most=True)


def broken() -> Iterator[Figure]:
    yield Figure(name="broken.a", value=3.0, unit="ms")
    raise OSError("there is no network")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"good": Bench(met, 1), "bad": Bench(missed, 1), "broken": Bench(broken, 1)}
    monkeypatch.setattr(run, "BENCHES", few)


def test_some_benches_are_run_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever waits sees what runs and what is missed, and a program reads only figures."""
    assert run.main(["bad", "good", "--json"]) == 0
    told = capsys.readouterr()
    figures = [json.loads(line) for line in told.out.splitlines()]
    assert [figure["name"] for figure in figures] == ["bad.a", "good.a", "good.b"]
    assert [figure.get("met") for figure in figures] == [False, True, None]
    assert "bad: about 1 s" in told.err
    assert "1 of 2 aims met; missed: bad.a" in told.err


def test_one_that_cannot_be_run_keeps_no_other_from_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures that could be had are told, and the exit status says that some could not."""
    last = {"broken": Bench(broken, 1), "good": Bench(met, 1)}
    monkeypatch.setattr(run, "BENCHES", last)
    assert run.main([]) == 1
    told = capsys.readouterr()
    assert "good.a" in told.out
    assert "broken: there is no network" in told.err


def test_a_bench_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong name is no empty success."""
    with pytest.raises(SystemExit):
        run.main(["god"])
    assert "god" in capsys.readouterr().err


def test_all_benches_together_take_less_than_a_quarter_of_an_hour() -> None:
    """Nobody has to choose what to leave out."""
    assert sum(bench.seconds for bench in BENCHES.values()) <= TOGETHER


def test_figures_become_tables() -> None:
    """The README is brought up to date by one command."""
    made = [
        Figure(name="turn.2026.11.0.ours.20.first", value=1203.04, unit="ms"),
        Figure(
            name="turn.2026.11.0.ours.20.over_floor",
            value=21.26,
            unit="ms",
            aim=20,
            at_most=True,
        ),
    ]
    told = tables(made, datetime(2026, 12, 1, tzinfo=UTC)).splitlines()
    assert told[0].startswith("Measured on 1 December 2026, on ")
    assert "| Here | | 1203 ms | | |" in told
    assert "| - over the floor | | 21.3 ms, missed | | |" in told
    assert not any("2026.10" in line or "ffmpeg" in line for line in told)
