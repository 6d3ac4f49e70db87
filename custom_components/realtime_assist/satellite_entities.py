"""Entities of ours on the devices of satellites: they come and go with who looks after them.

    pipeline chosen, satellite renamed or removed, settings changed ──> look ──> make or remove

Only one account has them at a time (`assignment.py`), and they make no device of their own.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components.assist_satellite import DOMAIN as SATELLITE
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_STATE_CHANGED, Platform
from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
    split_entity_id,
)
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device import async_entity_id_to_device
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .assignment import async_owner
from .const import DOMAIN
from .satellites import async_satellite_subentries
from .who import async_who

if TYPE_CHECKING:
    from .hub import RealtimeAssistConfigEntry


class SatelliteEntity(Entity):
    """An entity about one satellite, on the satellite's own device."""

    key: str
    """Its translation key; what kind of entity it is."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, entry: RealtimeAssistConfigEntry, satellite: er.RegistryEntry) -> None:
        """Take a place on the satellite's device."""
        self.entry = entry
        self.satellite: Final = satellite.id
        """Registry id: it survives a rename."""
        self._attr_translation_key = self.key
        self._attr_unique_id = _unique_id(entry, satellite, self.key)
        self.device_entry = async_entity_id_to_device(entry.runtime_data.hass, satellite.entity_id)


class SatelliteEntities:
    """The entities that one account adds to the devices of satellites."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry[Any]) -> None:
        """Make nothing before `start`."""
        self._hass = hass
        self._entry = entry
        self._kinds: dict[type[SatelliteEntity], AddConfigEntryEntitiesCallback] = {}
        self._made: set[str] = set()
        self._soon: asyncio.Handle | None = None

    @callback
    def offer(self, kind: type[SatelliteEntity], add: AddConfigEntryEntitiesCallback) -> None:
        """Have one entity of a kind on the device of each satellite; called by its platform."""
        self._kinds[kind] = add

    @callback
    def start(self) -> None:
        """Make those that there should be now, and follow what decides that."""
        self._look()
        self._entry.async_on_unload(self._stop)
        listen = self._hass.bus.async_listen
        # Another account may have settings for a satellite now, and looks after it then.
        self._entry.async_on_unload(async_who(self._hass).subscribe(self._look))
        self._entry.async_on_unload(
            listen(EVENT_STATE_CHANGED, self._state_changed, event_filter=self._decides)
        )
        self._entry.async_on_unload(
            listen(
                er.EVENT_ENTITY_REGISTRY_UPDATED,
                self._entity_changed,
                event_filter=self._decides,
            )
        )

    @callback
    def _decides(self, data: EventStateChangedData | er.EventEntityRegistryUpdatedData) -> bool:
        """Whether a pipeline was chosen, or a satellite does anything: it may use another one."""
        return split_entity_id(data["entity_id"])[0] in (SATELLITE, Platform.SELECT)

    @callback
    def _state_changed(self, event: Event[EventStateChangedData]) -> None:
        state, before = event.data["new_state"], event.data["old_state"]
        if before is not None and state is not None and before.state == state.state:
            return
        entry = er.async_get(self._hass).async_get(event.data["entity_id"])
        if entry is None or entry.platform == DOMAIN:
            return
        if entry.domain == SATELLITE and before is not None:
            # It only does something: nothing is decided by that for the others.
            self._see(entry)
        else:
            self._look_soon()

    @callback
    def _entity_changed(self, event: Event[er.EventEntityRegistryUpdatedData]) -> None:
        entry = er.async_get(self._hass).async_get(event.data["entity_id"])
        if entry is None or entry.platform != DOMAIN:
            self._look_soon()

    @callback
    def _look_soon(self) -> None:
        """Look once everybody has heard of a change: entities that it is about are first."""
        if self._soon is None:
            self._soon = self._hass.loop.call_soon(self._look)

    @callback
    def _see(self, satellite: er.RegistryEntry) -> None:
        """Look whether one satellite is looked after by another account now, or by nobody."""
        if satellite.device_id is None:
            return
        owner = async_owner(self._hass, satellite)
        made = self._unique_ids(satellite) <= self._made
        if owner is not None and (owner == self._entry.entry_id) is not made:
            self._look_soon()

    @callback
    def _stop(self) -> None:
        if self._soon is not None:
            self._soon.cancel()

    @callback
    def _look(self) -> None:
        """Make what is missing, and remove what belongs to satellites that left."""
        self._soon = None
        registry = er.async_get(self._hass)
        left = {
            entry.unique_id: entry
            for entry in er.async_entries_for_config_entry(registry, self._entry.entry_id)
            if entry.unique_id.startswith(f"{self._entry.entry_id}_")
        }
        for satellite in list(registry.entities.values()):
            if satellite.domain != SATELLITE or satellite.device_id is None:
                continue
            owner = async_owner(self._hass, satellite)
            if owner is None or owner == self._entry.entry_id:
                for unique_id in self._unique_ids(satellite):
                    left.pop(unique_id, None)
            if owner == self._entry.entry_id:
                self._make(satellite)
        for unique_id, entry in left.items():
            self._made.discard(unique_id)
            registry.async_remove(entry.entity_id)

    def _make(self, satellite: er.RegistryEntry) -> None:
        about = async_satellite_subentries(self._hass, satellite.id)
        subentry_id = next(
            (sub.subentry_id for owner, sub in about if owner == self._entry.entry_id), None
        )
        for kind, add in self._kinds.items():
            unique_id = _unique_id(self._entry, satellite, kind.key)
            if unique_id not in self._made:
                self._made.add(unique_id)
                add([kind(self._entry, satellite)], config_subentry_id=subentry_id)

    def _unique_ids(self, satellite: er.RegistryEntry) -> set[str]:
        return {_unique_id(self._entry, satellite, kind.key) for kind in self._kinds}


@callback
def _unique_id(entry: ConfigEntry[Any], satellite: er.RegistryEntry, key: str) -> str:
    return f"{entry.entry_id}_{satellite.id}_{key}"
