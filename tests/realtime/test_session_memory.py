"""What is remembered reaches the provider when it should, and leaves it when it must."""

import asyncio

import pytest

from custom_components.realtime_assist.items import FACTS, RECAP
from custom_components.realtime_assist.realtime.refresh import RefreshState
from custom_components.realtime_assist.realtime.session import SessionState
from tests.loopback import (
    NO_DELETE,
    Call,
    Fault,
    LoopbackServer,
    RealClock,
    ScriptedBrain,
    Speech,
    Swallow,
)

from .rig import CONFIG, changed, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

LONG = Speech("A long story about a cat.", ms=6000)


def told(brain: ScriptedBrain) -> str:
    """Return all texts that the model had with its last request."""
    return " ".join(brain.requests[-1].texts())


async def test_a_session_resumes_with_what_was_said() -> None:
    """After a pause, or a restart, the model knows the last conversation and the house."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        record = house.record
        record.facts["cat"] = "Minka"
        async with rig(server, record=record) as again:
            again.number = 1
            await again.voice_turn()
        assert "[recap] turn1" in told(brain)
        assert "cat=Minka" in told(brain)
        kinds = [event["type"] for event in server.session.received]
        assert kinds.index("conversation.item.create") < kinds.index("input_audio_buffer.append")


async def test_the_socket_is_closed_when_nobody_speaks() -> None:
    """A quiet house keeps no connection; the next word opens one, with the recap."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server, idle_seconds=0.2) as house:
        await house.voice_turn()
        assert house.session.connected
        await house.until(lambda: house.session.state is SessionState.CLOSED)
        await server.wait_for(lambda s: not s.open_sessions)
        await house.voice_turn()
        assert "[recap] turn1" in told(brain)
        assert len(server.sessions) == 2


async def test_a_new_fact_is_told_before_the_next_answer() -> None:
    """What was just learned is known in the same breath, without any action."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        exchange = house.begin()
        await house.speak(exchange)
        house.record.facts["code"] = "4711"
        house.session.changed()
        exchange.end_of_speech(respond=True)
        house.close(await house.take(exchange))
        assert "code=4711" in told(brain)


async def test_memory_update_reaches_an_idle_session() -> None:
    """The action brings a quiet session up to date at once, and says what it did."""
    async with LoopbackServer() as server, rig(server) as house:
        house.record.facts["cat"] = "Minka"
        await house.connected()
        assert (await house.session.refresh()).created in {0, 1}
        house.record.facts["cat"] = "Mohrle"
        done = await house.session.refresh()
        assert done.state is RefreshState.UPDATED
        assert (done.created, done.superseded, done.failed, done.rebuilt) == (1, 1, 0, False)
        assert any("Mohrle" in text for text in server.session.texts())
        again = await house.session.refresh()
        assert (again.state, again.created) == (RefreshState.UPDATED, 0)


async def test_memory_update_without_a_session() -> None:
    """The action is quick when nobody is connected: the next session begins with everything."""
    async with LoopbackServer() as server, rig(server) as house:
        done = await house.session.refresh()
        assert done.state is RefreshState.NOT_CONNECTED
        assert not server.handshakes


async def test_memory_update_in_the_middle_of_an_answer() -> None:
    """The answer goes on; the update comes right after it, before the next answer."""
    brain = ScriptedBrain(replies=[LONG], default="Yes.")
    clock = RealClock(4)
    async with LoopbackServer(brain, clock=clock) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: bool(exchange.record.said))
        house.record.facts["cat"] = "Minka"
        done = await house.session.refresh(seconds=0.05)
        assert done.state is RefreshState.DEFERRED
        assert not any("Minka" in text for text in server.session.texts())
        one, two = (
            asyncio.create_task(house.session.refresh()),
            asyncio.create_task(house.session.refresh()),
        )
        result = await house.take(exchange)
        assert result.end.failure is None
        assert abs(len(result.audio) / 48 - 6000) < 5
        reports = [await one, await two]
        assert [report.state for report in reports] == [RefreshState.UPDATED] * 2
        assert [report.created for report in reports] == [1, 1]
        assert sum("Minka" in text for text in server.session.texts()) == 1
        house.close(result)


async def test_a_full_update_begins_a_new_session() -> None:
    """`full: true` starts over, with the recap in place of all audio."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        done = await house.session.refresh(full=True)
        assert (done.state, done.rebuilt) == (RefreshState.UPDATED, True)
        assert len(server.sessions) == 2
        assert [item.role for item in server.session.items] == ["system"]
        assert "[recap] turn1" in server.session.texts()[0]
        assert (await house.voice_turn()).end.failure is None
        assert len(server.sessions) == 2


async def test_a_full_update_waits_for_the_playout() -> None:
    """Nobody is cut off: while a reply is still played, its items stay."""
    async with LoopbackServer() as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        result = await house.take(exchange)
        done = await house.session.refresh(full=True, seconds=0.1)
        assert done.state is RefreshState.DEFERRED
        assert len(server.sessions) == 1
        house.close(result)
        done = await house.session.refresh()
        assert (done.state, done.rebuilt) == (RefreshState.UPDATED, True)
        assert len(server.sessions) == 2


@pytest.mark.parametrize("personality", [None, NO_DELETE])
async def test_what_is_forgotten_is_gone_before_the_next_answer(personality: object) -> None:
    """A secret that was taken back is in nothing that the model gets, whatever the provider."""
    brain = ScriptedBrain()
    how = {"personality": personality, "any_model": True} if personality else {}
    async with (
        LoopbackServer(brain, **how) as server,  # type: ignore[arg-type]  # options by name
        rig(server, compatible=bool(personality)) as house,
    ):
        house.record.facts |= {"code": "4711", "cat": "Minka"}
        await house.voice_turn()
        assert "4711" in told(brain)
        exchange = house.begin()
        await house.speak(exchange, speech(700))
        del house.record.facts["code"]
        house.session.revoke([FACTS])
        exchange.end_of_speech(respond=True)
        result = await house.take(exchange)
        assert result.end.failure is None
        assert "4711" not in told(brain)
        assert "cat=Minka" in told(brain)
        rate = 16_000 if personality else 24_000  # at which this server hears what we send
        audio = brain.requests[-1].context[-1].audio
        assert abs(len(audio) / 48 * rate / 24_000 - 700) < 5
        house.close(result)


async def test_a_tool_that_forgets_where_nothing_can_be_deleted() -> None:
    """A code can be forgotten by voice on every provider, and the tool runs once."""
    brain = ScriptedBrain(replies=[[Call("forget", '{"key":"code"}')], "It is forgotten."])
    async with (
        LoopbackServer(brain, personality=NO_DELETE, any_model=True) as server,
        rig(server, compatible=True) as house,
    ):
        house.record.facts |= {"code": "4711"}
        ran: list[str] = []

        def forget(call: Call) -> str:
            ran.append(call.name)
            house.record.facts.clear()
            house.session.revoke([FACTS])
            return "gone"

        result = await house.voice_turn(tool=forget)
        assert result.text == "It is forgotten."
        assert ran == ["forget"]
        assert "4711" not in told(brain)
        assert "[outcome] forget: gone" in told(brain)


async def test_a_removal_that_is_not_acknowledged() -> None:
    """Where a secret may still be there, the question goes to a new session that never had it."""
    brain = ScriptedBrain()
    fault = Fault("conversation.item.deleted", Swallow(), times=0)
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        house.record.facts |= {"code": "4711"}
        await house.voice_turn()
        house.record.facts.clear()
        exchange = house.begin()
        await house.speak(exchange, speech(700))
        house.session.revoke([FACTS])
        exchange.end_of_speech(respond=True)
        result = await house.take(exchange)
        assert result.end.failure is None
        assert len(server.sessions) == 2
        assert "4711" not in told(brain)
        house.close(result)


async def test_another_voice_needs_another_session() -> None:
    """A voice that was chosen in the options is heard in the very next answer."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        house.record.config = changed(CONFIG, voice="cedar")
        await house.voice_turn(speech(500))
        assert len(server.sessions) == 2
        assert server.session.config.wire["audio"]["output"]["voice"] == "cedar"
        assert "[recap] turn1" in told(brain)
        assert abs(len(brain.requests[-1].context[-1].audio) / 48 - 500) < 5


async def test_another_prompt_is_an_update() -> None:
    """A changed prompt or tool list is in force at the next answer, and costs no new session."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        house.record.config = changed(CONFIG, instructions="Speak like a pirate.")
        await house.voice_turn()
        assert len(server.sessions) == 1
        assert brain.requests[-1].instructions == "Speak like a pirate."
        await house.voice_turn()
        assert server.session.count("session.update") == 2


async def test_another_thread_begins_anew() -> None:
    """A satellite that moves to another room takes nothing of the old room's talk along."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        house.record.turns.clear()
        house.session.restart()
        await house.voice_turn()
        assert len(server.sessions) == 2
        assert "turn1" not in told(brain)
        assert len(brain.requests[-1].context) == 1


async def test_turns_from_elsewhere_are_told() -> None:
    """What was said in the kitchen is known in the living room at its next turn."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as one, rig(server) as two:
        two.record = one.record
        two.number = 10
        two.session._source = two.session._keeper._source = one.record
        await one.voice_turn()
        await two.voice_turn()
        await one.voice_turn()
        assert "[meanwhile] turn11" in told(brain)
        assert "turn1:" not in told(brain)


async def test_history_that_was_revoked_is_not_told_again() -> None:
    """A conversation that was forgotten is gone from the recap, too."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        await house.session.refresh(full=True)
        house.record.turns.clear()
        house.session.revoke([RECAP])
        await house.voice_turn()
        assert "turn1" not in told(brain)


async def test_changes_are_told_together() -> None:
    """A hundred writes in a moment cost one note."""
    async with LoopbackServer() as server, rig(server) as house:
        await house.connected()
        for number in range(100):
            house.record.facts["n"] = str(number)
            house.session.changed()
        await house.until(lambda: any("n=99" in text for text in server.session.texts()))
        assert server.session.count("conversation.item.create") == 1


async def test_after_a_pause_old_audio_is_left_behind() -> None:
    """When nothing is cached any more, superseded notes go with a new session, for free."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server, idle_seconds=900) as house:
        house.record.facts["cat"] = "Minka"
        await house.voice_turn()
        house.record.facts["cat"] = "Mohrle"
        await house.voice_turn()
        assert "Minka" in told(brain)
        house.offset = 400
        await house.voice_turn()
        assert len(server.sessions) == 2
        assert "Minka" not in told(brain)


async def test_memory_that_loads_slowly_does_not_lose_the_turn() -> None:
    """A slow disk delays an answer by moments, and never loses a word."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.voice_turn()
        house.record.prepare_seconds = 0.3
        exchange = house.begin()
        await house.speak(exchange, speech(500))
        exchange.end_of_speech(respond=True)
        house.record.facts["late"] = "but there"
        house.close(await house.take(exchange))
        assert "late=but there" in told(brain)
