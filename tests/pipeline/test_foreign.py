"""What a turn starts is not that turn: three kinds of foreign calls."""

from homeassistant.components import conversation, tts
from homeassistant.core import Context, Event, EventStateChangedData, callback
from homeassistant.helpers import llm

from custom_components.realtime_assist.pipeline.turn import current_turn
from tests.loopback import Call, Request
from tests.satellite import speech

from .conftest import Home
from .engines import Tool, register


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

    @callback
    def started(event: Event[EventStateChangedData]) -> None:
        state = event.data["new_state"]
        if state and state.entity_id == house.kitchen.entity_id and state.state == "processing":
            house.hass.async_create_task(automation())

    house.hass.bus.async_listen("state_changed", started)

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
