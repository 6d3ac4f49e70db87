"""A signal that many may wait for, again and again."""

import asyncio


class Signal:
    """Wakes everyone who waits at the moment it fires; there is no memory of earlier ones."""

    def __init__(self) -> None:
        """Start with nobody waiting."""
        self._waiting: set[asyncio.Future[None]] = set()

    def fire(self) -> None:
        """Wake those who wait now."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def wait(self) -> None:
        """Wait for the next firing."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)
