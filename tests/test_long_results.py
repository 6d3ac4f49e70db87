"""A long tool result costs what it may, and all of it can be read by who may see its turn."""

import json
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pytest
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.long_results import MAX_HELD, READ_RESULT
from custom_components.realtime_assist.memory.usage import estimate_tokens
from custom_components.realtime_assist.pipeline.origin import resolve
from tests.loopback import Call
from tests.loopback.brain import Request
from tests.on_disk import hass_config_dir, hass_storage  # noqa: F401 - fixtures
from tests.people import People, act, person_scope
from tests.pipeline.engines import API_ID, Tool, register
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

TOKENS: Final = 600
ITEMS: Final = 2000
"""Of a list that is 200 kB as JSON."""


@pytest.fixture
def options() -> dict[str, Any]:
    """Let little be a long result."""
    return {"tool_result_tokens": TOKENS, "llm_hass_api": [API_ID]}


async def calendar(_: llm.ToolInput) -> llm.ToolResult:
    """Return more appointments than anybody has."""
    items: list[Any] = [
        {"day": f"day {n}", "what": f"appointment {n} with the quokka keeper", "where": "“Zoo”" * 6}
        for n in range(ITEMS)
    ]
    return llm.ToolResult(data={"success": True, "appointments": items})


def outputs(house: Home) -> list[str]:
    """Return what the newest session was told of tools, as it stood on the wire."""
    return [
        event["item"]["output"]
        for event in house.server.session.received_of("conversation.item.create")
        if event["item"]["type"] == "function_call_output"
    ]


async def say(house: Home, words: str, *replies: Any) -> None:  # noqa: ANN401
    """Say something in the kitchen and hear the reply to its end."""
    house.hears.append(words)
    house.replies.extend([*replies, "Fine."])
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


async def ask_for_much(house: Home) -> dict[str, Any]:
    """Have the model ask for the calendar; return what it was told."""
    await say(house, "what is in my calendar", [Call("calendar", "{}")])
    told: dict[str, Any] = json.loads(outputs(house)[-1])
    return told


async def read(house: Home, result: str, part: int) -> dict[str, Any]:
    """Have the model read a part; return what it was told."""
    arguments = json.dumps({"result": result, "part": part})
    await say(house, "go on", [Call(READ_RESULT, arguments)])
    told: dict[str, Any] = json.loads(outputs(house)[-1])
    return told


async def kept(house: Home) -> None:
    """Wait until the long result is in the archive."""
    (projection,) = house.assistant.projections()
    await house.until(lambda: not projection.results._keeping)
    await house.memory.storage.async_flush()


def words_on_disk(hass: HomeAssistant) -> str:
    """Return all that stands in any file of ours."""
    folder = Path(hass.config.path(".storage", DOMAIN))
    return "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())


async def test_a_long_result_is_told_in_parts(house: Home) -> None:
    """200 kB of a tool cost what one part may, and the model reads on in the same turn."""
    register(house, Tool("calendar", calendar))
    first: dict[str, Any] = {}

    def go_on(request: Request) -> list[Call]:
        first.update(json.loads(next(i.output for i in reversed(request.context) if i.output)))
        second = {"result": first["result"], "part": 2}
        return [Call(READ_RESULT, json.dumps(second))]

    await say(house, "what is in my calendar", [Call("calendar", "{}")], go_on)
    wire = outputs(house)
    assert len(wire) == 2
    assert all(estimate_tokens(output) <= TOKENS for output in wire)
    second = json.loads(wire[1])
    assert (first["part"], second["part"]) == (1, 2)
    assert first["of_parts"] == second["of_parts"] > 50
    assert first["characters_left_out"] > 200_000
    assert READ_RESULT in first["note"]
    assert first["text"].startswith("success: true\nappointments:\n  - day: day 0\n")
    assert (first["text"] + second["text"]).count("what: appointment") > 5
    # The record holds what the wire held.
    (record,) = house.records(house.kitchen)
    assert [call.output for call in record.calls] == wire
    await kept(house)
    last = await read(house, first["result"], first["of_parts"])
    assert f"appointment {ITEMS - 1} " in last["text"]


async def test_all_of_a_long_result_can_be_read_after_a_restart(house: Home) -> None:
    """What a tool told yesterday can be read on today, in the room where it was asked."""
    register(house, Tool("calendar", calendar))
    first = await ask_for_much(house)
    await kept(house)
    await house.restart()
    kitchen = resolve(house.hass, house.kitchen.entity_id, None)
    results = house.assistant.projection(kitchen, None).results
    text = first["text"]
    for number in range(2, 8):
        part = await results.async_read(first["result"], number, ())
        assert part is not None
        text += part.text
    told = [line.split()[2] for line in text.splitlines() if "what: appointment" in line]
    assert told == [str(n) for n in range(len(told))]
    assert (await read(house, first["result"], 2))["part"] == 2
    assert (await read(house, first["result"], 9999))["error"] == "no_such_part"
    assert (await read(house, "0123456789ab", 1))["error"] == "no_such_part"


async def test_another_room_reads_nothing_of_it(house: Home) -> None:
    """A result is for those who see its turn, and its id opens no other door."""
    register(house, Tool("calendar", calendar))
    first = await ask_for_much(house)
    await kept(house)
    bedroom = house.assistant.projection(resolve(house.hass, house.bedroom.entity_id, None), None)
    (kitchen,) = [each for each in house.assistant.projections() if each is not bedroom]
    everything = (*kitchen.visible, *bedroom.visible)
    assert await bedroom.results.async_read(first["result"], 1, everything) is None
    assert await kitchen.results.async_read(first["result"], 1, ()) is not None


async def test_a_person_s_result_is_for_that_person(house: Home, people: People) -> None:
    """What a tool told Anna alone is not read by whoever speaks next."""
    register(house, Tool("calendar", calendar))
    anna = person_scope(house.hass, people.anna)
    kitchen = house.kitchen.entity_id
    await act(house.hass, "set_speaker", entity_id=kitchen, speaker="anna", expires_in=60)
    first = await ask_for_much(house)
    await kept(house)
    assert (await read(house, first["result"], 2))["part"] == 2
    await act(house.hass, "set_speaker", entity_id=kitchen)
    assert (await read(house, first["result"], 2))["error"] == "no_such_part"
    results = next(house.assistant.projections()).results
    for _ in range(2):  # from memory, and from the disk
        assert await results.async_read(first["result"], 1, ()) is None
        assert await results.async_read(first["result"], 1, (anna,)) is not None
        results.forget()


async def test_what_is_forgotten_is_gone_from_long_results(house: Home) -> None:
    """Words in the depth of a long result are found and taken out, as everywhere."""
    register(house, Tool("calendar", calendar))
    first = await ask_for_much(house)
    await kept(house)
    assert "appointment 1500 with" in words_on_disk(house.hass)
    await house.memory.changes.async_forget_words(["appointment 1500 with"])
    assert "quokka" in words_on_disk(house.hass)
    assert "appointment 1500 with" not in words_on_disk(house.hass)
    assert (await read(house, first["result"], 2))["error"] == "no_such_part"


async def test_a_turn_that_is_forgotten_takes_its_results_along(house: Home) -> None:
    """Nothing of a turn is left, nor of the turns that only read on in its results."""
    register(house, Tool("calendar", calendar))
    first = await ask_for_much(house)
    await kept(house)
    await read(house, first["result"], 3)
    asked = house.records(house.kitchen)[0]
    key = next(house.assistant.projections()).key
    await house.memory.changes.async_forget_turns({key: [asked.id]})
    assert house.records(house.kitchen) == []
    assert "quokka" not in words_on_disk(house.hass)
    assert (await read(house, first["result"], 2))["error"] == "no_such_part"


async def test_where_nothing_is_remembered_it_ends_with_the_session(house: Home) -> None:
    """A satellite that remembers nothing can read on, and leaves nothing behind."""
    register(house, Tool("calendar", calendar))
    house.hass.config_entries.async_add_subentry(
        house.entry,
        ConfigSubentry(
            data=MappingProxyType(
                {"satellite": house.kitchen.registry_entry.id, "remember": False}  # type: ignore[union-attr]
            ),
            subentry_type="satellite",
            title="Kitchen",
            unique_id=None,
        ),
    )
    await house.hass.async_block_till_done()
    first = await ask_for_much(house)
    assert (await read(house, first["result"], 2))["part"] == 2
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    assert (await read(house, first["result"], 2))["error"] == "no_such_part"
    await house.memory.storage.async_flush()
    assert "quokka" not in words_on_disk(house.hass)


async def test_the_prefix_does_not_change(house: Home) -> None:
    """That there are long results costs nobody the provider's cache."""
    register(house, Tool("calendar", calendar))
    await ask_for_much(house)
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    await say(house, "hello")
    first, second = (
        [event["session"] for event in session.received_of("session.update")]
        for session in house.server.sessions
    )
    assert first == second
    assert READ_RESULT in json.dumps(first)


async def test_few_long_results_are_in_memory(house: Home) -> None:
    """A model that asks for the same again and again does not fill the house."""
    register(house, Tool("calendar", calendar))
    await ask_for_much(house)
    (projection,) = house.assistant.projections()
    (held,) = projection.results._held.values()
    for number in range(2 * MAX_HELD):
        projection.results._hold(str(number), held)
    assert len(projection.results._held) == MAX_HELD
