"""Deadlines with an owner.

Each wait of a session has a watchdog here; whoever owns the timers ends them all at once, and a
timer that was stopped never calls.
"""

import asyncio
from collections.abc import Callable


class Timers:
    """Named deadlines, at most one of each name, on the running event loop."""

    def __init__(self) -> None:
        """Own nothing yet."""
        self._handles: dict[str, asyncio.TimerHandle] = {}
        self._closed = False

    def start(self, name: str, seconds: float, callback: Callable[[], None]) -> None:
        """Call back in `seconds`, instead of what was due under this name; never after `close`."""
        self.stop(name)
        if self._closed:
            return

        def due() -> None:
            self._handles.pop(name, None)
            callback()

        self._handles[name] = asyncio.get_running_loop().call_later(max(seconds, 0.0), due)

    def start_once(self, name: str, seconds: float, callback: Callable[[], None]) -> None:
        """As `start`, but let a deadline that already runs stand."""
        if name not in self._handles:
            self.start(name, seconds, callback)

    def stop(self, name: str) -> None:
        """Forget a deadline; nothing happens if there is none."""
        if (handle := self._handles.pop(name, None)) is not None:
            handle.cancel()

    def runs(self, name: str) -> bool:
        """Tell whether a deadline of this name is due."""
        return name in self._handles

    def close(self) -> None:
        """Forget all, and take no more."""
        self._closed = True
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()
