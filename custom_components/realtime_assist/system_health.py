"""The lines of Realtime Assist under Settings > System > Repairs > System information."""

from typing import Any

from homeassistant.components import system_health
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, callback

from .account import Account
from .const import DOMAIN, SUBENTRY_ASSISTANT
from .usage_shown import prefix_tokens, tokens_used


@callback
def async_register(
    hass: HomeAssistant,  # noqa: ARG001
    register: system_health.SystemHealthRegistration,
) -> None:
    """Tell Home Assistant whom to ask."""
    register.async_register_info(async_system_health_info)


async def async_system_health_info(hass: HomeAssistant) -> dict[str, Any]:
    """Return counts, and whether the first provider can be reached; no session is opened."""
    entries = hass.config_entries.async_entries(DOMAIN)
    info: dict[str, Any] = {
        "accounts": len(entries),
        "accounts_loaded": sum(entry.state is ConfigEntryState.LOADED for entry in entries),
        "assistants": sum(
            len(list(entry.get_subentries_of_type(SUBENTRY_ASSISTANT))) for entry in entries
        ),
    }
    loaded = [
        assistant
        for entry in entries
        if entry.state is ConfigEntryState.LOADED
        for assistant in entry.runtime_data.assistants.values()
    ]
    info["tokens_used"] = sum(tokens_used(assistant) or 0 for assistant in loaded)
    info["tokens_in_advance"] = max((prefix_tokens(each) or 0 for each in loaded), default=0)
    if entries:
        info["can_reach_provider"] = system_health.async_check_can_reach_url(
            hass, Account.from_data(entries[0].data).base_url
        )
    return info
