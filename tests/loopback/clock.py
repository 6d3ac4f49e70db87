"""Time for the loopback server: real, faster than real, or advanced by a test.

The server never calls the event loop's own timers: everything that takes time asks its clock, so
that a test decides how long a session, an answer or a delay lasts.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol

_SETTLE_TURNS = 25
"""Turns of the event loop after which bytes on a loopback socket have arrived and been handled."""


class Clock(Protocol):
    """What the server asks of time. All times are seconds."""

    def now(self) -> float:
        """Return a monotonic time."""

    def wall(self) -> float:
        """Return the Unix time, for what a session says about its own end."""

    async def sleep(self, seconds: float) -> None:
        """Return once `seconds` of this clock have gone by."""

    async def lapse(self, seconds: float) -> None:
        """Wait for a time that somebody named: a limit, a planned delay. Never skipped."""


class RealClock:
    """The machine's time, `speed` times as fast.

    A speed of 0 means that nothing ever takes time.
    """

    def __init__(self, speed: float = 1.0) -> None:
        """Start at the present moment."""
        self._speed = speed
        self._start = time.monotonic()
        self._wall = time.time()

    def now(self) -> float:
        """Return the seconds since this clock was made, times its speed."""
        return (time.monotonic() - self._start) * (self._speed or 1.0)

    def wall(self) -> float:
        """Return the Unix time at which this clock was made plus what has gone by on it."""
        return self._wall + self.now()

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds` of this clock; at speed 0 only let others run."""
        await asyncio.sleep(seconds / self._speed if self._speed else 0)

    async def lapse(self, seconds: float) -> None:
        """Sleep for `seconds` of this clock; at speed 0 they are real ones."""
        await asyncio.sleep(seconds / (self._speed or 1.0))


class VirtualClock:
    """Time that stands still until a test advances it; what is due fires in order of its time."""

    def __init__(self, wall: float = 1_790_000_000.0) -> None:
        """Start at 0; `wall` is the Unix time of that moment."""
        self._now = 0.0
        self._wall = wall
        self._order = itertools.count()
        self._due: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Return the seconds that were advanced so far."""
        return self._now

    def wall(self) -> float:
        """Return the Unix time of the present virtual moment."""
        return self._wall + self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by `seconds`; nothing or less only lets others run."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._due, (self._now + seconds, next(self._order), future))
        await future

    async def lapse(self, seconds: float) -> None:
        """Wait until the clock was advanced by `seconds`."""
        await self.sleep(seconds)

    async def advance(self, seconds: float) -> None:
        """Go forward by `seconds`, letting everything run that falls due on the way, in order."""
        end = self._now + seconds
        await settle()
        while self._due and self._due[0][0] <= end:
            await self._fire_next()
        self._now = end
        await settle()

    async def run_until(self, reached: Callable[[], object], limit: float = 600.0) -> None:
        """Go from one due moment to the next until `reached()` is true.

        Raises TimeoutError when that would take more than `limit` seconds, or when nothing is due
        any more: then waiting longer could not help.
        """
        end = self._now + limit
        await settle()
        while not reached():
            if not self._due or self._due[0][0] > end:
                message = f"not reached at {self._now:.3f} s with {len(self._due)} sleeping"
                raise TimeoutError(message)
            await self._fire_next()

    async def _fire_next(self) -> None:
        """Go to the next due moment and let what waited for it run until it is quiet again."""
        due, _, future = heapq.heappop(self._due)
        self._now = max(self._now, due)
        if not future.done():
            future.set_result(None)
            await settle()


async def settle() -> None:
    """Let everything run that can run now, including bytes that travel over a loopback socket."""
    for _ in range(_SETTLE_TURNS):
        await asyncio.sleep(0)
