"""What a session advertises: the tools of the chosen APIs, sorted, as a model is told of them."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import probatio
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..realtime.config import ToolSpec
from .names import on_request
from .origin import Origin

_LOGGER = logging.getLogger(__name__)

_NOT_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")
_NAME_CHARS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """What a session advertises, and how to reach it."""

    instance: llm.APIInstance | None = None
    """None: there are no tools."""
    specs: tuple[ToolSpec, ...] = ()
    """Sorted by name: byte-identical as long as nothing changed."""
    names: dict[str, str] = field(default_factory=dict)
    """The name on the wire -> the tool's own."""
    prompt: str = ""
    """What the APIs tell a model: area, names of entities, how to use the tools."""
    left_out: tuple[str, ...] = ()
    """Ids of APIs that were chosen, but are gone or not allowed to this run's user."""


async def async_tool_set(  # noqa: PLR0913 - what makes a set of tools, by name
    hass: HomeAssistant,
    api_ids: Sequence[str],
    *,
    origin: Origin,
    agent_id: str | None = None,
    names_on_request: bool = False,
    own: Sequence[llm.Tool] = (),
) -> ToolSet:
    """Return the tools of the chosen APIs for a satellite or a user. Never raises.

    `names_on_request`: what is exposed is not listed in the prompt, but found with a tool.
    `own`: tools of ours that go with any others.
    """
    context = llm_context(origin, agent_id=agent_id)
    allowed, left_out = await _allowed(hass, api_ids, origin.user_id)
    try:
        instance = await llm.async_get_api(hass, allowed, context) if allowed else None
    except Exception as err:  # noqa: BLE001 - other integrations make the tools
        _LOGGER.warning("The tools of %s cannot be made: %s", allowed, type(err).__name__)
        return ToolSet(left_out=tuple(api_ids))
    if instance is None:
        return ToolSet(left_out=left_out)
    if names_on_request:
        instance = on_request(instance)
    instance = replace(instance, tools=[*instance.tools, *own])
    names: dict[str, str] = {}
    specs: list[ToolSpec] = []
    for tool in instance.tools:
        if (spec := _spec(tool, instance.custom_serializer)) is not None:
            names[spec.name] = tool.name
            specs.append(spec)
    return ToolSet(
        instance=instance,
        specs=tuple(sorted(specs, key=lambda spec: spec.name)),
        names=names,
        prompt=instance.api_prompt,
        left_out=left_out,
    )


def llm_context(
    origin: Origin, *, agent_id: str | None = None, context: Context | None = None
) -> llm.LLMContext:
    """Return the context in which tools are made and called."""
    made = llm.LLMContext(
        platform=DOMAIN,
        context=context or Context(user_id=origin.user_id),
        language=origin.language,
        assistant=CONVERSATION_DOMAIN,
        device_id=origin.device_id,
    )
    return replace(made, agent_id=agent_id) if hasattr(made, "agent_id") else made


async def _allowed(
    hass: HomeAssistant, api_ids: Sequence[str], user_id: str | None
) -> tuple[list[str], tuple[str, ...]]:
    """Part the chosen APIs into those that this user may use and the others."""
    apis = {api.id: api for api in llm.async_get_apis(hass)}
    user = await hass.auth.async_get_user(user_id) if user_id else None
    admin = user is not None and user.is_admin

    def may(api_id: str) -> bool:
        api = apis.get(api_id)
        return api is not None and (admin or not getattr(api, "requires_admin", False))

    return (
        [api_id for api_id in api_ids if may(api_id)],
        tuple(api_id for api_id in api_ids if not may(api_id)),
    )


def _spec(tool: llm.Tool, serializer: Callable[[Any], Any] | None) -> ToolSpec | None:
    """Return a tool as a model is told of it; None if its arguments cannot be told."""
    try:
        parameters = probatio.to_openapi(
            tool.parameters, custom_serializer=serializer, openapi_version="3.1.0"
        )
    except Exception as err:  # noqa: BLE001 - other integrations write the schemas
        _LOGGER.warning("Tool %s is left out: %s", tool.name, type(err).__name__)
        return None
    return ToolSpec(
        name=_NOT_A_NAME.sub("_", tool.name)[:_NAME_CHARS],
        description=tool.description or "",
        parameters=parameters,
    )
