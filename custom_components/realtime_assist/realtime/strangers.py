"""Responses that are no turn's: begun by the server, out of band, or over."""

from collections import deque
from collections.abc import Callable
from typing import Final

from .timers import Timers

STOPPED_SECONDS: Final = 5.0
"""How long the end of a response that we stopped is waited for."""
REFUSED_SECONDS: Final = 1.0
"""How long the end of another response is waited for before asking again."""


class Strangers:
    """Tells responses that nobody here waits for; while one is active the floor is not free."""

    def __init__(self, free: Callable[[], None]) -> None:
        """Know none; `free` is called when one is not waited for any more."""
        self._free = free
        self._active: set[str] = set()
        self._isolated: deque[str] = deque(maxlen=32)
        self._past: deque[str] = deque(maxlen=64)
        self._unseen = False
        self._timers = Timers()

    @property
    def active(self) -> bool:
        """Whether one is being made."""
        return bool(self._active) or self._unseen

    def isolate(self, response_id: str) -> None:
        """Remember one that is not part of the conversation."""
        self._isolated.append(response_id)

    def is_isolated(self, response_id: str) -> bool:
        """Whether a response is not part of the conversation."""
        return response_id in self._isolated

    def add(self, response_id: str) -> None:
        """Remember one that was stopped, until it has ended."""
        self._active.add(response_id)
        self._timers.start("stopped", STOPPED_SECONDS, self._forget)

    def suspect(self) -> None:
        """Take the server's word that another one is active, until any has ended."""
        self._unseen = True
        self._timers.start("refused", REFUSED_SECONDS, self._forget)

    def owns(self, response_id: str) -> bool:
        """Whether pieces of this response are to be dropped, come what may."""
        known = response_id in self._active or response_id in self._isolated
        return known or response_id in self._past

    def is_past(self, response_id: str) -> bool:
        """Whether the end of a response was told before."""
        return response_id in self._past

    def ended(self, response_id: str) -> bool:
        """Take the end of a response; return whether it was a stranger's, or is told again."""
        if response_id in self._past:
            return True
        self._past.append(response_id)
        if response_id in self._isolated:
            return True
        self._unseen = False
        if response_id not in self._active:
            return False
        self._active.discard(response_id)
        return True

    def close(self) -> None:
        """End the waits."""
        self._timers.close()

    def _forget(self) -> None:
        self._active.clear()
        self._unseen = False
        self._free()
