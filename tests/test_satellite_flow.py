"""The flow in which a person says what is special about a satellite."""

from typing import Final

import pytest
from homeassistant.config_entries import (
    ConfigSubentry,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.satellites import SatelliteOptions, async_satellite_options
from tests.flows import begin, submit

KIND: Final = "satellite"


@pytest.fixture
async def entry(hass: HomeAssistant) -> MockConfigEntry:
    """Have an account that is set up."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


@pytest.fixture
def kitchen(hass: HomeAssistant) -> er.RegistryEntry:
    """Have a satellite."""
    made = er.async_get(hass).async_get_or_create("assist_satellite", "test", "kitchen")
    hass.states.async_set(made.entity_id, "idle", {"friendly_name": "Kitchen"})
    return made


def made(entry: MockConfigEntry) -> ConfigSubentry:
    """Return the settings that were made last."""
    return [each for each in entry.subentries.values() if each.subentry_type == KIND][-1]


async def test_a_satellite_of_ones_own(
    hass: HomeAssistant, entry: MockConfigEntry, kitchen: er.RegistryEntry
) -> None:
    """Each setting that a person makes holds for that satellite, also when it is renamed."""
    registry = er.async_get(hass)
    source = registry.async_get_or_create("sensor", "test", "voice")
    form = await begin(hass, entry, KIND)
    assert form["step_id"] == "user"
    typed = {
        "satellite": kitchen.entity_id,
        "remember": False,
        "recognising": {
            "speaker_source": source.entity_id,
            "speaker_confidence": 0.6,
            "speaker_seconds": 20.0,
        },
        "playing": {"leading_silence_ms": 200.0, "trailing_silence_ms": 100.0},
    }
    result = await submit(hass, form, typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert made(entry).title == "Kitchen"
    registry.async_update_entity(kitchen.entity_id, new_entity_id="assist_satellite.cooking")
    assert made(entry).data["satellite"] == kitchen.id
    assert async_satellite_options(hass, kitchen.id) == SatelliteOptions(
        speaker_source=source.id,
        speaker_confidence=0.6,
        speaker_seconds=20,
        remember=False,
        leading_silence_ms=200,
        trailing_silence_ms=100,
    )


async def test_a_satellite_has_one_set_of_settings(
    hass: HomeAssistant, entry: MockConfigEntry, kitchen: er.RegistryEntry
) -> None:
    """Nobody makes settings that would contradict others; the form says so and can be mended."""
    typed = {"satellite": kitchen.entity_id, "remember": True}
    await submit(hass, await begin(hass, entry, KIND), typed)
    assert async_satellite_options(hass, kitchen.id) == SatelliteOptions()
    other = MockConfigEntry(domain=DOMAIN, data={"base_url": "other"})
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    form = await submit(hass, await begin(hass, other, KIND), typed)
    assert form["errors"] == {"satellite": "satellite_taken"}
    result = await submit(hass, form, {**typed, "satellite": "assist_satellite.nameless"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert made(other).title == "assist_satellite.nameless"


async def test_settings_are_changed(
    hass: HomeAssistant, entry: MockConfigEntry, kitchen: er.RegistryEntry
) -> None:
    """What was chosen before is shown, and what is changed holds; a source can be taken away."""
    source = er.async_get(hass).async_get_or_create("sensor", "test", "voice")
    typed = {
        "satellite": kitchen.entity_id,
        "remember": True,
        "recognising": {
            "speaker_source": source.entity_id,
            "speaker_confidence": 0.6,
            "speaker_seconds": 20,
        },
    }
    await submit(hass, await begin(hass, entry, KIND), typed)
    form = await entry.start_subentry_reconfigure_flow(hass, made(entry).subentry_id)
    assert form["step_id"] == "reconfigure"
    assert form["data_schema"] is not None
    fields = {str(key): (key, value) for key, value in form["data_schema"].schema.items()}
    assert "satellite" not in fields
    shown = {
        str(key): key.description.get("suggested_value")
        for key in fields["recognising"][1].schema.schema
        if key.description
    }
    assert shown["speaker_source"] == source.entity_id
    assert shown["speaker_confidence"] == 0.6
    result = await submit(
        hass,
        form,
        {"remember": False, "recognising": {"speaker_confidence": 0.7, "speaker_seconds": 30}},
    )
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "reconfigure_successful"
    assert async_satellite_options(hass, kitchen.id) == SatelliteOptions(
        speaker_confidence=0.7, speaker_seconds=30, remember=False
    )
