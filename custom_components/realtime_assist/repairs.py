"""What a person should know or do. No issue quotes memory or speech."""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, override

from homeassistant.components import conversation
from homeassistant.components.assist_pipeline import (
    Pipeline,
    async_get_pipelines,
    async_update_pipeline,
)
from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow, RepairsFlowResult
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .leftover_flow import LeftoverFlow
from .memory.scopes import ScopeKey


class Issue(StrEnum):
    """The issues that there are; the value is also the key of their words."""

    AI_TASK_FAILS = "ai_task_fails"
    """Placeholders: assistant."""
    API_NOT_ALLOWED = "api_not_allowed"
    """Placeholders: assistant, api."""
    LONG_PREFIX = "long_prefix"
    """Placeholders: assistant, tokens, limit."""
    MODEL_GONE = "model_gone"
    """Placeholders: assistant, model."""
    NO_CREDIT = "no_credit"
    """Placeholders: account."""
    NOT_REALTIME = "not_realtime"
    """Placeholders: account."""
    MEMORY_LEFT_BEHIND = "memory_left_behind"
    """Placeholders: name. Fixable, and still shown after a restart."""
    MEMORY_ACTION_REPLACED = "memory_action_replaced"
    PREFERS_LOCAL_INTENTS = "prefers_local_intents"
    """Placeholders: pipeline. Fixable."""
    STORAGE_CORRUPT = "storage_corrupt"
    """Placeholders: file."""
    STORAGE_NEWER = "storage_newer"
    """Placeholders: file."""


@callback
def async_report(
    hass: HomeAssistant,
    issue: Issue,
    subject: str = "",
    *,
    placeholders: Mapping[str, str] | None = None,
    data: dict[str, str | int | float | None] | None = None,
) -> None:
    """Show an issue. `subject` tells issues of one kind apart, and becomes a hash in its id."""
    ir.async_create_issue(
        hass,
        DOMAIN,
        _issue_id(issue, subject),
        data=data,
        is_fixable=issue in (Issue.PREFERS_LOCAL_INTENTS, Issue.MEMORY_LEFT_BEHIND),
        is_persistent=issue is Issue.MEMORY_LEFT_BEHIND,
        severity=ir.IssueSeverity.WARNING,
        translation_key=issue.value,
        translation_placeholders=dict(placeholders) if placeholders else None,
    )


@callback
def async_clear(hass: HomeAssistant, issue: Issue, subject: str = "") -> None:
    """Take an issue back; harmless if there is none."""
    ir.async_delete_issue(hass, DOMAIN, _issue_id(issue, subject))


@callback
def async_reported(hass: HomeAssistant, issue: Issue) -> list[dict[str, Any]]:
    """Return the data of the issues of one kind that are shown."""
    return [
        dict(each.data)
        for each in ir.async_get(hass).issues.values()
        if each.domain == DOMAIN and each.translation_key == issue and each.data
    ]


@callback
def async_clear_all(hass: HomeAssistant, issue: Issue) -> None:
    """Take all issues of one kind back."""
    for each in list(ir.async_get(hass).issues.values()):
        if each.domain == DOMAIN and each.translation_key == issue:
            ir.async_delete_issue(hass, DOMAIN, each.issue_id)


@callback
def async_check_pipelines(hass: HomeAssistant) -> None:
    """Show a hint for each pipeline whose agent is ours and which prefers local intents.

    There the response can only be asked for when Home Assistant has given up, after the words are
    written down. Those that do not any more lose their hint.
    """
    registry = er.async_get(hass)
    for pipeline in async_get_pipelines(hass):
        agent = registry.async_get(pipeline.conversation_engine)
        ours = agent is not None and (agent.domain, agent.platform) == (conversation.DOMAIN, DOMAIN)
        if ours and pipeline.prefer_local_intents:
            async_report(
                hass,
                Issue.PREFERS_LOCAL_INTENTS,
                pipeline.id,
                placeholders={"pipeline": pipeline.name},
                data={"pipeline_id": pipeline.id},
            )
        else:
            async_clear(hass, Issue.PREFERS_LOCAL_INTENTS, pipeline.id)


class AnswerAtOnceFlow(ConfirmRepairFlow):
    """Switch the preference for local intents off, for one pipeline."""

    def __init__(self, pipeline_id: str) -> None:
        """Keep which pipeline it is."""
        self._pipeline_id = pipeline_id

    @override
    async def async_step_confirm(
        self, user_input: dict[str, str] | None = None
    ) -> RepairsFlowResult:
        """Change the pipeline once the person agrees."""
        if user_input is not None:
            pipeline = _find(self.hass, self._pipeline_id)
            if pipeline is None:
                return self.async_abort(reason="not_found")
            await async_update_pipeline(self.hass, pipeline, prefer_local_intents=False)
        return await super().async_step_confirm(user_input)


async def async_create_fix_flow(
    hass: HomeAssistant,  # noqa: ARG001
    issue_id: str,  # noqa: ARG001
    data: dict[str, Any] | None,
) -> RepairsFlow:
    """Return the flow that fixes an issue; there are two kinds that can be."""
    if data and "scope" in data:
        return LeftoverFlow(ScopeKey.parse(str(data["scope"])), str(data["name"]))
    return AnswerAtOnceFlow(str((data or {}).get("pipeline_id")))


@callback
def _find(hass: HomeAssistant, pipeline_id: str) -> Pipeline | None:
    return next((each for each in async_get_pipelines(hass) if each.id == pipeline_id), None)


def _issue_id(issue: Issue, subject: str) -> str:
    if not subject:
        return issue.value
    return f"{issue.value}_{hashlib.sha256(subject.encode()).hexdigest()[:12]}"
