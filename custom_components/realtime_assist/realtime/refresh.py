"""`memory.update` on one session: a wish, granted at the next legal moment, and its report."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from .operations import Counts


class RefreshState(StrEnum):
    """What became of the wish so far."""

    UPDATED = "updated"
    DEFERRED = "deferred"
    """The session is busy; it will be done as soon as that is over."""
    FAILED = "failed"
    NOT_CONNECTED = "not_connected"
    """There is no session: the next one begins with everything new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What was done to bring a session up to date."""

    state: RefreshState
    created: int = 0
    deleted: int = 0
    superseded: int = 0
    failed: int = 0
    rebuilt: bool = False
    took_ms: int = 0


class Refresh:
    """One wish, shared by all who have it at the same time."""

    def __init__(self, before: Counts) -> None:
        """Begin; `before` are the counts to compare with."""
        self.full = False
        """A new session is wanted, and has not been begun."""
        self._before = before
        self._state: RefreshState | None = None
        self._done = asyncio.Event()

    @property
    def finished(self) -> bool:
        """Whether it was granted or has failed."""
        return self._state is not None

    def finish(self, state: RefreshState) -> None:
        """Say what became of it; the first word counts."""
        if self._state is None:
            self._state = state
            self._done.set()

    async def wait(self, seconds: float) -> RefreshState:
        """Return what became of it within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._done.wait()
        except TimeoutError:
            pass
        return self._state or RefreshState.DEFERRED

    def report(self, state: RefreshState, now: Counts, took_seconds: float) -> Refreshed:
        """Return what was done until now."""
        counts = now.since(self._before)
        # A new session holds all of it, whatever was refused in the old one.
        if counts.failed and not counts.rebuilt and state is RefreshState.UPDATED:
            state = RefreshState.FAILED
        return Refreshed(
            state=state,
            created=counts.created,
            deleted=counts.deleted,
            superseded=counts.superseded,
            failed=counts.failed,
            rebuilt=bool(counts.rebuilt),
            took_ms=round(took_seconds * 1000),
        )
