"""One per Home Assistant: owns the memory, whatever accounts and assistants there are.

actions ──> House.async_update ──> facts (ContextStore), threads (MemoryStorage) ──> disk
                              └──> every live session that can see them follows
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.event import async_track_time_interval
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from .const import DOMAIN
from .memory.compression import checkpoint, committed
from .memory.context import ContextStore
from .memory.entries import NotJson, Retention
from .memory.problems import StorageProblem, Trouble
from .memory.scopes import ScopeKey
from .memory.storage import MemoryStorage
from .memory.transcript import LineKind, Summary, SummaryLine, Thread, ThreadKey, TurnRecord
from .memory.writing import EntryOptions
from .pipeline.watch import async_watch_satellites
from .repairs import Issue, async_report

if TYPE_CHECKING:
    from .hub import Hub
    from .projection import Projection

_LOGGER: Final = logging.getLogger(__name__)

_REFRESH_SECONDS: Final = 5.0
"""How long an action waits for a live session; the rest is done at its next boundary."""

_EXPIRE_EVERY: Final = timedelta(minutes=1)

DATA_HOUSE: Final[HassKey[House]] = HassKey(DOMAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUpdate:
    """What `memory.update` was asked for."""

    scopes: tuple[ScopeKey, ...] = ()
    """Whose memory it is about; none: no change, every live session is brought up to date."""
    entries: Mapping[str, Any] = field(default_factory=dict)
    """Key -> value, or key -> a mapping of `value` and options (see `_OPTION_TYPES`)."""
    forget: tuple[str, ...] = ()
    summary: str | None = None
    full: bool = False
    """Open new sessions instead of changing the open ones."""


@callback
def async_get_house(hass: HomeAssistant) -> House:
    """Return the house; the first call opens its memory."""
    if DATA_HOUSE not in hass.data:
        hass.data[DATA_HOUSE] = House(hass)
    return hass.data[DATA_HOUSE]


class House:
    """The memory of one home, and the accounts that share it."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Open the memory; nothing is read before an account is set up."""
        self.hass = hass
        self.hubs: set[Hub] = set()
        self._open()
        self._unwatch: Callable[[], None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._stop_expiring: Callable[[], None] | None = None
        self._compacting: set[ThreadKey] = set()

    def _open(self) -> None:
        self.context = ContextStore(dt_util.utcnow)
        self.storage = MemoryStorage(self.hass, self.context, self._storage_problem)

    @callback
    def enter(self, hub: Hub) -> None:
        """Listen for the satellites of an account, and read the facts in the background."""
        self.hubs.add(hub)
        if self._unwatch is None:
            self._unwatch = async_watch_satellites(self.hass)
            self._stop_expiring = async_track_time_interval(
                self.hass, self._expire, _EXPIRE_EVERY, name=f"{DOMAIN} expiry"
            )
        if self._loading is None:
            self._loading = self.hass.async_create_background_task(
                self.storage.async_load(), f"{DOMAIN} facts"
            )

    @callback
    def leave(self, hub: Hub) -> None:
        """Let an account go. The memory stays."""
        self.hubs.discard(hub)
        if not self.hubs and self._unwatch is not None and self._stop_expiring is not None:
            self._unwatch()
            self._stop_expiring()
            self._unwatch = self._stop_expiring = None

    @callback
    def _expire(self, _now: datetime) -> None:
        """Let go of what is over; sessions that were told of it are told anew."""
        self.context.expire()

    async def async_remove(self) -> None:
        """Remove everything that is remembered: the last account is gone."""
        if self._loading is not None:
            self._loading.cancel()
            self._loading = None
        await self.storage.async_remove_all()
        self._open()

    # Threads

    async def async_ready(self, key: ThreadKey, visible: tuple[ScopeKey, ...]) -> None:
        """Load what the first turn of a thread needs; at once if it is loaded."""
        await self.storage.async_load_scopes(visible)
        await self.storage.async_load_thread(key)

    def thread(self, key: ThreadKey) -> Thread:
        """Return a thread as it is now; empty if it was not loaded."""
        return self.storage.thread(key) or Thread(key=key)

    @callback
    def join(self, key: ThreadKey, record: TurnRecord, resume_tokens: int) -> None:
        """Let a turn that is over join its thread; other sessions of that thread learn of it."""
        self.storage.save_thread(self.thread(key).joined(record))
        for projection in self._projections():
            if projection.key == key:
                projection.session.changed()
        self._compact(key, resume_tokens)

    @callback
    def _compact(self, key: ThreadKey, resume_tokens: int) -> None:
        """Summarise what a resumed session has no room for; one run per thread at a time."""
        if key in self._compacting:
            return
        self._compacting.add(key)
        self.hass.async_create_background_task(
            self._async_compact(key, resume_tokens), f"{DOMAIN} summary"
        )

    async def _async_compact(self, key: ThreadKey, resume_tokens: int) -> None:
        try:
            made = await self.hass.async_add_executor_job(
                checkpoint, self.thread(key), resume_tokens, dt_util.utcnow()
            )
            if made is not None:
                self.storage.save_thread(committed(self.thread(key), made))
        finally:
            self._compacting.discard(key)

    # Updates

    async def async_update(self, update: MemoryUpdate) -> dict[str, Any]:
        """Change entries or a summary, and bring every live session that sees them up to date.

        Returns the response of the action. Raises NotJson or ValueError for an entry that cannot be
        kept, ScopeRefused where nothing may be written; nothing was changed then.
        """
        await self.storage.async_load_scopes(update.scopes)
        written = self._write(update)
        forgotten = await self._async_forget(update)
        if update.summary is not None:
            await self._async_set_summary(update.scopes, update.summary)
        sessions = await asyncio.gather(
            *(
                self._async_refresh(projection, update)
                for projection in list(self._projections())
                if not update.scopes or not set(update.scopes).isdisjoint(projection.visible)
            )
        )
        return {
            "sessions": list(sessions),
            "entries": {"set": written, "forgotten": forgotten},
        }

    def _projections(self) -> Iterator[Projection]:
        for hub in self.hubs:
            yield from hub.projections()

    def _write(self, update: MemoryUpdate) -> int:
        """Write the entries, all or none; return how many there are now."""
        asked = [
            (scope, key, *_value_and_options(value))
            for scope in update.scopes
            for key, value in update.entries.items()
        ]
        for scope, key, value, options in asked:
            self.context.check(scope, key, value, **options)
        for scope, key, value, options in asked:
            self.context.set(scope, key, value, **options)
        return len(asked)

    async def _async_forget(self, update: MemoryUpdate) -> int:
        """Forget entries, and what was said in their words; return how many entries there were.

        It is on the disk on return, as far as the disk takes it.
        """
        if not update.forget:
            return 0
        words: set[str] = set()
        forgotten = 0
        for scope in update.scopes:
            gone = [e for e in self.context.visible((scope,)) if e.key in update.forget]
            words.update(*(entry.words for entry in gone))
            forgotten += len(self.context.forget(scope, update.forget))
            await self.storage.async_remove_copies(scope)
        turns = await self.storage.async_forget_words(words)
        await self.storage.async_flush()
        for projection in self._projections():
            projection.forgotten(turns.get(projection.key))
        return forgotten

    async def _async_set_summary(self, scopes: tuple[ScopeKey, ...], text: str) -> None:
        """Replace what the threads of these scopes say of earlier turns, for every assistant."""
        keys = {key for key in await self.storage.async_thread_keys() if key.scope in scopes}
        keys |= {
            ThreadKey(assistant=assistant, scope=scope)
            for hub in self.hubs
            for assistant in hub.assistants
            for scope in scopes
        }
        for key in sorted(keys, key=str):
            thread = await self.storage.async_load_thread(key)
            line = SummaryLine(kind=LineKind.GIST, text=text, at=dt_util.now())
            upto = thread.summary.upto if thread.summary else 0
            summary = Summary(lines=(line,), upto=upto, made_by="action", at=dt_util.utcnow())
            # Another revision: a summary that is being made now is unfit, and sessions retell this.
            self.storage.save_thread(replace(thread, summary=summary, revision=thread.revision + 1))

    async def _async_refresh(self, projection: Projection, update: MemoryUpdate) -> dict[str, Any]:
        """Bring one session up to date and say how it went."""
        result = await projection.session.refresh(full=update.full, seconds=_REFRESH_SECONDS)
        return {
            "satellite": projection.origin.satellite_entity_id,
            "device_id": projection.origin.device_id,
            "state": result.state.value,
            "created": result.created,
            "deleted": result.deleted,
            "superseded": result.superseded,
            "failed": result.failed,
            "rebuilt": result.rebuilt,
            "took_ms": result.took_ms,
        }

    @callback
    def _storage_problem(self, problem: StorageProblem) -> None:
        """Tell a person of a file; the log says each once, without content."""
        _LOGGER.warning("Memory file %s/%s: %s", problem.kind, problem.name, problem.trouble)
        if problem.trouble is Trouble.NEWER:
            async_report(
                self.hass, Issue.STORAGE_NEWER, problem.name, placeholders={"file": problem.name}
            )
        elif problem.trouble is not Trouble.NOT_WRITTEN:
            async_report(
                self.hass, Issue.STORAGE_CORRUPT, problem.name, placeholders={"file": problem.name}
            )


_OPTION_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "retention": str,
    "expires_in": (int, float),
    "max_turns": int,
    "tags": list,
    "priority": int,
    "metadata": dict,
    "pinned": bool,
}


def _value_and_options(given: object) -> tuple[object, EntryOptions]:
    """Return what an action gave for a key: a value, or a mapping of a value and its options.

    A mapping counts as options only if it has `value` and nothing that is none. Raises NotJson for
    an option of a wrong type.
    """
    if (
        not isinstance(given, Mapping)
        or "value" not in given
        or given.keys() - _OPTION_TYPES.keys() - {"value"}
    ):
        return given, {}
    options: dict[str, Any] = {name: value for name, value in given.items() if name != "value"}
    for name, value in options.items():
        if not isinstance(value, _OPTION_TYPES[name]):
            raise NotJson(name, type(value).__name__)
    if "retention" in options:
        options["retention"] = Retention(options["retention"])
    return given["value"], EntryOptions(**options)  # type: ignore[typeddict-item]  # checked above by name
