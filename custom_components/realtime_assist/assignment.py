"""Which account looks after a satellite: only that one adds entities to the satellite's device."""

from typing import Final

from homeassistant.components.assist_pipeline import Pipeline, async_get_pipeline
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from .const import DOMAIN
from .pipeline.early import chosen_pipelines, pipeline_selects
from .satellites import async_satellite_subentries

NOBODY: Final = ""


@callback
def async_owner(hass: HomeAssistant, satellite: er.RegistryEntry) -> str | None:
    """Return the id of the account that looks after a satellite.

    It is the one with a subentry about it, else the one whose assistant it uses. `NOBODY` where it
    uses none of ours, None as long as that is not known: its pipeline selects are not there yet.
    """
    for entry_id, _ in async_satellite_subentries(hass, satellite.id):
        return entry_id
    device_id = satellite.device_id
    selects = pipeline_selects(hass, device_id) if device_id else []
    if any(hass.states.get(entity_id) is None for entity_id in selects):
        return None
    named = chosen_pipelines(hass, device_id) if device_id and selects else _preferred(hass)
    accounts = {account for pipeline in named if (account := _account(hass, pipeline))}
    return min(accounts, default=NOBODY)


def _preferred(hass: HomeAssistant) -> list[Pipeline]:
    try:
        return [async_get_pipeline(hass)]
    except HomeAssistantError:
        return []


def _account(hass: HomeAssistant, pipeline: Pipeline) -> str | None:
    """Return the account whose assistant a pipeline uses."""
    registry = er.async_get(hass)
    for engine in (pipeline.conversation_engine, pipeline.stt_engine, pipeline.tts_engine):
        entity = registry.async_get(engine) if engine else None
        if entity is not None and entity.platform == DOMAIN:
            return entity.config_entry_id
    return None
