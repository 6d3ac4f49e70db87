"""Home Assistant in a time of its own: nothing is waited for, and a power cut is one call.

The real `Store` and the real files work in it. Time goes on only while all wait, then at once to
what comes next. Jobs for other threads run in the loop, one step later, so that a kill can come
between any two steps.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, override

from homeassistant.core import HomeAssistant

BEGIN: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)


class _Jump(selectors.SelectSelector):
    """Waits for nothing but time, and for that at once."""

    now: float

    @override
    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("all wait for something that never comes")
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is its own."""

    def __init__(self, now: float = 0.0) -> None:
        """Begin at `now` seconds."""
        self._jump = _Jump()
        self._jump.now = now
        super().__init__(self._jump)

    @override
    def time(self) -> float:
        return self._jump.now

    @override
    def run_in_executor[*Ts, T](
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> asyncio.Future[T]:
        done: asyncio.Future[T] = self.create_future()

        def run() -> None:
            try:
                done.set_result(func(*args))
            except Exception as err:  # noqa: BLE001 - whoever waits for it gets it
                done.set_exception(err)

        self.call_soon(run)
        return done


class Machine:
    """A machine that runs one Home Assistant at a time, and may lose its power."""

    _killed: Final[list[object]] = []
    """What ran at a kill: never to run again, not even its end."""

    def __init__(self, folder: Path) -> None:
        """Keep the configuration in a folder."""
        self._folder = folder
        self._loop = VirtualLoop()
        self.hass = self._start(0.0)

    def _start(self, now: float) -> HomeAssistant:
        self._loop = VirtualLoop(now)

        async def start() -> HomeAssistant:
            return HomeAssistant(str(self._folder))

        return self._loop.run_until_complete(start())

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return self._loop.time()

    def now(self) -> datetime:
        """Return the time of this machine, with a time zone."""
        return BEGIN + timedelta(seconds=self.seconds)

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Do something to its end."""
        return self._loop.run_until_complete(work)

    def run_steps(self, work: Coroutine[Any, Any, Any], steps: int) -> bool:
        """Do at most so many steps of something; return whether it came to its end."""
        task = self._loop.create_task(work)
        for _ in range(steps):
            if task.done():
                break
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()
        if task.done():
            task.result()
            return True
        return False

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.run(asyncio.sleep(seconds))

    def kill(self) -> None:
        """Cut the power, and start again: only what is on the disk is left."""
        now = self.seconds
        for task in asyncio.all_tasks(self._loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # it is meant
            self._killed.extend((task, task.get_coro()))
        self._loop.close()
        self.hass = self._start(now)

    def close(self) -> None:
        """End for good."""
        self.kill()
        self._loop.close()
