"""What every session of an assistant begins with: instructions and tools, the part that is cached.

It is rendered once for an assistant and a satellite, byte-identical from session to session: what
changes from turn to turn is in notes. It often outweighs all that is said, so it is measured.
"""

import json
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from homeassistant.core import callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template

from .assistant import DEFAULT_PROMPT
from .memory.compose import ENVELOPE_INSTRUCTIONS
from .memory.usage import estimate_tokens
from .models import PREFIX_LIMIT, PREFIX_WARNING
from .pipeline.origin import Origin
from .pipeline.tool_set import ToolSet
from .realtime.config import SessionConfig
from .repairs import Issue, async_clear, async_report

if TYPE_CHECKING:
    from .hub import Assistant

_LOGGER: Final = logging.getLogger(__name__)


@callback
def session_config(
    assistant: Assistant, origin: Origin, tools: ToolSet, *, audio: bool
) -> SessionConfig:
    """Return what a session of an assistant is opened with there; `audio`: answers are spoken."""
    options = assistant.options
    language = _language(options.language or origin.language or "")
    return SessionConfig(
        model=options.model,
        instructions=_instructions(_prompt(assistant), tools.prompt, language),
        tools=tools.specs,
        voice=options.voice,
        audio=audio,
        transcription_model=options.transcription_model,
        language=language,
        turn_detection=options.turn_detection,
    )


def prefix_tokens(config: SessionConfig) -> int:
    """Return about how many tokens a session's instructions and tools are."""
    tools = [[tool.name, tool.description, tool.parameters] for tool in config.tools]
    told = json.dumps(tools, ensure_ascii=False, default=str) if tools else ""
    return estimate_tokens(config.instructions) + estimate_tokens(told)


@callback
def async_measure(
    assistant: Assistant, config: SessionConfig, left_out: Collection[str] = ()
) -> int:
    """Return how many tokens the prefix is, estimated, and tell a person what is wrong with it.

    `left_out`: ids of APIs that were chosen, but that a run from there may not use.
    """
    hass, subentry_id = assistant.hub.hass, assistant.subentry_id
    names = {"assistant": assistant.title}
    for api_id in left_out:
        async_report(
            hass,
            Issue.API_NOT_ALLOWED,
            f"{subentry_id}/{api_id}",
            placeholders={**names, "api": api_id},
        )
    tokens = prefix_tokens(config)
    if tokens < PREFIX_WARNING:
        async_clear(hass, Issue.LONG_PREFIX, subentry_id)
    else:
        size = {"tokens": str(round(tokens, -2)), "limit": str(PREFIX_LIMIT)}
        async_report(hass, Issue.LONG_PREFIX, subentry_id, placeholders={**names, **size})
    return tokens


def _instructions(prompt: str, api_prompt: str, language: str | None) -> str:
    """Return the prefix's words; what changes with the turn is never in them."""
    parts = [prompt, api_prompt, ENVELOPE_INSTRUCTIONS]
    if language:
        parts.append(f"You are spoken to in the language '{language}'; answer in it.")
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _prompt(assistant: Assistant) -> str:
    """Return an assistant's own instructions; the default ones if they cannot be rendered."""
    hass = assistant.hub.hass
    try:
        return str(
            Template(assistant.options.prompt, hass).async_render(
                {"ha_name": hass.config.location_name}, parse_result=False
            )
        )
    except TemplateError:
        _LOGGER.warning(
            "The prompt template of assistant %s cannot be rendered; using the default",
            assistant.subentry_id,
        )
        return DEFAULT_PROMPT


def _language(tag: str) -> str | None:
    """Return the ISO 639-1 language of a tag, None for any."""
    code = tag.replace("_", "-").partition("-")[0].lower()
    return code if len(code) == 2 and code.isalpha() else None  # noqa: PLR2004
