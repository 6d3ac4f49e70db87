"""Memory whose satellite, room or person is gone: nobody sees it, so somebody should decide.

What is renamed, moved or put into another room keeps its ids, and so its memory.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components.assist_satellite import DOMAIN as SATELLITE
from homeassistant.core import Event, callback, split_entity_id
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from .const import DOMAIN, SUBENTRY_SPEAKER
from .items import Audience
from .leftover_flow import DATA_LEFTOVERS
from .memory.archiving import async_join_archives, async_whole_thread
from .memory.moving import audiences, given, merged, turn_given, without
from .memory.scopes import Scope, ScopeKey
from .memory.transcript import Thread, ThreadKey
from .repairs import Issue, async_clear, async_clear_all, async_report, async_reported
from .speakers import PERSON, async_speakers

if TYPE_CHECKING:
    from .house import House

_BOUND: Final = (Scope.DEVICE, Scope.AREA, Scope.SPEAKER)
_TELLING: Final = ("create", "remove")


class Leftovers:
    """Finds memory that was left behind, and moves or deletes it."""

    def __init__(self, house: House) -> None:
        """Work for a house."""
        self._house: Final = house
        self._hass: Final = house.hass
        self._hass.data[DATA_LEFTOVERS] = self
        self._names: dict[ScopeKey, str] = {}
        self._lock: Final = asyncio.Lock()
        self._unsubscribe: list[Callable[[], None]] = []

    @callback
    def start(self) -> None:
        """Follow what comes and goes."""
        listen = self._hass.bus.async_listen
        self._unsubscribe = [
            listen(dr.EVENT_DEVICE_REGISTRY_UPDATED, self._device_changed),
            listen(ar.EVENT_AREA_REGISTRY_UPDATED, self._area_changed),
            listen(er.EVENT_ENTITY_REGISTRY_UPDATED, self._entity_changed),
        ]

    @callback
    def stop(self) -> None:
        """Follow nothing any more."""
        while self._unsubscribe:
            self._unsubscribe.pop()()

    @callback
    def look(self, *, people: bool = False) -> None:
        """Look in the background; `people`: also at what only somebody who is gone may see."""
        self._hass.async_create_background_task(
            self.async_look(people=people), f"{DOMAIN} leftovers"
        )

    async def async_look(self, *, people: bool = False) -> None:
        """Show a repair for each that left memory behind, and take back what is settled."""
        async with self._lock:
            await self._house.async_loaded()
            held = {scope for scope in self._house.context.scopes() if scope.scope in _BOUND}
            gone = {scope for scope in held if not self.exists(scope)}
            told: set[Audience] = set()
            for key in await self._house.storage.async_thread_keys():
                if key.scope.scope in _BOUND and not self.exists(key.scope):
                    gone |= {key.scope} if await self._async_told(key) else set()
                if people:
                    thread = await self._house.storage.async_glance_at_thread(key)
                    told.update(audiences(thread))
                    self._learn_speakers(thread)
            if people:
                told |= await self._house.storage.archive.async_audiences()
            gone |= {who for who in _people(told) if not self.exists(who)}
            for scope in gone:
                self._report(scope)
            for data in async_reported(self._hass, Issue.MEMORY_LEFT_BEHIND):
                scope = ScopeKey.parse(str(data["scope"]))
                if self.exists(scope):
                    async_clear(self._hass, Issue.MEMORY_LEFT_BEHIND, str(scope))
            self._learn_names()

    @callback
    def forget_reports(self) -> None:
        """Take all repairs back: the memory is gone."""
        async_clear_all(self._hass, Issue.MEMORY_LEFT_BEHIND)

    @callback
    def exists(self, scope: ScopeKey) -> bool:
        """Whether there still is what a memory belongs to. What has no registry never is gone."""
        entity = er.async_get(self._hass).async_get(scope.id)
        match scope.scope:
            case Scope.DEVICE:
                known = entity is not None or dr.async_get(self._hass).async_get(scope.id)
                return bool(known) or "." in scope.id
            case Scope.AREA:
                return ar.async_get(self._hass).async_get_area(scope.id) is not None
            case Scope.SPEAKER:
                return entity is not None or "." in scope.id or self._is_speaker(scope.id)
            case _:
                return True

    async def async_delete(self, scope: ScopeKey) -> None:
        """Delete what belongs to one that is gone. Raises ScopeRefused where nothing may be."""
        async with self._lock:
            await self._async_delete(scope)

    async def async_move(self, scope: ScopeKey, target: ScopeKey) -> None:
        """Give what belongs to one that is gone to another. Of two equal keys the newer stays.

        Raises ScopeRefused where nothing may be written; nothing is deleted then.
        """
        async with self._lock:
            storage, context = self._house.storage, self._house.context
            await storage.async_load_scopes((scope, target))
            there = {entry.key: entry for entry in context.visible((target,))}
            for entry in context.visible((scope,)):
                other = there.get(entry.key)
                if other is None or other.updated < entry.updated:
                    context.restore(replace(entry, scope=target))
            for key in await storage.async_thread_keys():
                thread = await storage.async_load_thread(key)
                if key.scope == scope and _told(thread):
                    other_key = ThreadKey(key.assistant, target)
                    other_thread = await storage.async_load_thread(other_key)
                    await async_join_archives(storage, key, other_key)
                    thread = merged(thread, other_thread, other_key)
                if scope.scope is Scope.SPEAKER:
                    thread = given(thread, scope, target)
                if thread is not storage.thread(key):
                    storage.save_thread(thread)
                    self._restart(thread.key)
            if scope.scope is Scope.SPEAKER:
                give = partial(turn_given, before=scope, after=target)
                await storage.archive.async_revise(lambda _: give)
            # On the disk in its new place, before it is gone from the old one.
            await storage.async_flush()
            await self._async_delete(scope)
            self._house.follow((target,))

    async def _async_delete(self, scope: ScopeKey) -> None:
        storage = self._house.storage
        await storage.async_load_scopes((scope,))
        self._house.context.clear(scope)
        await storage.async_remove_copies(scope)
        for key in await storage.async_thread_keys():
            if key.scope == scope:
                await storage.async_remove_thread(key)
                self._restart(key)
            elif scope.scope is Scope.SPEAKER:
                thread = await storage.async_load_thread(key)
                left = without(thread, scope)
                if left is not thread:
                    storage.save_thread(left)
                    await storage.async_remove_copies(key)
                    self._restart(key)
        if scope.scope is Scope.SPEAKER:
            gone = str(scope)
            await storage.archive.async_revise(
                lambda _: lambda turn: None if gone in turn.audience else turn
            )
        await storage.async_flush()
        async_clear(self._hass, Issue.MEMORY_LEFT_BEHIND, str(scope))

    def _restart(self, key: ThreadKey) -> None:
        """Let the sessions of a thread that became another one begin anew."""
        for projection in self._house.projections():
            if projection.key == key:
                projection.session.restart()

    async def _async_told(self, key: ThreadKey) -> bool:
        return _told(await async_whole_thread(self._house.storage, key))

    def _report(self, scope: ScopeKey) -> None:
        name = self._names.get(scope, scope.id)
        known = {data["scope"] for data in async_reported(self._hass, Issue.MEMORY_LEFT_BEHIND)}
        if str(scope) not in known:
            async_report(
                self._hass,
                Issue.MEMORY_LEFT_BEHIND,
                str(scope),
                placeholders={"name": name},
                data={"scope": str(scope), "name": name},
            )

    def _is_speaker(self, subentry_id: str) -> bool:
        return any(
            subentry.subentry_id == subentry_id
            for entry in self._hass.config_entries.async_entries(DOMAIN)
            for subentry in entry.get_subentries_of_type(SUBENTRY_SPEAKER)
        )

    def _learn_names(self) -> None:
        """Keep what is called how: who is gone cannot be asked."""
        areas = ar.async_get(self._hass).async_list_areas()
        self._names |= {ScopeKey(Scope.AREA, area.id): area.name for area in areas}
        self._names |= {who.key: who.name for who in async_speakers(self._hass)}

    def _learn_speakers(self, thread: Thread) -> None:
        """Keep who was called how when they spoke: after a restart only this still tells it."""
        for turn in (*thread.leaving, *thread.turns):
            people = tuple(_people((turn.audience,)))
            if turn.speaker and len(people) == 1:
                self._names.setdefault(people[0], turn.speaker)

    @callback
    def _device_changed(self, event: Event[dr.EventDeviceRegistryUpdatedData]) -> None:
        if event.data["action"] not in _TELLING:
            return
        device: dict[str, Any] = event.data.get("device") or {}  # type: ignore[assignment]  # of `remove` alone
        if name := device.get("name_by_user") or device.get("name"):
            self._names[ScopeKey(Scope.DEVICE, event.data["device_id"])] = str(name)
        self.look()

    @callback
    def _area_changed(self, _event: Event[ar.EventAreaRegistryUpdatedData]) -> None:
        self.look()

    @callback
    def _entity_changed(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        domain = split_entity_id(event.data["entity_id"])[0]
        if event.data["action"] in _TELLING and domain in (PERSON, SATELLITE):
            self.look(people=domain == PERSON)


def _told(thread: Thread) -> bool:
    """Whether a thread tells anything."""
    return bool(thread.turns or thread.leaving or thread.summary)


def _people(told: Iterable[Audience]) -> Iterable[ScopeKey]:
    keys = {key for audience in told for key in audience}
    return (key for text in keys if (key := ScopeKey.parse(text)).scope is Scope.SPEAKER)
