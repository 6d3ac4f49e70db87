"""Summarising what a resumed session has no room for: one run per thread at a time.

a turn joins, an action asks ──> Compaction.async_compact ──> a way to summarise ──> commit ──> disk

A run works on a snapshot and blocks nothing. Its commit is a local act, in one place: it is dropped
if the history became another one meanwhile, and the next turn begins another.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util

from .memory.archiving import async_archive
from .memory.compression import Checkpoint, checkpoint, committed

if TYPE_CHECKING:
    from .house import House
    from .memory.transcript import ThreadKey


class Compacted(StrEnum):
    """What became of a summary that was asked for."""

    SUMMARIZED = "summarized"
    UP_TO_DATE = "up_to_date"
    """A new session is told all of it word for word anyway."""
    RUNNING = "running"
    """Another one is being made."""
    CHANGED = "changed"
    """The history became another one meanwhile; it is tried again after the next turn."""


class Compaction:
    """The summaries of a house that are being made."""

    def __init__(self, house: House) -> None:
        """Work on the threads of a house."""
        self._house: Final = house
        self._running: Final[set[ThreadKey]] = set()

    async def async_compact(self, key: ThreadKey, resume_tokens: int) -> Compacted:
        """Summarise what a resumed session has no room for; one run per thread at a time.

        The thread must be loaded. `resume_tokens` is what the recap of a session may cost.
        """
        if key in self._running:
            return Compacted.RUNNING
        self._running.add(key)
        try:
            state = await self._async_run(key, resume_tokens)
            # What a run before this one could not archive is tried again.
            await async_archive(self._house.storage, key, dt_util.now())
        finally:
            self._running.discard(key)
        return state

    async def _async_run(self, key: ThreadKey, resume_tokens: int) -> Compacted:
        made = await self._house.hass.async_add_executor_job(
            checkpoint, self._house.thread(key), resume_tokens, dt_util.utcnow()
        )
        if made is None:
            return Compacted.UP_TO_DATE
        return Compacted.SUMMARIZED if self._commit(made) else Compacted.CHANGED

    def _commit(self, made: Checkpoint) -> bool:
        """Put a checkpoint in place of the turns it was made of; False if they are others now."""
        before = self._house.thread(made.snapshot.key)
        after = committed(before, made)
        if after is before:
            return False
        self._house.storage.save_thread(after)
        return True
