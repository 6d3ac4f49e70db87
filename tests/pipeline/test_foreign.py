"""What a turn starts is not that turn: three kinds of foreign calls."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from homeassistant.components import conversation, stt, tts
from homeassistant.components.assist_pipeline import async_pipeline_from_audio_stream
from homeassistant.core import Context, Event, EventStateChangedData, callback
from homeassistant.helpers import llm

from custom_components.realtime_assist.pipeline.origin import Origin
from custom_components.realtime_assist.pipeline.replying import PADDING
from custom_components.realtime_assist.pipeline.turn import async_open_turns, current_turn
from tests.loopback import Call, Request, Speech
from tests.satellite import speech

from .conftest import Home
from .engines import Tool, register


def on_processing(house: Home, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do something, as an automation does, when the kitchen's satellite begins to think."""

    @callback
    def changed(event: Event[EventStateChangedData]) -> None:
        state = event.data["new_state"]
        if state and state.entity_id == house.kitchen.entity_id and state.state == "processing":
            house.hass.async_create_task(act())

    house.hass.bus.async_listen("state_changed", changed)


async def test_a_tool_that_asks_the_assistant_gets_its_own_answer(house: Home) -> None:
    """A script that the model runs may ask the model something, and nobody waits for himself."""
    inner: list[str] = []

    async def ask(_: llm.ToolInput) -> llm.ToolResult:
        result = await conversation.async_converse(
            house.hass, "what is nested", None, Context(), agent_id=house.engine("conversation")
        )
        inner.append(result.response.speech["plain"]["speech"])
        return llm.ToolResult(data={"answer": inner[-1]})

    register(house, Tool("ask", ask))
    house.replies.extend([Call("ask", "{}"), "The inner answer.", "The outer answer."])
    await house.kitchen.hear(speech())
    assert inner == ["The inner answer."]
    assert house.kitchen.event("tts-start")["tts_input"] == "The outer answer."
    await house.kitchen.play()
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert [said.text for said in record.said] == ["The outer answer."]
    assert [(call.name, call.output) for call in record.calls] == [
        ("ask", '{"answer":"The inner answer."}')
    ]


async def test_an_automation_of_the_satellites_state_gets_its_own_answer(house: Home) -> None:
    """An automation that runs while somebody speaks is not answered with that person's answer."""
    answers: list[str] = []

    async def automation() -> None:
        assert current_turn.get() is not None
        result = await conversation.async_converse(
            house.hass, "from automation", None, Context(), agent_id=house.engine("conversation")
        )
        answers.append(result.response.speech["plain"]["speech"])

    on_processing(house, automation)

    def answer(request: Request) -> str:
        typed = "from automation" in " ".join(request.texts())
        return "To the automation." if typed else "To the person."

    house.brain.default = answer
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    await house.until(lambda: answers)
    assert answers == ["To the automation."]
    (record,) = house.records(house.kitchen)
    assert [said.text for said in record.said] == ["To the person."]


async def test_speech_that_a_tool_makes_is_said_as_it_stands(house: Home) -> None:
    """An announcement that the model starts is the announcement, not the model's answer."""
    audio: list[bytes] = []

    async def announce(_: llm.ToolInput) -> llm.ToolResult:
        stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
        stream.async_set_message("The washing machine is done.")
        audio.append(b"".join([chunk async for chunk in stream.async_stream_result()]))
        return llm.ToolResult(data={})

    register(house, Tool("announce", announce))
    house.replies.extend([Call("announce", "{}"), "I have told everybody."])
    await house.kitchen.hear(speech())
    assert len(audio) == 1
    assert len(audio[0]) > 1000
    assert [r["input"] for r in house.server.speech_requests] == ["The washing machine is done."]
    wav = await house.kitchen.play()
    assert len(wav) > 16000
    await house.settled()


async def test_speech_of_an_automation_is_said_as_it_stands(house: Home) -> None:
    """A spoken warning that happens to come in mid turn is not replaced by the answer."""
    audio: list[bytes] = []

    async def warn() -> None:
        assert current_turn.get() is not None
        stream = tts.async_create_stream(house.hass, house.engine("tts"), "en")
        stream.async_set_message("The freezer is open.")
        audio.append(b"".join([chunk async for chunk in stream.async_stream_result()]))

    on_processing(house, warn)
    house.replies.append(Speech("A long answer to the person in the kitchen.", ms=3000))
    await house.kitchen.hear(speech())
    answer = await house.kitchen.play()
    await house.until(lambda: audio)
    assert [r["input"] for r in house.server.speech_requests] == ["The freezer is open."]
    assert len(answer) > 90_000
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert not record.interrupted


async def test_a_run_that_a_run_started_is_not_the_satellites(house: Home) -> None:
    """What an automation lets the assistant hear does not count as said to the kitchen."""
    origins: list[Origin] = []

    async def listen() -> None:
        begun = asyncio.create_task(
            async_pipeline_from_audio_stream(
                house.hass,
                context=Context(),
                event_callback=lambda _: None,
                stt_metadata=stt.SpeechMetadata(
                    language="en",
                    format=stt.AudioFormats.WAV,
                    codec=stt.AudioCodecs.PCM,
                    bit_rate=stt.AudioBitRates.BITRATE_16,
                    sample_rate=stt.AudioSampleRates.SAMPLERATE_16000,
                    channel=stt.AudioChannels.CHANNEL_MONO,
                ),
                stt_stream=speech(),
            )
        )
        await house.until(lambda: len(async_open_turns(house.hass)) > 1)
        origins.append(async_open_turns(house.hass)[-1].origin)
        await begun

    on_processing(house, listen)
    house.replies.append(Speech("A long answer to the person in the kitchen.", ms=3000))
    await house.kitchen.hear(speech(wait=0.002))
    await house.until(lambda: origins)
    assert [origin.satellite for origin in origins] == [None]
    await house.kitchen.play()
    await house.settled()


async def test_a_turn_is_claimed_once(house: Home) -> None:
    """Whoever comes second with the same conversation or words gets nothing of the turn."""
    house.replies.append(Speech("One two three four five.", ms=3000))
    run = asyncio.create_task(house.kitchen.hear(speech()))
    await house.until(lambda: house.kitchen.streamed)
    (turn,) = async_open_turns(house.hass)
    subentry, conversation_id = house.assistant.subentry_id, turn.conversation_id
    assert conversation_id is not None
    assert not turn.claim_conversation(subentry, conversation_id)
    assert not turn.claim_speech(subentry, PADDING)
    await run
    await house.kitchen.play()
    await house.settled()
