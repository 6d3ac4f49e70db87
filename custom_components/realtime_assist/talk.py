"""One conversation at a place: it goes on as long as somebody goes on with it in time.

It is not Home Assistant's, which ends after five minutes; a provider's session may end before it.
"""

import time
from typing import Final
from uuid import uuid4

from .memory.scopes import Scope, ScopeKey


class Talk:
    """The conversation that goes on at a place, or the one that would be next."""

    def __init__(self, seconds: float, name: str | None = None) -> None:
        """End it after so many quiet seconds. `name`: it is known by this alone, and for good."""
        self._seconds: Final = seconds
        self._named: Final = name is not None
        self.id = name or uuid4().hex
        self._last = time.monotonic()
        self._ended = False

    @property
    def scope(self) -> ScopeKey:
        """What belongs to it alone."""
        return ScopeKey(Scope.SESSION, self.id)

    @property
    def going(self) -> bool:
        """Whether it goes on, or it was not seen to yet that it is over."""
        return not self._ended

    @property
    def over(self) -> bool:
        """Whether nobody went on with it in time."""
        return self._ended or time.monotonic() - self._last > self._seconds

    @property
    def lapsed(self) -> bool:
        """Whether it is over, and that was not seen to yet."""
        return self.over and not self._ended

    def went_on(self) -> None:
        """Count its time from now."""
        self._last = time.monotonic()

    def renew(self) -> None:
        """Let another one be next; one with a name of its own stays what it is."""
        if not self._named:
            self.id = uuid4().hex

    def end(self) -> None:
        """Let it be over until somebody comes."""
        self.renew()
        self._ended = True

    def begin(self) -> None:
        """Take it that somebody is there."""
        self._ended = False
