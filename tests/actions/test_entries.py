"""Actions on entries: what an automation writes, reads and forgets."""

from typing import Any

import pytest
from homeassistant.exceptions import ServiceValidationError

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.services import ACTIONS
from tests.home import Home
from tests.people import act, device_id
from tests.satellite import speech


async def turn(house: Home, words: str = "", reply: str = "") -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    if words:
        house.hears.append(words)
    if reply:
        house.replies.append(reply)
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


async def test_what_is_set_is_read_with_all_that_is_known_of_it(house: Home) -> None:
    """An automation finds again what it wrote, until when it holds, and what was there before."""
    await act(house.hass, "set_memory", scope="global", key="bins", value="Tuesday")
    response = await act(
        house.hass,
        "set_memory",
        scope="global",
        key="bins",
        value="Thursday",
        expires_in={"hours": 2},
        tags=["household"],
        priority=3,
        metadata={"from": "calendar"},
        pinned=True,
    )
    assert response["sessions"] == []
    got = await act(house.hass, "get_memory", scope="global", keys=["bins", "cat"])
    (entry,) = got["entries"]
    assert {**response["entries"][0], "accessed": entry["accessed"]} == entry
    assert (entry["scope"], entry["scope_id"], entry["key"]) == ("global", "home", "bins")
    assert (entry["value"], entry["version"]) == ("Thursday", 2)
    assert [old["value"] for old in entry["previous"]] == ["Tuesday"]
    assert (entry["retention"], entry["source"]) == ("time_based", "action")
    assert (entry["tags"], entry["priority"], entry["pinned"]) == (["household"], 3, True)
    assert entry["metadata"] == {"from": "calendar"}
    assert "owner" not in entry
    kept = await act(
        house.hass, "set_memory", scope="global", key="bins", value="Thursday", retention="manual"
    )
    assert kept["entries"][0]["expires_at"] is None
    assert (await act(house.hass, "get_memory", scope="global", tags=["other"]))["entries"] == []


async def test_a_room_and_its_satellite_are_two_scopes(house: Home) -> None:
    """What a room remembers is not read as what its satellite remembers."""
    await act(house.hass, "set_memory", area_id="kitchen", key="oven", value="on")
    target: dict[str, Any] = {"entity_id": house.kitchen.entity_id}
    assert (await act(house.hass, "get_memory", **target))["entries"] == []
    both = await act(house.hass, "get_memory", area_id="kitchen", **target)
    assert [entry["scope"] for entry in both["entries"]] == ["area"]


async def test_a_fact_that_is_set_or_forgotten_reaches_the_open_session(house: Home) -> None:
    """The conversation that is going on follows each of these actions."""
    await turn(house)
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    done = await act(house.hass, "set_memory", **where, key="bins", value="Thursday")
    assert [each["state"] for each in done["sessions"]] == ["updated"]
    assert any("Thursday" in text for text in house.server.session.texts())
    gone = await act(house.hass, "delete_memory", **where, keys=["bins", "unheard of"])
    assert gone["forgotten"] == 1
    assert not any("Thursday" in text for text in house.server.session.texts())
    await act(house.hass, "set_memory", **where, key="bins", value="Friday")
    cleared = await act(house.hass, "clear_memory", **where)
    assert (cleared["forgotten"], cleared["turns"]) == (1, 0)
    assert not any("Friday" in text for text in house.server.session.texts())
    assert len(house.records(house.kitchen)) == 1


async def test_clearing_takes_what_was_said_too_if_asked(house: Home) -> None:
    """Who moves out leaves neither facts nor words behind, also not in an open session."""
    await turn(house, "my name is Anna", "Hello Anna.")
    await act(house.hass, "set_memory", scope="global", key="cat", value="Miezi")
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    cleared = await act(house.hass, "clear_memory", **where, history=True)
    assert (cleared["forgotten"], cleared["turns"]) == (0, 1)
    assert house.records(house.kitchen) == []
    await turn(house, "who am I")
    seen = house.brain.requests[-1]
    assert not any("Anna" in text for text in seen.texts())
    assert len([item for item in seen.context if item.audio and item.role == "user"]) == 1
    assert any("Miezi" in text for text in seen.texts())


async def test_reading_shows_the_summary_that_can_be_put_right(house: Home) -> None:
    """A person sees what the house made of earlier conversations."""
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    await act(house.hass, "update_memory", **where, summary="Anna likes tea.")
    (summary,) = (await act(house.hass, "get_memory", **where))["summaries"]
    assert summary["scope_id"] == device_id(house.kitchen)
    assert [line["text"] for line in summary["lines"]] == ["Anna likes tea."]


async def test_a_fact_forgotten_in_mid_turn_does_not_come_back_with_it(house: Home) -> None:
    """A code that is forgotten while somebody says it is in no history afterwards."""
    await act(house.hass, "set_memory", scope="global", key="code", value="4711")
    house.hears.append("is the code 4711")
    house.replies.append("Yes, it is 4711.")
    await house.kitchen.hear(speech())
    await act(house.hass, "delete_memory", scope="global", keys=["code"])
    await house.kitchen.play()
    await house.settled()
    assert house.records(house.kitchen) == []
    await turn(house, "hello")
    seen = house.brain.requests[-1]
    assert len([item for item in seen.context if item.audio and item.role == "user"]) == 1


@pytest.mark.parametrize(
    ("action", "data", "key"),
    [
        ("set_memory", {"key": "a", "value": 1}, "no_target"),
        ("get_memory", {}, "no_target"),
        ("get_memory", {"scope": "global", "keys": []}, "empty_filter"),
        ("delete_memory", {"scope": "global", "keys": []}, "empty_filter"),
        ("clear_memory", {}, "no_target"),
        ("clear_memory", {"area_id": []}, "no_target"),
        ("clear_memory", {"scope": "device"}, "no_target"),
        ("search_memory", {"scope": "global"}, "empty_filter"),
        ("search_memory", {"query": "bins"}, "no_target"),
        ("summarize", {}, "no_target"),
        ("reset_session", {}, "no_target"),
        ("export_memory", {}, "no_target"),
        ("set_memory", {"scope": "speaker", "scope_id": "nobody", "key": "a", "value": 1}, None),
    ],
)
async def test_an_empty_filter_never_means_everything(
    house: Home, action: str, data: dict[str, Any], key: str | None
) -> None:
    """Whoever forgets to say what is meant changes nothing, and is told."""
    await act(house.hass, "set_memory", scope="global", key="cat", value="Miezi")
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, action, **data)
    assert caught.value.translation_key == (key or "not_found_scope")
    assert len((await act(house.hass, "get_memory", scope="global"))["entries"]) == 1


async def test_every_action_is_there_and_answers(house: Home) -> None:
    """Automations and people find all actions, whatever accounts there are."""
    assert set(house.hass.services.async_services()[DOMAIN]) == set(ACTIONS)
