"""The select on a satellite's device: it shows who counts as speaking, and lets people say so."""

from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.auth.models import User
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_fire_time_changed,
)

from custom_components.realtime_assist.assignment import NOBODY, async_owner
from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.pipeline.origin import resolve
from tests.people import People, act, device_id, person_scope
from tests.satellite import Satellite, speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")


def selects(hass: HomeAssistant, satellite: Satellite) -> list[er.RegistryEntry]:
    """Return our selects on a satellite's device."""
    found = er.async_entries_for_device(er.async_get(hass), device_id(satellite))
    return [each for each in found if each.platform == DOMAIN and each.domain == "select"]


def shown(house: Home) -> str:
    """Return who the kitchen's select says is speaking."""
    [select] = selects(house.hass, house.kitchen)
    state = house.hass.states.get(select.entity_id)
    assert state is not None
    return state.state


def options(house: Home) -> list[str]:
    """Return who can be chosen in the kitchen."""
    [select] = selects(house.hass, house.kitchen)
    state = house.hass.states.get(select.entity_id)
    assert state is not None
    return list(state.attributes["options"])


async def choose(house: Home, option: str, user: User | None = None) -> None:
    """Choose who speaks in the kitchen, as a person does."""
    [select] = selects(house.hass, house.kitchen)
    await house.hass.services.async_call(
        "select",
        "select_option",
        {"entity_id": select.entity_id, "option": option},
        blocking=True,
        context=Context(user_id=user.id if user else None),
    )


async def use(house: Home) -> None:
    """Talk to the kitchen: by then it is known which assistant it uses."""
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


def registered(satellite: Satellite) -> er.RegistryEntry:
    """Return what the registry knows of a satellite."""
    assert satellite.registry_entry is not None
    return satellite.registry_entry


def about(satellite: Satellite) -> ConfigSubentry:
    """Return a subentry with settings of a satellite."""
    return ConfigSubentry(
        data=MappingProxyType({"satellite": registered(satellite).id}),
        subentry_type="satellite",
        title="Settings",
        unique_id=None,
    )


async def test_it_hangs_on_the_satellites_own_device(house: Home) -> None:
    """Who speaks is found where the satellite is, and there is no second device for it."""
    hass = house.hass
    devices = len(dr.async_get(hass).devices)
    await use(house)
    [select] = selects(hass, house.kitchen)
    assert select.config_entry_id == house.entry.entry_id
    assert len(dr.async_get(hass).devices) == devices
    state = hass.states.get(select.entity_id)
    assert state is not None
    assert state.name.endswith("Speaker")
    assert state.state == "unknown"
    await hass.config_entries.async_reload(house.entry.entry_id)
    assert [each.entity_id for each in selects(hass, house.kitchen)] == [select.entity_id]


async def test_a_person_is_chosen(house: Home, people: People) -> None:
    """Who is chosen is who speaks, and a guest is nobody who is known."""
    await use(house)
    at = house.kitchen.entity_id
    assert options(house) == ["Anna", "Tom", "guest", "unknown"]
    await choose(house, "Anna")
    assert shown(house) == "Anna"
    assert resolve(house.hass, at, None).speaker == person_scope(house.hass, people.anna)
    for nobody in ("guest", "unknown"):
        await choose(house, nobody)
        assert shown(house) == nobody
        assert resolve(house.hass, at, None).speaker is None


async def test_only_an_administrator_chooses_somebody_else(house: Home, people: People) -> None:
    """Nobody hears what belongs to another person by choosing that person."""
    await use(house)
    assert isinstance(people.tom, MockUser)
    people.tom.mock_policy({"entities": True})
    with pytest.raises(ServiceValidationError):
        await choose(house, "Anna", people.tom)
    assert shown(house) == "unknown"
    await choose(house, "Tom", people.tom)
    await choose(house, "Anna", people.admin)
    assert shown(house) == "Anna"
    await choose(house, "guest", people.tom)
    assert shown(house) == "guest"


async def test_it_follows_whatever_else_is_known(
    house: Home, people: People, freezer: FrozenDateTimeFactory
) -> None:
    """It shows what a recogniser and an automation say, and when that is over."""
    assert people.anna.id
    hass = house.hass
    subentry = about(house.kitchen)
    hass.config_entries.async_add_subentry(house.entry, subentry)
    await hass.async_block_till_done()
    hass.config_entries.async_update_subentry(
        house.entry, subentry, data={**subentry.data, "speaker_source": "sensor.voice"}
    )
    await hass.async_block_till_done()
    hass.states.async_set("sensor.voice", "Anna")
    await hass.async_block_till_done()
    assert shown(house) == "Anna"
    freezer.tick(61)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert shown(house) == "unknown"
    await act(hass, "set_speaker", entity_id=house.kitchen.entity_id, speaker="Tom")
    assert shown(house) == "Tom"
    freezer.tick(timedelta(hours=1, seconds=1))
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert shown(house) == "unknown"


async def test_a_choice_does_not_outlive_a_person(house: Home, people: People) -> None:
    """Somebody new can be chosen at once, and somebody who left no more."""
    assert people.anna.id
    await use(house)
    await choose(house, "Anna")
    er.async_get(house.hass).async_remove("person.anna")
    house.hass.states.async_remove("person.anna")
    house.hass.states.async_set("person.zoe", "home", {"friendly_name": "Zoe"})
    await house.hass.async_block_till_done()
    assert shown(house) == "unknown"
    assert options(house) == ["Tom", "Zoe", "guest", "unknown"]


async def test_a_satellite_that_uses_something_else_has_none(house: Home) -> None:
    """Satellites that never use our assistants are left alone, also later."""
    hass = house.hass
    await use(house)
    assert selects(hass, house.bedroom)
    chosen = er.async_get(hass).async_get_or_create(
        "select",
        "test",
        "bedroom",
        device_id=device_id(house.bedroom),
        translation_key="pipeline",
    )
    await hass.async_block_till_done()
    assert async_owner(hass, registered(house.bedroom)) is None
    assert selects(hass, house.bedroom)
    hass.states.async_set(chosen.entity_id, "Another assistant")
    await hass.async_block_till_done()
    assert async_owner(hass, registered(house.bedroom)) == NOBODY
    assert not selects(hass, house.bedroom)
    hass.states.async_set(chosen.entity_id, "preferred")
    await hass.async_block_till_done()
    assert selects(hass, house.bedroom)
    await house.pipeline(conversation_engine="conversation.home_assistant", stt_engine=None)
    assert async_owner(hass, registered(house.bedroom)) == house.entry.entry_id
    await house.pipeline(tts_engine=None, tts_language=None)
    assert async_owner(hass, registered(house.bedroom)) == NOBODY


async def test_settings_of_a_satellite_bring_it(house: Home) -> None:
    """Who has made settings for a satellite in an account finds the select there, and once."""
    hass = house.hass
    other = MockConfigEntry(domain=DOMAIN, data={"base_url": house.server.base_url})
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    await use(house)
    assert [each.config_entry_id for each in selects(hass, house.kitchen)] == [house.entry.entry_id]
    subentry = about(house.kitchen)
    hass.config_entries.async_add_subentry(other, subentry)
    await hass.async_block_till_done()
    [select] = selects(hass, house.kitchen)
    assert select.config_entry_id == other.entry_id
    assert select.config_subentry_id == subentry.subentry_id
    assert await hass.config_entries.async_remove(other.entry_id)


async def test_a_satellite_that_is_removed_takes_it_along(house: Home) -> None:
    """Nothing is left over of a satellite that was thrown away."""
    hass = house.hass
    await use(house)
    [select] = selects(hass, house.kitchen)
    er.async_get(hass).async_remove(house.kitchen.entity_id)
    await hass.async_block_till_done()
    assert er.async_get(hass).async_get(select.entity_id) is None
