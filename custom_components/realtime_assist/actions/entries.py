"""Actions on entries: set, get, delete, clear, and the update that does all at once."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import probatio as vol
from homeassistant.core import ServiceCall
from homeassistant.helpers import config_validation as cv

from ..house import House
from ..memory.entries import ContextEntry, Retention
from ..memory.scopes import ScopeKey
from ..update import Earlier, MemoryUpdate
from .scopes import SCOPE_FIELDS, action_invalid, async_caller, async_scopes, refusals_told

ATTR_ENTRIES: Final = "entries"
ATTR_FORGET: Final = "forget"
ATTR_FULL: Final = "full"
ATTR_HISTORY: Final = "history"
ATTR_KEY: Final = "key"
ATTR_KEYS: Final = "keys"
ATTR_SUMMARY: Final = "summary"
ATTR_TAGS: Final = "tags"
ATTR_VALUE: Final = "value"
ATTR_VERSION: Final = "version"

SOURCE: Final = "action"

KEYS: Final = vol.All(cv.ensure_list, [cv.string])

UPDATE_SCHEMA: Final = vol.Schema(
    {
        **SCOPE_FIELDS,
        vol.Optional(ATTR_ENTRIES): vol.Schema({cv.string: object}),
        vol.Optional(ATTR_FORGET): KEYS,
        vol.Optional(ATTR_SUMMARY): cv.string,
        vol.Optional(ATTR_FULL, default=False): cv.boolean,
    }
)

_OPTIONS: Final[dict[Any, Any]] = {
    vol.Optional("retention"): vol.In([retention.value for retention in Retention]),
    vol.Optional("expires_in"): vol.Any(
        vol.All(vol.Coerce(float), vol.Range(min=0)),
        vol.All(cv.time_period, lambda period: period.total_seconds()),
    ),
    vol.Optional("sliding"): cv.boolean,
    vol.Optional("max_turns"): cv.positive_int,
    vol.Optional(ATTR_TAGS): KEYS,
    vol.Optional("priority"): vol.Coerce(int),
    vol.Optional("metadata"): dict,
    vol.Optional("pinned"): cv.boolean,
}

_OPTION_NAMES: Final = tuple(str(name) for name in _OPTIONS)

SET_SCHEMA: Final = vol.Schema(
    {
        **SCOPE_FIELDS,
        **_OPTIONS,
        vol.Required(ATTR_KEY): cv.string,
        vol.Optional(ATTR_VALUE): object,
        vol.Optional(ATTR_VERSION): vol.All(vol.Coerce(int), vol.Range(min=1)),
    }
)
GET_SCHEMA: Final = vol.Schema(
    {**SCOPE_FIELDS, vol.Optional(ATTR_KEYS): KEYS, vol.Optional(ATTR_TAGS): KEYS}
)
DELETE_SCHEMA: Final = vol.Schema({**SCOPE_FIELDS, vol.Required(ATTR_KEYS): KEYS})
CLEAR_SCHEMA: Final = vol.Schema(
    {**SCOPE_FIELDS, vol.Optional(ATTR_HISTORY, default=False): cv.boolean}
)


async def async_update_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Change entries or a summary, and bring the live sessions up to date."""
    changes = [name for name in (ATTR_ENTRIES, ATTR_FORGET, ATTR_SUMMARY) if name in call.data]
    _refuse_empty(call, *changes)
    scopes = await async_scopes(house.hass, call, required=bool(changes))
    if ATTR_SUMMARY in call.data:
        _refuse_fleeting(scopes)
    update = MemoryUpdate(
        scopes=scopes,
        entries=call.data.get(ATTR_ENTRIES, {}),
        forget=tuple(call.data.get(ATTR_FORGET, ())),
        summary=call.data.get(ATTR_SUMMARY),
        full=call.data[ATTR_FULL],
        source=SOURCE,
    )
    return await _async_update(house, update)


async def async_set_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Write one entry, or give it an earlier value of its own again, as a new version."""
    if (ATTR_VALUE in call.data) == (ATTR_VERSION in call.data):
        raise action_invalid("value_or_version")
    earlier = Earlier(call.data[ATTR_VERSION]) if ATTR_VERSION in call.data else None
    options = {name: call.data[name] for name in _OPTION_NAMES if name in call.data}
    scopes = await async_scopes(house.hass, call)
    key = call.data[ATTR_KEY]
    update = MemoryUpdate(
        scopes=scopes,
        entries={key: {ATTR_VALUE: earlier or call.data[ATTR_VALUE], **options}},
        source=SOURCE,
    )
    report = await _async_update(house, update)
    written = [entry for entry in house.context.visible(scopes) if entry.key == key]
    return {"entries": [entry_json(entry) for entry in written], "sessions": report["sessions"]}


async def async_get_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Read entries, and the summaries of what was said there."""
    _refuse_empty(call, *(name for name in (ATTR_KEYS, ATTR_TAGS) if name in call.data))
    scopes = await async_scopes(house.hass, call)
    await house.storage.async_load_scopes(scopes)
    keys, tags = call.data.get(ATTR_KEYS), call.data.get(ATTR_TAGS)
    if keys is None:
        entries = house.context.visible(scopes)
    else:
        read = (house.context.get((scope,), key) for scope in scopes for key in dict.fromkeys(keys))
        entries = tuple(entry for entry in read if entry is not None)
    found = [entry for entry in entries if tags is None or set(tags) & set(entry.tags)]
    response: dict[str, Any] = {"entries": [entry_json(entry) for entry in found]}
    if keys is None and tags is None:
        response["summaries"] = await _async_summaries(house, call, scopes)
    return response


async def async_delete_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Forget entries, and what was said in their words."""
    _refuse_empty(call, ATTR_KEYS)
    update = MemoryUpdate(
        scopes=await async_scopes(house.hass, call), forget=tuple(call.data[ATTR_KEYS])
    )
    return _forgotten(await _async_update(house, update))


async def async_clear_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Forget all entries of the scopes; what was said there as well, if that is asked for."""
    scopes = await async_scopes(house.hass, call)
    await house.storage.async_load_scopes(scopes)
    keys = dict.fromkeys(entry.key for entry in house.context.visible(scopes))
    turns = 0
    if call.data[ATTR_HISTORY]:
        turns = await house.changes.async_clear_history(scopes)
    report = await _async_update(house, MemoryUpdate(scopes=scopes, forget=tuple(keys)))
    return {**_forgotten(report), "turns": turns}


def entry_json(entry: ContextEntry) -> dict[str, Any]:
    """Return an entry as the actions show it."""
    shown = {name: value for name, value in entry.to_dict().items() if name != "owner"}
    for version, old in enumerate(shown["previous"], entry.first_version):
        old["version"] = version
    return {"scope": entry.scope.scope.value, "scope_id": entry.scope.id, **shown}


async def _async_update(house: House, update: MemoryUpdate) -> dict[str, Any]:
    """Change the memory; raises ServiceValidationError that tells what was wrong."""
    with refusals_told():
        return await house.async_update(update)


async def _async_summaries(
    house: House, call: ServiceCall, scopes: Collection[ScopeKey]
) -> list[Any]:
    """Return what summaries say of the scopes, as far as the caller may see it."""
    caller = await async_caller(house.hass, call)
    shown = []
    for key in await house.async_thread_keys(scopes):
        summary = (await house.storage.async_load_thread(key)).summary
        lines = [
            line for line in (summary.lines if summary else ()) if caller.may_see(line.audience)
        ]
        if lines:
            shown.append(
                {
                    "assistant": key.assistant,
                    "scope": key.scope.scope.value,
                    "scope_id": key.scope.id,
                    "lines": [{"kind": line.kind.value, "text": line.text} for line in lines],
                }
            )
    return shown


def _forgotten(report: Mapping[str, Any]) -> dict[str, Any]:
    return {"forgotten": report["entries"]["forgotten"], "sessions": report["sessions"]}


def _refuse_empty(call: ServiceCall, *names: str) -> None:
    """Refuse a filter or a change that is there and empty."""
    if not all(call.data[name] for name in names):
        raise action_invalid("empty_filter")


def _refuse_fleeting(scopes: Collection[ScopeKey]) -> None:
    """Refuse a summary of what is no history: that belongs to a place or a person."""
    if not all(scope.durable for scope in scopes):
        raise action_invalid("summary_of_conversation")
