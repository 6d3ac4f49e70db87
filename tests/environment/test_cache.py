"""A prepared thing is made once, and one that was interrupted is never believed."""

import threading
from pathlib import Path

import pytest

from . import cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the cache of each test in its own folder."""
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))
    return tmp_path


def test_place_is_chosen_by_name_then_by_convention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", "~/here")
    assert cache.root() == Path("/home/anna/here")
    monkeypatch.delenv("REALTIME_ASSIST_CACHE")
    assert cache.root() == Path("/var/xdg/realtime-assist")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.root() == Path("/home/anna/.cache/realtime-assist")


def test_made_once(tmp_path: Path) -> None:
    thing = tmp_path / "things" / "one"
    built: list[int] = []

    def build() -> None:
        built.append(1)
        (thing / "content").touch()

    cache.make_once(thing, build)
    cache.make_once(thing, build)
    assert len(built) == 1
    assert cache.is_complete(thing)


def test_interrupted_thing_is_made_anew_from_nothing(tmp_path: Path) -> None:
    thing = tmp_path / "one"

    def interrupted() -> None:
        (thing / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.make_once(thing, interrupted)
    assert not cache.is_complete(thing)
    cache.make_once(thing, (thing / "whole").touch)
    assert cache.is_complete(thing)
    assert not (thing / "half").exists()
    assert (thing / "whole").exists()


def test_thing_that_lost_its_use_is_made_anew(tmp_path: Path) -> None:
    thing = tmp_path / "one"
    content = thing / "content"
    cache.make_once(thing, content.touch, usable=content.exists)
    content.unlink()
    cache.make_once(thing, content.touch, usable=content.exists)
    assert content.exists()


def test_two_runs_at_once_make_it_once(tmp_path: Path) -> None:
    thing = tmp_path / "one"
    begun, finish = threading.Event(), threading.Event()
    built: list[str] = []

    def slow() -> None:
        begun.set()
        finish.wait(10)
        built.append("first")

    first = threading.Thread(target=cache.make_once, args=(thing, slow))
    second = threading.Thread(target=cache.make_once, args=(thing, lambda: built.append("second")))
    first.start()
    assert begun.wait(10)
    second.start()
    finish.set()
    first.join(10)
    second.join(10)
    assert built == ["first"]
