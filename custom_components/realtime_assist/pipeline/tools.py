"""The tools of a turn: an `llm.API` of our own, which keeps its promises to the model.

Home Assistant's chat log starts and awaits each tool itself: a barge-in cancels a running tool, an
unexpected exception ends the run, and nothing limits the time. So the chat log is given an API of
ours:

    model --Call--> chat log --ToolInput--> TurnTools --shielded, timed--> the real tool
    model <--JSON---------------------------- TurnTools --ToolResult--> chat log

A call is started once and answered exactly once, whatever becomes of the pipeline that asked for
it.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any, Final, override

import probatio
from homeassistant.components.conversation import DOMAIN as CONVERSATION_DOMAIN
from homeassistant.core import Context, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..realtime.config import ToolSpec
from .broad import confine
from .context import calling_origin, current_turn
from .json_safe import json_object, json_text
from .names import on_request
from .origin import Origin

_LOGGER = logging.getLogger(__name__)

TOOL_SECONDS: Final = 30.0
"""Longest that a tool may run; a model and a person wait for it."""
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


async def async_tool_set(
    hass: HomeAssistant,
    api_ids: Sequence[str],
    *,
    origin: Origin,
    agent_id: str | None = None,
    names_on_request: bool = False,
) -> ToolSet:
    """Return the tools of the chosen APIs for a satellite or a user. Never raises.

    `names_on_request`: what is exposed is not listed in the prompt, but found with a tool.
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


class TurnTools:
    """The calls of one turn."""

    def __init__(
        self,
        hass: HomeAssistant,
        tool_set: ToolSet,
        *,
        origin: Origin,
        answer: Callable[[str, str], None],
        settled: Callable[[], None],
    ) -> None:
        """Prepare. `answer(call_id, json)` is called once per call, `settled()` when none runs."""
        self._hass = hass
        self._set = tool_set
        self._origin = origin
        self._answer = answer
        self._settled = settled
        self._broken: set[str] = set()
        self._waiting: dict[str, llm.ToolInput] = {}
        self._tasks: dict[str, asyncio.Task[llm.ToolResult]] = {}
        self.context = llm_context(origin)

    @property
    def running(self) -> bool:
        """Return whether a tool is still at work."""
        return any(not task.done() for task in self._tasks.values())

    def api(self, turn_id: str) -> llm.API:
        """Return the API for the chat log; each turn has its own, for Home Assistant keeps one."""
        return _TurnApi(self._hass, turn_id, self)

    def instance(self, api: llm.API, context: llm.LLMContext) -> llm.APIInstance:
        """Return the instance for the chat log, which calls back here."""
        self.context = context
        made = self._set.instance
        return _TurnInstance(
            api=api,
            api_prompt=self._set.prompt,
            llm_context=context,
            tools=list(made.tools) if made else [],
            custom_serializer=made.custom_serializer if made else None,
            calls=self,
        )

    def admit(self, call_id: str, name: str, arguments: str) -> llm.ToolInput:
        """Return a model's call as Home Assistant's; broken arguments are told of later."""
        try:
            parsed = json.loads(arguments or "{}")
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            self._broken.add(call_id)
            parsed = {}
        made = llm.ToolInput(
            tool_name=self._set.names.get(name, name), tool_args=parsed, id=call_id
        )
        if call_id not in self._tasks:
            self._waiting[call_id] = made
        return made

    async def call(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Return what a call came to. Who waits here may be cancelled; the tool is not."""
        task = self._tasks.get(tool_input.id)
        if task is None:
            self._waiting.pop(tool_input.id, None)
            # What a tool starts is not part of this turn: it would find it by its context.
            context = copy_context()
            context.run(current_turn.set, None)
            context.run(calling_origin.set, self._origin)
            task = context.run(
                self._hass.async_create_task,
                self._run(tool_input),
                f"{DOMAIN} tool {tool_input.tool_name}",
            )
            self._tasks[tool_input.id] = task
            task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def abandon(self) -> None:
        """Answer what was asked for and never started."""
        for call_id in tuple(self._waiting):
            del self._waiting[call_id]
            self._answer(call_id, json_text({"error": "cancelled"}))

    async def stop(self) -> None:
        """Cancel what runs: the house is shutting down."""
        self.abandon()
        running = [task for task in self._tasks.values() if not task.done()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _done(self, _task: asyncio.Task[llm.ToolResult]) -> None:
        if not self.running:
            self._settled()

    async def _run(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        """Run a tool and answer, whatever happens."""
        result = _failure("cancelled", "The tool was stopped; whether it acted is not known.")
        try:
            async with asyncio.timeout(TOOL_SECONDS):
                result = await self._result(tool_input)
        except TimeoutError:
            result = _failure("timeout", "The tool took too long; whether it acted is not known.")
        except (HomeAssistantError, probatio.Invalid) as err:
            result = _failure(type(err).__name__, str(err))
        except Exception as err:  # noqa: BLE001 - a tool may fail in any way, a turn must not
            _LOGGER.warning("Tool %s failed: %s", tool_input.tool_name, type(err).__name__)
            result = _failure(type(err).__name__, "")
        finally:
            self._answer(tool_input.id, json_text(result.data))
        return result

    async def _result(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        if tool_input.id in self._broken:
            return _failure("invalid_arguments", "The arguments are not a JSON object.")
        tools = self._set.instance.tools if self._set.instance else []
        tool = next((tool for tool in tools if tool.name == tool_input.tool_name), None)
        if tool is None:
            return _failure("unknown_tool", "There is no such tool.")
        arguments, refusal = confine(tool, tool_input.tool_args, self._origin.area_id)
        if refusal:
            return _failure("area_needed", refusal)
        result = await tool.async_call(
            self._hass, replace(tool_input, tool_args=arguments), self.context
        )
        if isinstance(result, llm.ToolResult):
            return llm.ToolResult(data=json_object(result.data), error=result.error)
        return llm.ToolResult(data=json_object(result))


class _TurnApi(llm.API):
    """What the chat log takes for an API."""

    def __init__(self, hass: HomeAssistant, turn_id: str, calls: TurnTools) -> None:
        super().__init__(hass=hass, id=f"{DOMAIN}.{turn_id}", name=DOMAIN)
        self._calls = calls

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        return self._calls.instance(self, llm_context)


@dataclass(kw_only=True)
class _TurnInstance(llm.APIInstance):
    """What the chat log calls tools through."""

    calls: TurnTools

    @override
    async def async_call_tool(self, tool_input: llm.ToolInput) -> llm.ToolResult:
        return await self.calls.call(tool_input)


def _failure(error: str, text: str) -> llm.ToolResult:
    data: dict[str, Any] = {"error": error}
    if text:
        data["error_text"] = text
    return llm.ToolResult(data=data, error=True)
