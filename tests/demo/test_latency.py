"""The delay that the demonstration tells is the one that a person would have."""

import shutil

import aiohttp
import pytest
from homeassistant.components.assist_pipeline import async_get_pipeline
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from tests.home import Home, brain, house, options
from tests.loopback import Speech, Transcript

from .client import Client, CommandFailed
from .latency import measure
from .sound import Sound, converted, speak

__all__ = ["brain", "house", "options"]

pytestmark = pytest.mark.skipif(
    shutil.which("flite") is None or shutil.which("ffmpeg") is None,
    reason="speech that a detector takes for speech needs flite and ffmpeg",
)


async def test_an_answer_is_timed_and_fetched(
    house: Home, hass_client: ClientSessionGenerator, hass_access_token: str
) -> None:
    """The times are in order, count from the last word, and belong to an answer that came."""
    house.hears.append("what can you do")
    house.replies.append(Speech("Ask me anything.", ms=900))
    assert await async_setup_component(house.hass, "websocket_api", {})
    server = await hass_client()
    base = str(server.make_url("")).rstrip("/")
    # What follows the last word is silence, and counts as waiting.
    said = await speak("what can you do") + Sound.silence(400)
    pipeline = async_get_pipeline(house.hass).id
    async with (
        aiohttp.ClientSession() as http,
        Client.connect(http, base, hass_access_token) as client,
    ):
        measured = await measure(client, http, pipeline, said)
    assert measured.words == "what can you do"
    assert measured.end_of_speech_ms is not None
    assert measured.transcript_ms is not None
    assert 400 < measured.end_of_speech_ms <= measured.transcript_ms <= measured.first_byte_ms
    answer = await converted(measured.audio)
    assert 700 < answer.ms < 1500
    assert answer.segments()
    await house.settled()


async def test_a_run_that_fails_is_no_measurement(
    house: Home, hass_client: ClientSessionGenerator, hass_access_token: str
) -> None:
    """A failure is told as one, not as a fast answer."""
    house.hears.append(Transcript(failure="server_error"))
    await house.pipeline(conversation_engine="conversation.none")
    assert await async_setup_component(house.hass, "websocket_api", {})
    server = await hass_client()
    base = str(server.make_url("")).rstrip("/")
    async with (
        aiohttp.ClientSession() as http,
        Client.connect(http, base, hass_access_token) as client,
    ):
        with pytest.raises(CommandFailed):
            await measure(client, http, async_get_pipeline(house.hass).id, await speak("hello"))
    await house.settled()
