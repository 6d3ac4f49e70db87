"""The action that searches what is remembered and what was said."""

from typing import Any, Final

import probatio as vol
from homeassistant.core import ServiceCall
from homeassistant.helpers import config_validation as cv

from ..house import House
from ..memory.searching import EmptyQuery, Kind, Query
from ..recollection import Found
from .entries import KEYS, entry_json
from .scopes import SCOPE_FIELDS, action_invalid, async_caller, async_scopes

ATTR_HISTORY: Final = "history"
ATTR_KEY: Final = "key"
ATTR_LIMIT: Final = "limit"
ATTR_QUERY: Final = "query"
ATTR_SOURCE: Final = "source"
ATTR_TAGS: Final = "tags"
MAX_HITS: Final = 100

SEARCH_SCHEMA: Final = vol.Schema(
    {
        **SCOPE_FIELDS,
        vol.Optional(ATTR_QUERY, default=""): cv.string,
        vol.Optional(ATTR_KEY, default=""): cv.string,
        vol.Optional(ATTR_TAGS, default=[]): KEYS,
        vol.Optional(ATTR_SOURCE, default=""): cv.string,
        vol.Optional(ATTR_HISTORY, default=True): cv.boolean,
        vol.Optional(ATTR_LIMIT, default=10): vol.All(
            vol.Coerce(int), vol.Range(min=1, max=MAX_HITS)
        ),
    }
)


async def async_search_memory(house: House, call: ServiceCall) -> dict[str, Any]:
    """Return what fits, best first, of these scopes."""
    data = call.data
    try:
        query = Query(
            words=data[ATTR_QUERY],
            key=data[ATTR_KEY],
            tags=tuple(data[ATTR_TAGS]),
            source=data[ATTR_SOURCE],
            kinds=frozenset() if data[ATTR_HISTORY] else frozenset({Kind.ENTRY}),
        )
    except EmptyQuery as err:
        raise action_invalid("empty_filter") from err
    scopes = await async_scopes(house.hass, call)
    caller = await async_caller(house.hass, call)
    people = await house.recollection.async_people(scopes, caller.may)
    found = await house.recollection.async_find(
        query, (*scopes, *people), data[ATTR_LIMIT], within=scopes
    )
    return {"hits": [_hit(each) for each in found]}


def _hit(found: Found) -> dict[str, Any]:
    """Return a hit as JSON."""
    hit: dict[str, Any] = {
        "kind": found.kind.value,
        "scope": found.scope.scope.value,
        "scope_id": found.scope.id,
        "text": found.text,
        "at": found.at.isoformat(),
        "score": found.score,
    }
    if found.entry is not None:
        hit["entry"] = entry_json(found.entry)
    if found.turn_id is not None:
        hit["turn"] = found.turn_id
        hit["speaker"] = found.speaker
    return hit
