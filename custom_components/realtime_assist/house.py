"""One per Home Assistant: owns the memory, whatever accounts and assistants there are.

actions ──> House.async_update ──> facts (ContextStore), threads (MemoryStorage) ──> disk
                              └──> every live session that can see them follows
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import HomeAssistant, callback
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
        if self._loading is None:
            self._loading = self.hass.async_create_background_task(
                self.storage.async_load(), f"{DOMAIN} facts"
            )

    @callback
    def leave(self, hub: Hub) -> None:
        """Let an account go. The memory stays."""
        self.hubs.discard(hub)
        if not self.hubs and self._unwatch is not None:
            self._unwatch()
            self._unwatch = None

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
        forgotten = self._forget(update)
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

    def _forget(self, update: MemoryUpdate) -> int:
        """Forget entries; return how many there were."""
        if not update.forget:
            return 0
        return sum(len(self.context.forget(scope, update.forget)) for scope in update.scopes)

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
        if update.forget or update.summary is not None:
            projection.forgotten(entries=bool(update.forget), history=update.summary is not None)
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
