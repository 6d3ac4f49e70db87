"""Actions on conversations: summarise them, end them."""

from typing import Any, Final

import probatio as vol
from homeassistant.core import ServiceCall

from ..assistant import AssistantOptions
from ..compaction import Compacted
from ..house import House
from ..memory.transcript import ThreadKey
from .scopes import LASTING_FIELDS, SCOPE_FIELDS, async_scopes

SUMMARIZE_SCHEMA: Final = vol.Schema(LASTING_FIELDS)
RESET_SCHEMA: Final = vol.Schema(SCOPE_FIELDS)


async def async_summarize(house: House, call: ServiceCall) -> dict[str, Any]:
    """Fold the turns that a new session would not be told word for word into the summaries."""
    threads: list[dict[str, Any]] = []
    for key in await house.async_thread_keys(await async_scopes(house.hass, call)):
        before = await house.storage.async_load_thread(key)
        if not before.turns:
            continue
        state = await house.compaction.async_compact(key, _resume_tokens(house, key))
        after = house.thread(key)
        folded = state is Compacted.SUMMARIZED
        threads.append(
            {
                "assistant": key.assistant,
                "scope": key.scope.scope.value,
                "scope_id": key.scope.id,
                "state": state.value,
                "turns": len(before.turns) - len(after.turns) if folded else 0,
                "lines": len(after.summary.lines) if after.summary else 0,
                "made_by": after.summary.made_by if after.summary else None,
            }
        )
    return {"threads": threads}


async def async_reset_session(house: House, call: ServiceCall) -> dict[str, Any]:
    """End conversations: what belongs to them alone goes, and each goes on in a new session."""
    return {"sessions": await house.async_reset(await async_scopes(house.hass, call))}


def _resume_tokens(house: House, key: ThreadKey) -> int:
    """Return what a new session of a thread is told word for word, in tokens."""
    assistant = house.assistant(key.assistant)
    return (assistant.options if assistant else AssistantOptions()).resume_tokens
