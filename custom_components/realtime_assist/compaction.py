"""Summarising what a resumed session has no room for: one run per thread at a time.

a turn joins, an action asks ──> Compaction.async_compact ──> a way to summarise ──> commit ──> disk

A run works on a snapshot and blocks nothing. Its commit is a local act, in one place: it is dropped
if the history became another one meanwhile. A way that failed is left alone for a while, and the
built-in way, which needs nobody, does what the others could not.
"""

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from .memory.archiving import async_archive
from .memory.compression import Checkpoint, Snapshot, checkpoint, committed, snapshot, summarized
from .memory.summarizer import SummaryFailed, SummaryPutOff
from .repairs import Issue, async_clear, async_report
from .summaries.ai_task import MISSING, UNAVAILABLE, AITaskSummarizer
from .summaries.order import ways
from .summaries.tries import Tries

if TYPE_CHECKING:
    from .house import House
    from .hub import Hub
    from .memory.summarizer import SummaryWay
    from .memory.transcript import ThreadKey

_LOGGER: Final = logging.getLogger(__name__)

WAY_SECONDS: Final = 120.0
"""How long a way may take for all audiences together."""
_AT_ONCE: Final = 3
"""Times that the built-in way begins again because the history changed under it."""
_FAILURES: Final = 3
"""Failures of an AI Task entity, one after the other, of which a person is told."""


class Compacted(StrEnum):
    """What became of a summary that was asked for."""

    SUMMARIZED = "summarized"
    UP_TO_DATE = "up_to_date"
    """A new session is told all of it word for word anyway."""
    RUNNING = "running"
    """Another one is being made."""
    CHANGED = "changed"
    """The history became another one meanwhile; it is tried again after the next turn."""
    PUT_OFF = "put_off"
    """Somebody speaks with the model that should make it; it is tried again after that turn."""


class Compaction:
    """The summaries of a house that are being made."""

    def __init__(self, house: House) -> None:
        """Work on the threads of a house."""
        self.tries: Final = Tries(dt_util.utcnow)
        self._house: Final = house
        self._running: Final[dict[ThreadKey, asyncio.Event]] = {}
        self._failures: Final[Counter[str]] = Counter()

    @property
    def running(self) -> int:
        """How many threads are being summarised now."""
        return len(self._running)

    async def async_compact(
        self, key: ThreadKey, resume_tokens: int, *, within: float | None = None
    ) -> Compacted:
        """Summarise what a resumed session has no room for; one run per thread at a time.

        The thread must be loaded. `resume_tokens` is what the recap of a session may cost.
        `within`: seconds after which the built-in way does it, whatever others are doing.
        """
        if within is None:
            return await self._alone(key, resume_tokens)
        state: Compacted | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while running := self._running.get(key):
                    await running.wait()
                state = await self._alone(key, resume_tokens)
        if state not in {Compacted.SUMMARIZED, Compacted.UP_TO_DATE}:
            state = await self._extract(key, resume_tokens)
            await self._archive(key)
        return state

    @callback
    def leave(self, hub: Hub) -> None:
        """Take back what was told of an account's assistants: it may come back with others."""
        for assistant in hub.assistants:
            del self._failures[assistant]
            async_clear(self._house.hass, Issue.AI_TASK_FAILS, assistant)

    async def _alone(self, key: ThreadKey, resume_tokens: int) -> Compacted:
        """Do one run, unless there is one."""
        if key in self._running:
            return Compacted.RUNNING
        over = self._running[key] = asyncio.Event()
        try:
            state = await self._run(key, resume_tokens)
            await self._archive(key)
        finally:
            del self._running[key]
            over.set()
        return state

    async def _run(self, key: ThreadKey, resume_tokens: int) -> Compacted:
        """Let the ways try in their order; the built-in one does it if none could."""
        found = await self._house.hass.async_add_executor_job(
            snapshot, self._house.thread(key), resume_tokens, dt_util.utcnow()
        )
        if found is None:
            return Compacted.UP_TO_DATE
        for way in ways(self._house, key):
            if not self.tries.may(key, way.name):
                continue
            try:
                made = await self._made(found, way)
            except SummaryPutOff:
                if self.tries.put_off(key, way.name):
                    return Compacted.PUT_OFF
                continue
            if made is None:
                continue
            if self._commit(made):
                self.tries.made(key, way.name)
                return Compacted.SUMMARIZED
            self.tries.failed(key, way.name, "too_late")
            return Compacted.CHANGED
        return await self._extract(key, resume_tokens)

    async def _made(self, found: Snapshot, way: SummaryWay) -> Checkpoint | None:
        """Return what a way makes of a snapshot, None if it failed; raises SummaryPutOff."""
        try:
            async with asyncio.timeout(WAY_SECONDS):
                made = await summarized(found, way, dt_util.utcnow())
        except SummaryPutOff:
            raise
        except SummaryFailed as err:
            code = err.code
        except TimeoutError:
            code = "timeout"
        else:
            self._judge(found.key, way, None)
            return made
        _LOGGER.debug("No summary by %s: %s", way.name, code)
        self.tries.failed(found.key, way.name, code)
        self._judge(found.key, way, code)
        return None

    async def _extract(self, key: ThreadKey, resume_tokens: int) -> Compacted:
        """Summarise by the built-in way, which needs no model."""
        for _ in range(_AT_ONCE):
            made = await self._house.hass.async_add_executor_job(
                checkpoint, self._house.thread(key), resume_tokens, dt_util.utcnow()
            )
            if made is None:
                return Compacted.UP_TO_DATE
            if self._commit(made):
                self.tries.made(key, made.summary.made_by)
                return Compacted.SUMMARIZED
        return Compacted.CHANGED

    async def _archive(self, key: ThreadKey) -> None:
        """Keep word for word what the summary stands for; what could not be kept is tried again."""
        await async_archive(self._house.storage, key, dt_util.now())

    def _commit(self, made: Checkpoint) -> bool:
        """Put a checkpoint in place of the turns it was made of; False if they are others now."""
        before = self._house.thread(made.snapshot.key)
        after = committed(before, made)
        if after is before:
            return False
        self._house.storage.save_thread(after)
        return True

    def _judge(self, key: ThreadKey, way: SummaryWay, code: str | None) -> None:
        """Tell a person of a chosen AI Task entity that does not work, until it does."""
        assistant = self._house.assistant(key.assistant)
        if assistant is None or way.name != AITaskSummarizer.name:
            return
        hass, subject = self._house.hass, assistant.subentry_id
        if code is None:
            del self._failures[subject]
            async_clear(hass, Issue.AI_TASK_FAILS, subject)
            return
        self._failures[subject] += 1
        gone = code in {MISSING, UNAVAILABLE} and hass.is_running
        if gone or self._failures[subject] >= _FAILURES:
            placeholders = {"assistant": assistant.title}
            async_report(hass, Issue.AI_TASK_FAILS, subject, placeholders=placeholders)
