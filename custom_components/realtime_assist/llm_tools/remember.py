"""The tool that keeps something in mind."""

import unicodedata
from typing import Any, Final, override

import probatio as vol
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLMContext, ToolAnnotations, ToolInput, ToolResult

from ..const import DOMAIN
from ..memory.context import ScopeRefused
from ..memory.entries import UNBOUNDED, ContextEntry, Retention
from ..memory.sameness import entry_for, told_before
from ..memory.scopes import GLOBAL, ScopeKey
from ..update import MemoryUpdate
from .base import (
    MAX_ABOUT,
    MAX_FACT,
    NAMES,
    SCOPE_NAMES,
    MemoryTool,
    fact,
    name_of,
    origin_of,
    refusal,
)

SOURCE: Final = "assistant"


class RememberTool(MemoryTool):
    """Keep something in mind."""

    name = f"{DOMAIN}__remember"
    title = "Remember"
    description = (
        "Keeps one fact for later conversations. Use it when somebody asks you to remember"
        " something, or corrects what is remembered. Not for what the home's devices know"
        " themselves, nor for what was recalled from memory."
    )
    annotations = ToolAnnotations(destructive=False, idempotent=True, open_world=False)
    parameters = vol.Schema(
        {
            vol.Required(
                "about",
                description=(
                    "What the fact is about, in a few words and always the same ones: a new fact"
                    " about the same replaces the old one. For example: bin collection"
                ),
            ): vol.All(str, vol.Length(min=1, max=MAX_ABOUT)),
            vol.Required(
                "fact", description="The fact, as one sentence that can be understood alone"
            ): vol.All(str, vol.Length(min=1, max=MAX_FACT)),
            vol.Optional(
                "scope",
                description=(
                    "Who is told of it: only the person who is speaking (if that is known), only"
                    " here at this device, in this room, or everybody in the home"
                ),
            ): vol.In(list(NAMES)),
            vol.Optional(
                "hours", description="After how many hours it is over; leave out to keep it"
            ): vol.All(vol.Coerce(float), vol.Range(min=0.01, max=24 * 366)),
        }
    )

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Write an entry, unless it is there already."""
        asked = self.parameters(tool_input.tool_args)
        about = unicodedata.normalize("NFC", " ".join(asked["about"].split()))
        told = asked["fact"].strip()
        if not about or not told:
            return refusal("empty", "Say what should be remembered.")
        origin = origin_of(hass, llm_context)
        if not origin.remember:
            return refusal("switched_off", "Nothing that is said here is remembered, by choice.")
        visible = await self._async_visible(origin)
        held = self._house.context.visible(visible)
        scope = _chosen(asked.get("scope"), visible, entry_for(about, held))
        if scope is None:
            return refusal(
                "unknown_scope",
                "It is not known who is speaking, or where. Choose another scope, or ask whether"
                " everybody in the home may know it.",
            )
        known = told_before(about, told, (e for e in held if e.scope in (scope, GLOBAL)))
        if known is not None and known.retention in UNBOUNDED and "hours" not in asked:
            return ToolResult(data={"result": "already_known", **fact(known)})
        before = entry_for(about, (entry for entry in held if entry.scope == scope))
        key = before.key if before else about
        value: dict[str, Any] = {"value": told}
        if "hours" in asked:
            value["expires_in"] = asked["hours"] * 3600
        elif before is not None and before.retention not in UNBOUNDED:
            value["retention"] = Retention.MANUAL
        update = MemoryUpdate(scopes=(scope,), entries={key: value}, source=SOURCE)
        try:
            await self._house.changes.async_apply(update)
        except ScopeRefused, ValueError:
            return refusal("not_kept", "The memory does not take it.")
        data = {"result": "replaced" if before else "remembered", "scope": name_of(scope)}
        return ToolResult(data={**data, "about": key})


def _chosen(
    name: str | None, visible: tuple[ScopeKey, ...], held: ContextEntry | None
) -> ScopeKey | None:
    """Return the scope that was named; else where this is kept already; else the narrowest."""
    by_scope = {key.scope: key for key in visible}
    if name is not None:
        return by_scope.get(NAMES[name])
    if held is not None and held.scope.scope in SCOPE_NAMES:
        return held.scope
    return next((by_scope[scope] for scope in NAMES.values() if scope in by_scope), None)
