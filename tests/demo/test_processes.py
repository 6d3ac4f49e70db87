"""No process outlives the demonstration, however it behaves."""

import asyncio
import os
from pathlib import Path

import pytest

from .processes import Processes, ProcessFailed, environment


def _alive(pid: int) -> bool:
    """Tell whether a process runs; one that only waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_polite_process_ends_with_its_own_status(tmp_path: Path) -> None:
    """Home Assistant is asked to end, so that it saves what it knows."""
    async with Processes(tmp_path) as processes:
        script = "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done"
        polite = await processes.start("polite", ["sh", "-c", script])
        await _until_logged(polite.log, "up")
        assert not polite.ended
        assert await processes.stop(polite) == 7
        assert polite.ended


async def test_a_deaf_process_and_its_children_are_ended_too(tmp_path: Path) -> None:
    """Nothing goes on using the machine after the demo."""
    script = "trap '' TERM; sleep 300 & echo $!; while :; do sleep 1; done"
    async with Processes(tmp_path) as processes:
        deaf = await processes.start("deaf", ["sh", "-c", script])
        child = int(await _until_logged(deaf.log, "\n"))
        assert _alive(child)
        assert await processes.stop(deaf, seconds=0.2) == -9
    await asyncio.sleep(0.05)
    assert not _alive(child)


async def test_leaving_ends_whatever_still_runs(tmp_path: Path) -> None:
    """An error in the middle leaves no process behind."""
    started = None

    async def fail() -> None:
        nonlocal started
        async with Processes(tmp_path) as processes:
            started = await processes.start("sleeper", ["sleep", "300"])
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        await fail()
    assert started is not None
    assert started.ended


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """A person learns which program to install."""
    async with Processes(tmp_path) as processes:
        with pytest.raises(ProcessFailed, match="phone does not start: there is no absent"):
            await processes.start("phone", ["absent"])


async def test_the_last_words_are_kept(tmp_path: Path) -> None:
    """A report of a failure shows what the program said last."""
    async with Processes(tmp_path) as processes:
        loud = await processes.start("loud", ["sh", "-c", "echo one; echo two >&2; echo three"])
        await loud.process.wait()
        assert loud.tail(2) == "two\nthree"


def test_children_are_not_misled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Home Assistant starts fast, with its own Python's things, on any developer's machine."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Sandybridge")
    monkeypatch.setenv("PATH", os.environ["PATH"])
    assert environment()["PATH"] == os.environ["PATH"]
    assert not {"PYTHONDONTWRITEBYTECODE", "OPENBLAS_CORETYPE"} & environment().keys()


async def _until_logged(log: Path, text: str) -> str:
    for _ in range(200):
        if text in (written := await asyncio.to_thread(log.read_text)):
            return written
        await asyncio.sleep(0.02)
    raise AssertionError("nothing was written")
