"""What a session tells of what it used, and how it goes on when a conversation gets long."""

import asyncio
from typing import override

import pytest

from custom_components.realtime_assist.realtime.events import Usage
from custom_components.realtime_assist.realtime.metering import Meter, Purpose, Spent
from custom_components.realtime_assist.realtime.session import SessionState
from tests.loopback import XAI, Call, LoopbackServer, ScriptedBrain, Speech

from .rig import Rig, rig

pytestmark = pytest.mark.usefixtures("socket_enabled")


class Scale(Meter):
    """A meter that shows what it was told, and says what it is told to say."""

    long = False
    full = False

    def __init__(self) -> None:
        """Begin with nothing."""
        self.told: list[Spent] = []
        self.empty = 0

    @override
    def spent(self, spent: Spent) -> None:
        """Keep it."""
        self.told.append(spent)

    @override
    def emptied(self) -> None:
        """Count it."""
        self.empty += 1

    def on(self, purpose: Purpose) -> list[Spent]:
        """Return what was spent on something."""
        return [spent for spent in self.told if spent.purpose is purpose]


async def test_an_answer_tells_what_it_was_made_of() -> None:
    """What was read for an answer and what came of it is known item by item, and what it cost."""
    scale = Scale()
    brain = ScriptedBrain(replies=[Speech("Hello.", ms=1000)])
    async with LoopbackServer(brain) as server, rig(server, meter=scale) as house:
        house.record.facts["cat"] = "Minka"
        await house.voice_turn()
        (spent,) = scale.on(Purpose.ANSWER)
        (done,) = server.session.sent_of("response.done")
        assert spent.usage.input_tokens == done["response"]["usage"]["input_tokens"]
        assert spent.usage.output_audio_tokens == 20
        assert spent.whole
        assert any("Minka" in item.text for item in spent.read if item.is_note)
        (speech,) = (item for item in spent.read if item.key and "/hear/" in item.key)
        assert speech.received_ms == pytest.approx(600, abs=1)
        (reply,) = spent.made
        assert reply.received_ms == pytest.approx(1000, abs=1)
        assert "Minka" not in repr(spent)


async def test_a_call_is_read_by_the_next_answer() -> None:
    """The words of a call and of its result are part of what the next answer costs."""
    scale = Scale()
    brain = ScriptedBrain(replies=[[Call("look", '{"at": "the moon"}')], "It is full."])
    async with LoopbackServer(brain) as server, rig(server, meter=scale) as house:
        await house.voice_turn(tool=lambda _: "round and bright")
        first, second = scale.on(Purpose.ANSWER)
        assert "the moon" in first.made[0].text
        told = " ".join(item.text for item in second.read)
        assert "the moon" in told
        assert "round and bright" in told


async def test_what_was_cancelled_was_paid_for() -> None:
    """An answer that nobody wanted to hear costs all the same, and says nothing of the context."""
    scale = Scale()
    brain = ScriptedBrain(replies=[Speech("A long story.", ms=20_000)])
    async with LoopbackServer(brain) as server, rig(server, meter=scale) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: exchange.speech.received_ms > 500)
        exchange.interrupt(300)
        await house.until(lambda: bool(scale.on(Purpose.ANSWER)))
        (spent,) = scale.on(Purpose.ANSWER)
        assert not spent.whole
        assert spent.usage.input_tokens


async def test_a_transcript_is_paid_for_apart() -> None:
    """Writing down what was said has a price of its own: it is in no answer."""
    scale = Scale()
    async with LoopbackServer() as server, rig(server, meter=scale) as house:
        await house.voice_turn()
        await house.until(lambda: bool(scale.on(Purpose.TRANSCRIPT)))
        (spent,) = scale.on(Purpose.TRANSCRIPT)
        assert spent.usage.seconds
        assert not spent.whole


async def test_what_is_beside_the_conversation_is_counted_once() -> None:
    """A response out of band costs money, and is no measure of the conversation."""
    scale = Scale()
    async with LoopbackServer() as server, rig(server, meter=scale) as house:
        await house.voice_turn()
        aside = {"id": "resp_aside", "conversation_id": None, "metadata": {"isolated": "true"}}
        server.session.push("response.created", response=aside)
        over = {**aside, "status": "completed", "usage": {"input_tokens": 7}}
        server.session.push("response.done", response=over)
        server.session.push("response.done", response=over)
        await house.until(lambda: bool(scale.on(Purpose.ASIDE)))
        await house.voice_turn()
        (spent,) = scale.on(Purpose.ASIDE)
        assert spent.usage == Usage(input_tokens=7)
        assert not spent.whole


async def test_usage_that_stands_beside_the_response_is_read() -> None:
    """A server that puts its numbers elsewhere is understood, and not believed about the whole."""
    scale = Scale()
    async with (
        LoopbackServer(personality=XAI) as server,
        rig(server, meter=scale, compatible=True) as house,
    ):
        await house.voice_turn()
        (spent,) = scale.on(Purpose.ANSWER)
        assert spent.usage.input_tokens
        assert not house.model.capabilities.reports_context


@pytest.mark.parametrize(("pause", "sessions"), [(20.0, 1), (130.0, 2)])
async def test_a_long_conversation_is_renewed_after_a_pause(pause: float, sessions: int) -> None:
    """Nothing happens while people talk; who comes back after a while finds a short one."""
    scale = Scale()
    scale.long = True
    async with LoopbackServer() as server, rig(server, meter=scale) as house:
        await house.voice_turn()
        house.offset += pause
        result = await house.voice_turn()
        assert result.end.failure is None
        assert len(server.sessions) == sessions
        assert scale.empty == sessions - 1


async def full(house: Rig, scale: Scale) -> None:
    """Let a conversation be too long, and its recap be ready."""
    scale.full = True
    house.session.boundary()
    await asyncio.sleep(0)


async def test_a_full_session_goes_on_in_another_once_nobody_listens() -> None:
    """The new session begins when the answer was heard to its end, and knows what was said."""
    scale = Scale()
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server, meter=scale) as house:
        result = await house.voice_turn_unclosed()
        await full(house, scale)
        assert len(server.sessions) == 1
        house.close(result)
        await house.until(lambda: len(server.sessions) == 2)
        scale.full = False
        await house.until(lambda: house.session.state is SessionState.IDLE)
        await house.voice_turn()
        assert "[recap] turn1" in " ".join(brain.requests[-1].texts())
        assert len(server.sessions) == 2


async def test_what_was_replaced_goes_first_from_a_full_session() -> None:
    """Facts that newer ones replaced are taken away before anything else is done."""
    scale = Scale()
    async with LoopbackServer() as server, rig(server, meter=scale) as house:
        house.record.facts["cat"] = "Minka"
        await house.connected()
        house.record.facts["cat"] = "Mia"
        house.session.boundary()
        await house.until(lambda: any("Mia" in text for text in server.session.texts()))
        await full(house, scale)
        await house.until(lambda: not any("Minka" in text for text in server.session.texts()))
        assert len(server.sessions) == 1


async def test_how_long_a_session_may_last_is_the_servers_word() -> None:
    """A server that ends sessions early is known to, from its greeting on."""
    async with LoopbackServer(lifetime=600) as server, rig(server) as house:
        assert house.session.lifetime is None
        await house.connected()
        await house.until(lambda: house.session.lifetime is not None)
        assert house.session.lifetime == pytest.approx(600, abs=30)
        house.offset += 50
        assert house.session.age == pytest.approx(50, abs=30)


async def test_a_session_that_nobody_knows_is_left() -> None:
    """Where the provider holds other things than it was told, all begins anew, between turns."""
    async with LoopbackServer() as server, rig(server) as house:
        result = await house.voice_turn_unclosed()
        house.session.rebuild()
        assert len(server.sessions) == 1
        house.close(result)
        await house.until(lambda: len(server.sessions) == 2)
