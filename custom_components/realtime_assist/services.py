"""The actions: what automations, scripts and people can ask of the memory.

`realtime_assist.update_memory` is also registered as `memory.update`, unless another integration
has that action.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import probatio as vol
from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    EVENT_SERVICE_REGISTERED,
)
from homeassistant.core import (
    Event,
    HomeAssistant,
    ServiceCall,
    ServiceResponse,
    SupportsResponse,
    callback,
)
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    config_validation as cv,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util.yaml import load_yaml_dict

from .changes import MemoryUpdate
from .const import DOMAIN
from .house import House, async_get_house
from .memory.context import ScopeRefused
from .memory.entries import NotJson
from .memory.scopes import GLOBAL, Scope, ScopeKey
from .repairs import Issue, async_report

SERVICE_UPDATE_MEMORY: Final = "update_memory"
MEMORY_DOMAIN: Final = "memory"
MEMORY_UPDATE: Final = "update"

ATTR_SCOPE: Final = "scope"
ATTR_SCOPE_ID: Final = "scope_id"
ATTR_ENTRIES: Final = "entries"
ATTR_FORGET: Final = "forget"
ATTR_SUMMARY: Final = "summary"
ATTR_FULL: Final = "full"

# A session and what is temporary have no name outside; who may write about a person is decided
# where speakers are known.
_ADDRESSABLE: Final = (Scope.DEVICE, Scope.AREA, Scope.GLOBAL, Scope.PLUGIN)

_UPDATE_SCHEMA: Final = vol.Schema(
    {
        vol.Optional(ATTR_SCOPE): vol.In([scope.value for scope in _ADDRESSABLE]),
        vol.Optional(ATTR_SCOPE_ID): vol.All(cv.string, vol.Length(min=1)),
        vol.Optional(ATTR_ENTRIES): vol.Schema({cv.string: object}),
        vol.Optional(ATTR_FORGET): vol.All(cv.ensure_list, [cv.string]),
        vol.Optional(ATTR_SUMMARY): cv.string,
        vol.Optional(ATTR_FULL, default=False): cv.boolean,
        vol.Optional(ATTR_DEVICE_ID): vol.All(cv.ensure_list, [cv.string]),
        vol.Optional(ATTR_AREA_ID): vol.All(cv.ensure_list, [cv.string]),
        vol.Optional(ATTR_ENTITY_ID): cv.entity_ids_or_uuids,
    }
)


async def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions."""
    house = async_get_house(hass)

    async def update_memory(call: ServiceCall) -> ServiceResponse:
        return await _async_update_memory(house, call)

    hass.services.async_register(
        DOMAIN,
        SERVICE_UPDATE_MEMORY,
        update_memory,
        schema=_UPDATE_SCHEMA,
        supports_response=SupportsResponse.OPTIONAL,
    )
    if hass.services.has_service(MEMORY_DOMAIN, MEMORY_UPDATE):
        return
    hass.services.async_register(
        MEMORY_DOMAIN,
        MEMORY_UPDATE,
        update_memory,
        schema=_UPDATE_SCHEMA,
        supports_response=SupportsResponse.OPTIONAL,
    )
    await _async_describe_memory_update(hass)
    _watch_memory_update(hass)


async def _async_update_memory(house: House, call: ServiceCall) -> ServiceResponse:
    """Change entries or a summary, and bring the live sessions up to date."""
    data = call.data
    scopes = _scopes(house.hass, data)
    changes = [name for name in (ATTR_ENTRIES, ATTR_FORGET, ATTR_SUMMARY) if name in data]
    for name in changes:
        if not data[name]:
            raise _invalid("empty_filter")
    if changes and not scopes:
        raise _invalid("no_target")
    update = MemoryUpdate(
        scopes=scopes,
        entries=data.get(ATTR_ENTRIES, {}),
        forget=tuple(data.get(ATTR_FORGET, ())),
        summary=data.get(ATTR_SUMMARY),
        full=data[ATTR_FULL],
    )
    try:
        report = await house.async_update(update)
    except NotJson as err:
        raise _invalid("invalid_value", {"key": err.key, "type": err.kind}) from err
    except ValueError as err:
        raise _invalid("invalid_options") from err
    except ScopeRefused as err:
        raise _invalid("storage_read_only") from err
    return report if call.return_response else None


# What an action is about.


def _scopes(hass: HomeAssistant, data: dict[str, Any]) -> tuple[ScopeKey, ...]:
    """Return the scopes that are named or aimed at; raises where one does not exist."""
    wanted = Scope(data[ATTR_SCOPE]) if ATTR_SCOPE in data else None
    found = [*_named(hass, wanted, data.get(ATTR_SCOPE_ID)), *_aimed_at(hass, data)]
    if wanted is not None:
        found = [key for key in found if key.scope is wanted]
    if not found and (wanted or ATTR_SCOPE_ID in data):
        raise _invalid("no_target")
    return tuple(dict.fromkeys(found))


def _named(hass: HomeAssistant, scope: Scope | None, scope_id: str | None) -> Iterable[ScopeKey]:
    if scope is Scope.GLOBAL:
        return [GLOBAL]
    if scope is None or scope_id is None:
        return []
    match scope:
        case Scope.DEVICE:
            return [_device_scope(hass, scope_id)]
        case Scope.AREA:
            return [_area_scope(hass, scope_id)]
        case _:
            return [ScopeKey(scope, scope_id)]


def _aimed_at(hass: HomeAssistant, data: dict[str, Any]) -> Iterable[ScopeKey]:
    for device_id in (*data.get(ATTR_DEVICE_ID, ()), *data.get(ATTR_ENTITY_ID, ())):
        yield _device_scope(hass, device_id)
    for area_id in data.get(ATTR_AREA_ID, ()):
        yield _area_scope(hass, area_id)


def _device_scope(hass: HomeAssistant, name: str) -> ScopeKey:
    """Return the scope of a device, or of the device of an entity, or of an entity without one."""
    if dr.async_get(hass).async_get(name):
        return ScopeKey(Scope.DEVICE, name)
    if entry := er.async_get(hass).async_get(name):
        return ScopeKey(Scope.DEVICE, entry.device_id or entry.id)
    raise _invalid("not_found_scope")


def _area_scope(hass: HomeAssistant, area_id: str) -> ScopeKey:
    if ar.async_get(hass).async_get_area(area_id) is None:
        raise _invalid("not_found_scope")
    return ScopeKey(Scope.AREA, area_id)


def _invalid(key: str, placeholders: dict[str, str] | None = None) -> ServiceValidationError:
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
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
