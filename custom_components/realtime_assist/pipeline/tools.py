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
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Final, override

import probatio
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm

from ..const import DOMAIN
from ..memory.words import cut_at_word
from .broad import confine
from .context import calling_origin, current_turn
from .json_safe import json_object, json_text
from .origin import Origin
from .tool_set import ToolSet, llm_context

_LOGGER = logging.getLogger(__name__)

TOOL_SECONDS: Final = 30.0
"""Longest that a tool may run; a model and a person wait for it."""
ERROR_CHARS: Final = 600
"""Of what a tool says went wrong, more than that is left out."""


class TurnTools:
    """The calls of one turn."""

    def __init__(  # noqa: PLR0913 - what a turn gives to its calls, by name
        self,
        hass: HomeAssistant,
        tool_set: ToolSet,
        *,
        origin: Origin,
        shorten: Callable[[llm.ToolInput, dict[str, Any]], Awaitable[dict[str, Any]]],
        answer: Callable[[str, str], None],
        settled: Callable[[], None],
    ) -> None:
        """Prepare.

        `shorten(call, data)` returns what the model is told of a result. `answer(call_id, json)` is
        called once per call, `settled()` when none runs.
        """
        self._hass = hass
        self._set = tool_set
        self._origin = origin
        self._shorten = shorten
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
            result = _failure(type(err).__name__, cut_at_word(str(err), ERROR_CHARS))
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
        failed = isinstance(result, llm.ToolResult) and result.error
        data = json_object(result.data if isinstance(result, llm.ToolResult) else result)
        return llm.ToolResult(data=await self._shorten(tool_input, data), error=failed)


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
