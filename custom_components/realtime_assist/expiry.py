"""Letting go of what is over: one timer, which waits for just that and for nothing else.

While nothing in the memory has an end and nobody talks, the house wakes up once a day.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from homeassistant.core import callback
from homeassistant.helpers.event import async_track_point_in_utc_time
from homeassistant.util import dt as dt_util

from .memory.scopes import ScopeKey

if TYPE_CHECKING:
    from .house import House

_TALKING: Final = timedelta(minutes=1)
"""How often it is seen whether a conversation is over."""
_LEAST: Final = timedelta(seconds=1)
"""Between two looks, however many things end one after the other."""


class Expiry:
    """Knows when something in the memory is over next, and sees to it then."""

    def __init__(self, house: House) -> None:
        """Work for a house, once it is started."""
        self._house: Final = house
        self._unfollow: Callable[[], None] | None = None
        self._cancel: Callable[[], None] | None = None
        self.at: datetime | None = None
        """When it looks next; None: it was not started."""

    @callback
    def start(self) -> None:
        """Follow the memory as it is now."""
        self._unfollow = self._house.context.subscribe(self._changed)
        self.look()

    @callback
    def stop(self) -> None:
        """Follow nothing any more."""
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None
        self._disarm()

    @callback
    def look(self) -> None:
        """Wake up earlier where something is over earlier than was known."""
        if self._unfollow is None:
            return
        at = self._next()
        if self.at is None or at < self.at:
            self._disarm()
            self.at = at
            self._cancel = async_track_point_in_utc_time(self._house.hass, self._due, at)

    def _next(self) -> datetime:
        """Return when something is over next: an entry, perhaps a conversation, or the day."""
        now = dt_util.utcnow()
        ends = [dt_util.start_of_local_day(dt_util.now() + timedelta(days=1))]
        if any(projection.talking for projection in self._house.projections()):
            ends.append(now + _TALKING)
        if (soonest := self._house.context.soonest()) is not None:
            ends.append(max(soonest, now + _LEAST))
        return min(ends)

    @callback
    def _changed(self, scope: ScopeKey) -> None:
        soonest = self._house.context.soonest(scope)
        if soonest is not None and (self.at is None or soonest < self.at):
            self.look()

    @callback
    def _due(self, _now: datetime) -> None:
        self._cancel = self.at = None
        self._house.expire()
        self.look()

    def _disarm(self) -> None:
        if self._cancel is not None:
            self._cancel()
        self._cancel = self.at = None
