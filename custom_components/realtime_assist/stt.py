"""Speech to text: the ear of an assistant."""

from collections.abc import AsyncIterable
from typing import override

from homeassistant.components.stt import (
    AudioBitRates,
    AudioChannels,
    AudioCodecs,
    AudioFormats,
    AudioSampleRates,
    SpeechAudioProcessing,
    SpeechMetadata,
    SpeechResult,
    SpeechToTextEntity,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .assistant import TurnDetection
from .const import SUBENTRY_ASSISTANT
from .entity import SPOKEN_LANGUAGES, RealtimeAssistEntity
from .hub import RealtimeAssistConfigEntry
from .pipeline.listening import async_listen

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Make the ear of each assistant."""
    for subentry in entry.get_subentries_of_type(SUBENTRY_ASSISTANT):
        async_add_entities(
            [RealtimeSpeechToText(entry, subentry)], config_subentry_id=subentry.subentry_id
        )


class RealtimeSpeechToText(RealtimeAssistEntity, SpeechToTextEntity):
    """Streams speech to the model while it is spoken."""

    _attr_name = None

    @property
    @override
    def supported_languages(self) -> list[str]:
        """Return the languages that may be spoken."""
        return list(SPOKEN_LANGUAGES)

    @property
    @override
    def supported_formats(self) -> list[AudioFormats]:
        """Return the containers that are taken."""
        return [AudioFormats.WAV]

    @property
    @override
    def supported_codecs(self) -> list[AudioCodecs]:
        """Return the codecs that are taken."""
        return [AudioCodecs.PCM]

    @property
    @override
    def supported_bit_rates(self) -> list[AudioBitRates]:
        """Return the sample sizes that are taken."""
        return [AudioBitRates.BITRATE_16]

    @property
    @override
    def supported_sample_rates(self) -> list[AudioSampleRates]:
        """Return the sample rates that are taken."""
        return [AudioSampleRates.SAMPLERATE_16000]

    @property
    @override
    def supported_channels(self) -> list[AudioChannels]:
        """Return the channels that are taken."""
        return [AudioChannels.CHANNEL_MONO]

    @property
    @override
    def audio_processing(self) -> SpeechAudioProcessing:
        """Return who detects the end of speech: Home Assistant, or the provider."""
        ours = self.assistant.options.turn_detection is TurnDetection.HOME_ASSISTANT
        return SpeechAudioProcessing(
            requires_external_vad=ours,
            prefers_auto_gain_enabled=ours,
            prefers_noise_reduction_enabled=ours,
        )

    @override
    async def async_process_audio_stream(
        self, metadata: SpeechMetadata, stream: AsyncIterable[bytes]
    ) -> SpeechResult:
        """Return the words of a stream of PCM16 mono at 16 kHz."""
        return await async_listen(self.hass, self.assistant, stream, metadata.language)
