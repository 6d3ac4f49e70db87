"""The ear: voice detection, commits, what is written down and when."""

import pytest

from . import (
    LoopbackServer,
    RealClock,
    ScriptedBrain,
    Speech,
    Switches,
    Transcript,
    VirtualClock,
    duration_ms,
    silence,
    tone,
)
from .wire import Wire

_PREFIX = "conversation.item.input_audio_transcription."
WRITES = {"transcription": {"model": "gpt-realtime-whisper"}}


async def test_server_vad_finds_a_turn_and_answers_it() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.hear(silence(1000))
        await wire.hear(tone(2000))
        await wire.hear(silence(700))
        started = await wire.until("input_audio_buffer.speech_started")
        assert started["audio_start_ms"] == 700
        stopped = await wire.next()
        assert (stopped["type"], stopped["audio_end_ms"]) == (
            "input_audio_buffer.speech_stopped",
            3500,
        )
        committed = await wire.next()
        assert committed["type"] == "input_audio_buffer.committed"
        assert committed["item_id"] == started["item_id"] == stopped["item_id"]
        added, done, created = [await wire.next() for _ in range(3)]
        assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]
        assert [done["type"], created["type"]] == [
            "conversation.item.done",
            "response.created",
        ]
        assert duration_ms(server.session.items[0].audio) == 2800


async def test_positions_go_on_over_turns() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        for _ in range(2):
            for chunk in (silence(1000), tone(1000), silence(1000)):
                await wire.hear(chunk)
            await wire.until("response.done")
        starts = [one["audio_start_ms"] for one in wire.of("input_audio_buffer.speech_started")]
        assert starts == [700, 3700]
        previous = [one["previous_item_id"] for one in wire.of("input_audio_buffer.committed")]
        assert previous == [None, server.session.items[1].id]


async def test_manual_commit_takes_the_whole_buffer_and_clear_empties_it() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.manual()
        await wire.hear(silence(500))
        await wire.send("input_audio_buffer.clear")
        await wire.until("input_audio_buffer.cleared")
        await wire.hear(tone(100))
        await wire.send("input_audio_buffer.commit")
        await wire.until("input_audio_buffer.committed")
        await wire.until("conversation.item.done")
        assert duration_ms(server.session.items[0].audio) == 100
        assert not wire.of("response.created")


@pytest.mark.parametrize("seed", range(6))
async def test_transcripts_come_after_4_to_9_audio_deltas(seed: int) -> None:
    brain = ScriptedBrain(replies=[Speech("A long answer.", ms=6000)], hears=["Hello, it is me."])
    async with LoopbackServer(brain, seed=seed) as server, Wire.to(server) as wire:
        await wire.manual(**WRITES)
        await wire.hear(tone(1500))
        await wire.send("input_audio_buffer.commit")
        await wire.respond()
        kinds = wire.kinds()
        written = kinds.index(_PREFIX + "completed")
        before = kinds[:written].count("response.output_audio.delta")
        assert 4 <= before <= 9
        deltas = [event["delta"] for event in wire.of(_PREFIX + "delta")]
        assert deltas[0] == " Hello"
        assert "".join(deltas) == " Hello, it is me."
        completed = wire.of(_PREFIX + "completed")[0]
        assert completed["usage"] == {"type": "duration", "seconds": 2}
        assert server.session.items[0].content[0].transcript == "Hello, it is me."


async def test_transcripts_may_be_wrong_empty_or_failed() -> None:
    hears: list[Transcript | str] = [
        "",
        Transcript(failure="DeploymentNotFound", says="No such deployment."),
        "wrong",
    ]
    async with LoopbackServer(ScriptedBrain(hears=hears)) as server, Wire.to(server) as wire:
        await wire.manual(**WRITES)
        for _ in range(3):
            await wire.hear(tone(300))
            await wire.send("input_audio_buffer.commit")
            await wire.until(_PREFIX + "completed", _PREFIX + "failed")
        ends = [event for event in wire.events if event["type"].startswith(_PREFIX)]
        assert [event.get("transcript") for event in ends if "delta" not in event] == [
            "",
            None,
            "wrong",
        ]
        assert wire.of(_PREFIX + "failed")[0]["error"]["code"] == "DeploymentNotFound"


async def test_speech_interrupts_a_response() -> None:
    brain = ScriptedBrain(replies=[Speech("A long answer.", ms=20_000), "Yes?"])
    async with (
        LoopbackServer(brain, clock=RealClock(5)) as server,
        Wire.to(server) as wire,
    ):
        await wire.send("response.create")
        await wire.until("response.output_audio.delta")
        for chunk in (tone(1000), silence(1000)):
            await wire.hear(chunk)
        done = (await wire.until("response.done"))["response"]
        assert done["status_details"]["reason"] == "turn_detected"
        assert (await wire.until("response.done"))["response"]["status"] == "completed"


@pytest.mark.parametrize("anyway", [True, False])
async def test_with_both_flags_off_nothing_is_interrupted_but_by_some(*, anyway: bool) -> None:
    brain = ScriptedBrain(replies=[Speech("A long answer.", ms=8_000)])
    quiet = {"type": "server_vad", "create_response": False, "interrupt_response": False}
    switches = Switches().but(vad_cancels_anyway=anyway)
    async with LoopbackServer(brain, switches=switches) as server, Wire.to(server) as wire:
        await wire.update(audio={"input": {"turn_detection": quiet}})
        await wire.send("response.create")
        await wire.until("response.output_audio.delta")
        for chunk in (tone(1000), silence(1000)):
            await wire.hear(chunk)
        done = (await wire.until("response.done"))["response"]
        assert done["status"] == ("cancelled" if anyway else "completed")
        await wire.quiet()
        assert len(wire.of("response.created")) == 1


async def test_an_update_in_the_middle_of_speech_leaves_the_turn_alone() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.hear(tone(500))
        started = await wire.until("input_audio_buffer.speech_started")
        await wire.update(instructions="Be brief.")
        await wire.hear(silence(1000))
        committed = await wire.until("input_audio_buffer.committed")
        assert committed["item_id"] == started["item_id"]


async def test_idle_timeout_answers_silence_once() -> None:
    clock = VirtualClock()
    listens = {"type": "server_vad", "idle_timeout_ms": 6000}
    async with LoopbackServer(clock=clock) as server, Wire.to(server) as wire:
        await wire.send(
            "session.update",
            session={"type": "realtime", "audio": {"input": {"turn_detection": listens}}},
        )
        await wire.send("response.create")
        await server.wait_for(lambda s: s.total("response.create"))
        await clock.run_until(lambda: server.session.sent_of("response.done"))
        await clock.advance(5)
        assert not server.session.sent_of("input_audio_buffer.timeout_triggered")
        await clock.advance(2)
        assert server.session.sent_of("input_audio_buffer.timeout_triggered")
        await clock.run_until(lambda: len(server.session.sent_of("response.done")) == 2)


async def test_nothing_is_written_down_unless_asked() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.manual()
        await wire.hear(tone(1000))
        await wire.send("input_audio_buffer.commit")
        await wire.respond()
        assert not [kind for kind in wire.kinds() if kind.startswith(_PREFIX)]


async def test_words_may_be_written_while_one_speaks() -> None:
    switches = Switches().but(transcript_while_speaking=True)
    brain = ScriptedBrain(hears=["Please turn on the kitchen light."])
    async with LoopbackServer(brain, switches=switches) as server, Wire.to(server) as wire:
        await wire.update(audio={"input": WRITES})
        for chunk in (tone(700), tone(700), silence(1000)):
            await wire.hear(chunk)
        await wire.until("response.done")
        kinds = wire.kinds()
        first = kinds.index(_PREFIX + "delta")
        assert first < kinds.index("input_audio_buffer.committed")
        started = wire.of("input_audio_buffer.speech_started")[0]
        assert wire.events[first]["item_id"] == started["item_id"]
        words = "".join(event["delta"] for event in wire.of(_PREFIX + "delta"))
        assert words == " Please turn on the kitchen light."
