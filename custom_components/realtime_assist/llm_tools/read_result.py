"""The tool that reads on in a long result of another tool."""

from typing import TYPE_CHECKING, Final, override

import probatio as vol
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLMContext, Tool, ToolAnnotations, ToolInput, ToolResult

from ..const import DOMAIN
from ..long_results import READ_RESULT
from .base import origin_of, refusal

if TYPE_CHECKING:
    from ..long_results import LongResults

MAX_ID: Final = 40


class ReadResultTool(Tool):
    """Read on in a long result. Only a session of ours has it: others are not told in parts."""

    integration = DOMAIN
    name = READ_RESULT
    title = "Read result"
    description = (
        "Reads another part of a long tool result, of which only one part was told. Use it when"
        " what is needed was not in that part."
    )
    annotations = ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    parameters = vol.Schema(
        {
            vol.Required("result", description="The 'result' that the part was told with"): vol.All(
                str, vol.Length(max=MAX_ID)
            ),
            vol.Required("part", description="The number of the part, from 1"): vol.All(
                vol.Coerce(int), vol.Range(min=1)
            ),
        }
    )

    def __init__(self, results: LongResults) -> None:
        """Read the results of a session."""
        self._results = results

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Return the part, or why there is none."""
        asked = self.parameters(tool_input.tool_args)
        visible = origin_of(hass, llm_context).visible()
        part = await self._results.async_read(asked["result"], asked["part"], visible)
        if part is None:
            return refusal(
                "no_such_part", "There is no such part, or it is gone. Call the first tool again."
            )
        return ToolResult(data=part.data)
