"""Whether what is said at a satellite is remembered, on the satellite's device.

It is the same setting as in the satellite's form: for guests, or for an automation that knows when.
"""

from types import MappingProxyType
from typing import Any, override

from homeassistant.components.switch import SwitchEntity
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .assistant import entity_id
from .const import CONF_REMEMBER, CONF_SATELLITE, SUBENTRY_SATELLITE
from .hub import RealtimeAssistConfigEntry
from .satellite_entities import SatelliteEntity
from .satellites import SatelliteOptions, async_satellite_options, async_satellite_subentries
from .who import async_who

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Keep a switch on the device of each satellite that this account looks after."""
    entry.runtime_data.satellite_entities.offer(RememberSwitch, async_add_entities)


class RememberSwitch(SatelliteEntity, SwitchEntity):
    """Whether what is said at one satellite is remembered."""

    key = "remember"
    _attr_entity_category = EntityCategory.CONFIG

    @property
    @override
    def is_on(self) -> bool:
        """Return whether turns there are written down."""
        return async_satellite_options(self.hass, self.satellite).remember

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Remember from the next turn on; whatever settings said otherwise."""
        for entry_id, subentry in list(async_satellite_subentries(self.hass, self.satellite)):
            if not SatelliteOptions.from_subentry(subentry.data).remember:
                self._update(entry_id, subentry, remember=True)

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Write down nothing of what is said from the next turn on."""
        found = next(async_satellite_subentries(self.hass, self.satellite), None)
        if found is not None:
            self._update(*found, remember=False)
            return
        state = self.hass.states.get(entity_id(self.hass, self.satellite) or "")
        self.hass.config_entries.async_add_subentry(
            self.entry,
            ConfigSubentry(
                data=MappingProxyType({CONF_SATELLITE: self.satellite, CONF_REMEMBER: False}),
                subentry_type=SUBENTRY_SATELLITE,
                title=state.name if state else self.satellite,
                unique_id=self.satellite,
            ),
        )

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the settings."""
        self.async_on_remove(async_who(self.hass).subscribe(self.async_write_ha_state))

    def _update(self, entry_id: str, subentry: ConfigSubentry, *, remember: bool) -> None:
        entry = self.hass.config_entries.async_get_known_entry(entry_id)
        self.hass.config_entries.async_update_subentry(
            entry, subentry, data={**subentry.data, CONF_REMEMBER: remember}
        )
