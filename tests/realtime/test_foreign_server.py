"""Our client against a realtime server that others wrote, with a stub for its models."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from custom_components.realtime_assist.items import FACTS
from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.hearing import How
from custom_components.realtime_assist.realtime.listening import Ended
from custom_components.realtime_assist.realtime.refresh import RefreshState
from custom_components.realtime_assist.realtime.replies import ReplyEnd
from tests.foreign import KNOW, LAMP, STORY, Foreign

from .rig import CONFIG, Record, Result, Rig, changed, quiet, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")
pytest_plugins = ("tests.foreign",)


@contextlib.asynccontextmanager
async def home(foreign: Foreign, record: Record | None = None) -> AsyncIterator[Rig]:
    """Give a session that lets the server hear where a turn ends."""
    record = record or Record(config=changed(CONFIG, turn_detection="server_vad"))
    way: Any = foreign  # only its address is needed
    async with rig(way, record=record, compatible=True) as made:
        yield made


async def ask(house: Rig, hertz: float) -> Exchange:
    """Say a sentence and ask for the answer where the server hears the end."""
    if house.record.config.turn_detection == "home_assistant":
        exchange = house.begin()
        await house.speak(exchange, speech(600, hertz))
        exchange.end_of_speech(respond=True)
        return exchange
    exchange = house.begin()

    async def talk() -> None:
        pcm = speech(600, hertz) + quiet(10_000)
        for start in range(0, len(pcm), 640):
            if exchange.listening.ended:
                return
            exchange.append(pcm[start : start + 640])
            await asyncio.sleep(0.001)

    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        tasks.create_task(talk())
        assert await exchange.speech_ended() is Ended.PROVIDER
    exchange.end_of_speech(respond=True)
    return exchange


async def turn(house: Rig, hertz: float) -> Result:
    """Take a whole spoken turn, and close it."""
    exchange = await ask(house, hertz)
    result = await house.take(exchange, tool=lambda _: "on")
    result.heard = await exchange.heard()
    assert result.end.failure is None
    house.close(result)
    return result


async def test_spoken_turns(foreign: Foreign) -> None:
    """Who speaks is heard and answered, turn after turn, by a server that we did not write."""
    async with home(foreign) as house:
        for _ in range(3):
            result = await turn(house, KNOW)
            assert result.heard
            assert (result.heard.text, result.heard.how) == ("What do you know?", How.COMPLETED)
            assert result.text == "I know what I was told."
            assert result.first_audio == 1
            assert abs(len(result.audio) / 48 - 600) < 60
        assert (await foreign.given()).count("What do you know?") == 3


async def test_a_typed_turn(foreign: Foreign) -> None:
    """Typed words reach it, too."""
    async with home(foreign) as house:
        assert (await house.text_turn("Hello.")).text == "I know what I was told."
        assert "Hello." in await foreign.given()


async def test_a_tool(foreign: Foreign) -> None:
    """A tool is called once, and the answer speaks of what it did."""
    async with home(foreign) as house:
        result = await turn(house, LAMP)
        assert [call.name for call in result.calls] == ["HassTurnOn"]
        assert result.text == "The lamp is on."
        assert (await foreign.given()).count('"function_call_output"') == 1
        assert (await turn(house, KNOW)).text == "I know what I was told."


async def test_what_was_learned_is_known_at_once(foreign: Foreign) -> None:
    """`memory.update` takes effect in an open session; so does what changes without it."""
    async with home(foreign) as house:
        house.record.facts["cat"] = "Minka"
        await turn(house, KNOW)
        assert "cat=Minka" in await foreign.given()
        house.record.facts["cat"] = "Mohrle"
        done = await house.session.refresh()
        assert (done.state, done.created, done.failed) == (RefreshState.UPDATED, 1, 0)
        assert "cat=Mohrle" in await foreign.held()
        await turn(house, KNOW)
        assert "cat=Mohrle" in await foreign.given()
        house.record.facts["dog"] = "Rex"
        house.session.changed()
        await turn(house, KNOW)
        assert "dog=Rex" in await foreign.given()


async def test_what_was_forgotten_is_gone(foreign: Foreign) -> None:
    """A secret that was taken back is in nothing that the server keeps or answers from."""
    async with home(foreign) as house:
        house.record.facts |= {"code": "4711", "cat": "Minka"}
        await turn(house, KNOW)
        assert "4711" in await foreign.given()
        del house.record.facts["code"]
        house.session.revoke([FACTS])
        assert (await house.session.refresh()).state is RefreshState.UPDATED
        assert "4711" not in await foreign.held()
        await turn(house, KNOW)
        given = await foreign.given()
        assert "cat=Minka" in given
        assert "4711" not in given + await foreign.held()


async def test_who_interrupts_is_answered(foreign: Foreign) -> None:
    """A long answer stops, what was not heard of it is not remembered, and the next is answered."""
    async with home(foreign) as house:
        exchange = await ask(house, STORY)
        await house.until(lambda: exchange.speech.received_ms >= 500)
        exchange.interrupt(200)
        result = await house.take(exchange)
        assert result.replies[-1] == ReplyEnd(incomplete=True)
        assert exchange.speech.received_ms < 3000
        house.close(result, heard_ms={0: 200}, text="turn1: Tell me a story. -> Once")
        assert (await turn(house, KNOW)).text == "I know what I was told."
        assert "there was a cat" not in await foreign.given() + await foreign.held()


async def test_a_later_session_knows_what_was_said(foreign: Foreign) -> None:
    """After a pause, or a restart, the conversation goes on where it was."""
    async with home(foreign) as house:
        await turn(house, LAMP)
    async with home(foreign, house.record) as again:
        again.number = 1
        await turn(again, KNOW)
        given = await foreign.given()
        assert "[recap] turn1: Please turn on the lamp. -> The lamp is on." in given


async def test_a_new_session_in_place_of_an_old_one(foreign: Foreign) -> None:
    """`full: true` starts over, and the old conversation is gone from the server."""
    async with home(foreign) as house:
        await turn(house, KNOW)
        done = await house.session.refresh(full=True)
        assert (done.state, done.rebuilt) == (RefreshState.UPDATED, True)
        assert (await turn(house, KNOW)).end.failure is None
        assert "[recap] turn1" in await foreign.given()


async def test_we_may_end_the_speech(foreign: Foreign) -> None:
    """Where Home Assistant hears the end, the answer is about what was said, not before it."""
    record = Record(config=changed(CONFIG, turn_detection="home_assistant"))
    async with home(foreign, record) as house:
        for number in range(1, 4):
            result = await turn(house, KNOW)
            assert result.heard
            assert (result.heard.text, result.heard.how) == ("What do you know?", How.COMPLETED)
            assert result.text == "I know what I was told."
            assert (await foreign.given()).count("What do you know?") == number
        assert (await turn(house, LAMP)).text == "The lamp is on."
