"""A small Home Assistant in this process: a hundred exposed lights, and an assistant of ours."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

from homeassistant import bootstrap, loader
from homeassistant.auth import auth_manager_from_config
from homeassistant.components.assist_pipeline import async_get_pipeline, async_update_pipeline
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntries,
    ConfigEntry,
    ConfigSubentryData,
)
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component

from custom_components.realtime_assist.const import (
    CONF_BASE_URL,
    CONF_PROVIDER,
    DOMAIN,
    SUBENTRY_ASSISTANT,
)
from custom_components.realtime_assist.hub import Assistant, Hub
from custom_components.realtime_assist.pipeline.origin import Origin

ENTITIES: Final = 100
"""As many as a home of some size shows to Assist."""
ROOMS: Final = ("Kitchen", "Hall", "Cellar", "Garden", "Attic", "Garage", "Bathroom", "Study")
KINDS: Final = ("light", "switch", "cover", "climate", "sensor")


@asynccontextmanager
async def home(folder: Path, base_url: str) -> AsyncGenerator[tuple[Assistant, Origin]]:
    """Give an assistant whose provider is there, and a satellite in the kitchen.

    In a folder that was a home before, that home starts again.
    """
    hass = HomeAssistant(str(folder))
    hass.config.location_name = "Home"
    loader.async_setup(hass)
    hass.config_entries = ConfigEntries(hass, {})
    await bootstrap.async_load_base_functionality(hass)
    hass.auth = await auth_manager_from_config(hass, [], [])
    for component in ("homeassistant", "assist_pipeline"):
        if not await async_setup_component(hass, component, {}):
            raise OSError(f"{component} cannot be set up")
    _furnish(hass)
    try:
        entry = await _set_up(hass, base_url)
        assistant = next(iter(entry.runtime_data.assistants.values()))
        kitchen = ar.async_get(hass).async_get_or_create(ROOMS[0])
        yield (
            assistant,
            Origin(
                satellite="satellite",
                device_id="device",
                area_id=kitchen.id,
                area_name=kitchen.name,
                language="en",
            ),
        )
        await hass.config_entries.async_unload(entry.entry_id)
    finally:
        await hass.async_stop(force=True)


async def use_everywhere(assistant: Assistant, *, local: bool = False, suffix: str = "") -> None:
    """Let the preferred pipeline use the assistant; with a suffix, the engines called so."""
    hass, registry = assistant.hub.hass, er.async_get(assistant.hub.hass)

    def engine(platform: str) -> str:
        if suffix:
            return f"{platform}.{suffix}"
        found = registry.async_get_entity_id(platform, DOMAIN, assistant.subentry_id)
        if found is None:
            raise OSError(f"there is no {platform} of ours")
        return found

    await async_update_pipeline(
        hass,
        async_get_pipeline(hass),
        conversation_engine=engine("conversation"),
        conversation_language="*",
        stt_engine=engine("stt"),
        stt_language="en",
        tts_engine=engine("tts"),
        tts_language="en",
        tts_voice=None,
        prefer_local_intents=local,
    )


async def _set_up(hass: HomeAssistant, base_url: str) -> ConfigEntry[Hub]:
    """Set the account up, or again."""
    entry: ConfigEntry[Hub]
    if known := hass.config_entries.async_entries(DOMAIN):
        entry = known[0]
        await hass.config_entries.async_setup(entry.entry_id)
    else:
        entry = ConfigEntry(
            version=1,
            minor_version=1,
            domain=DOMAIN,
            title="Realtime",
            source=SOURCE_USER,
            unique_id=None,
            options={},
            discovery_keys=MappingProxyType({}),
            data={CONF_PROVIDER: "openai", CONF_BASE_URL: base_url, CONF_API_KEY: "key"},
            subentries_data=[
                ConfigSubentryData(
                    data={}, subentry_type=SUBENTRY_ASSISTANT, title="Realtime", unique_id=None
                )
            ],
        )
        await hass.config_entries.async_add(entry)
    await hass.async_block_till_done()
    return entry


def _furnish(hass: HomeAssistant) -> None:
    """Make rooms, and things in them that Assist may be told of."""
    areas = [ar.async_get(hass).async_get_or_create(name) for name in ROOMS]
    registry = er.async_get(hass)
    for number in range(ENTITIES):
        kind = KINDS[number % len(KINDS)]
        room = areas[number % len(areas)]
        made = registry.async_get_or_create(kind, "bench", f"{number}")
        registry.async_update_entity(made.entity_id, area_id=room.id)
        registry.async_update_entity_options(
            made.entity_id, "conversation", {"should_expose": True}
        )
        hass.states.async_set(
            made.entity_id, "on", {"friendly_name": f"{room.name} {kind} {number}"}
        )
