"""Conversation: the mind of an assistant, as Home Assistant's pipelines and chats see it."""

from typing import Literal, override

from homeassistant.components.conversation import (
    ChatLog,
    ConversationEntity,
    ConversationEntityFeature,
    ConversationInput,
    ConversationResult,
)
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import MATCH_ALL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import SUBENTRY_ASSISTANT
from .entity import RealtimeAssistEntity
from .hub import RealtimeAssistConfigEntry
from .pipeline.conversing import async_converse

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Make the mind of each assistant."""
    for subentry in entry.get_subentries_of_type(SUBENTRY_ASSISTANT):
        async_add_entities(
            [RealtimeConversation(entry, subentry)], config_subentry_id=subentry.subentry_id
        )


class RealtimeConversation(RealtimeAssistEntity, ConversationEntity):
    """Answers what was spoken or typed."""

    _attr_name = None
    _attr_supports_streaming = True

    def __init__(self, entry: RealtimeAssistConfigEntry, subentry: ConfigSubentry) -> None:
        """Say whether it controls the house."""
        super().__init__(entry, subentry)
        if self.assistant.options.llm_hass_api:
            self._attr_supported_features = ConversationEntityFeature.CONTROL

    @property
    @override
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Return all languages."""
        return MATCH_ALL

    @override
    async def _async_handle_message(
        self, user_input: ConversationInput, chat_log: ChatLog
    ) -> ConversationResult:
        """Answer."""
        return await async_converse(self.hass, self.assistant, self.entity_id, user_input, chat_log)
