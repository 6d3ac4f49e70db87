"""What it adds to the start of Home Assistant, and to the first turn after it.

A home with a hundred stored threads starts again and again, beside an empty one. How long the setup
takes is Home Assistant's own account of it (what its page of repairs shows as startup time). Then
somebody speaks at a satellite that nobody spoke to since the start, and at another one.
"""

import asyncio
import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from homeassistant.setup import async_get_setup_timings

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.hub import Assistant
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import Said, Thread, ThreadKey, TurnRecord
from tests.loopback import LoopbackServer, RealClock

from .asking import ask, at
from .home import home
from .report import Figure
from .timing import Times

THREADS: Final = 100
TURNS: Final = 20
"""Of each thread: about what a resumed session is told word for word."""
STARTS: Final = 5
QUIET: Final = 1.0
"""Seconds after a start in which nobody speaks, and nothing should be read or connected."""
SETUP_AIM: Final = 200.0
"""Milliseconds: one of the seconds that Home Assistant takes to start is shared by dozens."""
MORE_AIM: Final = 10.0
"""Milliseconds that the stored threads may add: none of them is read."""


class Started:
    """What was measured of one home, over its starts."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.setup: Final = Times()
        self.first: Final = Times()
        self.next: Final = Times()
        self.sockets = self.loaded = 0


def figures(threads: int = THREADS, starts: int = STARTS) -> Iterator[Figure]:
    """Start both homes by turns, and tell what differs."""
    with TemporaryDirectory() as folder:
        empty, full = asyncio.run(_measure(Path(folder), threads, starts))
    yield _ms("setup.empty", empty.setup)
    yield _ms(f"setup.{threads}_threads", full.setup, SETUP_AIM)
    more = 1000 * (full.setup.median - empty.setup.median)
    yield Figure(
        name="setup.threads_cost", value=round(more, 1), unit="ms", aim=MORE_AIM, at_most=True
    )
    told = {"threads_loaded": full.loaded, "sockets_opened": full.sockets}
    for what, count in told.items():
        yield Figure(name=f"setup.{what}", value=count, unit="at a start", aim=0, at_most=True)
    yield _ms("setup.first_turn", full.first)
    yield _ms("setup.next_turn", full.next)
    extra = statistics.median(
        first - later for first, later in zip(full.first.seconds, full.next.seconds, strict=True)
    )
    yield Figure(name="setup.first_turn_pays", value=round(1000 * extra, 1), unit="ms")


def _ms(name: str, times: Times, aim: float | None = None) -> Figure:
    return Figure(name=name, value=round(1000 * times.median, 1), unit="ms", aim=aim, at_most=True)


async def _measure(folder: Path, threads: int, starts: int) -> tuple[Started, Started]:
    """Fill one of two homes, then start both, one after the other."""
    empty, full = Started(), Started()
    async with LoopbackServer(key="key", clock=RealClock(0), keep_audio=False) as server:
        for name, count in (("empty", 0), ("full", threads)):
            (folder / name).mkdir()
            async with home(folder / name, server.base_url) as (assistant, _):
                await _remember(assistant, count)
        for _ in range(starts):
            await _start(folder / "empty", server, empty)
            await _start(folder / "full", server, full)
    return empty, full


async def _remember(assistant: Assistant, threads: int) -> None:
    storage = assistant.hub.house.storage
    for number in range(threads):
        key = _key(assistant, number)
        await storage.async_load_thread(key)
        storage.save_thread(_thread(key))
    await storage.async_flush()


async def _start(folder: Path, server: LoopbackServer, started: Started) -> None:
    """Start a home, and speak in it."""
    before = server.handshakes
    async with home(folder, server.base_url) as (assistant, origin):
        took = async_get_setup_timings(assistant.hub.hass)[DOMAIN]
        started.setup.seconds.append(took)
        await asyncio.sleep(QUIET)
        started.sockets = max(started.sockets, server.handshakes - before)
        storage = assistant.hub.house.storage
        keys = (_key(assistant, number) for number in range(THREADS))
        started.loaded = max(started.loaded, sum(storage.thread(key) is not None for key in keys))
        await assistant.hub.house.async_loaded()
        for times, device in ((started.first, _device(0)), (started.next, _device(1))):
            with times.take():
                await ask(assistant, at(origin, device))


def _device(number: int) -> str:
    """Return the id of a satellite that has no device: nobody takes it for one that is gone."""
    return f"satellite.{number}"


def _key(assistant: Assistant, number: int) -> ThreadKey:
    return ThreadKey(assistant.subentry_id, ScopeKey(Scope.DEVICE, _device(number)))


def _thread(key: ThreadKey) -> Thread:
    """Return a thread of some turns."""
    thread = Thread(key=key)
    for number in range(TURNS):
        record = TurnRecord(
            id=f"t{number}",
            at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number),
            heard_text=f"Which plant is to be watered on day {number}?",
            said=(Said(index=0, text=f"The one in pot {number}, please.", audio_ms=3000),),
            place="Kitchen",
        )
        thread = thread.joined(record)
    return thread
