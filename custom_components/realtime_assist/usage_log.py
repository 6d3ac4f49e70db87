"""What an assistant has used since it was set up: in all, and in each thread."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from homeassistant.core import CALLBACK_TYPE, callback

from .memory.spending import Total, Use
from .memory.transcript import ThreadKey

_THREADS: Final = 256
"""Threads of which the use is known; beyond that, that of the one longest unused is forgotten."""


class UsageLog:
    """Adds up, and tells whoever shows it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.total = Total()
        self.prefix_tokens: int | None = None
        """Estimated: instructions and tools of the newest session, None before there was one."""
        self._threads: OrderedDict[ThreadKey, Total] = OrderedDict()
        self._listeners: set[Callable[[], None]] = set()

    def of(self, key: ThreadKey) -> Total:
        """Return what a thread has used."""
        return self._threads.get(key, Total())

    @callback
    def add(
        self, key: ThreadKey | None, use: Use, cost: float | None, *, transcript: bool = False
    ) -> None:
        """Add what a response, or a transcript, used in a thread, or in none.

        `cost` is in US dollars, None where the price is unknown.
        """
        self.total = self.total.plus(use, cost, transcript=transcript)
        if key is None:
            return
        self._threads[key] = self.of(key).plus(use, cost, transcript=transcript)
        self._threads.move_to_end(key)
        if len(self._threads) > _THREADS:
            self._threads.popitem(last=False)

    @callback
    def subscribe(self, listener: Callable[[], None]) -> CALLBACK_TYPE:
        """Call this whenever something was used or let go; returns what ends that."""
        self._listeners.add(listener)

        @callback
        def unsubscribe() -> None:
            self._listeners.discard(listener)

        return unsubscribe

    @callback
    def changed(self) -> None:
        """Tell the listeners."""
        for listener in tuple(self._listeners):
            listener()
