"""What a satellite's device gets: a switch, a button and an event; the select has its own tests."""

from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import State
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.realtime_assist.const import DOMAIN
from tests.people import device_id
from tests.satellite import Satellite, speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)


def ours(house: Home, satellite: Satellite, domain: str) -> State:
    """Return the state of our only entity of a domain on a satellite's device."""
    registry = er.async_get(house.hass)
    [entry] = [
        each
        for each in er.async_entries_for_device(registry, device_id(satellite))
        if each.platform == DOMAIN and each.domain == domain
    ]
    state = house.hass.states.get(entry.entity_id)
    assert state is not None
    return state


async def talk(house: Home, satellite: Satellite) -> None:
    """Ask something, and hear the answer to its end."""
    await satellite.hear(speech())
    await satellite.play()
    await house.settled()


async def switch(house: Home, to: str) -> None:
    """Turn the kitchen's switch, as a person does."""
    entity_id = ours(house, house.kitchen, "switch").entity_id
    await house.hass.services.async_call(
        "switch", f"turn_{to}", {"entity_id": entity_id}, blocking=True
    )
    await house.hass.async_block_till_done()


async def test_all_hang_on_the_satellites_own_device(house: Home) -> None:
    """What belongs to a satellite is found where the satellite is."""
    devices = len(dr.async_get(house.hass).devices)
    await talk(house, house.kitchen)
    for domain in ("button", "event", "select", "switch"):
        assert ours(house, house.kitchen, domain).name.startswith("kitchen")
    assert len(dr.async_get(house.hass).devices) == devices


async def test_a_satellite_is_told_to_remember_nothing(house: Home) -> None:
    """Whoever has guests switches the memory of a room off, and on again, without a form."""
    await talk(house, house.kitchen)
    assert ours(house, house.kitchen, "switch").state == "on"
    before = len(house.records(house.kitchen))
    await switch(house, "off")
    assert ours(house, house.kitchen, "switch").state == "off"
    assert ours(house, house.bedroom, "switch").state == "on"
    await talk(house, house.kitchen)
    [subentry] = house.entry.get_subentries_of_type("satellite")
    assert subentry.data["remember"] is False
    assert subentry.title == "kitchen"
    await switch(house, "on")
    assert ours(house, house.kitchen, "switch").state == "on"
    await talk(house, house.kitchen)
    assert len(house.records(house.kitchen)) == before + 1


async def test_settings_of_one_satellite_cut_no_conversation_at_another(house: Home) -> None:
    """Who changes how the kitchen works does not end what is said in the bedroom."""
    await talk(house, house.kitchen)
    await switch(house, "off")
    await talk(house, house.bedroom)
    [session] = house.server.open_sessions
    await switch(house, "on")
    await switch(house, "off")
    assert house.entry.state is ConfigEntryState.LOADED
    await talk(house, house.bedroom)
    assert house.server.open_sessions == [session]


async def test_a_button_begins_a_new_conversation(house: Home) -> None:
    """Who wants to talk of something else presses a button, and what was said stays known."""
    await talk(house, house.kitchen)
    before = house.server.session
    await house.hass.services.async_call(
        "button",
        "press",
        {"entity_id": ours(house, house.kitchen, "button").entity_id},
        blocking=True,
    )
    await talk(house, house.kitchen)
    assert house.server.session is not before
    assert len(house.records(house.kitchen)) == 2


async def test_an_event_says_how_a_turn_ended(house: Home) -> None:
    """An automation can do something when an answer failed, and nothing of what was said leaks."""
    house.replies.append("The word is abracadabra.")
    await talk(house, house.kitchen)
    await talk(house, house.kitchen)
    event = ours(house, house.kitchen, "event")
    assert event.attributes["event_type"] == "answered"
    assert event.attributes["tools"] == 0
    assert event.attributes["duration"] > 0
    house.server.refuse_connections = True
    await house.assistant.hub.async_close()
    await talk(house, house.kitchen)
    event = ours(house, house.kitchen, "event")
    assert event.attributes["event_type"] == "failed"
    assert event.attributes["error"]
    assert "abracadabra" not in str(event.as_dict())
    bedroom = ours(house, house.bedroom, "event")
    assert bedroom.state == "unknown"
