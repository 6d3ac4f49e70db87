"""An ordinary turn, spoken or typed, with and without tools."""

import pytest

from custom_components.realtime_assist.realtime.hearing import How
from custom_components.realtime_assist.realtime.session import SessionState
from tests.loopback import Call, LoopbackServer, ScriptedBrain, Speech

from .rig import rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def test_a_spoken_question_is_answered_aloud() -> None:
    """A person who asks gets words and speech, from the first second that was spoken."""
    brain = ScriptedBrain(replies=["It is seven o'clock."], hears=["what time is it"])
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.heard is not None
        assert (result.heard.text, result.heard.how) == ("what time is it", How.COMPLETED)
        assert result.text == "It is seven o'clock."
        assert result.end.failure is None
        assert result.first_audio == 1
        assert result.audio
        assert house.session.state is SessionState.IDLE
        kinds = [event["type"] for event in server.session.received]
        commit = kinds.index("input_audio_buffer.commit")
        assert kinds[commit + 1] == "response.create"
        audio = b"".join(view.audio for view in brain.requests[0].context)
        assert abs(len(audio) / 48 - 600) < 5


async def test_a_tool_is_called_and_its_result_is_spoken() -> None:
    """The lamp goes on, and the house says so, in one turn."""
    brain = ScriptedBrain(
        replies=[[Speech("One moment."), Call("HassTurnOn", '{"name":"lamp"}')], "The lamp is on."]
    )
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn(tool=lambda _: '{"success": true}')
        assert [call.name for call in result.calls] == ["HassTurnOn"]
        assert result.text == "One moment.The lamp is on."
        said = result.exchange.record.said
        assert [(item.index, item.text) for item in said] == [
            (0, "One moment."),
            (1, "The lamp is on."),
        ]
        assert round(len(result.audio) / 48) == round(sum(item.received_ms for item in said))
        assert server.session.count("response.create") == 2
        outputs = [item for item in server.session.items if item.type == "function_call_output"]
        assert [item.output for item in outputs] == ['{"success": true}']


async def test_typed_words_are_answered_in_text() -> None:
    """What is typed into Assist reaches the model word by word, as the user's own."""
    brain = ScriptedBrain(replies=["Hello."])
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.text_turn("good morning")
        assert result.text == "Hello."
        last = brain.requests[0].last
        assert last is not None
        assert (last.role, last.text) == ("user", "good morning")


async def test_speech_before_the_socket_is_open_is_not_lost() -> None:
    """The first words of the day are heard, though the connection takes a second."""
    brain = ScriptedBrain(replies=["Yes."])
    async with LoopbackServer(brain) as server, rig(server) as house:
        house.record.prepare_seconds = 0.2
        exchange = house.begin()
        await house.speak(exchange, speech(900))
        exchange.end_of_speech(respond=True)
        assert house.session.state is SessionState.OPENING
        result = await house.take(exchange)
        assert result.text == "Yes."
        audio = b"".join(view.audio for view in brain.requests[0].context)
        assert abs(len(audio) / 48 - 900) < 5
