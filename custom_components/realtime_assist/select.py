"""Who is speaking, on each satellite's device: shown, and to be chosen by hand.

What was chosen is not restored after a restart: by then nobody knows who stands there.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Final, override

from homeassistant.components.assist_satellite import DOMAIN as SATELLITE
from homeassistant.components.select import SelectEntity
from homeassistant.const import EVENT_STATE_CHANGED, Platform
from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
    split_entity_id,
)
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device import async_entity_id_to_device
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.event import async_track_point_in_utc_time

from .actions.speaker import async_check_choice
from .assignment import async_owner
from .assistant import entity_id
from .const import DOMAIN
from .hub import RealtimeAssistConfigEntry
from .memory.scopes import ScopeKey
from .satellites import async_satellite_options, async_satellite_subentries
from .speakers import PERSON, async_speakers, labels
from .who import async_who

PARALLEL_UPDATES = 0

GUEST: Final = "guest"
UNKNOWN: Final = "unknown"

_MOMENT: Final = timedelta(milliseconds=1)
_KEY: Final = "speaker"


async def async_setup_entry(
    hass: HomeAssistant,
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Keep a select on the device of each satellite that this account looks after."""
    _Selects(hass, entry, async_add_entities).start()


class _Selects:
    """The selects of one account: they come and go with the satellites that use it."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: RealtimeAssistConfigEntry,
        add: AddConfigEntryEntitiesCallback,
    ) -> None:
        self._hass = hass
        self._entry = entry
        self._add = add
        self._made: set[str] = set()
        self._soon: asyncio.Handle | None = None

    @callback
    def start(self) -> None:
        """Make those that there should be now, and follow what decides that."""
        self._look()
        self._entry.async_on_unload(self._stop)
        listen = self._hass.bus.async_listen
        # Another account may have settings for a satellite now, and looks after it then.
        self._entry.async_on_unload(async_who(self._hass).subscribe(self._look))
        self._entry.async_on_unload(
            listen(EVENT_STATE_CHANGED, self._state_changed, event_filter=self._state_decides)
        )
        self._entry.async_on_unload(
            listen(
                er.EVENT_ENTITY_REGISTRY_UPDATED,
                self._entity_changed,
                event_filter=self._entity_decides,
            )
        )

    @callback
    def _state_decides(self, data: EventStateChangedData) -> bool:
        """Whether a pipeline was chosen, or a satellite does anything: it may use another one."""
        return split_entity_id(data["entity_id"])[0] in (SATELLITE, Platform.SELECT)

    @callback
    def _entity_decides(self, data: er.EventEntityRegistryUpdatedData) -> bool:
        return split_entity_id(data["entity_id"])[0] in (SATELLITE, Platform.SELECT)

    @callback
    def _state_changed(self, event: Event[EventStateChangedData]) -> None:
        state, before = event.data["new_state"], event.data["old_state"]
        if before is not None and state is not None and before.state == state.state:
            return
        entry = er.async_get(self._hass).async_get(event.data["entity_id"])
        if entry is not None and entry.platform != DOMAIN:
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
    def _stop(self) -> None:
        if self._soon is not None:
            self._soon.cancel()

    @callback
    def _look(self) -> None:
        """Make the selects that are missing, and remove those of satellites that left."""
        self._soon = None
        registry = er.async_get(self._hass)
        held = {
            entry.unique_id: entry
            for entry in er.async_entries_for_config_entry(registry, self._entry.entry_id)
            if entry.domain == Platform.SELECT
        }
        for satellite in list(registry.entities.values()):
            if satellite.domain != SATELLITE or satellite.device_id is None:
                continue
            unique_id = f"{self._entry.entry_id}_{satellite.id}_{_KEY}"
            owner = async_owner(self._hass, satellite)
            if owner is None:
                held.pop(unique_id, None)
            elif owner == self._entry.entry_id:
                held.pop(unique_id, None)
                self._make(satellite, unique_id)
        for unique_id, entry in held.items():
            self._made.discard(unique_id)
            registry.async_remove(entry.entity_id)

    def _make(self, satellite: er.RegistryEntry, unique_id: str) -> None:
        if unique_id in self._made:
            return
        self._made.add(unique_id)
        about = async_satellite_subentries(self._hass, satellite.id)
        subentry_id = next(
            (sub.subentry_id for owner, sub in about if owner == self._entry.entry_id), None
        )
        self._add([SpeakerSelect(self._hass, satellite, unique_id)], config_subentry_id=subentry_id)


class SpeakerSelect(SelectEntity):
    """Who speaks at one satellite."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    _attr_translation_key = _KEY

    def __init__(self, hass: HomeAssistant, satellite: er.RegistryEntry, unique_id: str) -> None:
        """Take a place on the satellite's device."""
        self._satellite = satellite.id
        self._attr_unique_id = unique_id
        self.device_entry = async_entity_id_to_device(hass, satellite.entity_id)
        self._end: CALLBACK_TYPE | None = None

    @property
    @override
    def options(self) -> list[str]:
        """Return who may be chosen."""
        return [*self._people, GUEST, UNKNOWN]

    @property
    @override
    def current_option(self) -> str:
        """Return who counts as speaking now, however that is known."""
        standing = async_who(self.hass).standing(self._satellite)
        if standing.speaker is None:
            return GUEST if standing.guest else UNKNOWN
        return next(
            (name for name, key in self._people.items() if key == standing.speaker.key), UNKNOWN
        )

    @override
    async def async_select_option(self, option: str) -> None:
        """Take it that somebody speaks there now."""
        speaker = self._people.get(option)
        user_id = self._context.user_id if self._context else None
        await async_check_choice(self.hass, user_id, speaker)
        async_who(self.hass).choose(self._satellite, speaker, guest=option == GUEST)

    @override
    async def async_added_to_hass(self) -> None:
        """Follow what proves who speaks."""
        self.async_on_remove(async_who(self.hass).subscribe(self._changed))
        self.async_on_remove(
            self.hass.bus.async_listen(
                EVENT_STATE_CHANGED, self._state_changed, event_filter=self._tells
            )
        )
        self.async_on_remove(self._forget_end)
        self._plan()

    @callback
    def _tells(self, data: EventStateChangedData) -> bool:
        """Whether a state is one of a person, or of the source of this satellite."""
        if data["entity_id"].startswith(f"{PERSON}."):
            return True
        source = async_satellite_options(self.hass, self._satellite).speaker_source
        return source is not None and data["entity_id"] == entity_id(self.hass, source)

    @callback
    def _state_changed(self, _event: Event[EventStateChangedData]) -> None:
        self._changed()

    @callback
    def _changed(self) -> None:
        self._plan()
        self.async_write_ha_state()

    @callback
    def _plan(self) -> None:
        """Show it when it is not known any more."""
        self._forget_end()
        until = async_who(self.hass).standing(self._satellite).until
        if until is not None:
            self._end = async_track_point_in_utc_time(self.hass, self._ended, until + _MOMENT)

    @callback
    def _ended(self, _now: datetime) -> None:
        self._end = None
        self._changed()

    @callback
    def _forget_end(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None

    @property
    def _people(self) -> dict[str, ScopeKey]:
        return labels(async_speakers(self.hass), (GUEST, UNKNOWN))
