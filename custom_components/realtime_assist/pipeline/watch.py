"""The listeners that tell the pipeline what happens around it. Registered once, by the house."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

from homeassistant.components.conversation import HOME_ASSISTANT_AGENT
from homeassistant.components.conversation.chat_log import async_subscribe_chat_logs
from homeassistant.components.conversation.const import ChatLogEventType
from homeassistant.const import (
    ATTR_DOMAIN,
    ATTR_ENTITY_ID,
    ATTR_SERVICE,
    EVENT_CALL_SERVICE,
    EVENT_STATE_CHANGED,
    EVENT_STATE_REPORTED,
)
from homeassistant.core import (
    Event,
    EventStateChangedData,
    EventStateReportedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.target import (
    TargetSelection,
    async_extract_referenced_entity_ids,
)

from .book import async_book
from .context import note_satellite

SATELLITE: Final = "assist_satellite"
_PREFIX: Final = f"{SATELLITE}."
_LISTENING: Final = "listening"
_IDLE: Final = "idle"
# What makes a satellite speak something of its own; the last two expect an answer.
_ANNOUNCING: Final = frozenset({"announce", "start_conversation", "ask_question"})
_ASKING: Final = frozenset({"start_conversation", "ask_question"})
# Who answers instead of an agent of ours.
_LOCAL_AGENTS: Final = frozenset({HOME_ASSISTANT_AGENT, "sentence_trigger"})


@callback
def async_watch_satellites(hass: HomeAssistant) -> Callable[[], None]:
    """Begin to watch satellites, announcements and local answers; return the end of it."""
    unsubscribe = (
        hass.bus.async_listen(
            EVENT_STATE_CHANGED, _Satellites(hass).changed, event_filter=_is_satellite
        ),
        # A satellite that listened already does not change: it only reports its state again.
        hass.bus.async_listen(
            EVENT_STATE_REPORTED, _Satellites(hass).reported, event_filter=_is_satellite
        ),
        hass.bus.async_listen(EVENT_CALL_SERVICE, _Announcements(hass).called),
        async_subscribe_chat_logs(hass, _Answers(hass).changed),
    )

    @callback
    def stop() -> None:
        for end in unsubscribe:
            end()

    return stop


@callback
def _is_satellite(data: EventStateChangedData | EventStateReportedData) -> bool:
    return data["entity_id"].startswith(_PREFIX)


class _Satellites:
    """What satellites do. They turn to listening in the pipeline's own task, just before STT."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._book = async_book(hass)

    @callback
    def changed(self, event: Event[EventStateChangedData]) -> None:
        state, before = event.data["new_state"], event.data["old_state"]
        if state is None:
            return
        if state.state == _LISTENING:
            self._listening(state.entity_id)
        elif state.state == _IDLE and before is not None and before.state != _IDLE:
            task = asyncio.current_task()
            for turn in self._book.of_satellite(state.entity_id):
                turn.idle(task)

    @callback
    def reported(self, event: Event[EventStateReportedData]) -> None:
        if event.data["new_state"].state == _LISTENING:
            self._listening(event.data["entity_id"])

    def _listening(self, entity_id: str) -> None:
        note_satellite(entity_id)
        for turn in tuple(self._book.of_satellite(entity_id)):
            turn.interrupt()


class _Announcements:
    """What satellites are made to say: it ends a reply, and a reply may be an answer to it."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._hass = hass
        self._book = async_book(hass)

    @callback
    def called(self, event: Event[dict[str, Any]]) -> None:
        service = event.data.get(ATTR_SERVICE)
        if event.data.get(ATTR_DOMAIN) != SATELLITE or service not in _ANNOUNCING:
            return
        for entity_id in self._satellites(event.data.get("service_data") or {}):
            for turn in tuple(self._book.of_satellite(entity_id)):
                turn.interrupt()
            if service in _ASKING:
                self._book.expect(entity_id)

    def _satellites(self, data: dict[str, Any]) -> Iterable[str]:
        found = async_extract_referenced_entity_ids(self._hass, TargetSelection(data))
        everything = data.get(ATTR_ENTITY_ID) == "all"
        named = self._hass.states.async_entity_ids(SATELLITE) if everything else found.referenced
        return [
            entity_id
            for entity_id in {*named, *found.indirectly_referenced}
            if entity_id.startswith(_PREFIX)
        ]


class _Answers:
    """What goes into chat logs: Home Assistant's own answers, words that start a conversation."""

    def __init__(self, hass: HomeAssistant) -> None:
        self._book = async_book(hass)

    @callback
    def changed(
        self, conversation_id: str, event_type: ChatLogEventType, data: dict[str, Any]
    ) -> None:
        if event_type is ChatLogEventType.DELETED:
            self._book.ended(conversation_id)
        if event_type is not ChatLogEventType.CONTENT_ADDED:
            return
        content = data["content"]
        words = content.get("content")
        if content.get("role") != "assistant" or not words:
            return
        agent_id = content.get("agent_id") or ""
        if agent_id.startswith(_PREFIX):
            self._book.started(conversation_id, words)
        elif agent_id in _LOCAL_AGENTS:
            for turn in self._book.of_conversation(conversation_id):
                turn.answered_locally(words)
