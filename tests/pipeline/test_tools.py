"""The tools of a turn: started once, answered once, and in the right room."""

import asyncio
import datetime as dt
import json
from decimal import Decimal
from enum import Enum
from typing import Any

import probatio
import pytest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import MINOR_VERSION
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.pipeline.json_safe import json_safe, json_text
from custom_components.realtime_assist.pipeline.origin import Origin
from custom_components.realtime_assist.pipeline.tool_set import async_tool_set
from tests.loopback import Call, Speech
from tests.satellite import speech

from .conftest import Home
from .engines import Tool, register


class Colour(Enum):
    """An odd key."""

    RED = "red"


ODD: dict[Any, Any] = {
    "at": dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC),
    "time": dt.time(7, 30),
    "day": dt.date(2026, 11, 30),
    "long": dt.timedelta(minutes=2),
    "set": {"b", "a"},
    "price": Decimal("1.5"),
    "raw": b"\xff\x00ok",
    "nan": float("nan"),
    7: "seven",
    None: "nothing",
    Colour.RED: Colour.RED,
    ("a", 1): "pair",
    "half": "\ud83d",
    "object": object(),
}


def test_whatever_a_tool_returns_is_json() -> None:
    """A tool that returns times, sets or odd keys does not end the conversation."""
    made = json.loads(json_text(ODD), parse_constant=lambda _: pytest.fail("not JSON"))
    assert made["at"] == "2026-11-30T12:00:00+00:00"
    assert made["time"] == "07:30:00"
    assert made["set"] == ["a", "b"]
    assert made["price"] == 1.5
    assert made["nan"] is None
    assert made["7"] == "seven"
    assert made["red"] == "red"
    json_text(ODD).encode()


def test_an_endless_result_has_an_end() -> None:
    """A tool that returns itself does not keep the house busy for ever."""
    endless: list[Any] = []
    endless.append(endless)
    json_text(endless)


@given(
    st.recursive(
        st.none() | st.floats() | st.text() | st.binary() | st.dates() | st.decimals(),
        lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(), inner),
        max_leaves=20,
    )
)
def test_anything_is_valid_json(value: object) -> None:
    """No value at all breaks the wire."""
    json.loads(json.dumps(json_safe(value), allow_nan=False))


async def ask(house: Home) -> dict[str, Any]:
    """Ask something that makes the model call; return the outputs that the model was given."""
    await house.kitchen.hear(speech(20))
    await house.kitchen.play()
    await house.settled()
    session = house.server.session
    outputs = [
        event["item"]
        for event in session.received_of("conversation.item.create")
        if event["item"]["type"] == "function_call_output"
    ]
    ids = [item["call_id"] for item in outputs]
    assert len(ids) == len(set(ids)), "answered twice"
    return {item["call_id"]: json.loads(item["output"]) for item in outputs}


async def test_odd_results_reach_the_model_and_the_memory(house: Home) -> None:
    """What a tool said is told to the model and remembered, however it was said."""

    async def odd(_: llm.ToolInput) -> llm.ToolResult:
        return llm.ToolResult(data=ODD)

    register(house, Tool("odd", odd))
    house.replies.extend([Call("odd", "{}"), "It is half past seven."])
    (output,) = (await ask(house)).values()
    assert output["time"] == "07:30:00"
    (record,) = house.records(house.kitchen)
    assert record.answered
    assert record.calls[0].output is not None
    assert "07:30:00" in record.calls[0].output


async def test_every_call_is_answered_once_whatever_it_does(
    house: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown, failing, hanging and broken calls get one answer each, the person one reply."""
    monkeypatch.setattr("custom_components.realtime_assist.pipeline.tools.TOOL_SECONDS", 0.2)
    started: list[str] = []

    async def fine(call: llm.ToolInput) -> llm.ToolResult:
        started.append(call.tool_name)
        await asyncio.sleep(0.05)
        return llm.ToolResult(data={"ok": 1})

    async def fails(call: llm.ToolInput) -> llm.ToolResult:
        started.append(call.tool_name)
        raise RuntimeError("secret detail")

    async def refuses(_: llm.ToolInput) -> llm.ToolResult:
        raise HomeAssistantError("The door is jammed")

    async def hangs(_: llm.ToolInput) -> llm.ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    register(
        house,
        Tool("fine", fine, {probatio.Optional("x"): int}),
        Tool("fails", fails),
        Tool("refuses", refuses),
        Tool("hangs", hangs),
    )
    house.replies.extend(
        [
            [
                Call("fine", "{}"),
                Call("fails", "{}"),
                Call("refuses", "{}"),
                Call("hangs", "{}"),
                Call("nowhere", "{}"),
                Call("fine", "{broken"),
            ],
            "That was a lot.",
        ]
    )
    outputs = list((await ask(house)).values())
    assert [output.get("error") for output in outputs].count(None) == 1
    assert {output.get("error") for output in outputs} == {
        None,
        "RuntimeError",
        "HomeAssistantError",
        "timeout",
        "unknown_tool",
        "invalid_arguments",
    }
    assert "secret" not in json.dumps(outputs)
    assert "jammed" in json.dumps(outputs)
    assert started == ["fine", "fails"]
    assert house.server.session.count("response.create") == 2


async def test_a_tool_outlives_the_run_that_asked_for_it(house: Home) -> None:
    """A light that is switched on while somebody interrupts is switched once, and known."""
    done: list[str] = []
    go = asyncio.Event()

    async def slow(_: llm.ToolInput) -> llm.ToolResult:
        await go.wait()
        done.append("done")
        return llm.ToolResult(data={"light": "on"})

    register(house, Tool("slow", slow))
    house.replies.extend([Call("slow", "{}"), "It is on."])
    run = asyncio.create_task(house.kitchen.hear(speech(20)))
    await house.until(lambda: "slow" in str(house.kitchen.events))
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    await asyncio.sleep(0.05)
    go.set()
    await house.settled()
    assert done == ["done"]
    (record,) = house.records(house.kitchen)
    assert record.calls[0].output == '{"light":"on"}'


async def test_a_tool_outlives_its_socket(house: Home) -> None:
    """A light that is switched on while the line breaks is switched once, and spoken of."""
    done: list[str] = []

    async def slow(_: llm.ToolInput) -> llm.ToolResult:
        house.server.session.close(1006)
        await house.until(lambda: len(house.server.sessions) == 2)
        done.append("done")
        return llm.ToolResult(data={"light": "on"})

    register(house, Tool("slow", slow))
    house.replies.extend([Call("slow", "{}"), "It is on."])
    await house.kitchen.hear(speech(20))
    await house.kitchen.play()
    await house.settled()
    assert done == ["done"]
    (record,) = house.records(house.kitchen)
    assert record.calls[0].output == '{"light":"on"}'
    assert [said.text for said in record.said] == ["It is on."]
    assert not record.interrupted
    told = house.brain.requests[-1].texts()
    assert sum('kind="outcome"' in text and "slow" in text for text in told) == 1


async def test_a_long_tool_does_not_fall_silent(house: Home) -> None:
    """While a tool works the satellite gets silence in real time, and keeps the line."""

    async def slow(_: llm.ToolInput) -> llm.ToolResult:
        await asyncio.sleep(3)
        return llm.ToolResult(data={})

    register(house, Tool("slow", slow))
    house.replies.extend(
        [
            [Speech("One moment.", ms=500), Call("slow", "{}")],
            Speech("Done.", ms=500),
        ]
    )
    run = asyncio.create_task(house.kitchen.hear(speech(20)))
    await house.until(lambda: house.kitchen.streamed)
    began = asyncio.get_running_loop().time()
    wav = await house.kitchen.fetch()
    took = asyncio.get_running_loop().time() - began
    await run
    seconds = len(wav) / 32000
    assert took > 2.5
    assert 3.0 < seconds < 5.0
    house.kitchen.tts_response_finished()
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert [said.audio_ms for said in record.said] == [500, 500]
    assert not record.interrupted


@pytest.fixture
async def lights(house: Home) -> list[str]:
    """Give a light in each room, exposed; return what is switched off."""
    switched: list[str] = []

    async def turn_off(call: ServiceCall) -> None:
        switched.extend(call.data["entity_id"])

    assert await async_setup_component(house.hass, "light", {})
    assert await async_setup_component(house.hass, "intent", {})
    house.hass.services.async_remove("light", "turn_off")
    house.hass.services.async_register("light", "turn_off", turn_off)
    for room in ("kitchen", "bedroom"):
        entry = er.async_get(house.hass).async_get_or_create(
            "light", "test", room, suggested_object_id=room
        )
        er.async_get(house.hass).async_update_entity(entry.entity_id, area_id=room)
        house.hass.states.async_set(entry.entity_id, "on", {"friendly_name": f"{room} lamp"})
        async_expose_entity(house.hass, "conversation", entry.entity_id, should_expose=True)
    return switched


def turn_off_tool(house: Home) -> str:
    """Return the name under which the model knows HassTurnOff here."""
    projection = next(iter(house.assistant.projections()))
    assert projection.tools is not None
    return next(spec.name for spec in projection.tools.specs if "HassTurnOff" in spec.name)


async def test_all_lights_are_those_of_the_room(house: Home, lights: list[str]) -> None:
    """Turn off the lights, said in the kitchen, leaves the bedroom alone."""
    house.replies.append("Hello.")
    await ask(house)
    house.replies.extend([Call(turn_off_tool(house), '{"domain":["light"]}'), "They are off."])
    await ask(house)
    assert lights == ["light.kitchen"]


async def test_without_a_room_the_model_is_told_to_ask(house: Home, lights: list[str]) -> None:
    """Where the room is not known, nothing is switched in the whole house."""
    assert house.kitchen.registry_entry is not None
    device_id = house.kitchen.registry_entry.device_id
    assert device_id is not None
    from homeassistant.helpers import device_registry as dr  # noqa: PLC0415

    dr.async_get(house.hass).async_update_device(device_id, area_id=None)
    house.replies.append("Hello.")
    await ask(house)
    house.replies.extend([Call(turn_off_tool(house), '{"domain":["light"]}'), "Which room?"])
    outputs = await ask(house)
    assert lights == []
    assert [output["error"] for output in outputs.values()] == ["area_needed"]


async def test_a_named_room_is_left_as_it_was_said(house: Home, lights: list[str]) -> None:
    """Who names another room means it."""
    house.replies.append("Hello.")
    await ask(house)
    house.replies.extend(
        [
            Call(turn_off_tool(house), '{"domain":["light"],"area":"Bedroom"}'),
            "They are off.",
        ]
    )
    await ask(house)
    assert lights == ["light.bedroom"]


@pytest.mark.skipif(MINOR_VERSION < 11, reason="this release has no API for administrators")
async def test_an_api_for_administrators_is_left_out(hass: HomeAssistant) -> None:
    """A satellite keeps its tools when an API was chosen that only administrators may use."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "llm", {})
    made = await async_tool_set(hass, ["assist", "homeassistant", "gone"], origin=Origin())
    assert made.left_out == ("homeassistant", "gone")
    assert made.specs
    assert ar.async_get(hass) is not None
