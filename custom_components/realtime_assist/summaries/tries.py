"""What became of the ways to summarise: so that one that failed is left alone, and can be seen."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from ..memory.transcript import ThreadKey

HOLD_OFF: Final = timedelta(minutes=10)
"""So long a way is not tried again for a thread where it failed, or came too late."""
MOST_PUT_OFF: Final = 3
"""Turns that a summary may wait for, one after the other."""
MOST_RESULTS: Final = 64
"""Results that are counted apart."""


class Tries:
    """The tries of a house, by thread and way."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Know none; `now` gives the time."""
        self.counts: Final[Counter[str]] = Counter()
        """How often, by way and what came of it: no content."""
        self._now: Final = now
        self._held_off: Final[dict[tuple[ThreadKey, str], datetime]] = {}
        self._put_off: Final[Counter[ThreadKey]] = Counter()

    def may(self, key: ThreadKey, way: str) -> bool:
        """Whether a way may be tried for a thread."""
        until = self._held_off.get((key, way))
        return until is None or until <= self._now()

    def made(self, key: ThreadKey, way: str) -> None:
        """Take it that a way has made the summary of a thread."""
        self.counts[f"{way}_made"] += 1
        del self._put_off[key]

    def failed(self, key: ThreadKey, way: str, code: str) -> None:
        """Take it that a way failed, or that its summary came too late."""
        now = self._now()
        result = f"{way}_{code}"
        if len(self.counts) >= MOST_RESULTS and result not in self.counts:
            result = f"{way}_other"  # providers invent codes
        self.counts[result] += 1
        for old in [each for each, until in self._held_off.items() if until <= now]:
            del self._held_off[old]
        self._held_off[key, way] = now + HOLD_OFF

    def put_off(self, key: ThreadKey, way: str) -> bool:
        """Take it that a turn goes first; return whether the summary waits for it."""
        self.counts[f"{way}_put_off"] += 1
        self._put_off[key] += 1
        if self._put_off[key] < MOST_PUT_OFF:
            return True
        del self._put_off[key]
        return False
