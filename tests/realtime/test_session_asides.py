"""Questions beside the conversation: nobody hears them, nobody waits for them, nothing leaks."""

import asyncio
from typing import override

import pytest

from custom_components.realtime_assist.realtime.asides import Aside, AsideFailed
from custom_components.realtime_assist.realtime.metering import NoMeter, Purpose, Spent
from custom_components.realtime_assist.realtime.session import SessionState
from tests.loopback import (
    LOCALAI,
    OPENAI,
    Delay,
    Failure,
    Fault,
    LoopbackServer,
    Reply,
    ScriptedBrain,
    Speech,
    Switches,
    Text,
)

from .rig import Rig, rig

pytestmark = pytest.mark.usefixtures("socket_enabled")

ASIDE = Aside(instructions="Sum up.", input="What was said.", max_tokens=500)


class Asides(NoMeter):
    """Keeps what asides used."""

    def __init__(self) -> None:
        """Begin with none."""
        self.asides: list[Spent] = []

    @override
    def spent(self, spent: Spent) -> None:
        if spent.purpose is Purpose.ASIDE:
            self.asides.append(spent)


def asked(house: Rig, seconds: float = 20.0) -> asyncio.Task[str]:
    """Ask beside the conversation."""
    return asyncio.create_task(house.session.ask_aside(ASIDE, seconds=seconds))


async def thinking(brain: ScriptedBrain) -> None:
    """Wait until the model thinks about what was asked beside the conversation."""
    async with asyncio.timeout(5):
        while not any(request.aside for request in brain.requests):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.002)


async def quiet(house: Rig) -> None:
    """Open the session, and wait until nobody needs it."""
    house.session.wake()
    await house.until(lambda: house.session.can_ask_aside)


def never() -> Reply:
    """Return an answer that takes longer than anybody waits."""
    return Reply((Text("Too late."),), after=10_000.0)


@pytest.mark.parametrize(
    "switches",
    [
        OPENAI.switches,
        OPENAI.switches.but(metadata_echo=False),
        Switches.mixed(1),
        Switches.mixed(2),
    ],
)
async def test_it_is_answered_from_its_own_input_alone(switches: Switches) -> None:
    """The model sees what it is asked and nothing else, and the conversation stays as it was."""
    meter = Asides()
    brain = ScriptedBrain(asides=['{"gist": []}'])
    async with (
        LoopbackServer(brain, switches=switches) as server,
        rig(server, meter=meter) as house,
    ):
        await house.voice_turn()
        before = [item.id for item in server.session.items]
        assert await asked(house) == '{"gist": []}'
        request = brain.requests[-1]
        assert (request.texts(), request.instructions) == (["What was said."], "Sum up.")
        assert (request.modality, request.tools) == ("text", ())
        assert [item.id for item in server.session.items] == before
        (create,) = (
            event["response"]
            for event in server.session.received_of("response.create")
            if event["response"].get("conversation") == "none"
        )
        assert create["max_output_tokens"] == 500
        (spent,) = meter.asides
        assert spent.usage.input_tokens
        assert not spent.whole
        assert house.session.state is SessionState.IDLE
        later = await house.voice_turn()
        assert later.text == "OK."


async def test_a_turn_goes_first() -> None:
    """Who speaks is answered as if nothing else was going on, and it is stopped on the server."""
    meter = Asides()
    brain = ScriptedBrain(asides=[never()])
    async with LoopbackServer(brain) as server, rig(server, meter=meter) as house:
        await house.voice_turn()
        task = asked(house)
        await thinking(brain)
        turn = await house.voice_turn()
        with pytest.raises(AsideFailed, match="interrupted"):
            await task
        assert turn.text == "OK."
        (stopped,) = server.session.received_of("response.cancel")
        types = [event["type"] for event in server.session.received]
        assert types.index("response.cancel") < len(types) - types[::-1].index(
            "input_audio_buffer.commit"
        )
        assert stopped["response_id"] not in {None, ""}
        await house.until(lambda: len(meter.asides) == 1)


async def test_it_is_not_asked_while_somebody_speaks() -> None:
    """A summary never competes with a person for the model, and never with itself."""
    brain = ScriptedBrain(asides=[never()])
    async with LoopbackServer(brain) as server, rig(server) as house:
        with pytest.raises(AsideFailed, match="not_idle"):
            await asked(house)
        exchange = house.begin()
        await house.speak(exchange)
        assert not house.session.can_ask_aside
        with pytest.raises(AsideFailed, match="not_idle"):
            await asked(house)
        exchange.end_of_speech(respond=True)
        house.close(await house.take(exchange))
        first = asked(house)
        await thinking(brain)
        with pytest.raises(AsideFailed, match="not_idle"):
            await asked(house)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await server.wait_for(lambda s: s.total("response.cancel") == 1)
        assert await asked(house) == "A summary."


async def test_nobody_waits_for_ever() -> None:
    """A model that does not answer is given up, and the next turn is as good as ever."""
    brain = ScriptedBrain(asides=[never()])
    async with LoopbackServer(brain) as server, rig(server) as house:
        await quiet(house)
        with pytest.raises(AsideFailed, match="timeout"):
            await asked(house, seconds=0.1)
        assert (await house.voice_turn()).text == "OK."
        assert len(server.sessions) == 1


async def test_an_older_one_is_not_taken_for_the_next() -> None:
    """A server that is slow to begin, and says not what it begins, mixes nothing up."""
    brain = ScriptedBrain(asides=["Old.", "New."])
    switches = OPENAI.switches.but(metadata_echo=False)
    faults = [Fault("client:response.create", Delay(20.0), nth=1)]
    async with (
        LoopbackServer(brain, switches=switches, faults=faults) as server,
        rig(server) as house,
    ):
        await quiet(house)
        with pytest.raises(AsideFailed, match="timeout"):
            await asked(house, seconds=0.05)
        assert await asked(house) == "New."


async def test_a_refusal_is_no_turns() -> None:
    """A server that does not know such responses refuses that one, and nobody notices."""
    switches = OPENAI.switches.but(out_of_band="refused", unknown_fields="refused")
    async with LoopbackServer(switches=switches) as server, rig(server) as house:
        await quiet(house)
        with pytest.raises(AsideFailed, match="unknown_parameter"):
            await asked(house)
        assert (await house.session.refresh()).failed == 0
        assert house.session.last_failure is None
        assert len(server.sessions) == 1


async def test_what_fails_there_is_no_failure_of_the_session() -> None:
    """A model that breaks off a summary is not taken for one that cannot answer."""
    brain = ScriptedBrain(
        asides=[
            Reply((Text("Half"),), failure=Failure(code="server_error")),
            Reply((Text("Half"),), failure=Failure("incomplete")),
        ]
    )
    async with LoopbackServer(brain) as server, rig(server) as house:
        await quiet(house)
        with pytest.raises(AsideFailed, match="server_error"):
            await asked(house)
        with pytest.raises(AsideFailed, match="max_output_tokens"):
            await asked(house)
        assert house.session.last_failure is None
        assert (await house.voice_turn()).text == "OK."
        assert len(server.sessions) == 1


async def test_it_ends_with_its_socket() -> None:
    """A line that breaks leaves nothing waiting."""
    brain = ScriptedBrain(asides=[never()])
    async with LoopbackServer(brain) as server, rig(server) as house:
        await quiet(house)
        task = asked(house)
        await thinking(brain)
        server.session.close(1006)
        with pytest.raises(AsideFailed, match="lost"):
            await task
        assert (await house.voice_turn()).text == "OK."


async def test_an_aside_is_never_spoken() -> None:
    """Whatever comes of it, also after it was given up, reaches no ear."""
    brain = ScriptedBrain(replies=["One.", Speech("Two.")], asides=["Secret summary. " * 40])
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        task = asked(house)
        await server.wait_for(
            lambda s: any(r["response"]["conversation_id"] is None for r in created(s))
        )
        turn = await house.voice_turn()
        await asyncio.gather(task, return_exceptions=True)
        assert turn.text == "Two."
        assert "Secret" not in turn.text


def created(server: LoopbackServer) -> list[dict[str, dict[str, object]]]:
    """Return the responses that were begun."""
    return server.session.sent_of("response.created")


async def test_it_is_never_asked_where_it_would_leak() -> None:
    """A server that puts the question into the conversation is not asked one."""
    async with LoopbackServer(personality=LOCALAI) as server, rig(server, compatible=True) as house:
        await house.text_turn("Hello.")
        assert not house.session.can_ask_aside
        with pytest.raises(AsideFailed, match="not_idle"):
            await asked(house)
        assert "What was said." not in server.session.texts()


async def test_the_loopback_server_shows_that_leak() -> None:
    """The test above would fail with a client that asked there all the same."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain, switches=LOCALAI.switches) as server, rig(server) as house:
        await quiet(house)
        await asked(house)
        assert "What was said." in server.session.texts()
