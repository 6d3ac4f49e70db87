"""One per Home Assistant: owns the memory, whatever accounts and assistants there are.

turns that are over ──> House.join ──> threads (MemoryStorage) ──> disk
actions, tools ──> House.changes ──> the same, and facts (ContextStore)
                               └──> every live session that can see them follows
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from .changes import Changes
from .compaction import Compaction
from .const import DOMAIN
from .expiry import Expiry
from .forgetting import Proposals
from .leftovers import Leftovers
from .memory.context import ContextStore
from .memory.problems import StorageProblem, Trouble
from .memory.scopes import ScopeKey
from .memory.storage import MemoryStorage
from .memory.transcript import Thread, ThreadKey, TurnRecord
from .pipeline.context import in_empty_context
from .pipeline.watch import async_watch_satellites
from .recollection import Recollection
from .repairs import Issue, async_report
from .update import MemoryUpdate
from .who import async_who

if TYPE_CHECKING:
    from .hub import Assistant, Hub
    from .projection import Projection

_LOGGER: Final = logging.getLogger(__name__)

_REFRESH_SECONDS: Final = 5.0
"""How long an action waits for a live session; the rest is done at its next boundary."""

DATA_HOUSE: Final[HassKey[House]] = HassKey(DOMAIN)


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
        self.changes: Final = Changes(self)
        self.compaction: Final = Compaction(self)
        self.proposals: Final = Proposals()
        self._open()
        self._unwatch: Callable[[], None] | None = None
        self._archive_day: date | None = None
        self._loading: asyncio.Task[None] | None = None
        self.expiry: Final = Expiry(self)
        self.leftovers: Final = Leftovers(self)

    def _open(self) -> None:
        self.context = ContextStore(dt_util.utcnow)
        self.storage = MemoryStorage(self.hass, self.context, self._storage_problem)
        self.recollection = Recollection(self)

    @callback
    def enter(self, hub: Hub) -> None:
        """Listen for the satellites of an account, and read the facts in the background."""
        self.hubs.add(hub)
        async_who(self.hass).changed()
        if self._unwatch is None:
            self._unwatch = async_watch_satellites(self.hass)
            self.leftovers.start()
            self.expiry.start()
        if self._loading is None:
            self._loading = self.hass.async_create_background_task(
                self._async_load(), f"{DOMAIN} facts"
            )
        # Somebody may have gone while nobody looked, or from the account that is set up anew.
        self.leftovers.look(people=True)

    @callback
    def settings_changed(self) -> None:
        """Take it that satellites or speakers of an account are others now."""
        async_who(self.hass).changed()
        self.leftovers.look(people=True)

    @callback
    def leave(self, hub: Hub) -> None:
        """Let an account go. The memory stays."""
        self.hubs.discard(hub)
        self.compaction.leave(hub)
        if not self.hubs and self._unwatch is not None:
            self._unwatch()
            self.expiry.stop()
            self.leftovers.stop()
            self._unwatch = None

    async def _async_load(self) -> None:
        """Read the facts of all scopes; some may have ended while the house was off."""
        await self.storage.async_load()
        self.context.expire()
        self.expiry.look()

    @callback
    def expire(self) -> None:
        """Let go of what is over; sessions are told so before their next answer."""
        for projection in self.projections():
            projection.lapse()
        self.context.expire()
        today = dt_util.now()
        if self._archive_day != today.date():
            self._archive_day = today.date()
            self.hass.async_create_background_task(
                self.storage.archive.async_expire(today), f"{DOMAIN} archive"
            )

    async def async_loaded(self) -> None:
        """Wait until the facts of all scopes are read."""
        if self._loading is not None:
            await asyncio.shield(self._loading)

    async def async_remove(self) -> None:
        """Remove everything that is remembered: the last account is gone."""
        if self._loading is not None:
            self._loading.cancel()
            self._loading = None
        self.leftovers.forget_reports()
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

    async def async_thread_keys(self, scopes: Collection[ScopeKey]) -> list[ThreadKey]:
        """Return the threads of these scopes, sorted: those that are, and those that may become."""
        keys = {key for key in await self.storage.async_thread_keys() if key.scope in scopes}
        keys |= {
            ThreadKey(assistant=assistant, scope=scope)
            for hub in self.hubs
            for assistant in hub.assistants
            for scope in scopes
            if scope.durable
        }
        return sorted(keys, key=str)

    @callback
    def join(self, key: ThreadKey, record: TurnRecord, resume_tokens: int) -> None:
        """Let a turn that is over join its thread; other sessions of that thread learn of it.

        One that holds what was forgotten while it was open joins nothing, and is withdrawn.
        """
        withdrawn = self.changes.forgotten_meanwhile(record)
        if not withdrawn:
            self.storage.save_thread(self.thread(key).joined(record))
        for projection in self.projections():
            if projection.key == key:
                if withdrawn:
                    projection.forgotten((record.id,))
                projection.session.changed()
        if not withdrawn:
            # In an empty context: what other integrations do for it is no part of the turn.
            in_empty_context(
                self.hass.async_create_background_task,
                self.compaction.async_compact(key, resume_tokens),
                f"{DOMAIN} summary",
            )

    # Sessions

    def assistant(self, subentry_id: str) -> Assistant | None:
        """Return an assistant of any account; None if there is none of this id now."""
        found = (hub.assistants.get(subentry_id) for hub in self.hubs)
        return next((each for each in found if each is not None), None)

    def projections(self) -> Iterator[Projection]:
        """Return the sessions of all accounts, open or not."""
        for hub in self.hubs:
            yield from hub.projections()

    def seeing(self, scopes: Collection[ScopeKey]) -> list[Projection]:
        """Return the sessions that can see any of these scopes; of none: all sessions."""
        return [
            projection
            for projection in self.projections()
            if not scopes or not set(scopes).isdisjoint(projection.visible)
        ]

    @callback
    def follow(self, scopes: Collection[ScopeKey]) -> None:
        """Let the sessions that can see these scopes follow at their next boundary."""
        for projection in self.seeing(scopes):
            projection.session.changed()

    async def async_update(self, update: MemoryUpdate) -> dict[str, Any]:
        """Change entries or a summary, and bring every live session that sees them up to date.

        Returns the response of the action; raises as `Changes.async_apply` does.
        """
        changed = await self.changes.async_apply(update)
        return {
            "sessions": await self.async_refresh(self.seeing(update.scopes), full=update.full),
            "entries": {"set": changed.set, "forgotten": changed.forgotten},
        }

    async def async_reset(self, scopes: Collection[ScopeKey]) -> list[dict[str, Any]]:
        """End the conversations that can see these scopes; each goes on in a new session."""
        reset = self.seeing(scopes)
        for projection in reset:
            projection.end_conversation()
        return await self.async_refresh(reset, full=True)

    async def async_refresh(
        self, projections: Iterable[Projection], *, full: bool
    ) -> list[dict[str, Any]]:
        """Bring sessions up to date, together, and say of each how it went."""
        return await asyncio.gather(*(_async_refresh(each, full=full) for each in projections))

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


async def _async_refresh(projection: Projection, *, full: bool) -> dict[str, Any]:
    """Bring one session up to date and say how it went."""
    result = await projection.session.refresh(full=full, seconds=_REFRESH_SECONDS)
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
