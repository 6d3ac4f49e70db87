"""The actions: memory.update on what is stored, and on what live sessions hold."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import issue_registry as ir

from custom_components.realtime_assist.const import DOMAIN
from tests.loopback import Speech
from tests.satellite import Satellite, speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)


async def update(hass: HomeAssistant, **data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Call the action as an automation does, and return its response."""
    response = await hass.services.async_call(
        "memory", "update", data, blocking=True, return_response=True
    )
    assert response is not None
    return dict(response)


def device_id(satellite: Satellite) -> str:
    """Return the device of a satellite."""
    assert satellite.registry_entry is not None
    assert satellite.registry_entry.device_id is not None
    return satellite.registry_entry.device_id


async def turn(house: Home, satellite: Satellite) -> None:
    """Say something, and hear the answer to its end."""
    await satellite.hear(speech())
    await satellite.play()
    await house.settled()


async def test_a_fact_reaches_the_session_that_is_open(house: Home) -> None:
    """What an automation remembers is known in the conversation that is going on."""
    await turn(house, house.kitchen)
    response = await update(
        house.hass, device_id=device_id(house.kitchen), entries={"bins": "go out on Thursday"}
    )
    assert response["entries"] == {"set": 1, "forgotten": 0}
    (session,) = response["sessions"]
    assert session["satellite"] == house.kitchen.entity_id
    assert session["device_id"] == device_id(house.kitchen)
    assert (session["state"], session["created"], session["failed"]) == ("updated", 1, 0)
    assert any("Thursday" in text for text in house.server.session.texts())


async def test_a_fact_of_one_room_stays_in_that_room(house: Home) -> None:
    """What belongs to one satellite is not told to another; what belongs to the home is."""
    await turn(house, house.kitchen)
    await turn(house, house.bedroom)
    await update(house.hass, scope="device", scope_id=house.kitchen.entity_id, entries={"a": "one"})
    response = await update(house.hass, scope="global", entries={"b": "two"})
    assert len(response["sessions"]) == 2
    kitchen, bedroom = house.server.sessions
    assert any("one" in text for text in kitchen.texts())
    assert not any("one" in text for text in bedroom.texts())
    assert all(any("two" in text for text in session.texts()) for session in (kitchen, bedroom))


async def test_a_fact_that_is_forgotten_is_withdrawn(house: Home) -> None:
    """What is forgotten is gone from the conversation, too."""
    await update(house.hass, scope="global", entries={"code": "4711", "cat": "Miezi"})
    await turn(house, house.kitchen)
    assert any("4711" in text for text in house.server.session.texts())
    response = await update(house.hass, scope="global", forget=["code", "unheard of"])
    assert response["entries"] == {"set": 0, "forgotten": 1}
    await turn(house, house.kitchen)
    texts = house.server.session.texts()
    assert not any("4711" in text for text in texts)
    assert any("Miezi" in text for text in texts)


async def test_an_update_in_the_middle_of_an_answer_cuts_nobody_off(house: Home) -> None:
    """An automation may remember something while the house speaks; it is known right after."""
    house.replies.append(Speech("This takes a while.", ms=60_000))
    heard = asyncio.create_task(house.kitchen.hear(speech()))
    await house.server.wait_for(
        lambda s: s.sessions and s.session.sent_of("response.output_audio.delta")
    )
    session = house.server.session
    asking = asyncio.create_task(update(house.hass, scope="global", entries={"bins": "Thursday"}))
    await asyncio.sleep(0.05)
    assert not any("Thursday" in text for text in session.texts())
    assert session.responder.active
    await heard
    response = await asking
    assert response["sessions"][0]["state"] in ("updated", "deferred")
    await house.until(lambda: any("Thursday" in text for text in session.texts()))
    assert not session.received_of("response.cancel")
    assert session.sent_of("response.done")[-1]["response"]["status"] == "completed"


async def test_a_full_update_opens_a_new_session(house: Home) -> None:
    """Whoever does not trust what the provider holds can have all of it told anew."""
    house.hears.append("the cat is in the garden")
    await turn(house, house.kitchen)
    response = await update(house.hass, full=True)
    assert response["sessions"][0]["rebuilt"] is True
    assert len(house.server.sessions) == 2
    assert any("cat is in the garden" in text for text in house.server.session.texts())


async def test_a_summary_replaces_what_was_known(house: Home) -> None:
    """A person can put right what the house made of earlier conversations."""
    await turn(house, house.kitchen)
    await update(
        house.hass, scope="device", scope_id=device_id(house.kitchen), summary="Anna likes tea."
    )
    await update(house.hass, full=True)
    assert any("Anna likes tea." in text for text in house.server.session.texts())


async def test_nothing_open_is_no_error(house: Home) -> None:
    """Memory can be changed while the house is quiet; the next conversation knows."""
    response = await update(house.hass, scope="global", entries={"bins": "Thursday"})
    assert response == {"sessions": [], "entries": {"set": 1, "forgotten": 0}}
    await turn(house, house.kitchen)
    assert any("Thursday" in text for text in house.server.session.texts())


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"scope": "global", "forget": []}, "empty_filter"),
        ({"scope": "global", "entries": {}}, "empty_filter"),
        ({"scope": "global", "summary": ""}, "empty_filter"),
        ({"entries": {"a": 1}}, "no_target"),
        ({"scope": "device", "entries": {"a": 1}}, "no_target"),
        ({"scope": "device", "scope_id": "nowhere", "entries": {"a": 1}}, "not_found_scope"),
        ({"scope": "area", "scope_id": "nowhere", "entries": {"a": 1}}, "not_found_scope"),
        ({"scope": "global", "entries": {"a": {1, 2}}}, "invalid_value"),
        ({"scope": "global", "entries": {"a": {"value": 1, "priority": "x"}}}, "invalid_value"),
        ({"scope": "global", "entries": {"a": float("nan")}}, "invalid_value"),
        ({"scope": "global", "entries": {"a": {"value": 1, "retention": "x"}}}, "invalid_options"),
        ({"scope": "global", "entries": {"a": {"value": 1, "expires_in": -1}}}, "invalid_options"),
    ],
)
async def test_a_mistake_is_told_and_changes_nothing(
    house: Home, data: dict[str, Any], key: str
) -> None:
    """Whoever makes a mistake in an automation is told which, and loses nothing."""
    with pytest.raises(ServiceValidationError) as caught:
        await update(house.hass, **data)
    assert caught.value.translation_key == key
    assert not house.memory.context.scopes()


async def test_a_memory_that_a_newer_version_wrote_is_left_alone(house: Home) -> None:
    """Whoever went back to an older version is told why nothing new is remembered."""
    house.memory.context.guard(lambda _scope: "newer_file")
    with pytest.raises(ServiceValidationError) as caught:
        await update(house.hass, scope="global", entries={"a": 1})
    assert caught.value.translation_key == "storage_read_only"


async def test_another_integration_that_takes_the_action_is_told_of(house: Home) -> None:
    """A person learns that memory.update is not ours any more, and what to use instead."""
    issues = ir.async_get(house.hass)
    assert not issues.issues
    house.hass.services.async_register("memory", "update", lambda _call: None)
    assert any(domain == DOMAIN for domain, _ in issues.issues)


async def test_what_is_forgotten_is_gone_from_what_was_said(house: Home) -> None:
    """A code that somebody said aloud is gone with the fact: from history, and from the session."""
    house.hears.extend(["the code is 4711", "the cat is called Miezi"])
    house.replies.extend(["I will keep it.", "A nice name."])
    for _ in range(2):
        await turn(house, house.kitchen)
    await update(house.hass, scope="global", entries={"code": "4711"})
    await update(house.hass, scope="global", forget=["code"])
    assert [r.heard_text for r in house.records(house.kitchen)] == ["the cat is called Miezi"]
    await turn(house, house.kitchen)
    assert not any("4711" in text for text in house.server.session.texts())
    spoken = [item for item in house.brain.requests[-1].context if item.role == "user"]
    assert len([item for item in spoken if item.audio]) == 2
