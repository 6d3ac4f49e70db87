"""What a person may attach to a report of a fault: counts and codes, never content.

There is no key, address, name, prompt, word or entity in it, so that nobody has to read it first.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, callback

from .account import Account
from .assistant import DEFAULT_PROMPT, AssistantOptions
from .const import OPENAI_BASE_URL, SUBENTRY_ASSISTANT
from .house import House, async_get_house
from .hub import RealtimeAssistConfigEntry
from .items import digest
from .memory.transcript import Thread
from .projection import Projection
from .usage_shown import session_report, total_report


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: RealtimeAssistConfigEntry
) -> dict[str, Any]:
    """Return what is known of an account, its assistants and the memory of the house."""
    account = Account.from_data(entry.data)
    loaded = entry.state is ConfigEntryState.LOADED
    assistants = entry.runtime_data.assistants if loaded else {}
    return {
        "state": entry.state.value,
        "account": {
            "provider": account.provider,
            "usual_address": account.base_url == OPENAI_BASE_URL,
            "encrypted": account.base_url.startswith("https"),
            "has_key": bool(account.api_key),
        },
        "assistants": [
            {
                "usage": total_report(assistants[sub.subentry_id].usage.total)
                if sub.subentry_id in assistants
                else None,
                "options": _options(AssistantOptions.from_subentry(sub.data, account.provider)),
                "sessions": _sessions(
                    async_get_house(hass),
                    assistants[sub.subentry_id].projections()
                    if sub.subentry_id in assistants
                    else (),
                ),
            }
            for sub in entry.get_subentries_of_type(SUBENTRY_ASSISTANT)
        ],
        "memory": _memory(async_get_house(hass)),
    }


def _options(options: AssistantOptions) -> dict[str, Any]:
    return {
        "model": options.model,
        "voice": options.voice,
        "own_prompt": options.prompt != DEFAULT_PROMPT,
        "prompt_characters": len(options.prompt),
        "names_on_request": options.names_on_request,
        "tool_apis": len(options.llm_hass_api),
        "turn_detection": options.turn_detection.value,
        "history_scope": options.history_scope.value,
        "conversation_timeout": options.conversation_timeout,
        "resume_tokens": options.resume_tokens,
        "context_tokens": options.context_tokens,
        "tool_result_tokens": options.tool_result_tokens,
        "summarizer": options.summarizer.value,
        "has_ai_task_entity": options.ai_task_entity is not None,
        "has_fallback_tts": options.fallback_tts is not None,
        "transcription_model": options.transcription_model,
        "language": options.language,
    }


@callback
def _sessions(house: House, projections: Iterable[Projection]) -> list[dict[str, Any]]:
    return [
        {
            "satellite": digest(projection.origin.satellite or ""),
            "platform": projection.origin.platform,
            "in_area": projection.origin.area_id is not None,
            "thread": _thread(house.thread(projection.key)),
            "state": projection.session.state.value,
            "connected": projection.session.connected,
            "epoch": projection.session.epoch,
            "last_failure": failure.code if (failure := projection.session.last_failure) else None,
            "context": session_report(projection.meter),
            "usage": total_report(projection.used),
            "tools": len(projection.tools.specs) if projection.tools else None,
        }
        for projection in projections
    ]


def _thread(thread: Thread) -> dict[str, Any]:
    return {
        "id": digest(str(thread.key)),
        "turns": len(thread.turns),
        "turns_to_archive": len(thread.leaving),
        "turns_ever": thread.next_number - 1,
        "summary_lines": len(thread.summary.lines) if thread.summary else 0,
        "revision": thread.revision,
    }


@callback
def _memory(house: House) -> dict[str, Any]:
    scopes = house.context.scopes()
    return {
        "scopes": dict(Counter(key.scope.value for key in scopes)),
        "entries": len(house.context.visible(scopes)),
        "summaries": dict(house.compaction.tries.counts),
        "problems": [
            {"trouble": each.trouble.value, "kind": each.kind.value, "lost": each.lost}
            for each in house.storage.problems
        ],
    }
