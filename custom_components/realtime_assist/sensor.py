"""What an assistant uses: tokens and money in all, tokens in its conversation, and before it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, override

from homeassistant.components.sensor import (
    RestoreSensor,
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import usage_shown as shown
from .const import SUBENTRY_ASSISTANT
from .entity import RealtimeAssistEntity
from .hub import Assistant, RealtimeAssistConfigEntry

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class UsageSensorDescription(SensorEntityDescription):
    """One number of an assistant."""

    value: Callable[[Assistant], float | None]
    attributes: Callable[[Assistant], Mapping[str, Any]] = shown.no_attributes


SENSORS = (
    UsageSensorDescription(
        key="context_tokens",
        state_class=SensorStateClass.MEASUREMENT,
        entity_registry_enabled_default=False,
        value=shown.context_tokens,
        attributes=shown.context_attributes,
    ),
    UsageSensorDescription(
        key="prefix_tokens",
        state_class=SensorStateClass.MEASUREMENT,
        value=shown.prefix_tokens,
        attributes=shown.prefix_attributes,
    ),
)
TOKENS_USED = UsageSensorDescription(
    key="tokens_used",
    state_class=SensorStateClass.TOTAL_INCREASING,
    value=shown.tokens_used,
    attributes=shown.used_attributes,
)
COST = UsageSensorDescription(
    key="cost",
    device_class=SensorDeviceClass.MONETARY,
    state_class=SensorStateClass.TOTAL,
    native_unit_of_measurement="USD",
    suggested_display_precision=2,
    value=shown.cost,
    attributes=shown.cost_attributes,
)


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Make the sensors of each assistant; the cost only where prices are known."""
    for subentry in entry.get_subentries_of_type(SUBENTRY_ASSISTANT):
        entities: list[UsageSensor] = [UsageSensor(entry, subentry, each) for each in SENSORS]
        entities.append(TotalSensor(entry, subentry, TOKENS_USED))
        if entry.runtime_data.assistants[subentry.subentry_id].facts.prices is not None:
            entities.append(TotalSensor(entry, subentry, COST))
        async_add_entities(entities, config_subentry_id=subentry.subentry_id)


class UsageSensor(RealtimeAssistEntity, SensorEntity):
    """A number as it is now."""

    entity_description: UsageSensorDescription
    _attr_entity_category = EntityCategory.DIAGNOSTIC
    _unrecorded_attributes = shown.UNRECORDED

    def __init__(
        self,
        entry: RealtimeAssistConfigEntry,
        subentry: ConfigSubentry,
        description: UsageSensorDescription,
    ) -> None:
        """Take a place beside the other sensors of the assistant."""
        super().__init__(entry, subentry)
        self.entity_description = description
        self._attr_translation_key = description.key
        self._attr_unique_id = f"{subentry.subentry_id}_{description.key}"

    @override
    async def async_added_to_hass(self) -> None:
        """Follow what is used."""
        await super().async_added_to_hass()
        self.async_on_remove(self.assistant.usage.subscribe(self.async_write_ha_state))

    @property
    @override
    def native_value(self) -> float | None:
        """Return the number, None if nobody knows it."""
        return self.entity_description.value(self.assistant)

    @property
    @override
    def extra_state_attributes(self) -> Mapping[str, Any]:
        """Return where the number comes from, and what it is made of."""
        return self.entity_description.attributes(self.assistant)


class TotalSensor(UsageSensor, RestoreSensor):
    """A sum that goes on over restarts."""

    _before: float = 0

    @override
    async def async_added_to_hass(self) -> None:
        """Go on where the sum stood."""
        if (last := await self.async_get_last_sensor_data()) is not None:
            value = last.native_value
            self._before = value if isinstance(value, int | float) else 0
        await super().async_added_to_hass()

    @property
    @override
    def native_value(self) -> float | None:
        """Return the sum since the assistant was made; None while none of it is known."""
        since = super().native_value
        if since is None:
            return self._before or None
        return self._before + since
