"""What the entities of one assistant have in common."""

from typing import override

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import callback
from homeassistant.generated.languages import LANGUAGES
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.entity import Entity

from .const import DOMAIN
from .hub import Assistant, RealtimeAssistConfigEntry

SPOKEN_LANGUAGES: tuple[str, ...] = tuple(sorted(LANGUAGES))
"""The models speak all languages that Home Assistant's interface speaks."""


class RealtimeAssistEntity(Entity):
    """An entity of an assistant; all of them share one service device."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, entry: RealtimeAssistConfigEntry, subentry: ConfigSubentry) -> None:
        """Take a place on the assistant's device."""
        self.assistant: Assistant = entry.runtime_data.assistants[subentry.subentry_id]
        self._attr_unique_id = subentry.subentry_id
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, subentry.subentry_id)},
            name=subentry.title,
            model=self.assistant.options.model,
            entry_type=DeviceEntryType.SERVICE,
        )

    @callback
    @override
    def async_entity_id_changed(self, *_args: object) -> None:
        """Keep running under the new name: a rename must not end a conversation."""
