"""How the last turn ended, on each satellite's device: for automations, and to see failures."""

from typing import override

from homeassistant.components.event import EventEntity
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .hub import RealtimeAssistConfigEntry
from .pipeline.ended import SIGNAL_TURN_ENDED, Ending, TurnEnded
from .satellite_entities import SatelliteEntity

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Keep an event on the device of each satellite that this account looks after."""
    entry.runtime_data.satellite_entities.offer(TurnEvent, async_add_entities)


class TurnEvent(SatelliteEntity, EventEntity):
    """Fires when a turn at one satellite is over. What was said stays out of it."""

    key = "turn"
    _attr_event_types = [each.value for each in Ending]  # noqa: RUF012 - as the base class has it

    @override
    async def async_added_to_hass(self) -> None:
        """Follow the turns."""
        self.async_on_remove(
            async_dispatcher_connect(self.hass, SIGNAL_TURN_ENDED, self._turn_ended)
        )

    @callback
    def _turn_ended(self, turn: TurnEnded) -> None:
        if turn.satellite != self.satellite:
            return
        attributes: dict[str, float | str] = {"duration": turn.seconds, "tools": turn.tools}
        if turn.failure is not None:
            attributes["error"] = turn.failure
        self._trigger_event(turn.ending.value, attributes)
        self.async_write_ha_state()
