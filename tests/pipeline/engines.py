"""Tools and other engines for the tests of the pipeline."""

import io
import wave
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any, override

import probatio
from homeassistant.components import conversation, stt, tts
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent, llm
from homeassistant.helpers.entity import Entity

from .conftest import Home

API_ID = "tests"


class Tool(llm.Tool):
    """A tool that does what the test says."""

    integration = "test"
    description = "A tool of a test."

    def __init__(
        self,
        name: str,
        run: Callable[[llm.ToolInput], Awaitable[Any]],
        parameters: dict[Any, Any] | None = None,
    ) -> None:
        """Be called `name`."""
        self.name = name
        self._run = run
        self.parameters = probatio.Schema(parameters or {})
        self.contexts: list[llm.LLMContext] = []

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Run."""
        self.contexts.append(llm_context)
        result: llm.ToolResult = await self._run(tool_input)
        return result


class Api(llm.API):
    """An API with the tools of the test."""

    def __init__(self, hass: HomeAssistant, tools: list[llm.Tool]) -> None:
        """Offer tools."""
        super().__init__(hass=hass, id=API_ID, name="Tests")
        self.tools = tools

    @override
    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return an instance."""
        return llm.APIInstance(
            api=self, api_prompt="Tests.", llm_context=llm_context, tools=self.tools
        )


def register(house: Home, *tools: llm.Tool) -> None:
    """Give the assistant these tools, besides Assist's."""
    llm.async_register_api(house.hass, Api(house.hass, list(tools)))
    object.__setattr__(house.assistant.options, "llm_hass_api", (API_ID,))


class OtherEar(stt.SpeechToTextEntity):
    """A recogniser of somebody else."""

    _attr_unique_id = "ear"
    _attr_name = "other"
    supported_languages = property(lambda _: ["en"])
    supported_formats = property(lambda _: [stt.AudioFormats.WAV])
    supported_codecs = property(lambda _: [stt.AudioCodecs.PCM])
    supported_bit_rates = property(lambda _: [stt.AudioBitRates.BITRATE_16])
    supported_sample_rates = property(lambda _: [stt.AudioSampleRates.SAMPLERATE_16000])
    supported_channels = property(lambda _: [stt.AudioChannels.CHANNEL_MONO])

    def __init__(self, words: str = "heard by another") -> None:
        """Hear always these words."""
        self._words = words

    @override
    async def async_process_audio_stream(
        self, metadata: stt.SpeechMetadata, stream: AsyncIterable[bytes]
    ) -> stt.SpeechResult:
        """Hear always the same."""
        async for _ in stream:
            pass
        return stt.SpeechResult(self._words, stt.SpeechResultState.SUCCESS)


class OtherMind(conversation.ConversationEntity):
    """An agent of somebody else."""

    _attr_unique_id = "mind"
    _attr_name = "other"
    _attr_supports_streaming = True
    supported_languages = property(lambda _: "*")

    @override
    async def _async_handle_message(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
    ) -> conversation.ConversationResult:
        """Repeat what was said."""
        response = intent.IntentResponse(language="en")
        response.async_set_speech(f"You said {user_input.text}")
        return conversation.ConversationResult(response, chat_log.conversation_id)


class OtherVoice(tts.TextToSpeechEntity):
    """A voice of somebody else: a second of WAV, and it remembers what it said."""

    _attr_unique_id = "voice"
    _attr_name = "other"
    _attr_default_language = "en"

    def __init__(self) -> None:
        """Have said nothing."""
        self._attr_supported_languages = ["en", "de"]
        self._attr_supported_options = [
            tts.ATTR_PREFERRED_FORMAT,
            tts.ATTR_PREFERRED_SAMPLE_RATE,
            tts.ATTR_PREFERRED_SAMPLE_CHANNELS,
            tts.ATTR_PREFERRED_SAMPLE_BYTES,
        ]
        self.said: list[str] = []

    @override
    async def async_get_tts_audio(
        self, message: str, language: str, options: dict[str, Any]
    ) -> tts.TtsAudioType:
        """Say something for a second."""
        self.said.append(message)
        buffer = io.BytesIO()
        with wave.open(buffer, "wb") as wav:
            wav.setnchannels(1)
            wav.setsampwidth(2)
            wav.setframerate(options.get(tts.ATTR_PREFERRED_SAMPLE_RATE, 16000))
            wav.writeframes(b"\1\1" * 16000)
        return "wav", buffer.getvalue()


async def add(hass: HomeAssistant, *entities: Entity) -> None:
    """Add engines to Home Assistant; their ids end in `.other`."""
    kinds = {
        stt.SpeechToTextEntity: "stt",
        conversation.ConversationEntity: "conversation",
        tts.TextToSpeechEntity: "tts",
    }
    for entity in entities:
        kind = next(kind for base, kind in kinds.items() if isinstance(entity, base))
        await hass.data["entity_components"][kind].async_add_entities([entity])
