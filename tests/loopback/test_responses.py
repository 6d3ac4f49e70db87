"""Responses: their shape, their pace, how they are cancelled, fail, and run out of band."""

import pytest
from aiohttp import ClientSession

from . import (
    Call,
    Failure,
    LoopbackServer,
    RealClock,
    Reply,
    ScriptedBrain,
    Speech,
    Switches,
    Text,
    duration_ms,
    tone,
)
from .wire import Wire


async def test_words_run_a_little_ahead_of_the_audio() -> None:
    text = "This is a long answer about the weather, the garden, and what to do on Sunday morning."
    brain = ScriptedBrain(replies=[text])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.respond()
        letters = audio = 0
        leads = []
        for event in wire.events:
            if event["type"] == "response.output_audio_transcript.delta":
                letters += len(event["delta"])
            elif event["type"] == "response.output_audio.delta":
                audio += 250
                leads.append(letters - 15 * (audio - 250) / 1000)
        assert all(0 <= lead <= 24 for lead in leads[:-3]), leads
        assert duration_ms(wire.audio()) == int(1000 * len(text) / 15)


async def test_text_in_an_audio_session() -> None:
    brain = ScriptedBrain(replies=[Text("Only written.")])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        done = await wire.respond()
        assert done["output"][0]["content"] == [{"type": "output_text", "text": "Only written."}]
        assert not wire.audio()


async def test_interleaved_call_and_phase() -> None:
    parts = [Speech("I will look."), Call("weather", '{"city":"London"}')]
    brain = ScriptedBrain(replies=[parts, "Sunny."])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        done = await wire.respond()
        assert [item.get("phase") for item in done["output"]] == ["commentary", None]
        kinds = wire.kinds()
        called = kinds.index("response.function_call_arguments.delta")
        assert called < kinds.index("response.output_audio_transcript.done")
        call = done["output"][1]
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "sun"}
        await wire.send("conversation.item.create", item=output)
        assert (await wire.respond())["output"][0]["phase"] == "final_answer"
    brain = ScriptedBrain(replies=[parts])
    async with LoopbackServer(brain) as server, Wire.to(server, "gpt-realtime") as wire:
        done = await wire.respond()
        assert "phase" not in done["output"][0]
        kinds = wire.kinds()
        called = kinds.index("response.function_call_arguments.delta")
        assert called > kinds.index("response.output_audio_transcript.done")


@pytest.mark.parametrize("trailing", [0, 3])
async def test_cancel_leaves_trailing_deltas_a_partial_item_then_done(trailing: int) -> None:
    brain = ScriptedBrain(replies=[Speech("one two three four five six seven", ms=20_000)])
    switches = Switches().but(trailing_deltas=trailing, text_lead=1, characters_per_second=1)
    async with (
        LoopbackServer(brain, switches=switches, clock=RealClock(5)) as server,
        Wire.to(server) as wire,
    ):
        await wire.send("response.create")
        await wire.until("response.output_audio.delta")
        await wire.send("response.cancel")
        await server.wait_for(lambda s: s.total("response.cancel"))
        done = (await wire.until("response.done"))["response"]
        assert done["status"] == "cancelled"
        assert done["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
        item = done["output"][0]
        assert item["status"] == "incomplete"
        deltas = wire.of("response.output_audio_transcript.delta")
        assert item["content"][0]["transcript"] == "".join(one["delta"] for one in deltas)
        assert wire.kinds()[-6:] == [
            "response.output_audio.done",
            "response.output_audio_transcript.done",
            "response.content_part.done",
            "conversation.item.done",
            "response.output_item.done",
            "response.done",
        ]
        held = server.session.items[-1]
        assert held.status == "incomplete"
        assert held.audio == wire.audio()
        assert (await wire.respond())["status"] == "completed"


async def test_a_cut_and_a_cancel_in_one_go() -> None:
    brain = ScriptedBrain(replies=[Speech("one two three four five", ms=20_000)])
    async with (
        LoopbackServer(brain, clock=RealClock(5)) as server,
        Wire.to(server) as wire,
    ):
        await wire.send("response.create")
        first = await wire.until("response.output_audio.delta")
        await wire.send(
            "conversation.item.truncate",
            item_id=first["item_id"],
            content_index=0,
            audio_end_ms=120,
        )
        await wire.send("response.cancel")
        await wire.until("conversation.item.truncated")
        assert (await wire.until("response.done"))["response"]["status"] == "cancelled"
        held = server.session.items[-1]
        assert duration_ms(held.audio) == 120
        assert held.content[0].transcript is None
        assert duration_ms(wire.audio()) > 120


async def test_long_runs_need_not_keep_audio() -> None:
    async with LoopbackServer(keep_audio=False) as server, Wire.to(server) as wire:
        await wire.hear(tone(10))
        await wire.respond()
        (heard,) = server.session.received_of("input_audio_buffer.append")
        assert heard["audio"] == "640 letters"
        assert server.session.sent_of("response.output_audio.delta")[0]["delta"].endswith("letters")
        assert wire.audio()


async def test_cancel_before_anything_was_said() -> None:
    brain = ScriptedBrain(replies=[Reply((Speech("late"),), after=60)])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.send("response.create")
        created = await wire.until("response.created")
        await wire.send("response.cancel", response_id=created["response"]["id"])
        done = (await wire.until("response.done"))["response"]
        assert (done["status"], done["output"]) == ("cancelled", [])
        assert server.session.items == []


async def test_failures() -> None:
    replies = [
        Reply(failure=Failure("failed", "insufficient_quota", "No money.", "insufficient_quota")),
        Reply((Speech("Half a"),), failure=Failure("incomplete", reason="content_filter")),
        Reply(),
    ]
    async with LoopbackServer(ScriptedBrain(replies)) as server, Wire.to(server) as wire:
        failed = await wire.respond()
        assert failed["status_details"]["error"]["code"] == "insufficient_quota"
        assert not wire.of("error")
        cut = await wire.respond()
        assert cut["status_details"] == {"type": "incomplete", "reason": "content_filter"}
        assert (await wire.respond())["output"] == []


async def test_max_output_tokens() -> None:
    brain = ScriptedBrain(replies=[Speech("A very long story that never ends.", ms=10_000)])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        done = await wire.respond(max_output_tokens=20)
        assert done["status_details"]["reason"] == "max_output_tokens"
        assert done["usage"]["output_tokens"] < 40
        assert done["output"][0]["status"] == "incomplete"


async def test_out_of_band_stays_outside() -> None:
    brain = ScriptedBrain(
        replies=[Speech("Long.", ms=20_000)],
        asides=[lambda request: f"{len(request.context)} {request.instructions}"],
    )
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.add("one", id="one")
        await wire.send("response.create")
        await wire.until("response.output_audio.delta")
        wanted = {
            "conversation": "none",
            "output_modalities": ["text"],
            "instructions": "Sum up.",
            "metadata": {"purpose": "summary"},
            "tools": [],
            "input": [
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "rendered"}],
                },
                {"type": "item_reference", "id": "one"},
            ],
        }
        await wire.send("response.create", response=wanted)
        aside = (await wire.until("response.done"))["response"]
        assert aside["metadata"] == {"purpose": "summary"}
        assert aside["conversation_id"] is None
        assert aside["output"][0]["content"][0]["text"] == "2 Sum up."
        assert [view.text for view in brain.requests[-1].context] == ["rendered", "one"]
        main = (await wire.until("response.done"))["response"]
        assert main["conversation_id"].startswith("conv_")
        assert [item.id for item in server.session.items] == ["one", main["output"][0]["id"]]
        mirrored = {event["item"]["id"] for event in wire.of("conversation.item.added")}
        assert aside["output"][0]["id"] not in mirrored


async def test_empty_input_clears_the_context() -> None:
    brain = ScriptedBrain(default=lambda request: str(len(request.context)))
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.update(output_modalities=["text"])
        await wire.add("one")
        assert (await wire.respond(input=[]))["output"][0]["content"][0]["text"] == "0"
        assert len(server.session.items) == 2


async def test_a_broken_script_breaks_its_test() -> None:
    brain = ScriptedBrain(replies=[lambda _request: str(1 // 0)])

    async def run() -> None:
        async with LoopbackServer(brain) as server, Wire.to(server) as wire:
            await wire.send("response.create")
            await server.wait_for(lambda s: s.sessions and s.session.failures)

    with pytest.raises(ZeroDivisionError):
        await run()


async def test_speech_endpoint() -> None:
    async with LoopbackServer(key="k") as server, ClientSession() as http:
        url = f"{server.base_url}/audio/speech"
        wanted = {"model": "tts", "voice": "alloy", "input": "Good morning, everyone."}
        async with http.post(url, json=wanted) as answer:
            assert answer.status == 401
        headers = {"Authorization": "Bearer k"}
        async with http.post(
            url, json=wanted | {"response_format": "wav"}, headers=headers
        ) as answer:
            assert (await answer.read())[:4] == b"RIFF"
        async with http.post(
            url, json=wanted | {"response_format": "pcm"}, headers=headers
        ) as answer:
            assert duration_ms(await answer.read()) == int(1000 * 23 / 15)
        async with http.post(url, json=wanted, headers=headers) as answer:
            assert answer.status == 400
        assert len(server.speech_requests) == 3
