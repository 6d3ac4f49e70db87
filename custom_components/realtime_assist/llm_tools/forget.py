"""The tool that forgets, after a yes."""

from collections.abc import Iterable
from typing import Any, Final, override

import probatio as vol
from homeassistant.core import HomeAssistant
from homeassistant.helpers.llm import LLMContext, ToolAnnotations, ToolInput, ToolResult
from homeassistant.util import dt as dt_util

from ..const import DOMAIN
from ..forgetting import Shown, ShownEntry, ShownLine, ShownTurn
from ..memory.context import ScopeRefused
from ..memory.entries import ContextEntry
from ..memory.scopes import ScopeKey
from ..memory.searching import EmptyQuery, Query
from ..memory.transcript import ThreadKey
from ..pipeline.origin import Origin
from ..recollection import Found
from ..update import MemoryUpdate
from .base import MAX_FACT, NOTE, MemoryTool, fact, origin_of, refusal, said

PROPOSED: Final = 8
"""Things that are proposed at once: more than a few nobody can say yes to."""


class ForgetTool(MemoryTool):
    """Forget, after a yes."""

    name = f"{DOMAIN}__forget"
    title = "Forget"
    description = (
        "Forgets what is remembered, for ever, in two steps. First call it with 'about': it tells"
        " what would be forgotten and changes nothing. Tell the user and ask. Only if the user"
        " agrees, call it again with 'confirm', and with 'only' if not all of it is meant."
    )
    annotations = ToolAnnotations(destructive=True, open_world=False)
    parameters = vol.Schema(
        {
            vol.Optional("about", description="Some words of what should be forgotten"): vol.All(
                str, vol.Length(max=MAX_FACT)
            ),
            vol.Optional("confirm", description="The word that the first call returned"): str,
            vol.Optional(
                "only", description="With 'confirm': the numbers of what is meant, if not all"
            ): [vol.Coerce(int)],
        }
    )

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: ToolInput, llm_context: LLMContext
    ) -> ToolResult:
        """Propose, or do what was proposed."""
        asked = self.parameters(tool_input.tool_args)
        origin = origin_of(hass, llm_context)
        visible = await self._async_visible(origin)
        if word := asked.get("confirm"):
            return await self._async_forget(word, asked.get("only"), origin, visible)
        return await self._async_propose(asked.get("about", ""), origin, visible)

    async def _async_propose(
        self, about: str, origin: Origin, visible: tuple[ScopeKey, ...]
    ) -> ToolResult:
        try:
            found = await self._house.recollection.async_find(Query(words=about), visible, PROPOSED)
        except EmptyQuery:
            return refusal("empty", "Say what should be forgotten.")
        shown = [(shown, each) for each in found if (shown := _shown(each))]
        if not shown:
            return ToolResult(data={"would_forget": [], "note": "Nothing of this is remembered."})
        word = self._house.proposals.propose(
            _asker(origin), [each for each, _ in shown], dt_util.utcnow()
        )
        told: dict[str, Any] = {
            "would_forget": [
                {"number": number, **(fact(each.entry) if each.entry else said(each))}
                for number, (_, each) in enumerate(shown, 1)
            ],
            "confirm": word,
            "note": f"Nothing is forgotten yet: ask the user first. {NOTE}",
        }
        return ToolResult(data=told)

    async def _async_forget(
        self, word: str, only: list[int] | None, origin: Origin, visible: tuple[ScopeKey, ...]
    ) -> ToolResult:
        proposal = self._house.proposals.take(word, _asker(origin), dt_util.utcnow())
        if proposal is None:
            return refusal("unknown_confirmation", "Call it with 'about' first.")
        if only is not None and not all(0 < number <= len(proposal.shown) for number in only):
            return refusal("unknown_number", "Call it with 'about' again.")
        wanted = [
            shown
            for number, shown in enumerate(proposal.shown, 1)
            if only is None or number in only
        ]
        if not wanted or not all(self._as_shown(shown, visible) for shown in wanted):
            return refusal("changed", "The memory has changed. Call it with 'about' again.")
        try:
            await self._async_carry_out(wanted)
        except ScopeRefused:
            return refusal("not_forgotten", "The memory cannot be changed.")
        # What it was is not said again: this answer is kept with the conversation.
        return ToolResult(data={"forgotten": len(wanted)})

    async def _async_carry_out(self, wanted: Iterable[Shown]) -> None:
        entries: dict[ScopeKey, list[str]] = {}
        turns: dict[ThreadKey, list[str]] = {}
        lines: list[str] = []
        for shown in wanted:
            match shown:
                case ShownEntry():
                    entries.setdefault(shown.scope, []).append(shown.key)
                case ShownTurn():
                    turns.setdefault(shown.thread, []).append(shown.turn_id)
                case ShownLine():
                    lines.append(shown.text)
        changes = self._house.changes
        for scope, keys in entries.items():
            await changes.async_apply(MemoryUpdate(scopes=(scope,), forget=tuple(keys)))
        if turns:
            await changes.async_forget_turns(turns)
        if lines:
            await changes.async_forget_words(lines)

    def _as_shown(self, shown: Shown, visible: tuple[ScopeKey, ...]) -> bool:
        """Whether something is there as it was shown, and may still be seen.

        What was said is gone already where it was said in the words of an entry.
        """
        if not isinstance(shown, ShownEntry):
            return shown.thread.scope in visible
        if shown.scope not in visible:
            return False
        entry = self._house.context.get((shown.scope,), shown.key)
        return entry is not None and _shown_entry(entry) == shown


def _shown(found: Found) -> Shown | None:
    if found.entry is not None:
        return _shown_entry(found.entry)
    if found.thread is None:
        return None
    if found.turn_id is not None:
        return ShownTurn(found.thread, found.turn_id)
    return ShownLine(found.thread, found.text)


def _shown_entry(entry: ContextEntry) -> ShownEntry:
    return ShownEntry(entry.scope, entry.key, entry.version, entry.updated)


def _asker(origin: Origin) -> str:
    return f"{origin.device_key}/{origin.user_id}/{origin.speaker}"
