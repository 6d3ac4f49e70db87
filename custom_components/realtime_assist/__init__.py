"""Realtime Assist: a house that talks and remembers.

Set up the house once, set up and unload an entry; nothing else.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import Platform
from homeassistant.core import HassJob, HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import ConfigType

from .assistant import default_assistant
from .const import CONF_ASSISTANT_MADE, DOMAIN, SUBENTRY_ASSISTANT
from .house import async_get_house
from .hub import Hub, RealtimeAssistConfigEntry
from .pipeline.turn import async_close_turns
from .repairs import async_check_pipelines
from .services import async_setup_services
from .websocket_api import async_setup_websocket_api

PLATFORMS: Final = (
    Platform.BUTTON,
    Platform.CONVERSATION,
    Platform.EVENT,
    Platform.SELECT,
    Platform.SENSOR,
    Platform.STT,
    Platform.SWITCH,
    Platform.TTS,
)

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)


async def async_setup(hass: HomeAssistant, _config: ConfigType) -> bool:
    """Open the house's memory, and register its actions and commands once for all entries."""
    async_get_house(hass)
    await async_setup_services(hass)
    async_setup_websocket_api(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: RealtimeAssistConfigEntry) -> bool:
    """Make the assistants of an account. Nothing connects before somebody speaks."""
    _make_first_assistant(hass, entry)
    house = async_get_house(hass)
    hub = entry.runtime_data = Hub(hass, entry, house)
    house.enter(hub)
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    hub.satellite_entities.start()
    entry.async_on_unload(entry.add_update_listener(_async_follow))
    # Home Assistant unloads nothing when it stops, and cancels background tasks right after this.
    stopping = HassJob(partial(_async_stop, hass, hub), f"{DOMAIN} stop")
    entry.async_on_unload(hass.async_add_shutdown_job(stopping))
    async_check_pipelines(hass)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: RealtimeAssistConfigEntry) -> bool:
    """End the entry's turns and sessions. What was said so far stays remembered."""
    hub = entry.runtime_data
    await _async_end_turns(hass, hub)
    unloaded = await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
    await hub.async_close()
    hub.house.leave(hub)
    return unloaded


async def _async_stop(hass: HomeAssistant, hub: Hub) -> None:
    """Home Assistant stops: end the entry's turns, so that they are written, and its sessions."""
    await _async_end_turns(hass, hub)
    await hub.async_close()


async def _async_end_turns(hass: HomeAssistant, hub: Hub) -> None:
    for subentry_id in hub.assistants:
        await async_close_turns(hass, subentry_id)


async def async_remove_entry(hass: HomeAssistant, entry: RealtimeAssistConfigEntry) -> None:
    """Remove the memory's files with the last entry; another account keeps them."""
    others = [e for e in hass.config_entries.async_entries(DOMAIN) if e.entry_id != entry.entry_id]
    if not others:
        await async_get_house(hass).async_remove()


async def _async_follow(hass: HomeAssistant, entry: RealtimeAssistConfigEntry) -> None:
    """Follow a change of the entry; settings of one satellite cut no conversation at another."""
    if entry.runtime_data.outdated:
        await hass.config_entries.async_reload(entry.entry_id)
    else:
        entry.runtime_data.house.settings_changed()


def _make_first_assistant(hass: HomeAssistant, entry: RealtimeAssistConfigEntry) -> None:
    """Give an entry without assistants one; only once, so that the last one can be deleted."""
    if entry.options.get(CONF_ASSISTANT_MADE):
        return
    if not any(sub.subentry_type == SUBENTRY_ASSISTANT for sub in entry.subentries.values()):
        first = default_assistant()
        hass.config_entries.async_add_subentry(
            entry,
            ConfigSubentry(
                data=MappingProxyType(dict(first["data"])),
                subentry_type=first["subentry_type"],
                title=first["title"],
                unique_id=first["unique_id"],
            ),
        )
    hass.config_entries.async_update_entry(
        entry, options={**entry.options, CONF_ASSISTANT_MADE: True}
    )
