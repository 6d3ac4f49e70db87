"""What every session of an assistant begins with: instructions and tools, the part that is cached.

It is rendered once for an assistant and a satellite, byte-identical from session to session: what
changes from turn to turn is in notes. It often outweighs all that is said, so it is measured.
"""

import json
import logging
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import TemplateError
from homeassistant.helpers.template import Template

from .assistant import DEFAULT_PROMPT
from .memory.compose import ENVELOPE_INSTRUCTIONS
from .memory.usage import estimate_tokens
from .models import PREFIX_LIMIT, PREFIX_WARNING
from .realtime.config import SessionConfig
from .repairs import Issue, async_clear, async_report

_LOGGER: Final = logging.getLogger(__name__)


def instructions(prompt: str, api_prompt: str, language: str | None) -> str:
    """Return the prefix's words; what changes with the turn is never in them."""
    parts = [prompt, api_prompt, ENVELOPE_INSTRUCTIONS]
    if language:
        parts.append(f"You are spoken to in the language '{language}'; answer in it.")
    return "\n\n".join(part.strip() for part in parts if part.strip())


@callback
def async_prompt(hass: HomeAssistant, template: str, subentry_id: str) -> str:
    """Return an assistant's own instructions; the default ones if they cannot be rendered."""
    try:
        return str(
            Template(template, hass).async_render(
                {"ha_name": hass.config.location_name}, parse_result=False
            )
        )
    except TemplateError:
        _LOGGER.warning(
            "The prompt template of assistant %s cannot be rendered; using the default", subentry_id
        )
        return DEFAULT_PROMPT


def prefix_tokens(config: SessionConfig) -> int:
    """Return about how many tokens a session's instructions and tools are."""
    tools = [[tool.name, tool.description, tool.parameters] for tool in config.tools]
    told = json.dumps(tools, ensure_ascii=False, default=str) if tools else ""
    return estimate_tokens(config.instructions) + estimate_tokens(told)


@callback
def async_report_size(hass: HomeAssistant, subentry_id: str, title: str, tokens: int) -> None:
    """Tell a person of a prefix that is nearly as long as a provider takes; take it back if not."""
    if tokens < PREFIX_WARNING:
        async_clear(hass, Issue.LONG_PREFIX, subentry_id)
        return
    async_report(
        hass,
        Issue.LONG_PREFIX,
        subentry_id,
        placeholders={
            "assistant": title,
            "tokens": str(round(tokens, -2)),
            "limit": str(PREFIX_LIMIT),
        },
    )
