"""Whose memory an action may touch: a person's belongs to that person."""

from typing import Any

import pytest
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import floor_registry as fr
from homeassistant.helpers import label_registry as lr

from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from tests.home import Home
from tests.people import People, act, device_id, person_scope

SPEAKER = {"scope": "speaker", "scope_id": "person.anna"}
EVERY = [
    ("set_memory", {"key": "a", "value": 1}),
    ("get_memory", {}),
    ("get_memory", {"keys": ["tea"]}),
    ("delete_memory", {"keys": ["tea"]}),
    ("clear_memory", {}),
    ("search_memory", {"query": "tea"}),
    ("summarize", {}),
    ("export_memory", {}),
    ("reset_session", {}),
    ("update_memory", {"forget": ["tea"]}),
    ("update_memory", {}),
]


async def test_a_person_and_an_administrator_may(house: Home, people: People) -> None:
    """Anna reads and changes what is hers, and so does who administers the home."""
    await act(house.hass, "set_memory", user=people.anna, **SPEAKER, key="tea", value="Assam")
    assert [e.scope for e in house.memory.context.visible((person_scope(house.hass, people.anna),))]
    for user in (people.anna, people.admin):
        got = await act(house.hass, "get_memory", user=user, entity_id="person.anna")
        assert [entry["value"] for entry in got["entries"]] == ["Assam"]


@pytest.mark.parametrize(("action", "data"), EVERY, ids=str)
async def test_nobody_else_may(
    house: Home, people: People, action: str, data: dict[str, Any]
) -> None:
    """What Anna told in private is neither read nor changed by others, automations included."""
    await act(house.hass, "set_memory", user=people.admin, **SPEAKER, key="tea", value="Assam")
    for user in (people.tom, people.system, None):
        for where in (SPEAKER, {"entity_id": "person.anna"}):
            with pytest.raises(ServiceValidationError) as caught:
                await act(house.hass, action, user=user, **where, **data)
            assert caught.value.translation_key == "not_your_memory"
    (entry,) = house.memory.context.visible((person_scope(house.hass, people.anna),))
    assert entry.value == "Assam"


async def test_places_are_found_by_floor_and_label(house: Home) -> None:
    """A whole floor, or all that has a label, can be told at once."""
    areas = ar.async_get(house.hass)
    floor = fr.async_get(house.hass).async_create("Ground floor").floor_id
    label = lr.async_get(house.hass).async_create("Night").label_id
    areas.async_update("kitchen", floor_id=floor)
    areas.async_update("bedroom", labels={label})
    await act(
        house.hass,
        "set_memory",
        floor_id=[floor],
        label_id=[label],
        entity_id=house.kitchen.entity_id,
        key="a",
        value="b",
    )
    assert set(house.memory.context.scopes()) == {
        ScopeKey(Scope.AREA, "kitchen"),
        ScopeKey(Scope.AREA, "bedroom"),
        ScopeKey(Scope.DEVICE, device_id(house.kitchen)),
    }
