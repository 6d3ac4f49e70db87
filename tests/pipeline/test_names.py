"""A home with very many devices: names are found when they are needed, and not told before."""

import json
from typing import Any, cast

import pytest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component

from custom_components.realtime_assist.pipeline.names import FOUND, TOOL, without_names
from custom_components.realtime_assist.pipeline.origin import Origin
from custom_components.realtime_assist.pipeline.tool_set import (
    ToolSet,
    async_tool_set,
    llm_context,
)
from tests.loopback import Call
from tests.satellite import speech

from .conftest import Home


def expose(hass: HomeAssistant, entity_id: str, name: str, area: str | None = None) -> str:
    """Add an exposed entity to a home; return its entity id."""
    domain, _, unique_id = entity_id.partition(".")
    registry = er.async_get(hass)
    entry = registry.async_get_or_create(
        domain, "test", unique_id, suggested_object_id=unique_id, original_name=name
    )
    registry.async_update_entity(entry.entity_id, area_id=area)
    hass.states.async_set(entry.entity_id, "off", {"friendly_name": name})
    async_expose_entity(hass, "conversation", entry.entity_id, should_expose=True)
    return entry.entity_id


@pytest.fixture
async def rooms(hass: HomeAssistant) -> tuple[str, str]:
    """Have a kitchen and a hall with lamps, and a secret that nobody exposed."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "intent", {})
    assert await async_setup_component(hass, "llm", {})
    areas = ar.async_get(hass)
    kitchen, hall = areas.async_create("Kitchen", aliases={"Galley"}), areas.async_create("Hall")
    expose(hass, "light.k1", "Ceiling lamp", kitchen.id)
    expose(hass, "light.h1", "Ceiling lamp", hall.id)
    expose(hass, "light.h2", "Mirror light", hall.id)
    expose(hass, "sensor.h3", "Hall temperature", hall.id)
    secret = expose(hass, "light.s", "Safe lamp", hall.id)
    async_expose_entity(hass, "conversation", secret, should_expose=False)
    return kitchen.id, hall.id


async def tools(hass: HomeAssistant, *, on_request: bool) -> ToolSet:
    """Return what an assistant is told of the tools."""
    return await async_tool_set(hass, ["assist"], origin=Origin(), names_on_request=on_request)


async def find(hass: HomeAssistant, origin: Origin | None = None, **asked: str) -> list[str]:
    """Return the names that the tool finds, with their rooms."""
    origin = origin or Origin()
    made = await async_tool_set(hass, ["assist"], origin=origin, names_on_request=True)
    assert made.instance is not None
    tool = next(tool for tool in made.instance.tools if tool.name == TOOL)
    result = await tool.async_call(
        hass, llm.ToolInput(tool_name=TOOL, tool_args=dict(asked)), llm_context(origin)
    )
    assert isinstance(result, llm.ToolResult)
    found = cast("dict[str, Any]", result.data)["found"]
    return [f"{one['name']}/{one.get('area')}" for one in found]


@pytest.mark.usefixtures("rooms")
async def test_names_are_not_told_in_advance(hass: HomeAssistant) -> None:
    """The prompt keeps all that it says but the list, and gives the way to the names instead."""
    told = await tools(hass, on_request=False)
    left = await tools(hass, on_request=True)
    assert "Mirror light" in told.prompt
    for name in ("Mirror light", "Ceiling lamp", "Galley", "Static Context", "static context"):
        assert name not in left.prompt
    assert TOOL in left.prompt
    assert TOOL in [spec.name for spec in left.specs]
    assert TOOL not in [spec.name for spec in told.specs]
    # What others say in the prompt, before the list and behind it, is still there.
    assert "retrieving live context" in left.prompt
    assert "prefer passing just name and domain" in left.prompt


@pytest.mark.usefixtures("rooms")
async def test_another_device_changes_nothing_of_what_is_told(hass: HomeAssistant) -> None:
    """A lamp that is added costs no cached word: the beginning stays the same."""
    before = await tools(hass, on_request=True)
    expose(hass, "light.new", "New lamp")
    after = await tools(hass, on_request=True)
    assert after.prompt == before.prompt
    assert after.specs == before.specs


@pytest.mark.usefixtures("rooms")
async def test_names_are_found(hass: HomeAssistant) -> None:
    """By words, room, other name of the room, or kind; never what is not exposed."""
    assert await find(hass, words="mirror") == ["Mirror light/Hall"]
    assert await find(hass, words="LAMP ceiling", area="galley") == ["Ceiling lamp/Kitchen"]
    assert await find(hass, domain="sensor") == ["Hall temperature/Hall"]
    assert await find(hass, words="safe") == []
    assert len(await find(hass)) == 4
    # The words of somebody who speaks are never quite those of the list.
    assert await find(hass, words="the big mirror thing") == ["Mirror light/Hall"]


async def test_what_is_in_the_room_comes_first(house: Home) -> None:
    """Who asks for the lamp in the kitchen means the one there."""
    entry = house.kitchen.registry_entry
    assert entry is not None
    areas = ar.async_get(house.hass)
    kitchen, bedroom = (
        areas.async_get_area_by_name("Kitchen"),
        areas.async_get_area_by_name("Bedroom"),
    )
    assert kitchen is not None
    assert bedroom is not None
    expose(house.hass, "light.a", "Lamp", bedroom.id)
    expose(house.hass, "light.b", "Lamp", kitchen.id)
    here = Origin(device_id=entry.device_id)
    assert await find(house.hass, here, words="lamp") == ["Lamp/Kitchen", "Lamp/Bedroom"]


@pytest.mark.usefixtures("rooms")
async def test_very_many_names_are_told_in_part(hass: HomeAssistant) -> None:
    """A question that fits everything is not answered with everything."""
    for number in range(FOUND):
        expose(hass, f"switch.s{number}", f"Socket {number}")
    assert len(await find(hass)) == FOUND
    assert len(await find(hass, words="socket 7")) < FOUND


def test_a_prompt_without_a_list_stays_as_it_is() -> None:
    """Where nothing is exposed, or another API is chosen, nothing is taken away."""
    assert without_names("Only if the user wants to control a device.\n- one\n  two") is None


@pytest.mark.parametrize("options", [{"names_on_request": True}])
async def test_a_model_looks_a_name_up(house: Home, options: dict[str, Any]) -> None:
    """In a home that chose it the model asks for the name, and is told it, over the wire."""
    del options
    expose(house.hass, "light.deep", "Cellar spotlight")
    house.replies.append([Call(TOOL, json.dumps({"words": "spotlight"}))])
    house.replies.append("It is there.")
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    first, second = house.brain.requests
    assert "Cellar spotlight" not in first.instructions
    assert "Cellar spotlight" in " ".join(second.texts())
