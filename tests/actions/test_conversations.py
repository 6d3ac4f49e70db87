"""What belongs to a conversation alone: automations reach it where it goes on, while it does."""

import time
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from freezegun import freeze_time
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.realtime_assist.memory.scopes import FLEETING
from tests.home import Home
from tests.people import People, act, device_id
from tests.satellite import Satellite, speech

ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("set_memory", {"key": "a", "value": 1}),
    ("get_memory", {}),
    ("delete_memory", {"keys": ["a"]}),
    ("clear_memory", {}),
    ("search_memory", {"query": "a"}),
    ("update_memory", {"entries": {"a": 1}}),
    ("reset_session", {}),
]


async def turn(house: Home, satellite: Satellite) -> None:
    """Say something, and hear the answer to its end."""
    await satellite.hear(speech())
    await satellite.play()
    await house.settled()


def at(satellite: Satellite, scope: str = "session") -> dict[str, Any]:
    """Return how an action names the conversation at a satellite."""
    return {"scope": scope, "device_id": device_id(satellite)}


@pytest.mark.parametrize("scope", ["session", "temporary"])
async def test_only_the_conversation_that_is_meant_knows(house: Home, scope: str) -> None:
    """What holds for the kitchen's conversation is told there, and gone when that ends."""
    await turn(house, house.kitchen)
    kitchen = house.server.session
    await turn(house, house.bedroom)
    bedroom = house.server.session
    done = await act(
        house.hass, "set_memory", **at(house.kitchen, scope), key="game", value="chess"
    )
    assert [each["device_id"] for each in done["sessions"]] == [device_id(house.kitchen)]
    assert any("chess" in text for text in kitchen.texts())
    assert not any("chess" in text for text in bedroom.texts())
    (entry,) = (await act(house.hass, "get_memory", **at(house.kitchen, scope)))["entries"]
    assert (entry["scope"], entry["value"]) == (scope, "chess")
    assert (await act(house.hass, "get_memory", **at(house.bedroom, scope)))["entries"] == []
    found = await act(house.hass, "search_memory", **at(house.kitchen, scope), query="chess")
    assert [hit["scope"] for hit in found["hits"]] == [scope]
    await act(house.hass, "reset_session", device_id=device_id(house.kitchen))
    assert (await act(house.hass, "get_memory", **at(house.kitchen, scope)))["entries"] == []
    assert not any("chess" in text for text in house.server.session.texts())


async def test_what_is_temporary_has_a_lifetime(house: Home) -> None:
    """What is for the moment ends by itself, said or not, though the conversation goes on."""
    await turn(house, house.kitchen)
    where = at(house.kitchen, "temporary")
    (usual,) = (await act(house.hass, "set_memory", **where, key="a", value=1))["entries"]
    assert (usual["retention"], usual["expires_at"] is not None) == ("time_based", True)
    await act(house.hass, "set_memory", **where, key="b", value=2, expires_in=5)
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "set_memory", **where, key="c", value=3, retention="persistent")
    assert caught.value.translation_key == "invalid_options"
    context = house.memory.context
    for seconds, left in ((4, ["a", "b"]), (6, ["a"]), (16 * 60, [])):
        with freeze_time(dt_util.utcnow() + timedelta(seconds=seconds)):
            assert [entry.key for entry in context.visible(context.scopes())] == left


async def test_a_person_means_the_conversation_in_which_they_speak(
    house: Home, people: People
) -> None:
    """An automation that follows Anna reaches her where she speaks; nobody else may ask for her."""
    await act(house.hass, "set_speaker", entity_id=house.bedroom.entity_id, speaker="anna")
    await turn(house, house.bedroom)
    own = {"scope": "session", "entity_id": "person.anna"}
    done = await act(house.hass, "set_memory", user=people.anna, **own, key="game", value="chess")
    assert [each["device_id"] for each in done["sessions"]] == [device_id(house.bedroom)]
    for user in (people.tom, None):
        with pytest.raises(ServiceValidationError) as caught:
            await act(house.hass, "get_memory", user=user, **own)
        assert caught.value.translation_key == "not_your_memory"


async def test_where_nobody_speaks_there_is_no_conversation(house: Home) -> None:
    """An automation that comes too early or too late is told, and nothing is kept for later."""
    for scope, (action, data) in product(sorted(FLEETING), ACTIONS):
        with pytest.raises(ServiceValidationError) as caught:
            await act(house.hass, action, **at(house.kitchen, scope), **data)
        assert caught.value.translation_key == "no_conversation"
        with pytest.raises(ServiceValidationError) as caught:
            await act(house.hass, action, scope=scope, **data)
        assert caught.value.translation_key == "no_target"
    assert house.memory.context.scopes() == ()


async def test_a_conversation_is_over_when_nobody_goes_on(
    house: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the conversation timeout what was its own is gone, before anybody speaks again."""
    await turn(house, house.kitchen)
    where = at(house.kitchen)
    await act(house.hass, "set_memory", **where, key="game", value="chess")
    lasting: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    await act(house.hass, "set_memory", **lasting, key="a", value=1, retention="session_end")
    now = time.monotonic
    monkeypatch.setattr("time.monotonic", lambda: now() + 11 * 60)
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "get_memory", **where)
    assert caught.value.translation_key == "no_conversation"
    async_fire_time_changed(house.hass, dt_util.utcnow() + timedelta(minutes=2))
    await house.hass.async_block_till_done()
    assert house.memory.context.scopes() == ()
    await turn(house, house.kitchen)
    assert (await act(house.hass, "get_memory", **where))["entries"] == []
    assert not any("chess" in text for text in house.server.session.texts())


async def test_a_summary_is_no_part_of_a_conversation(house: Home) -> None:
    """Who would replace the summary of one conversation is told where summaries belong."""
    await turn(house, house.kitchen)
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "update_memory", **at(house.kitchen), summary="They played chess.")
    assert caught.value.translation_key == "summary_of_conversation"
