"""What was said, and where it ended, under both kinds of turn detection."""

import asyncio
from contextlib import AbstractAsyncContextManager

import pytest

from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.hearing import How
from custom_components.realtime_assist.realtime.listening import Ended
from custom_components.realtime_assist.realtime.replies import ReplyEnd
from tests.loopback import (
    LOCALAI,
    NO_DELETE,
    PERSONALITIES,
    Call,
    Delay,
    Drop,
    Fault,
    LoopbackServer,
    RealClock,
    ScriptedBrain,
    Speech,
    Swallow,
    Switches,
    Transcript,
)

from .rig import CONFIG, Record, Rig, changed, quiet, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")

HEARING = "custom_components.realtime_assist.realtime.hearing"
LISTENING = "custom_components.realtime_assist.realtime.listening"


async def ask(house: Rig, pcm: bytes | None = None) -> Exchange:
    """Say something, and ask for the answer."""
    exchange = house.begin()
    await house.speak(exchange, pcm)
    exchange.end_of_speech(respond=True)
    return exchange


async def test_a_transcript_that_is_never_completed() -> None:
    """The pipeline goes on with the words that have come, as soon as the answer is there."""
    brain = ScriptedBrain(replies=[Speech("Yes.", ms=8000)], hears=["turn on the lamp"])
    fault = Fault("conversation.item.input_audio_transcription.completed", Swallow())
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        exchange = await ask(house)
        heard = await exchange.heard()
        assert (heard.text, heard.how) == ("turn on the lamp", How.QUIET)


async def test_a_transcription_that_fails() -> None:
    """A recogniser that is out of order does not keep the answer back."""
    brain = ScriptedBrain(default="Yes.", hears=[Transcript(failure="DeploymentNotFound")])
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = await ask(house)
        heard = await exchange.heard()
        assert (heard.text, heard.how) == (None, How.FAILED)
        assert (await house.take(exchange)).text == "Yes."


async def test_a_provider_without_transcripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody writes down what was said, the answer is heard all the same."""
    monkeypatch.setattr(f"{HEARING}.LATE_SECONDS", 0.2)
    fault = Fault("conversation.item.input_audio_transcription.*", Swallow(), times=0)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        exchange = await ask(house)
        heard = await exchange.heard()
        assert (heard.text, heard.how) == (None, How.LATE)
        house.close(await house.take(exchange))
        monkeypatch.setattr(f"{HEARING}.LATE_SECONDS", 60)
        assert (await house.voice_turn()).end.failure is None


async def test_a_tool_call_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody writes down what was said, a tool does not wait for words that never come."""
    monkeypatch.setattr(f"{HEARING}.LATE_SECONDS", 0.2)
    brain = ScriptedBrain(replies=[Call("HassTurnOn", "{}")], default="Done.")
    fault = Fault("conversation.item.input_audio_transcription.*", Swallow(), times=0)
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        async with asyncio.timeout(5):
            result = await house.voice_turn()
        assert result.text == "Done."


async def test_words_that_come_late_are_remembered() -> None:
    """The history has the words, though nobody could wait for them."""
    brain = ScriptedBrain(replies=[Speech("Yes.", ms=8000)], hears=["turn on the lamp"])
    fault = Fault("conversation.item.input_audio_transcription.completed", Delay(50, overtake=True))
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        exchange = await ask(house)
        assert (await exchange.heard()).how is How.QUIET
        await house.until(lambda: bool(server.session.sent_of(fault.on)))
        await house.until(lambda: exchange.hearing.text == "turn on the lamp")
        assert exchange.record.heard_text == "turn on the lamp"


async def test_words_that_are_written_down_twice_are_one_sentence() -> None:
    """Where a turn goes on in another session, its words do not stand in the history twice."""
    brain = ScriptedBrain(default_hears="turn on the lamp", default="Done.")
    fault = Fault("client:response.create", Drop(1006))
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=False)
        assert (await exchange.heard()).text == "turn on the lamp"
        exchange.respond()
        result = await house.take(exchange)
        assert result.text == "Done."
        await server.wait_for(
            lambda s: s.session.sent_of("conversation.item.input_audio_transcription.completed")
        )
        assert exchange.record.heard_text == "turn on the lamp"
        house.close(result)
        assert len(server.sessions) == 2


async def test_a_turn_of_several_pieces_is_one_question() -> None:
    """Who pauses while speaking is taken at all of their words, and all of them are one turn."""
    async with LoopbackServer() as server, rig(server) as house:
        await house.connected()
        exchange = house.begin()
        await house.speak(exchange)
        words = "conversation.item.input_audio_transcription.completed"
        for item_id, said in (("item_A", "turn on the lamp"), ("item_B", "in the hall")):
            server.session.push("input_audio_buffer.speech_started", item_id=item_id)
            server.session.push("input_audio_buffer.committed", item_id=item_id)
            server.session.push(words, item_id=item_id, content_index=0, transcript=said)
        await house.until(lambda: exchange.hearing.text == "turn on the lamp in the hall")
        exchange.end_of_speech(respond=True)
        result = await house.take(exchange)
        assert result.end.failure is None
        assert exchange.record.heard_text == "turn on the lamp in the hall"
        keys = {i.remote_id: i.key for i in house.session._keeper.ledger.items}
        assert keys["item_A"] == "turn:turn1/hear/0"
        assert keys["item_B"] == "turn:turn1/hear/1"
        house.close(result)
        await house.until(lambda: not house.session.unfinished)
        assert {"item_A", "item_B"} <= {i.remote_id for i in house.session._keeper.ledger.items}


async def test_silence_is_no_question() -> None:
    """A false wake costs nothing: the answer is stopped, and nothing of it is kept."""
    brain = ScriptedBrain(replies=[Speech("Yes?", ms=3000)], hears=[""], default="Yes.")
    async with LoopbackServer(brain, clock=RealClock(4)) as server, rig(server) as house:
        exchange = await ask(house, quiet(800))
        heard = await exchange.heard()
        assert (heard.text, heard.how) == (None, How.NO_SPEECH)
        result = await house.take(exchange)
        assert result.end == ReplyEnd(incomplete=True)
        exchange.close()
        house.session.settle(exchange.turn_id)
        await house.voice_turn()
        assert len(brain.requests[-1].context) == 1


async def test_an_empty_transcript_of_loud_speech() -> None:
    """Who did speak is answered, though the recogniser did not understand."""
    brain = ScriptedBrain(replies=["Yes."], hears=[""])
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = await ask(house)
        heard = await exchange.heard()
        assert (heard.text, heard.how) == (None, How.FAILED)
        assert (await house.take(exchange)).text == "Yes."


async def test_noise_where_nothing_can_be_deleted() -> None:
    """A false wake costs no new session, also where the noise cannot be taken away."""
    brain = ScriptedBrain(default="Yes.")
    async with (
        LoopbackServer(brain, personality=NO_DELETE, any_model=True) as server,
        rig(server, compatible=True) as house,
    ):
        exchange = await ask(house, quiet(800))
        await house.until(lambda: bool(exchange.record.said))
        exchange.cancel()
        exchange.close()
        house.session.settle(exchange.turn_id)
        assert (await house.voice_turn()).text == "Yes."
        assert len(server.sessions) == 1


@pytest.mark.parametrize("ms", [0, 50, 99])
async def test_less_than_a_tenth_of_a_second(ms: int) -> None:
    """A click is no question, and causes no error at the provider."""
    async with LoopbackServer() as server, rig(server) as house:
        await house.connected()
        exchange = await ask(house, speech(ms))
        assert (await exchange.heard()).how is How.NO_SPEECH
        assert (await house.take(exchange)).end == ReplyEnd(incomplete=True)
        assert (await house.voice_turn()).end.failure is None
        assert server.session.count("input_audio_buffer.commit") == 1
        assert not server.session.sent_of("error")


async def test_noise_of_an_abandoned_turn_is_not_in_the_next() -> None:
    """What was said to nobody does not become part of the next question."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        await house.connected()
        exchange = house.begin()
        await house.speak(exchange, speech(900))
        exchange.cancel()
        exchange.close()
        await house.voice_turn(speech(400))
        audio = b"".join(view.audio for view in brain.requests[-1].context)
        assert abs(len(audio) / 48 - 400) < 5


async def test_only_a_transcript_is_wanted() -> None:
    """Where another agent answers, the words are heard and nothing is answered."""
    brain = ScriptedBrain(hears=["turn on the lamp"])
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=False)
        heard = await exchange.heard()
        assert (heard.text, heard.how) == ("turn on the lamp", How.COMPLETED)
        exchange.close()
        house.session.settle(exchange.turn_id)
        await house.until(lambda: not server.session.items)
        assert not server.session.count("response.create")


async def test_a_response_that_is_asked_for_later() -> None:
    """Where something must be told first, the answer begins when the pipeline says so."""
    brain = ScriptedBrain()
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=False)
        assert (await exchange.heard()).how is How.COMPLETED
        house.record.now = "the doorbell rang"
        exchange.respond()
        exchange.respond()
        house.close(await house.take(exchange))
        assert "[now] the doorbell rang" in brain.requests[-1].texts()
        assert server.session.count("response.create") == 1


def listening_rig(
    server: LoopbackServer, kind: str = "server_vad", *, compatible: bool = False
) -> AbstractAsyncContextManager[Rig]:
    """Return a session whose provider listens for the end of a turn."""
    record = Record(config=changed(CONFIG, turn_detection=kind))
    return rig(server, record=record, compatible=compatible)


async def talk(exchange: Exchange, *parts: bytes) -> None:
    """Speak on until the turn is over, as a satellite does."""
    for pcm in parts:
        for start in range(0, len(pcm), 640):
            if exchange.listening.ended:
                return
            exchange.append(pcm[start : start + 640])
            await asyncio.sleep(0.0005)


async def test_a_provider_that_commits_a_moment_later() -> None:
    """The end of speech and the item of it may come apart; nothing is committed twice."""
    fault = Fault("input_audio_buffer.committed", Delay(2))
    async with LoopbackServer(faults=[fault]) as server, listening_rig(server) as house:
        exchange = house.begin()
        speaking = asyncio.create_task(talk(exchange, speech(1500), quiet(20_000)))
        assert await exchange.speech_ended() is Ended.PROVIDER
        exchange.end_of_speech(respond=True)
        assert (await house.take(exchange)).end.failure is None
        await speaking
        assert not server.session.count("input_audio_buffer.commit")


@pytest.mark.parametrize("kind", ["server_vad", "semantic_vad"])
async def test_the_provider_hears_where_the_turn_ends(kind: str) -> None:
    """A provider's ear ends the turn; what comes behind it is not sent."""
    brain = ScriptedBrain(default="Yes.", hears=["what time is it"])
    async with LoopbackServer(brain) as server, listening_rig(server, kind) as house:
        for _ in range(2):
            exchange = house.begin()
            speaking = asyncio.create_task(talk(exchange, speech(1500), quiet(20_000)))
            async with asyncio.timeout(5):
                assert await exchange.speech_ended() is Ended.PROVIDER
            exchange.end_of_speech(respond=True)
            result = await house.take(exchange)
            await speaking
            assert result.text == "Yes."
            house.close(result)
        assert not server.session.count("input_audio_buffer.commit")
        assert not server.session.sent_of("error")
        assert server.session.count("response.create") == 2


async def test_a_provider_that_is_deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that accepts a kind of listening and never hears anything is not waited for."""
    monkeypatch.setattr(f"{LISTENING}.SILENT_PROVIDER_SECONDS", 0.2)
    brain = ScriptedBrain(default="Yes.")
    switches = Switches().but(semantic_vad="dead")
    async with (
        LoopbackServer(brain, switches=switches) as server,
        listening_rig(server, "semantic_vad") as house,
    ):
        exchange = house.begin()
        speaking = asyncio.create_task(talk(exchange, speech(1500), quiet(60_000)))
        assert await exchange.speech_ended() is Ended.DEAF
        exchange.end_of_speech(respond=True)
        assert (await house.take(exchange)).text == "Yes."
        await speaking


async def test_nobody_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a false wake the microphone is closed in a few seconds."""
    monkeypatch.setattr(f"{LISTENING}.NO_SPEECH_SECONDS", 0.2)
    async with LoopbackServer() as server, listening_rig(server) as house:
        exchange = house.begin()
        speaking = asyncio.create_task(talk(exchange, quiet(60_000)))
        assert await exchange.speech_ended() is Ended.NO_SPEECH
        exchange.end_of_speech(respond=True)
        assert (await exchange.heard()).how is How.NO_SPEECH
        await speaking
        assert not server.session.count("response.create")


async def test_somebody_never_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A television that talks on and on is cut off, and answered for what it said."""
    monkeypatch.setattr(f"{LISTENING}.SPEECH_SECONDS", 0.3)
    brain = ScriptedBrain(default="Yes.")
    async with LoopbackServer(brain) as server, listening_rig(server) as house:
        exchange = house.begin()
        speaking = asyncio.create_task(talk(exchange, speech(60_000)))
        assert await exchange.speech_ended() is Ended.LIMIT
        exchange.end_of_speech(respond=True)
        assert (await house.take(exchange)).text == "Yes."
        await speaking


@pytest.mark.parametrize("name", sorted(PERSONALITIES))
async def test_every_known_server_can_listen(name: str) -> None:
    """With the provider's turn detection a turn works on every known server that has it."""
    brain = ScriptedBrain(default="Yes.")
    async with (
        LoopbackServer(brain, personality=PERSONALITIES[name], any_model=True) as server,
        listening_rig(server, compatible=name not in {"openai", "azure"}) as house,
    ):
        for _ in range(2):
            exchange = house.begin()
            speaking = asyncio.create_task(talk(exchange, speech(1500), quiet(20_000)))
            async with asyncio.timeout(5):
                await exchange.speech_ended()
            exchange.end_of_speech(respond=True)
            result = await house.take(exchange)
            await speaking
            assert (result.text, result.end.failure) == ("Yes.", None)
            house.close(result)


async def test_a_limit_on_a_server_that_refuses_to_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the provider can end a turn, it is made to hear that the turn has ended."""
    monkeypatch.setattr(f"{LISTENING}.SPEECH_SECONDS", 0.3)
    brain = ScriptedBrain(default="Yes.")
    async with (
        LoopbackServer(brain, personality=LOCALAI, any_model=True) as server,
        listening_rig(server, compatible=True) as house,
    ):
        exchange = house.begin()
        speaking = asyncio.create_task(talk(exchange, speech(60_000)))
        await exchange.speech_ended()
        exchange.end_of_speech(respond=True)
        result = await house.take(exchange)
        await speaking
        assert result.text == "Yes."
        assert len(server.sessions) == 1


async def test_more_than_a_minute_of_sound_at_once() -> None:
    """A satellite that sends in a moment what takes a minute to say fills no memory."""
    brain = ScriptedBrain(default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = house.begin()
        second = speech(1000)
        for _ in range(70):
            exchange.append(second)
        exchange.end_of_speech(respond=True)
        answer = await house.take(exchange)
        assert answer.end.failure is None
        house.close(answer)
        assert house.session.counters["recorded_bytes"] >= 9_000 * 48
        assert not exchange.recording.ms
        heard = [item.audio for item in server.session.items if item.role == "user"]
        assert 0 < sum(map(len, heard)) <= 60_000 * 48
        assert (await house.voice_turn()).text == "Yes."
