"""An assistant works with any data that its subentry may hold."""

from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from custom_components.realtime_assist.assistant import (
    DEFAULT_MODEL,
    AssistantOptions,
    TurnDetection,
    default_assistant,
    entity_id,
    registry_id,
)
from custom_components.realtime_assist.const import PROVIDER_COMPATIBLE


def test_no_data_at_all() -> None:
    """A subentry without data is an assistant that works."""
    options = AssistantOptions.from_subentry({})
    assert options == AssistantOptions()
    assert options.model == DEFAULT_MODEL
    assert options.llm_hass_api == ("assist",)


@pytest.mark.parametrize(
    "data",
    [
        {"turn_detection": "telepathy"},
        {"history_scope": 7},
        {"conversation_timeout": 0},
        {"resume_tokens": -5},
        {"context_tokens": "many"},
        {"context_tokens": True},
        {"tool_result_tokens": 299},
        {"model": "  "},
        {"voice": None},
        {"llm_hass_api": None},
    ],
)
def test_what_makes_no_sense_is_the_default(data: dict[str, Any]) -> None:
    """Data of a newer version, or edited by hand, never keeps an assistant from working."""
    assert AssistantOptions.from_subentry(data) == AssistantOptions()


def test_a_compatible_server_chooses_its_own_voice() -> None:
    """A server at home is not asked for a voice that only OpenAI has."""
    options = AssistantOptions.from_subentry({}, PROVIDER_COMPATIBLE)
    assert options.voice is None
    assert options.transcription_model == "whisper-1"


def test_tools_can_be_taken_away() -> None:
    """An assistant that shall only talk has no tools."""
    assert AssistantOptions.from_subentry({"llm_hass_api": []}).llm_hass_api == ()
    assert AssistantOptions.from_subentry({"llm_hass_api": "other"}).llm_hass_api == ("other",)


def test_what_is_known_is_kept() -> None:
    """Numbers of a form and words of a list become what they mean."""
    options = AssistantOptions.from_subentry(
        {"turn_detection": "server_vad", "resume_tokens": 900.0}
    )
    assert options.turn_detection is TurnDetection.SERVER_VAD
    assert options.resume_tokens == 900


@pytest.mark.parametrize(
    ("data", "limit"),
    [
        ({}, 96_000),
        ({"model": "gpt-realtime-2.1-mini"}, 96_000),
        ({"model": "gpt-realtime-1.5"}, 27_904),
        ({"model": "a-model-of-mine"}, 27_904),
        ({"context_tokens": 9_000}, 9_000),
        ({"context_tokens": 900_000}, 96_000),
        ({"context_tokens": 900_000, "model": "a-model-of-mine"}, 900_000),
    ],
)
def test_how_much_a_session_holds(data: dict[str, Any], limit: int) -> None:
    """A session is summarised before the model silently forgets."""
    assert AssistantOptions.from_subentry(data).context_limit == limit


def test_the_first_assistant() -> None:
    """The first assistant follows the newest model unless another one was chosen."""
    assert default_assistant()["data"] == {}
    assert default_assistant("other")["data"] == {"model": "other"}


async def test_references_outlive_renaming(hass: HomeAssistant) -> None:
    """An entity that is renamed is still the one that was chosen; one without registry is too."""
    registry = er.async_get(hass)
    entry = registry.async_get_or_create("tts", "test", "one")
    reference = registry_id(hass, entry.entity_id)
    registry.async_update_entity(entry.entity_id, new_entity_id="tts.renamed")
    assert entity_id(hass, reference) == "tts.renamed"
    assert registry_id(hass, "tts.from_yaml") == "tts.from_yaml"
    assert entity_id(hass, "tts.from_yaml") == "tts.from_yaml"
    registry.async_remove("tts.renamed")
    assert entity_id(hass, reference) is None
    assert entity_id(hass, None) is None
    assert registry_id(hass, None) is None
