"""Pipelines that have only some of our engines, runs without a satellite, and typed words."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from homeassistant.components import tts
from homeassistant.exceptions import HomeAssistantError
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator, WebSocketGenerator

from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.loopback import Request, Speech
from tests.satellite import speech

from .conftest import Home
from .engines import OtherEar, OtherMind, OtherVoice, add


async def test_our_ear_alone_only_transcribes(house: Home) -> None:
    """With another agent and voice the model hears, says nothing, and nothing is remembered."""
    await add(house.hass, OtherMind(), OtherVoice())
    await house.pipeline(conversation_engine="conversation.other", tts_engine="tts.other")
    house.hears.append("how are you")
    await house.kitchen.hear(speech())
    assert house.kitchen.event("tts-start")["tts_input"] == "You said how are you"
    await house.kitchen.fetch()
    await house.settled()
    assert house.server.session.count("response.create") == 0
    assert house.records(house.kitchen) == []


async def test_another_ear_with_our_mind_and_voice(house: Home) -> None:
    """Words that another recogniser heard are answered in the model's own voice."""
    await add(house.hass, OtherEar())
    await house.pipeline(stt_engine="stt.other")
    house.replies.append("I hear you through another.")
    await house.kitchen.hear(speech())
    assert house.kitchen.streamed
    assert len(await house.kitchen.play()) > 16000
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert (record.source, record.heard_text) == ("text", "heard by another")
    assert record.said[0].heard_words == "I hear you through another."


async def test_another_voice_speaks_our_words(house: Home) -> None:
    """With another voice our answer is text, without anything in front of it."""
    voice = OtherVoice()
    await add(house.hass, voice)
    await house.pipeline(tts_engine="tts.other")
    house.replies.append("I hear you.")
    await house.kitchen.hear(speech())
    await house.kitchen.fetch()
    assert voice.said == ["I hear you."]
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert record.said[0].heard_words == "I hear you."


async def test_our_voice_alone_says_what_it_is_given(house: Home) -> None:
    """With another agent our voice says exactly that agent's words."""
    await add(house.hass, OtherEar(), OtherMind())
    await house.pipeline(stt_engine="stt.other", conversation_engine="conversation.other")
    await house.kitchen.hear(speech())
    await house.kitchen.fetch()
    assert [r["input"] for r in house.server.speech_requests] == ["You said heard by another"]
    assert house.server.sessions == []


@pytest.mark.parametrize("options", [{"fallback_tts": "tts.other"}])
@pytest.mark.usefixtures("options")
async def test_the_fallback_voice_says_what_the_provider_cannot(house: Home) -> None:
    """An announcement is said by the chosen engine where the provider's endpoint fails."""
    voice = OtherVoice()
    await add(house.hass, voice)
    house.server.refuse_connections = True
    stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
    stream.async_set_message("The door is open.")
    assert len(b"".join([chunk async for chunk in stream.async_stream_result()])) > 1000
    assert voice.said == ["The door is open."]


async def test_a_text_that_nobody_can_say_is_an_error_and_not_kept(house: Home) -> None:
    """Nothing wrong is said, and the next attempt is a new one."""
    house.server.refuse_connections = True
    for _ in range(2):
        stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
        stream.async_set_message("The door is open.")
        with pytest.raises(HomeAssistantError):
            _ = [chunk async for chunk in stream.async_stream_result()]


def exactly(request: Request) -> str:
    """Read aloud what the model is given."""
    return request.texts()[-1]


async def of_another_provider(house: Home) -> None:
    """Let the account be at a server that has no speech endpoint."""
    data = {**house.entry.data, "provider": "openai_compatible"}
    house.hass.config_entries.async_update_entry(house.entry, data=data)
    await house.hass.async_block_till_done()


async def test_the_model_reads_where_nothing_else_can(house: Home) -> None:
    """An announcement is heard on a server that has no other voice, word for word."""
    await of_another_provider(house)
    house.brain.default = exactly
    house.replies.append("Sure! The door is open.")
    stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
    stream.async_set_message("The door is open.")
    assert len(b"".join([chunk async for chunk in stream.async_stream_result()])) > 3000
    assert house.server.total("response.create") == 2
    await house.until(lambda: not house.server.open_sessions)
    # Both attempts were paid for.
    assert house.assistant.usage.total.responses == 2
    assert house.assistant.usage.total.tokens


async def test_what_the_model_makes_of_a_text_is_not_said(
    house: Home, caplog: pytest.LogCaptureFixture
) -> None:
    """A model that answers an alarm instead of reading it is not heard; its owner is told."""
    await of_another_provider(house)
    house.brain.default = "I am sorry to hear that."
    stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
    stream.async_set_message("There is water in the cellar.")
    with pytest.raises(HomeAssistantError):
        _ = [chunk async for chunk in stream.async_stream_result()]
    assert "said_otherwise" in caplog.text
    assert "sorry" not in caplog.text


async def test_typed_words_are_answered_in_text(
    house: Home, hass_ws_client: WebSocketGenerator
) -> None:
    """Who types gets text, in a session of its own that ends with the answer."""
    house.replies.append("Typed back.")
    client = await hass_ws_client(house.hass)
    await client.send_json_auto_id(
        {
            "type": "conversation/process",
            "text": "hello there",
            "agent_id": house.engine("conversation"),
        }
    )
    message = await client.receive_json()
    assert message["result"]["response"]["speech"]["plain"]["speech"] == "Typed back."
    await house.settled()
    await house.until(lambda: not house.server.open_sessions)
    session = house.server.sessions[-1]
    assert session.config.wire["output_modalities"] == ["text"]
    assert "hello there" in " ".join(session.texts())


async def test_a_browser_speaks_and_hears(house: Home, hass_ws_client: WebSocketGenerator) -> None:
    """A run without a satellite is a whole turn too, and ends by itself."""
    house.hears.append("from the browser")
    house.replies.append(Speech("Hello browser.", ms=600))
    client = await hass_ws_client(house.hass)
    await client.send_json_auto_id(
        {
            "type": "assist_pipeline/run",
            "start_stage": "stt",
            "end_stage": "tts",
            "input": {"sample_rate": 16000, "no_vad": True},
        }
    )
    events: dict[str, Any] = {}
    while "run-end" not in events:
        message = await client.receive_json()
        if message["type"] != "event":
            continue
        event = message["event"]
        events[event["type"]] = event["data"]
        if event["type"] == "stt-start":
            handler = events["run-start"]["runner_data"]["stt_binary_handler_id"]
            async for chunk in speech():
                await client.send_bytes(bytes([handler]) + chunk)
            await client.send_bytes(bytes([handler]))
    assert events["stt-end"]["stt_output"]["text"] == "from the browser"
    assert events["tts-start"]["tts_input"] == "Hello browser."
    stream = tts.async_get_stream(house.hass, events["tts-end"]["tts_output"]["token"])
    assert stream is not None
    assert len(b"".join([chunk async for chunk in stream.async_stream_result()])) > 1000
    await house.settled()
    await house.until(lambda: not house.server.open_sessions)


async def test_stt_alone_over_http_transcribes(
    house: Home, hass_client: ClientSessionGenerator
) -> None:
    """Home Assistant's own transcription interface gets words, and no answer is made."""
    house.hears.append("just words")
    client = await hass_client()
    audio = b"".join([chunk async for chunk in speech()])
    response = await client.post(
        f"/api/stt/{house.engine('stt')}",
        headers={
            "X-Speech-Content": "format=wav; codec=pcm; sample_rate=16000; bit_rate=16;"
            " channel=1; language=en"
        },
        data=audio,
    )
    assert await response.json() == {"text": "just words", "result": "success"}
    await house.settled()
    assert house.server.sessions[-1].count("response.create") == 0
    await house.until(lambda: not house.server.open_sessions)


async def test_a_text_that_never_ends_is_given_up(
    house: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of another agent that was cancelled leaves no speech task behind."""
    monkeypatch.setattr("custom_components.realtime_assist.pipeline.verbatim.TEXT_SECONDS", 0.05)

    async def words() -> AsyncGenerator[str]:
        yield "never "
        await asyncio.Event().wait()

    stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
    stream.async_set_message_stream(words())
    with pytest.raises(HomeAssistantError):
        _ = [chunk async for chunk in stream.async_stream_result()]
    assert not async_open_turns(house.hass)
