"""Text to speech: the voice of an assistant.

For a reply it hands out the model's own audio. Any other text it says exactly as it stands,
outside every session, or not at all.
"""

from collections.abc import AsyncGenerator
from typing import Any, Final, override

from homeassistant.components import tts
from homeassistant.components.tts import (
    ATTR_PREFERRED_FORMAT,
    ATTR_PREFERRED_SAMPLE_RATE,
    TextToSpeechEntity,
    TTSAudioResponse,
)
from homeassistant.components.tts.entity import TTSAudioRequest
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import CONF_MODEL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import CONF_VOICE, SUBENTRY_ASSISTANT
from .entity import SPOKEN_LANGUAGES, RealtimeAssistEntity
from .hub import RealtimeAssistConfigEntry
from .pipeline.context import current_turn
from .pipeline.speaking import async_speak
from .pipeline.verbatim import async_say_exactly
from .realtime.audio import Resampler, pcm_to_float, wav_header

PARALLEL_UPDATES = 0

# Home Assistant 2026.11 takes PCM WAV of the asked rate as it is, and unpacks it before it starts
# ffmpeg. 2026.10 starts ffmpeg for every asked rate, and ffmpeg looks at 64 KiB of integer samples
# before it plays them, not so at floats.
_LIVE_PCM: Final = hasattr(tts, "async_create_audio_stream")
_WAV: Final = "wav"


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Make the voice of each assistant."""
    for subentry in entry.get_subentries_of_type(SUBENTRY_ASSISTANT):
        async_add_entities(
            [RealtimeTextToSpeech(entry, subentry)], config_subentry_id=subentry.subentry_id
        )


class RealtimeTextToSpeech(RealtimeAssistEntity, TextToSpeechEntity):
    """Speaks with the model's own voice."""

    def __init__(self, entry: RealtimeAssistConfigEntry, subentry: ConfigSubentry) -> None:
        """Put voice and model into the options: they are part of Home Assistant's cache key."""
        super().__init__(entry, subentry)
        self._attr_supported_languages = list(SPOKEN_LANGUAGES)
        self._attr_supported_options = [
            # A pipeline may bring the voice of another engine along: let in, without effect.
            tts.ATTR_VOICE,
            ATTR_PREFERRED_FORMAT,
            ATTR_PREFERRED_SAMPLE_RATE,
        ]
        # Home Assistant refuses a voice without a name.
        self._attr_has_entity_name = False
        self._attr_name = subentry.title
        options = self.assistant.options
        self._attr_default_options = {CONF_MODEL: options.model, CONF_VOICE: options.voice or ""}

    @property
    @override
    def default_language(self) -> str:
        """Return the language of the house."""
        language = self.hass.config.language
        return language if language in SPOKEN_LANGUAGES else "en"

    @override
    async def async_stream_tts_audio(self, request: TTSAudioRequest) -> TTSAudioResponse:
        """Return the audio of the reply that these words belong to, else of exactly these words."""
        first = await anext(request.message_gen, "")
        turn = current_turn.get()
        if turn is not None and turn.claim_speech(self.assistant.subentry_id, first):
            streams = not _complete_only(turn.origin.platform, request.options)
            pcm, rate = async_speak(turn, streams=streams), turn.exchange.speech.rate
        else:
            pcm, rate = await async_say_exactly(
                self.hass, self.assistant, first, request.message_gen, request.language
            )
        return TTSAudioResponse(_WAV, _wav(pcm, rate, _rate(request.options, rate)))


def _complete_only(platform: str | None, options: dict[str, Any]) -> bool:
    """Return whether a satellite begins to play only when a reply is complete.

    Phones do, and ESPHome devices with a bare speaker: these ask for WAV, those with a media
    player for what it plays.
    """
    return platform == "voip" or (
        platform == "esphome" and options.get(ATTR_PREFERRED_FORMAT) == _WAV
    )


def _rate(options: dict[str, Any], rate: int) -> int:
    """Return the rate to deliver: the asked one only where ffmpeg can be spared by it."""
    asked = options.get(ATTR_PREFERRED_SAMPLE_RATE)
    if not _LIVE_PCM or not asked or options.get(ATTR_PREFERRED_FORMAT) != _WAV:
        return rate
    return int(asked)


async def _wav(pcm: AsyncGenerator[bytes], rate: int, wanted: int) -> AsyncGenerator[bytes]:
    """Yield PCM16 mono as WAV of the wanted rate."""
    resampler = Resampler(rate, wanted)
    header = wav_header(wanted, float32=not _LIVE_PCM)
    try:
        async for piece in pcm:
            if out := resampler.feed(piece):
                yield header + (out if _LIVE_PCM else pcm_to_float(out))
                header = b""
        rest = resampler.flush()
        if header or rest:
            yield header + (rest if _LIVE_PCM else pcm_to_float(rest))
    finally:
        await pcm.aclose()
