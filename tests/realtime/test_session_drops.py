"""Sockets end at every moment of a turn; the turn goes on, or ends well."""

import asyncio
from typing import Literal

import pytest

from custom_components.realtime_assist.realtime.errors import (
    AuthenticationFailed,
    CannotConnect,
    ConnectionLost,
    ModelNotFound,
)
from custom_components.realtime_assist.realtime.hearing import How
from custom_components.realtime_assist.realtime.replies import Call
from custom_components.realtime_assist.realtime.session import SessionState
from tests import loopback
from tests.loopback import (
    Drop,
    Fault,
    Hang,
    LoopbackServer,
    ScriptedBrain,
    Speech,
    Swallow,
    Switches,
)

from .rig import CONFIG, Rig, changed, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")


def heard_audio_ms(brain: ScriptedBrain) -> float:
    """Return how much speech the model got with its last request."""
    return len(b"".join(view.audio for view in brain.requests[-1].context)) / 48


@pytest.mark.parametrize(
    "stage",
    [
        "session.created",
        "session.updated",
        "client:session.update",
        "client:conversation.item.create",
        "client:input_audio_buffer.append",
        "client:input_audio_buffer.commit",
        "input_audio_buffer.committed",
        "client:response.create",
        "response.created",
    ],
)
@pytest.mark.parametrize("code", [1006, 1001, 1011])
async def test_a_turn_survives_a_drop_before_its_answer(stage: str, code: int) -> None:
    """A line that breaks while one speaks costs a moment, and not a word."""
    brain = ScriptedBrain(default="It is warm.")
    async with (
        LoopbackServer(brain, faults=[Fault(stage, Drop(code))]) as server,
        rig(server) as house,
    ):
        house.record.facts["cat"] = "Minka"
        result = await house.voice_turn(speech(800))
        assert result.end.failure is None
        assert result.text == "It is warm."
        assert len(server.sessions) == 2
        assert abs(heard_audio_ms(brain) - 800) < 5
        assert any("Minka" in text for text in server.session.texts())


@pytest.mark.parametrize(
    ("stage", "nth"),
    [
        ("response.output_audio_transcript.delta", 2),
        ("response.output_audio.delta", 1),
        ("response.output_audio.delta", 4),
        ("response.done", 1),
    ],
)
async def test_a_drop_in_the_answer_ends_it(stage: str, nth: int) -> None:
    """Half an answer is not begun again from the start; the person is told, and can ask again."""
    brain = ScriptedBrain(replies=[Speech("A long story.", ms=4000)], default="Here I am.")
    async with (
        LoopbackServer(brain, faults=[Fault(stage, Drop(1006), nth=nth)]) as server,
        rig(server) as house,
    ):
        result = await house.voice_turn()
        assert isinstance(result.end.failure, ConnectionLost)
        assert house.session.state is SessionState.CLOSED
        assert (await house.voice_turn()).text == "Here I am."


@pytest.mark.parametrize("ends", ["before the next session", "in the next session"])
@pytest.mark.parametrize("voice", [True, False])
async def test_a_tool_that_outlives_its_socket_runs_once_and_is_told(
    ends: str, *, voice: bool
) -> None:
    """The lamp is switched once, and the person hears that it is on, though the line broke."""
    brain = ScriptedBrain(replies=[[loopback.Call("HassTurnOn", "{}")]], default="It is on.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        ran: list[str] = []
        exchange = house.begin(voice=voice)

        async def run(call: Call) -> None:
            if ends == "in the next session":
                await house.until(lambda: len(server.sessions) == 2 and house.session.connected)
            exchange.answer(call.call_id, "the lamp is on")

        def tool(call: Call) -> None:
            ran.append(call.name)
            server.session.close(1006)
            running.append(asyncio.create_task(run(call)))

        running: list[asyncio.Task[None]] = []
        if voice:
            await house.speak(exchange, speech(800))
            exchange.end_of_speech(respond=True)
        else:
            exchange.say("Turn on the lamp.")
        result = await house.take(exchange, tool)
        await asyncio.gather(*running)
        assert (result.end.failure, result.text) == (None, "It is on.")
        assert ran == ["HassTurnOn"]
        assert len(server.sessions) == 2
        told = brain.requests[-1].texts()
        assert sum("[outcome] HassTurnOn: the lamp is on" in text for text in told) == 1
        if voice:
            assert abs(heard_audio_ms(brain) - 800) < 5
        else:
            assert "Turn on the lamp." in told
        house.close(result, typed=not voice)
        assert (await house.voice_turn()).end.failure is None


async def test_a_drop_in_the_answer_about_a_tool_runs_nothing_twice() -> None:
    """Where the line breaks while the outcome is being told, nothing is switched again."""
    brain = ScriptedBrain(
        replies=[[loopback.Call("HassTurnOn", "{}")], Speech("The lamp is on now.", ms=4000)]
    )
    fault = Fault("response.output_audio.delta", Drop(1006), nth=3)
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, ConnectionLost)
        assert [call.name for call in result.calls] == ["HassTurnOn"]
        assert result.exchange.record.calls[0].output == "done"
        assert len(server.sessions) == 1


async def test_a_drop_behind_a_complete_answer_is_no_failure() -> None:
    """Nobody hears an apology, or the answer again, for an answer that was given."""
    async with (
        LoopbackServer(faults=[Fault("rate_limits.updated", Drop(1006), times=0)]) as server,
        rig(server) as house,
    ):
        server.switches = server.switches.but(rate_limits="after_done")
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: exchange.answered)
        await house.until(lambda: not house.session.connected)
        result = await house.take(exchange)
        assert (result.end.failure, result.text) == (None, "OK.")
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: exchange.answered)
        house.session.restart()
        assert (await house.take(exchange)).end.failure is None
        assert server.total("response.create") == 2
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: exchange.answered)
        await house.session.close()
        assert (await house.take(exchange)).end.failure is None


async def test_a_server_that_always_fails_is_not_asked_more_than_so_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broken provider is not stormed: after a while each question tries once, and says why."""
    monkeypatch.setattr("custom_components.realtime_assist.realtime.lifecycle.REPAIRS_PER_HOUR", 3)
    fault = Fault("client:response.create", Drop(1011), times=0)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        for _ in range(5):
            result = await house.voice_turn()
            assert isinstance(result.end.failure, ConnectionLost)
            assert result.end.failure.code == "closed_1011"
        assert server.handshakes == 5 + 3
        house.offset += 3601
        await house.voice_turn()
        assert server.handshakes == 5 + 3 + 2


async def test_a_line_that_breaks_again_and_again_is_given_up() -> None:
    """A provider that always hangs up is asked twice, not for ever."""
    fault = Fault("client:response.create", Drop(1007), times=0)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, ConnectionLost)
        assert result.heard is not None
        assert result.heard.how in {How.LOST, How.COMPLETED}
        assert len(server.sessions) == 2


async def test_a_server_that_is_back_in_a_moment() -> None:
    """A server that restarts while somebody speaks is tried again."""
    brain = ScriptedBrain(default="Back.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        server.refuse_connections = 503
        exchange = house.begin()
        await house.speak(exchange)
        await asyncio.sleep(0.1)
        server.refuse_connections = False
        exchange.end_of_speech(respond=True)
        assert (await house.take(exchange)).text == "Back."


@pytest.mark.parametrize("kind", ["refused", "hangs"])
async def test_a_server_that_is_not_there(kind: str) -> None:
    """Who has spoken waits less than three seconds to hear that nobody is there."""
    async with LoopbackServer() as server, rig(server) as house:
        server.refuse_connections = kind == "refused"
        server.hang_handshake = kind == "hangs"
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        started = asyncio.get_running_loop().time()
        result = await house.take(exchange)
        heard = await exchange.heard()
        assert asyncio.get_running_loop().time() - started < 3
        assert isinstance(result.end.failure, CannotConnect)
        assert (heard.text, heard.how) == (None, How.LOST)
        house.close(result)


@pytest.mark.parametrize("how", ["http", "event"])
async def test_a_wrong_key_ends_the_turn_at_once(how: str) -> None:
    """A key that was withdrawn is not tried again, and is named to whoever can change it."""
    switches = Switches().but(auth_refusal=how)
    async with LoopbackServer(key="right", switches=switches) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, AuthenticationFailed)
        assert isinstance(house.session.last_failure, AuthenticationFailed)
        assert server.handshakes <= 2


@pytest.mark.parametrize("how", ["http", "event"])
async def test_a_model_that_is_gone_ends_the_turn_at_once(how: str) -> None:
    """A model that was shut down is named, and not tried again."""
    switches = Switches().but(model_refusal=how)
    async with LoopbackServer(switches=switches) as server, rig(server) as house:
        house.record.config = changed(CONFIG, model="gpt-gone")
        result = await house.voice_turn()
        assert isinstance(result.end.failure, ModelNotFound)


@pytest.mark.parametrize("form", ["error", "close"])
async def test_an_expired_session_is_followed_by_another(form: Literal["error", "close"]) -> None:
    """The provider's session limit is not noticed by anybody, and the history is still known."""
    brain = ScriptedBrain(default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        first = await house.voice_turn()
        assert first.end.failure is None
        server.session.expire(form)
        await house.until(lambda: house.session.state is SessionState.CLOSED)
        assert house.session.last_failure is None
        second = await house.voice_turn()
        assert second.end.failure is None
        assert len(server.sessions) == 2
        assert sum("turn1" in text for text in server.session.texts()) == 1


async def test_a_session_that_ends_soon_is_replaced_before_the_turn() -> None:
    """Nobody is cut off by a limit that was known before."""
    async with LoopbackServer(lifetime=3600) as server, rig(server) as house:
        await house.voice_turn()
        house.offset = 3600 - 300
        await house.voice_turn()
        assert len(server.sessions) == 2
        assert any("turn1" in text for text in server.session.texts())


async def test_a_commit_that_nobody_acknowledges() -> None:
    """A server that swallows the speech is left for another session, with the speech."""
    brain = ScriptedBrain(default="Yes.")
    fault = Fault("client:input_audio_buffer.commit", Swallow())
    create = Fault("client:response.create", Swallow())
    async with LoopbackServer(brain, faults=[fault, create]) as server, rig(server) as house:
        result = await house.voice_turn(speech(700))
        assert result.text == "Yes."
        assert len(server.sessions) == 2
        assert abs(heard_audio_ms(brain) - 700) < 5


async def test_a_response_that_never_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is silently dropped ends with an apology, and the next turn works."""
    monkeypatch.setattr("custom_components.realtime_assist.realtime.floor.CREATED_SECONDS", 0.3)
    fault = Fault("client:response.create", Swallow())
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.end.failure is not None
        assert result.end.failure.code == "no_response"
        assert (await house.voice_turn()).end.failure is None


async def test_an_answer_that_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that stops in the middle ends, and the satellite with it."""
    monkeypatch.setattr("custom_components.realtime_assist.realtime.floor.STALLED_SECONDS", 0.4)
    brain = ScriptedBrain(replies=[Speech("A long story.", ms=4000)])
    fault = Fault("response.output_audio.delta", Hang(), nth=3)
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.end.failure is not None
        assert result.end.failure.code == "response_stalled"
        assert (await house.voice_turn()).end.failure is None


async def test_closing_in_any_moment_leaves_nothing() -> None:
    """Home Assistant can stop while somebody speaks, waits or listens."""
    brain = ScriptedBrain(default=Speech("A long story.", ms=4000))

    async def at(house: Rig, moment: int) -> None:
        exchange = house.begin()
        if moment > 0:
            await house.speak(exchange)
        if moment > 1:
            exchange.end_of_speech(respond=True)
        if moment > 2:
            await house.until(lambda: house.session.state is SessionState.RESPONDING)
        if moment > 3:
            await house.until(lambda: bool(exchange.record.said))
        await house.session.close()
        result = await house.take(exchange)
        assert result.end.incomplete or result.end.failure
        assert (await exchange.heard()).how in {How.LOST, How.COMPLETED}

    async with LoopbackServer(brain) as server:
        for moment in range(5):
            async with rig(server) as house:
                await at(house, moment)
        await server.wait_for(lambda s: not s.open_sessions)
