"""The voice of an assistant, as Home Assistant sees it."""

import io
import wave
from typing import Any

import pytest
from homeassistant.components import tts

from custom_components.realtime_assist.tts import _complete_only
from tests.home import Home
from tests.loopback import Speech
from tests.satellite import speech

pytest_plugins = ("tests.home",)


async def test_the_answer_is_a_wav_file_of_exactly_the_models_audio(house: Home) -> None:
    """Nothing is missing from an answer, and nothing clicks at its end."""
    house.replies.append(Speech("A second of speech.", ms=1000))
    await house.kitchen.hear(speech())
    data = await house.kitchen.play()
    with wave.open(io.BytesIO(data), "rb") as wav:
        assert (wav.getframerate(), wav.getsampwidth(), wav.getnchannels()) == (16000, 2, 1)
        frames = len(wav.readframes(10_000_000)) // 2
    assert abs(frames - 16000) <= 160
    await house.settled()


@pytest.mark.parametrize("form", ["mp3", "flac"])
async def test_other_formats_are_made_of_it(house: Home, form: str) -> None:
    """A media player gets the format that it asks for."""
    house.kitchen._attr_tts_options = {tts.ATTR_PREFERRED_FORMAT: form}
    house.replies.append(Speech("A second of speech.", ms=1000))
    await house.kitchen.hear(speech())
    data = await house.kitchen.fetch()
    assert data[:4] == b"fLaC" if form == "flac" else data[:2] in (b"\xff\xfb", b"\xff\xf3", b"ID")
    assert len(data) > 2000
    house.kitchen.tts_response_finished()
    await house.settled()


async def test_a_changed_voice_is_another_recording(house: Home) -> None:
    """An announcement that was recorded in the old voice is not played after a change of voice."""
    stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
    assert stream.options["voice"] == house.assistant.options.voice
    assert stream.options["model"] == house.assistant.options.model


@pytest.mark.parametrize(
    ("platform", "options", "complete"),
    [
        ("voip", {}, True),
        ("esphome", {"preferred_format": "wav"}, True),
        ("esphome", {"preferred_format": "flac"}, False),
        ("wyoming", {"preferred_format": "wav"}, False),
        (None, {}, False),
    ],
)
def test_who_plays_only_what_is_complete(
    platform: str | None, options: dict[str, Any], *, complete: bool
) -> None:
    """A phone is not taken to play an answer while it is still made."""
    assert _complete_only(platform, options) is complete
