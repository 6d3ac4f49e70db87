"""The actions: what automations, scripts and people can ask of the memory.

`realtime_assist.update_memory` is also registered as `memory.update`, unless another integration
has that action.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import probatio as vol
from homeassistant.const import EVENT_SERVICE_REGISTERED
from homeassistant.core import (
    Event,
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.yaml import load_yaml_dict

from .actions import entries, history, search, speaker, transfer
from .const import DOMAIN
from .house import House, async_get_house
from .repairs import Issue, async_report

SERVICE_UPDATE_MEMORY: Final = "update_memory"
MEMORY_DOMAIN: Final = "memory"
MEMORY_UPDATE: Final = "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action: what does it, what it takes, and whether it answers."""

    run: Callable[[House, ServiceCall], Awaitable[dict[str, Any]]]
    schema: vol.Schema
    answers: SupportsResponse = SupportsResponse.OPTIONAL


ACTIONS: Final = {
    SERVICE_UPDATE_MEMORY: Action(run=entries.async_update_memory, schema=entries.UPDATE_SCHEMA),
    "set_memory": Action(run=entries.async_set_memory, schema=entries.SET_SCHEMA),
    "get_memory": Action(
        run=entries.async_get_memory, schema=entries.GET_SCHEMA, answers=SupportsResponse.ONLY
    ),
    "delete_memory": Action(run=entries.async_delete_memory, schema=entries.DELETE_SCHEMA),
    "clear_memory": Action(run=entries.async_clear_memory, schema=entries.CLEAR_SCHEMA),
    "search_memory": Action(
        run=search.async_search_memory, schema=search.SEARCH_SCHEMA, answers=SupportsResponse.ONLY
    ),
    "summarize": Action(run=history.async_summarize, schema=history.SUMMARIZE_SCHEMA),
    "export_memory": Action(
        run=transfer.async_export_memory,
        schema=transfer.EXPORT_SCHEMA,
        answers=SupportsResponse.ONLY,
    ),
    "import_memory": Action(run=transfer.async_import_memory, schema=transfer.IMPORT_SCHEMA),
    "set_speaker": Action(run=speaker.async_set_speaker, schema=speaker.SET_SPEAKER_SCHEMA),
    "reset_session": Action(run=history.async_reset_session, schema=history.RESET_SCHEMA),
}


async def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions."""
    for name, action in ACTIONS.items():
        _register(hass, DOMAIN, name, action)
    if hass.services.has_service(MEMORY_DOMAIN, MEMORY_UPDATE):
        return
    _register(hass, MEMORY_DOMAIN, MEMORY_UPDATE, ACTIONS[SERVICE_UPDATE_MEMORY])
    await _async_describe_memory_update(hass)
    _watch_memory_update(hass)


@callback
def _register(hass: HomeAssistant, domain: str, name: str, action: Action) -> None:
    async def run(call: ServiceCall) -> ServiceResponse:
        response = await action.run(async_get_house(hass), call)
        return response if call.return_response else None

    hass.services.async_register(
        domain, name, run, schema=action.schema, supports_response=action.answers
    )


# `memory.update`: the domain is not ours, so Home Assistant finds no description of it by itself.


async def _async_describe_memory_update(hass: HomeAssistant) -> None:
    """Describe `memory.update` in the home's language, from the same source as our own action."""
    path = str(Path(__file__).with_name("services.yaml"))
    own = (await hass.async_add_executor_job(load_yaml_dict, path))[SERVICE_UPDATE_MEMORY]
    words = await async_get_translations(hass, hass.config.language, "services", [DOMAIN])
    prefix = f"component.{DOMAIN}.services.{SERVICE_UPDATE_MEMORY}"
    fields = {
        name: {
            **field,
            "name": words.get(f"{prefix}.fields.{name}.name", name),
            "description": words.get(f"{prefix}.fields.{name}.description", ""),
        }
        for name, field in own["fields"].items()
    }
    schema: dict[str, Any] = {
        "name": words.get(f"{prefix}.name", ""),
        "description": words.get(f"{prefix}.description", ""),
        "fields": fields,
    }
    if "target" in own:
        schema["target"] = own["target"]
    async_set_service_schema(hass, MEMORY_DOMAIN, MEMORY_UPDATE, schema)


@callback
def _watch_memory_update(hass: HomeAssistant) -> None:
    """Tell the user when another integration takes the action over, which it does silently."""

    @callback
    def is_ours(data: dict[str, Any]) -> bool:
        return (data["domain"], data["service"]) == (MEMORY_DOMAIN, MEMORY_UPDATE)

    @callback
    def replaced(_event: Event[Any]) -> None:
        async_report(hass, Issue.MEMORY_ACTION_REPLACED)

    hass.bus.async_listen(EVENT_SERVICE_REGISTERED, replaced, event_filter=is_ours)
