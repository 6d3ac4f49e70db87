"""The voice pipeline that the config flow offers to make; a satellite only has to choose it."""

import logging

from homeassistant.components import conversation, stt, tts
from homeassistant.components.assist_pipeline import (
    async_create_default_pipeline,
    async_update_pipeline,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from .const import SUBENTRY_ASSISTANT

_LOGGER = logging.getLogger(__name__)


async def async_create_pipeline(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Make a pipeline of the engines of an entry's first assistant; return whether there is one.

    It prefers no local intents: what Home Assistant answers itself the session would not hear.
    """
    assistant = next(iter(entry.get_subentries_of_type(SUBENTRY_ASSISTANT)), None)
    engines = {
        entity.domain: entity.entity_id
        for entity in er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
        if assistant and entity.config_subentry_id == assistant.subentry_id
    }
    pipeline = None
    if assistant and {stt.DOMAIN, conversation.DOMAIN, tts.DOMAIN} <= engines.keys():
        pipeline = await async_create_default_pipeline(
            hass, engines[stt.DOMAIN], engines[tts.DOMAIN], assistant.title
        )
    if pipeline is None:
        _LOGGER.warning("No voice assistant was made: its engines are not there")
        return False
    await async_update_pipeline(
        hass,
        pipeline,
        conversation_engine=engines[conversation.DOMAIN],
        prefer_local_intents=False,
    )
    return True
