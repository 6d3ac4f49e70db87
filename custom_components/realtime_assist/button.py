"""Begin anew, on each satellite's device: the next words open another conversation."""

from typing import override

from homeassistant.components.button import ButtonEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .assistant import entity_id
from .hub import RealtimeAssistConfigEntry
from .memory.scopes import Scope, ScopeKey
from .pipeline.origin import resolve
from .satellite_entities import SatelliteEntity

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Keep a button on the device of each satellite that this account looks after."""
    entry.runtime_data.satellite_entities.offer(NewConversationButton, async_add_entities)


class NewConversationButton(SatelliteEntity, ButtonEntity):
    """Ends the conversation at one satellite; its history and the facts stay."""

    key = "new_conversation"

    @override
    async def async_press(self) -> None:
        """End the conversation, as the action `reset_session` does."""
        place = resolve(self.hass, entity_id(self.hass, self.satellite), None).device_key
        if place is not None:
            await self.entry.runtime_data.house.async_reset([ScopeKey(Scope.DEVICE, place)])
