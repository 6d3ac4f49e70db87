"""What a person should know is shown, and what can be mended is mended with one click."""

import pytest
from homeassistant.components.assist_pipeline import (
    Pipeline,
    async_get_pipelines,
    async_update_pipeline,
)
from homeassistant.components.repairs import RepairsFlowManager, repairs_flow_manager
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.repairs import (
    Issue,
    async_check_pipelines,
    async_clear,
    async_report,
)


@pytest.fixture
async def pipeline(hass: HomeAssistant) -> Pipeline:
    """Have a voice assistant whose agent is ours, and that prefers local intents."""
    for component in ("homeassistant", "assist_pipeline", "repairs", DOMAIN):
        assert await async_setup_component(hass, component, {})
    await hass.async_block_till_done()
    agent = er.async_get(hass).async_get_or_create("conversation", DOMAIN, "one")
    [pipeline] = async_get_pipelines(hass)
    await async_update_pipeline(
        hass, pipeline, conversation_engine=agent.entity_id, prefer_local_intents=True
    )
    [pipeline] = async_get_pipelines(hass)
    return pipeline


@pytest.fixture
def issues(hass: HomeAssistant) -> ir.IssueRegistry:
    """Return where issues are listed."""
    return ir.async_get(hass)


def ours(issues: ir.IssueRegistry) -> list[ir.IssueEntry]:
    """Return the issues of ours that are shown."""
    return [each for each in issues.issues.values() if each.domain == DOMAIN and each.active]


def test_two_subjects_are_two_issues(hass: HomeAssistant, issues: ir.IssueRegistry) -> None:
    """Two broken files are two lines, and a mended one goes away by itself."""
    for file in ("one", "two"):
        async_report(hass, Issue.STORAGE_CORRUPT, file, placeholders={"file": file})
    assert len(ours(issues)) == 2
    async_clear(hass, Issue.STORAGE_CORRUPT, "one")
    [left] = ours(issues)
    assert left.translation_placeholders == {"file": "two"}
    assert not left.is_fixable
    async_clear(hass, Issue.MEMORY_ACTION_REPLACED)
    assert "two" not in left.issue_id


async def test_a_slow_voice_assistant_is_mended(
    hass: HomeAssistant, pipeline: Pipeline, issues: ir.IssueRegistry
) -> None:
    """A voice assistant made by hand answers at once after one click."""
    async_check_pipelines(hass)
    [issue] = ours(issues)
    assert issue.translation_placeholders == {"pipeline": pipeline.name}
    manager = flows(hass)
    form = await manager.async_init(DOMAIN, data={"issue_id": issue.issue_id})
    assert form["type"] is FlowResultType.FORM
    assert form["step_id"] == "confirm"
    assert form["description_placeholders"] == {"pipeline": pipeline.name}
    result = await manager.async_configure(form["flow_id"], {})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    [mended] = async_get_pipelines(hass)
    assert not mended.prefer_local_intents
    assert mended.conversation_engine == pipeline.conversation_engine
    async_check_pipelines(hass)
    assert not ours(issues)


async def test_a_voice_assistant_that_is_gone(
    hass: HomeAssistant, pipeline: Pipeline, issues: ir.IssueRegistry
) -> None:
    """Whoever mends a voice assistant that was deleted meanwhile is told so."""
    async_report(
        hass,
        Issue.PREFERS_LOCAL_INTENTS,
        "gone",
        placeholders={"pipeline": pipeline.name},
        data={"pipeline_id": "gone"},
    )
    [issue] = ours(issues)
    manager = flows(hass)
    form = await manager.async_init(DOMAIN, data={"issue_id": issue.issue_id})
    result = await manager.async_configure(form["flow_id"], {})
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "not_found"


async def test_a_slow_voice_assistant_is_found_at_the_start(
    hass: HomeAssistant, pipeline: Pipeline, issues: ir.IssueRegistry
) -> None:
    """Nobody has to look for a voice assistant that could answer faster."""
    entry = MockConfigEntry(domain=DOMAIN, data={"api_key": "a key"})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    [issue] = ours(issues)
    assert issue.translation_placeholders == {"pipeline": pipeline.name}


async def test_others_are_left_alone(
    hass: HomeAssistant, pipeline: Pipeline, issues: ir.IssueRegistry
) -> None:
    """Nobody is bothered about a voice assistant that is not ours."""
    await async_update_pipeline(hass, pipeline, conversation_engine="conversation.home_assistant")
    async_check_pipelines(hass)
    assert not ours(issues)


def flows(hass: HomeAssistant) -> RepairsFlowManager:
    """Return the manager of the flows that mend things."""
    manager = repairs_flow_manager(hass)
    assert manager is not None
    return manager
