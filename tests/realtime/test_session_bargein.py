"""An answer that is not wanted any more stops, and only what was heard of it is remembered."""

import asyncio

import pytest

from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.replies import ReplyEnd
from custom_components.realtime_assist.realtime.session import SessionState
from tests.loopback import (
    Call,
    Delay,
    Error,
    Fault,
    LoopbackServer,
    RealClock,
    Reorder,
    ScriptedBrain,
    Speech,
    Swallow,
    Switches,
)

from .rig import Result, Rig, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

STORY = Speech("A long story about a cat that went out.", ms=6000)


async def answering(house: Rig, ms: float = 300) -> Exchange:
    """Return a turn whose answer has come this far."""
    exchange = house.begin()
    await house.speak(exchange)
    exchange.end_of_speech(respond=True)
    await house.until(lambda: exchange.speech.received_ms >= ms)
    return exchange


async def test_barge_in_cuts_then_cancels_and_the_next_question_is_answered() -> None:
    """Who interrupts is answered at once, and the model knows how far it was heard."""
    brain = ScriptedBrain(replies=[STORY], default="Yes.")
    async with LoopbackServer(brain, clock=RealClock(4)) as server, rig(server) as house:
        first = await answering(house, 1000)
        first.interrupt(400)
        received = first.speech.received_ms
        said = first.record.said
        result = await house.take(first)
        assert result.replies[-1] == ReplyEnd(incomplete=True)
        house.close(result, heard_ms={0: 400})
        second = await house.voice_turn()
        assert second.text == "Yes."
        assert first.speech.received_ms == received
        assert first.record.said == said
        assert first.record.interrupted
        kinds = [e["type"] for e in server.session.received]
        assert kinds.index("conversation.item.truncate") + 1 == kinds.index("response.cancel")
        cut = server.session.received_of("conversation.item.truncate")
        assert [event["audio_end_ms"] for event in cut] == [400]
        reply = next(view for view in brain.requests[-1].context if view.role == "assistant")
        assert abs(len(reply.audio) / 48 - 400) < 2


async def test_a_cut_never_exceeds_what_was_received() -> None:
    """A clock that runs ahead of the sound harms nothing."""
    brain = ScriptedBrain(replies=[Speech("Short.", ms=1000)], default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        first = await answering(house, 1000)
        first.interrupt(1200)
        house.close(await house.take(first))
        assert (await house.voice_turn()).text == "Yes."
        for event in server.session.received_of("conversation.item.truncate"):
            assert event["audio_end_ms"] <= 1000
        for event in server.session.sent_of("error"):
            assert event["error"]["code"] == "response_cancel_not_active"


async def test_a_refused_cut_harms_nothing() -> None:
    """A provider that will not cut leaves nobody silent."""
    brain = ScriptedBrain(replies=[STORY], default="Yes.")
    fault = Fault("client:conversation.item.truncate", Error("invalid_value"), times=0)
    async with (
        LoopbackServer(brain, faults=[fault], clock=RealClock(4)) as server,
        rig(server) as house,
    ):
        first = await answering(house, 1000)
        first.interrupt(400)
        house.close(await house.take(first), heard_ms={0: 400}, text="[cut] A long")
        second = await house.voice_turn()
        assert second.end.failure is None
        assert second.text == "Yes."


async def test_nothing_heard_means_nothing_said() -> None:
    """A reply that was stopped before its first sound is not in the conversation any more."""
    brain = ScriptedBrain(replies=[STORY], default="Yes.")
    async with LoopbackServer(brain, clock=RealClock(4)) as server, rig(server) as house:
        first = await answering(house)
        first.interrupt(0)
        house.close(await house.take(first), heard_ms={0: 0})
        await house.voice_turn()
        assert not [v for v in brain.requests[-1].context if v.role == "assistant"]


async def test_an_interruption_before_the_answer_has_begun() -> None:
    """A second thought right after the first question gets the only answer."""
    brain = ScriptedBrain(default="Yes.")
    async with LoopbackServer(brain, clock=RealClock(4)) as server, rig(server) as house:
        first = house.begin()
        await house.speak(first)
        first.end_of_speech(respond=True)
        await house.until(lambda: house.session.state is SessionState.RESPONDING)
        first.interrupt(0)
        second = house.begin()
        await house.speak(second, speech(400))
        second.end_of_speech(respond=True)
        answer = await house.take(second)
        assert answer.text == "Yes."
        assert (await house.take(first)).text == ""
        house.close(Result(first))
        house.close(answer)
        await house.until(lambda: house.session.state is SessionState.IDLE)
        for event in server.session.sent_of("error"):
            assert event["error"]["code"] == "response_cancel_not_active"


@pytest.mark.parametrize("seed", range(4))
async def test_late_pieces_of_a_cancelled_answer_are_dropped(seed: int) -> None:
    """The old answer never mixes with the new one, however late its pieces come."""
    brain = ScriptedBrain(replies=[STORY], default=Speech("Yes.", ms=500))
    switches = Switches.mixed(seed).but(trailing_deltas=3)
    server = LoopbackServer(brain, switches=switches, clock=RealClock(4))
    async with server, rig(server) as house:
        first = await answering(house)
        first.cancel()
        second = house.begin()
        await house.speak(second)
        second.end_of_speech(respond=True)
        answer = await house.take(second)
        assert answer.text == "Yes."
        assert abs(len(answer.audio) / 48 - 500) < 5


async def test_a_cancelled_turn_leaves_nothing_behind() -> None:
    """Noise that was taken for a question is in nobody's history."""
    brain = ScriptedBrain(replies=[STORY], default="Yes.")
    async with LoopbackServer(brain, clock=RealClock(4)) as server, rig(server) as house:
        first = await answering(house)
        first.cancel()
        first.close()
        house.session.settle(first.turn_id)
        await house.voice_turn()
        assert len(brain.requests[-1].context) == 1
        await house.until(lambda: len(server.session.items) == 2)


async def test_a_question_while_the_last_answer_still_comes() -> None:
    """Two turns overlap: the second is committed at once, and answered after the first."""
    brain = ScriptedBrain(replies=[Speech("First.", ms=6000), "Second."])
    async with LoopbackServer(brain, clock=RealClock(4)) as server, rig(server) as house:
        first = await answering(house)
        second = house.begin()
        await house.speak(second)
        second.end_of_speech(respond=True)
        one, two = await asyncio.gather(house.take(first), house.take(second))
        assert (one.text, two.text) == ("First.", "Second.")
        assert one.end.failure is two.end.failure is None
        assert not server.session.sent_of("error")


async def test_a_tool_answer_after_an_interruption_is_harmless() -> None:
    """A lamp that was switched while somebody interrupted is known, and starts no answer."""
    brain = ScriptedBrain(replies=[[Call("HassTurnOn", "{}")]], default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: bool(exchange.record.calls))
        call = exchange.record.calls[0]
        exchange.interrupt(0)
        exchange.answer(call.call_id, "done")
        exchange.answer(call.call_id, "twice")
        result = await house.take(exchange)
        house.close(result)
        second = await house.voice_turn()
        assert second.text == "Yes."
        outputs = [i.output for i in server.session.items if i.type == "function_call_output"]
        assert outputs == ["done"]
        assert server.session.count("response.create") == 2


async def test_a_response_that_the_server_began_by_itself() -> None:
    """A tool's result is spoken once, though the server was quicker with an answer of its own."""
    brain = ScriptedBrain(replies=[[Call("HassTurnOn", "{}")], "The lamp is on."])
    fault = Fault(
        "client:response.create",
        Error("conversation_already_has_active_response"),
        nth=2,
    )
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.text == "The lamp is on."
        assert result.end.failure is None
        assert server.session.count("response.create") == 3


async def test_a_server_that_always_is_busy_is_given_up() -> None:
    """A provider that refuses every response ends the turn, and is not asked for ever."""
    fault = Fault(
        "client:response.create", Error("conversation_already_has_active_response"), times=0
    )
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.end.failure is not None
        assert server.session.count("response.create") == 4


async def test_a_response_that_nobody_asked_for_is_stopped() -> None:
    """A server that speaks out of turn is not heard in the house."""
    brain = ScriptedBrain(replies=[], default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        server.session.responder.create({}, None)
        await server.wait_for(lambda s: s.session.count("response.cancel") == 1)
        result = await house.voice_turn()
        assert result.text == "Yes."
        await house.until(lambda: not [i for i in server.session.items if i.status == "incomplete"])


async def test_the_last_audio_may_come_behind_the_end() -> None:
    """The last syllable is heard, though the server sends it a moment too late."""
    brain = ScriptedBrain(replies=[Speech("Six seconds.", ms=6000)])
    faults = [
        Fault("response.output_audio.delta", Reorder(after="response.done"), nth=5),
        Fault("response.output_audio.delta", Delay(0.4, overtake=True), nth=24),
    ]
    async with LoopbackServer(brain, faults=faults) as server, rig(server) as house:
        result = await house.voice_turn()
        assert abs(len(result.audio) / 48 - 6000) < 5


async def test_a_cancellation_that_is_never_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not say that it stopped does not block the next question."""
    monkeypatch.setattr("custom_components.realtime_assist.realtime.floor.CANCELLED_SECONDS", 0.3)
    brain = ScriptedBrain(replies=[STORY], default="Yes.")
    fault = Fault("response.done", Swallow())
    async with (
        LoopbackServer(brain, faults=[fault], clock=RealClock(4)) as server,
        rig(server) as house,
    ):
        first = await answering(house)
        first.cancel()
        assert (await house.voice_turn()).text == "Yes."
