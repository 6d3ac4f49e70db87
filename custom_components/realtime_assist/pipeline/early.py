"""What is known of a run while it runs: its engines, and so when to ask for the answer.

Home Assistant does not tell STT which pipeline it serves. The pipeline selects of the satellite's
device tell it; else every pipeline with this STT entity does, if they agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from homeassistant.components.assist_pipeline import (
    OPTION_PREFERRED,
    Pipeline,
    async_get_pipeline,
    async_get_pipelines,
)
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from ..const import DOMAIN
from .origin import Origin

_PIPELINE_SELECTS = frozenset({"pipeline", "pipeline_n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The engines of a run. Each is true only if all pipelines that it may use agree."""

    agent_ours: bool = False
    """Its conversation agent is this assistant's."""
    early: bool = False
    """The answer may be asked for at the end of speech: nobody but the model will answer."""
    speech_ours: bool = False
    """Its voice is this assistant's."""
    speech_other: bool = False
    """Its voice is none of this assistant's."""


@callback
def async_route(hass: HomeAssistant, origin: Origin, subentry_id: str, heard_by: str) -> Route:
    """Return what is known of a run that has begun.

    `heard_by` is the platform of this assistant that was called first: `stt` or `conversation`.
    """
    ours = {
        platform: er.async_get(hass).async_get_entity_id(platform, DOMAIN, subentry_id)
        for platform in (Platform.STT, Platform.CONVERSATION, Platform.TTS)
    }

    def uses(pipeline: Pipeline, platform: str) -> bool:
        engine = {
            Platform.STT: pipeline.stt_engine,
            Platform.CONVERSATION: pipeline.conversation_engine,
            Platform.TTS: pipeline.tts_engine,
        }[Platform(platform)]
        return engine is not None and engine == ours[Platform(platform)]

    device_id = origin.device_id if origin.satellite else None
    named = chosen_pipelines(hass, device_id) if device_id else ()
    chosen = [p for p in named if uses(p, heard_by)]
    pipelines = chosen or [p for p in async_get_pipelines(hass) if uses(p, heard_by)]
    if not pipelines:
        return Route()
    agent_ours = all(uses(pipeline, Platform.CONVERSATION) for pipeline in pipelines)
    speech = [uses(pipeline, Platform.TTS) for pipeline in pipelines]
    return Route(
        agent_ours=agent_ours,
        early=agent_ours and not any(pipeline.prefer_local_intents for pipeline in pipelines),
        speech_ours=all(speech),
        speech_other=not any(speech),
    )


@callback
def pipeline_selects(hass: HomeAssistant, device_id: str) -> list[str]:
    """Return the entities that choose the pipelines of a satellite's device."""
    return [
        entry.entity_id
        for entry in er.async_entries_for_device(er.async_get(hass), device_id)
        if entry.domain == Platform.SELECT and entry.translation_key in _PIPELINE_SELECTS
    ]


@callback
def chosen_pipelines(hass: HomeAssistant, device_id: str) -> Sequence[Pipeline]:
    """Return the pipelines that the selects of a satellite's device name, maybe several."""
    named = [
        state.state
        for entity_id in pipeline_selects(hass, device_id)
        if (state := hass.states.get(entity_id))
    ]
    by_name = {pipeline.name: pipeline for pipeline in async_get_pipelines(hass)}
    found = [by_name[name] for name in named if name in by_name]
    if OPTION_PREFERRED in named:
        try:
            found.append(async_get_pipeline(hass))
        except HomeAssistantError:
            return ()
    return found
