"""How long something takes: alone, and what it keeps an event loop from doing."""

import asyncio
import gc
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from .report import Figure

UNITS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
BEAT: Final = 0.001
"""Seconds between two looks at a loop."""


@dataclass(slots=True)
class Times:
    """Seconds that one thing took, each time."""

    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def take(self, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
        """Time what is done inside."""
        since = clock()
        yield
        self.seconds.append(clock() - since)

    def call[*A](self, work: Callable[[*A], object], *arguments: *A) -> None:
        """Time one call: for what takes microseconds."""
        since = time.perf_counter()
        work(*arguments)
        self.seconds.append(time.perf_counter() - since)

    @property
    def median(self) -> float:
        """The median, in seconds."""
        return statistics.median(self.seconds)

    def figures(self, name: str, unit: str, aim: float | None = None) -> Iterator[Figure]:
        """Return the median, which may have a limit, and the worst."""
        scale = UNITS[unit]
        told = {"median": self.median, "worst": max(self.seconds)}
        for which, seconds in told.items():
            yield Figure(
                name=f"{name}.{which}",
                value=round(seconds / scale, 3),
                unit=unit,
                aim=aim if which == "median" else None,
                at_most=True,
            )


class Watch:
    """Looks at the event loop each millisecond, and knows for how long nobody could.

    `blocked` is what a clock says: it counts what other threads and programs took, too. `worked`
    is what the loop itself did in one go, in seconds of the processor, without the collector.
    `collected` is the longest that Python looked for garbage: it looks at all there is in the
    process, most of which is not ours, in whatever thread.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.blocked = self.worked = self.collected = 0.0
        self._collecting_since = self._collecting_work = 0.0
        self._collected_here = 0.0
        self._thread = threading.get_ident()

    async def __aenter__(self) -> Self:
        """Begin to look."""
        self._task = asyncio.create_task(self._look())
        await asyncio.sleep(2 * BEAT)
        self.blocked = self.worked = 0.0
        gc.callbacks.append(self._collecting)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Look once more, and end."""
        await asyncio.sleep(2 * BEAT)
        gc.callbacks.remove(self._collecting)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _collecting(self, phase: str, _info: dict[str, int]) -> None:
        now = time.perf_counter()
        if phase == "start":
            self._collecting_since, self._collecting_work = now, time.thread_time()
            return
        self.collected = max(self.collected, now - self._collecting_since)
        if threading.get_ident() == self._thread:
            self._collected_here += time.thread_time() - self._collecting_work

    async def _look(self) -> None:
        while True:
            since, worked, collected = time.perf_counter(), time.thread_time(), self._collected_here
            await asyncio.sleep(BEAT)
            self.blocked = max(self.blocked, time.perf_counter() - since - BEAT)
            own = time.thread_time() - worked - (self._collected_here - collected)
            self.worked = max(self.worked, own)

    def figures(self, name: str, aim: float) -> Iterator[Figure]:
        """Return all in milliseconds; `aim` is the longest block that may be."""
        told = {
            "block": (self.blocked, aim),
            "block_own_work": (self.worked, aim),
            "block_by_collector": (self.collected, None),
        }
        for which, (seconds, limit) in told.items():
            value = round(1000 * seconds, 3)
            yield Figure(name=f"{name}.{which}", value=value, unit="ms", aim=limit, at_most=True)
