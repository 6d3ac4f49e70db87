"""A classic pipeline: engines that each take the time that such engines are said to take."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Final, override

from homeassistant.components import conversation, stt, tts
from homeassistant.helpers import intent

from custom_components.realtime_assist.realtime.audio import silence, wav_header
from tests.pipeline.engines import OtherEar

from .declared import Classic, reply_of

_RATE: Final = 24_000
_PIECE: Final = 12
"""Letters that a text model sends at once, about."""


class Ear(OtherEar):
    """Transcribes after the end of speech."""

    _attr_unique_id = "classic ear"
    _attr_name = "classic"

    @override
    async def async_process_audio_stream(
        self, metadata: stt.SpeechMetadata, stream: AsyncIterable[bytes]
    ) -> stt.SpeechResult:
        """Return words, after a while."""
        result = await super().async_process_audio_stream(metadata, stream)
        await asyncio.sleep(Classic().transcribe)
        return result


class Mind(conversation.ConversationEntity):
    """Streams a text of the length that is set."""

    _attr_unique_id = "mind"
    _attr_name = "classic"
    _attr_supports_streaming = True
    supported_languages = property(lambda _: "*")
    length = 20

    @override
    async def _async_handle_message(
        self, user_input: conversation.ConversationInput, chat_log: conversation.ChatLog
    ) -> conversation.ConversationResult:
        """Stream it."""
        async for _ in chat_log.async_add_delta_content_stream(self.entity_id, self._deltas()):
            pass
        response = intent.IntentResponse(language="en")
        response.async_set_speech(reply_of(self.length))
        return conversation.ConversationResult(response, chat_log.conversation_id)

    async def _deltas(self) -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
        text = reply_of(self.length)
        await asyncio.sleep(Classic().first_token)
        yield {"role": "assistant"}
        for start in range(0, len(text), _PIECE):
            yield {"content": text[start : start + _PIECE]}
            await asyncio.sleep(_PIECE / Classic().letters)


class Voice(tts.TextToSpeechEntity):
    """Speaks from the first sentence on, as streaming voices do."""

    _attr_unique_id = "voice"
    _attr_name = "classic"
    _attr_default_language = "en"
    _attr_supported_languages: list[str] = ["en"]  # noqa: RUF012 - as the base class has it

    @override
    async def async_stream_tts_audio(self, request: tts.TTSAudioRequest) -> tts.TTSAudioResponse:
        """Speak what comes."""
        return tts.TTSAudioResponse("wav", self._speak(request.message_gen))

    async def _speak(self, words: AsyncIterable[str]) -> AsyncGenerator[bytes]:
        text, spoken = "", False
        async for piece in words:
            text += piece
            while (end := text.find(". ")) >= 0:
                yield await self._said(text[: end + 1], first=not spoken)
                text, spoken = text[end + 2 :], True
        yield await self._said(text, first=not spoken)

    async def _said(self, text: str, *, first: bool) -> bytes:
        if first:
            await asyncio.sleep(Classic().first_audio)
        pcm = silence(1000 * len(text) / 15, _RATE)
        return wav_header(_RATE) + pcm if first else pcm
