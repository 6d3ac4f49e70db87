"""The flow in which a person adds an assistant to an account, or changes one."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from homeassistant.config_entries import (
    ConfigSubentry,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.realtime_assist.assistant import (
    DEFAULT_MODEL,
    DEFAULT_PROMPT,
    AssistantOptions,
    HistoryScope,
    SummarizerChoice,
    TurnDetection,
    default_assistant,
    entity_id,
)
from custom_components.realtime_assist.assistant_flow import SECTIONS
from custom_components.realtime_assist.const import DOMAIN, SUBENTRY_ASSISTANT
from tests.flows import Form, begin, submit
from tests.loopback import Error, Fault, LoopbackServer

pytestmark = pytest.mark.usefixtures("socket_enabled")


NEW: Final = "gpt-realtime-2.1-mini"


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    """Have a provider in this machine."""
    async with LoopbackServer() as server:
        yield server


@pytest.fixture
async def entry(hass: HomeAssistant, server: LoopbackServer) -> MockConfigEntry:
    """Have an account that is set up."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(
        domain=DOMAIN,
        data={"provider": "openai", "base_url": server.base_url, "api_key": "a key"},
        subentries_data=[default_assistant()],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


def first(entry: MockConfigEntry) -> ConfigSubentry:
    """Return the account's first assistant."""
    return next(iter(entry.subentries.values()))


def suggested(form: Form) -> dict[str, Any]:
    """Return what the form shows before anybody types, section by section."""
    assert form["data_schema"] is not None
    shown: dict[str, Any] = {}
    for key, value in form["data_schema"].schema.items():
        parts = {key: value}
        if hasattr(value, "schema") and hasattr(value, "options"):
            parts = value.schema.schema
        for each in parts:
            if each.description:
                shown[str(each)] = each.description.get("suggested_value")
    return shown


async def test_an_assistant_with_every_default(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """A second assistant needs nothing but a name."""
    form = await begin(hass, entry, SUBENTRY_ASSISTANT)
    assert form["step_id"] == "user"
    assert suggested(form)["prompt"] == DEFAULT_PROMPT
    assert suggested(form)["llm_hass_api"] == ["assist"]
    result = await submit(hass, form, {"name": "Butler", "model": DEFAULT_MODEL})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert len(entry.subentries) == 2
    made = list(entry.subentries.values())[-1]
    assert made.title == "Butler"
    assert AssistantOptions.from_subentry(made.data) == AssistantOptions()


async def test_an_assistant_of_ones_own(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Each option that a person chooses is what the assistant does."""
    registry = er.async_get(hass)
    speaker = registry.async_get_or_create("tts", "test", "speaker")
    writer = registry.async_get_or_create("ai_task", "test", "writer")
    typed = {
        "name": "Butler",
        "model": NEW,
        "prompt": "Be brief, {{ user }}.",
        "llm_hass_api": [],
        "names_on_request": True,
        "speaking": {"voice": "cedar", "fallback_tts": speaker.entity_id},
        "listening": {
            "turn_detection": "semantic_vad",
            "transcription_model": "gpt-transcribe",
            "language": "de",
        },
        "remembering": {
            "history_scope": "global",
            "conversation_timeout": 30.0,
            "resume_tokens": 800.0,
            "context_tokens": 20_000.0,
            "summarizer": "ai_task",
            "ai_task_entity": writer.entity_id,
            "tool_result_tokens": 900.0,
        },
    }
    await submit(hass, await begin(hass, entry, SUBENTRY_ASSISTANT), typed)
    made = list(entry.subentries.values())[-1]
    assert isinstance(made.data["resume_tokens"], int)
    options = AssistantOptions.from_subentry(made.data)
    assert options == AssistantOptions(
        model=NEW,
        voice="cedar",
        prompt="Be brief, {{ user }}.",
        llm_hass_api=(),
        names_on_request=True,
        turn_detection=TurnDetection.SEMANTIC_VAD,
        history_scope=HistoryScope.GLOBAL,
        conversation_timeout=30,
        resume_tokens=800,
        context_tokens=20_000,
        summarizer=SummarizerChoice.AI_TASK,
        ai_task_entity=writer.id,
        tool_result_tokens=900,
        fallback_tts=speaker.id,
        transcription_model="gpt-transcribe",
        language="de",
    )
    registry.async_update_entity(speaker.entity_id, new_entity_id="tts.renamed")
    assert entity_id(hass, options.fallback_tts) == "tts.renamed"


async def test_an_assistant_is_changed(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """What was chosen is shown again, and what is cleared goes back to its default."""
    speaker = er.async_get(hass).async_get_or_create("tts", "test", "speaker")
    chosen = {
        "prompt": "Be brief.",
        "voice": "cedar",
        "llm_hass_api": ["assist", "one that is gone"],
        "fallback_tts": speaker.id,
    }
    hass.config_entries.async_update_subentry(entry, first(entry), data=chosen)
    await hass.async_block_till_done()
    form = await entry.start_subentry_reconfigure_flow(hass, first(entry).subentry_id)
    assert form["step_id"] == "reconfigure"
    shown = suggested(form)
    assert shown["prompt"] == "Be brief."
    assert shown["voice"] == "cedar"
    assert shown["llm_hass_api"] == ["assist"]
    assert shown["fallback_tts"] == speaker.entity_id
    typed = {"model": DEFAULT_MODEL, "prompt": DEFAULT_PROMPT, "llm_hass_api": ["assist"]}
    result = await submit(hass, form, typed)
    assert result["reason"] == "reconfigure_successful"
    assert AssistantOptions.from_subentry(first(entry).data) == AssistantOptions()
    assert "prompt" not in first(entry).data


async def test_an_unknown_model_is_noticed(
    hass: HomeAssistant, entry: MockConfigEntry, server: LoopbackServer
) -> None:
    """A mistyped model is found out in the form, not when somebody speaks."""
    form = await begin(hass, entry, SUBENTRY_ASSISTANT)
    result = await submit(hass, form, {"name": "Butler", "model": "gpt-unreal"})
    assert result["errors"] == {"model": "model_not_found"}
    server.faults.add(Fault("client:session.update", Error("invalid_value")))
    result = await submit(hass, form, {"model": NEW, "speaking": {"voice": "nobody's"}})
    assert result["errors"] == {"base": "refused"}
    assert suggested(result)["voice"] == "nobody's"
    server.faults.clear()
    result = await submit(hass, form, {"model": NEW})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_writer_of_summaries_is_named(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Who wants an AI task to write the summaries also says which one."""
    writer = er.async_get(hass).async_get_or_create("ai_task", "test", "writer")
    form = await entry.start_subentry_reconfigure_flow(hass, first(entry).subentry_id)
    assert "ai_task_entity" not in suggested(form)
    chosen: dict[str, Any] = {"summarizer": "ai_task"}
    result = await submit(hass, form, {"model": DEFAULT_MODEL, "remembering": chosen})
    assert result["errors"] == {"base": "no_ai_task"}
    assert suggested(result)["summarizer"] == "ai_task"
    chosen["ai_task_entity"] = writer.entity_id
    result = await submit(hass, form, {"model": DEFAULT_MODEL, "remembering": chosen})
    assert result["reason"] == "reconfigure_successful"
    assert first(entry).data["ai_task_entity"] == writer.id
    form = await entry.start_subentry_reconfigure_flow(hass, first(entry).subentry_id)
    assert suggested(form)["ai_task_entity"] == writer.entity_id


async def test_what_is_not_new_is_not_tried(
    hass: HomeAssistant, entry: MockConfigEntry, server: LoopbackServer
) -> None:
    """Settings can be changed while the provider is down, and cost no session."""
    form = await entry.start_subentry_reconfigure_flow(hass, first(entry).subentry_id)
    handshakes = server.handshakes
    server.refuse_connections = 503
    typed = {"model": DEFAULT_MODEL, "remembering": {"resume_tokens": 100}}
    result = await submit(hass, form, typed)
    assert result["reason"] == "reconfigure_successful"
    assert server.handshakes == handshakes
    form = await entry.start_subentry_reconfigure_flow(hass, first(entry).subentry_id)
    result = await submit(hass, form, {"model": NEW})
    assert result["reason"] == "reconfigure_successful"


async def test_an_account_that_is_not_loaded(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Nobody fills in a form that cannot be tried."""
    await hass.config_entries.async_unload(entry.entry_id)
    result = await begin(hass, entry, SUBENTRY_ASSISTANT)
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "entry_not_loaded"


async def test_our_own_voices_are_not_offered_for_exact_texts(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    """An engine that may paraphrase is not asked to say exactly what it is told."""
    ours = er.async_get(hass).async_get_or_create("tts", DOMAIN, "ours", config_entry=entry)
    form = await begin(hass, entry, SUBENTRY_ASSISTANT)
    assert form["data_schema"] is not None
    speaking = form["data_schema"].schema["speaking"].schema.schema
    assert ours.entity_id in speaking["fallback_tts"].config["exclude_entities"]


async def test_the_form_reaches_the_frontend(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, entry: MockConfigEntry
) -> None:
    """A person sees few fields at first, and the others in sections that can be opened."""
    assert await async_setup_component(hass, "config", {})
    client = await hass_client()
    answer = await client.post(
        "/api/config/config_entries/subentries/flow",
        json={"handler": [entry.entry_id, SUBENTRY_ASSISTANT]},
    )
    form = await answer.json()
    assert [field["name"] for field in form["data_schema"]] == [
        "name",
        "model",
        "prompt",
        "llm_hass_api",
        "names_on_request",
        *SECTIONS,
    ]
    for field in form["data_schema"][5:]:
        assert field["type"] == "expandable"
        assert not field["expanded"]
        # With a default of its own, a section hides the defaults of its fields.
        assert "default" not in field
        assert tuple(each["name"] for each in field["schema"]) == SECTIONS[field["name"]]
    answer = await client.post(
        f"/api/config/config_entries/subentries/flow/{form['flow_id']}",
        json={"name": "Butler", "model": DEFAULT_MODEL, "speaking": {}, "llm_hass_api": []},
    )
    assert (await answer.json())["type"] == "create_entry"
    await hass.async_block_till_done()
    made = list(entry.subentries.values())[-1]
    assert AssistantOptions.from_subentry(made.data) == AssistantOptions(llm_hass_api=())
