"""The ear of an assistant, as Home Assistant sees it."""

from homeassistant.components import stt

from tests.home import Home

pytest_plugins = ("tests.home",)


async def test_it_takes_what_satellites_send(house: Home) -> None:
    """A satellite's microphone fits, in every language of the interface."""
    engine = stt.async_get_speech_to_text_entity(house.hass, house.engine("stt"))
    assert engine is not None
    for language in ("en", "de", "fr", "zh-Hans"):
        assert engine.check_metadata(
            stt.SpeechMetadata(
                language=language,
                format=stt.AudioFormats.WAV,
                codec=stt.AudioCodecs.PCM,
                bit_rate=stt.AudioBitRates.BITRATE_16,
                sample_rate=stt.AudioSampleRates.SAMPLERATE_16000,
                channel=stt.AudioChannels.CHANNEL_MONO,
            )
        )
    assert engine.audio_processing.requires_external_vad
