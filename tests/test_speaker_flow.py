"""The flow in which a person names somebody who may be recognised."""

from typing import Any, Final

import pytest
from homeassistant.config_entries import (
    ConfigSubentry,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.speakers import async_speakers, find
from tests.flows import Form, begin, submit
from tests.people import People, person_scope

pytest_plugins = ("tests.people",)


KIND: Final = "speaker"


@pytest.fixture
async def entry(hass: HomeAssistant, people: People) -> MockConfigEntry:
    """Have an account that is set up, in a home with people."""
    assert people.anna.id
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


def made(entry: MockConfigEntry) -> ConfigSubentry:
    """Return the speaker that was made last."""
    return [each for each in entry.subentries.values() if each.subentry_type == KIND][-1]


async def test_somebody_who_is_no_person(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Gran, who has no account in Home Assistant, is recognised by each of her names."""
    typed = {"name": " Gran ", "aliases": ["Oma", " ", " speaker 3 "]}
    result = await submit(hass, await begin(hass, entry, KIND), typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert made(entry).title == "Gran"
    assert made(entry).data == {"name": "Gran", "aliases": ["Oma", "speaker 3"]}
    gran = find(async_speakers(hass), "Speaker 3")
    assert gran is not None
    assert gran.key == ScopeKey(Scope.SPEAKER, made(entry).subentry_id)


async def test_other_names_of_a_person(
    hass: HomeAssistant, entry: MockConfigEntry, people: People
) -> None:
    """A person is recognised by other names too, and has one memory."""
    typed = {"name": "Anna", "person": "person.anna", "aliases": ["Annie"]}
    await submit(hass, await begin(hass, entry, KIND), typed)
    annie = find(async_speakers(hass), "annie")
    assert annie is not None
    assert annie.key == person_scope(hass, people.anna)
    assert made(entry).data["person"] == annie.key.id
    assert len(async_speakers(hass)) == 2


@pytest.mark.parametrize(
    ("typed", "errors"),
    [
        ({"name": "  "}, {"name": "name_missing"}),
        ({"name": "ANNA"}, {"name": "name_taken"}),
        ({"name": "Anna", "person": "person.tom"}, {"name": "name_taken"}),
        ({"name": "Gran", "aliases": ["person.tom"]}, {"aliases": "name_taken"}),
    ],
)
async def test_a_name_that_would_recognise_nobody(
    hass: HomeAssistant, entry: MockConfigEntry, typed: dict[str, Any], errors: dict[str, str]
) -> None:
    """A name that somebody else has is refused, and the form can be mended."""
    form = await submit(hass, await begin(hass, entry, KIND), typed)
    assert form["errors"] == errors
    result = await submit(hass, form, {"name": "Gran"})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_speaker_is_changed(
    hass: HomeAssistant, entry: MockConfigEntry, people: People
) -> None:
    """What was there is shown, one's own names are no conflict, and a person can be chosen."""
    await submit(hass, await begin(hass, entry, KIND), {"name": "Gran", "aliases": ["Oma"]})
    form: Form = await entry.start_subentry_reconfigure_flow(hass, made(entry).subentry_id)
    assert form["data_schema"] is not None
    shown = {
        str(key): key.description["suggested_value"]
        for key in form["data_schema"].schema
        if key.description
    }
    assert shown == {"name": "Gran", "aliases": ["Oma"], "person": None}
    form = await submit(hass, form, {"name": "Tom", "aliases": ["Oma"]})
    assert form["errors"] == {"name": "name_taken"}
    typed = {"name": "Granny", "aliases": ["Oma"], "person": "person.anna"}
    result = await submit(hass, form, typed)
    assert result["reason"] == "reconfigure_successful"
    assert made(entry).title == "Granny"
    oma = find(async_speakers(hass), "oma")
    assert oma is not None
    assert oma.key == person_scope(hass, people.anna)
