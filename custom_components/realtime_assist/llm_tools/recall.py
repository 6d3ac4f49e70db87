"""The tool that looks something up."""

from typing import Any, Final, override

import probatio as vol
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLMContext, ToolAnnotations, ToolInput, ToolResult

from ..const import DOMAIN
from ..memory.searching import EmptyQuery, Query
from .base import MAX_FACT, NOTE, MemoryTool, fact, origin_of, said

RECALLED: Final = 10
"""Things that are found at once."""
LISTED: Final = 30
"""Things that are told where nothing is looked for."""


class RecallTool(MemoryTool):
    """Look something up."""

    name = f"{DOMAIN}__recall"
    title = "Recall"
    description = (
        "Looks up what the home remembers, and what was said in earlier conversations here. Without"
        " words it tells what is remembered."
    )
    annotations = ToolAnnotations(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    parameters = vol.Schema(
        {
            vol.Optional(
                "about", description="The question, or some words of what is looked for"
            ): vol.All(str, vol.Length(max=MAX_FACT)),
        }
    )

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Search, or list what is remembered."""
        about = self.parameters(tool_input.tool_args).get("about", "")
        visible = await self._async_visible(origin_of(hass, llm_context))
        try:
            found = await self._house.recollection.async_find(Query(words=about), visible, RECALLED)
        except EmptyQuery:
            entries = sorted(
                self._house.context.visible(visible), key=lambda e: (not e.pinned, -e.priority)
            )
            return ToolResult(data={"facts": [fact(e) for e in entries[:LISTED]], "note": NOTE})
        told: dict[str, Any] = {
            "facts": [fact(each.entry) for each in found if each.entry],
            "said": [said(each) for each in found if each.entry is None],
            "note": NOTE,
        }
        return ToolResult(data=told)
