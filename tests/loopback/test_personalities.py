"""Each other server's ways, one by one, as the table of deviations tells them."""

import pytest

from . import (
    AZURE,
    HUGGING_FACE,
    INWORLD,
    LOCALAI,
    MUTE,
    NO_DELETE,
    PERSONALITIES,
    SPEACHES,
    VOICE_LIVE,
    XAI,
    Call,
    LoopbackServer,
    ScriptedBrain,
    Speech,
    Transcript,
    duration_ms,
    silence,
    tone,
)
from .wire import Wire


@pytest.mark.parametrize("name", PERSONALITIES)
@pytest.mark.parametrize("seed", range(3))
async def test_every_one_can_hold_a_spoken_turn(name: str, seed: int) -> None:
    personality = PERSONALITIES[name]
    server = LoopbackServer(
        ScriptedBrain(replies=[[Speech("Hello."), Call("light", '{"on":true}')], "Done."]),
        personality=personality,
        switches=personality.mixed(seed),
        any_model=True,
        seed=seed,
    )
    async with server, Wire.to(server) as wire:
        manual = {"turn_detection": None, "transcription": {"model": "whisper-1"}}
        await wire.update(audio={"input": manual})
        await wire.add("A note.", role="system")
        await wire.hear(tone(1000))
        if personality is LOCALAI:
            await wire.update(audio={"input": manual})
        await wire.send("input_audio_buffer.commit")
        await wire.until("input_audio_buffer.committed")
        done = await wire.respond()
        call = done["output"][-1]
        assert (call["type"], call["name"]) == ("function_call", "light")
        output = {"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}
        await wire.send("conversation.item.create", item=output)
        await wire.respond()
        assert duration_ms(wire.audio()) >= 600
        assert len(server.session.items) == 6


async def test_localai_appends_echoes_blanks_and_names_no_event() -> None:
    server = LoopbackServer(personality=LOCALAI)
    async with server, Wire.to(server) as wire:
        await wire.add("one", id="one")
        added = await wire.add("two", id="two", previous_item_id="root")
        assert added["previous_item_id"] == "root"
        assert added["event_id"] == "event_TODO"
        assert [item.id for item in server.session.items] == ["one", "two"]
        await wire.send("conversation.item.delete", item_id="nobody", event_id="mine")
        assert (await wire.until("error"))["error"]["event_id"] is None
        said = (await wire.respond())["output"][0]["id"]
        await wire.send(
            "conversation.item.truncate", item_id=said, content_index=0, audio_end_ms=100
        )
        await wire.until("conversation.item.truncated")
        assert server.session.items[-1].audio == b""
        assert not [one for one in wire.of("conversation.item.done") if one["item"]["id"] == "one"]
        await wire.send("input_audio_buffer.commit")
        assert (await wire.until("error"))["error"]["code"] == "not_implemented"
        aside = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "render"}],
        }
        await wire.respond(conversation="none", input=[aside])
        assert "render" in server.session.texts()


async def test_hugging_face_defers_hides_replies_and_has_codes_in_the_type() -> None:
    brain = ScriptedBrain(replies=[Speech("Long.", ms=8000)])
    async with LoopbackServer(brain, personality=HUGGING_FACE) as server, Wire.to(server) as wire:
        assert (await wire.add("one", id="a"))["type"] == "conversation.item.created"
        assert (await wire.add("twice", id="a"))["type"] == "conversation.item.created"
        await wire.send("response.cancel")
        await wire.send("conversation.item.retrieve", item_id="a", event_id="mine")
        error = (await wire.until("error"))["error"]
        assert (error["type"], error["code"]) == ("unknown_or_invalid_event", None)
        assert error["event_id"] == "mine"
        await wire.send("response.create")
        await wire.until("response.output_audio.delta")
        await wire.send("conversation.item.delete", item_id="nobody")
        error = (await wire.until("error"))["error"]
        assert error["type"] == "conversation_item_not_found"
        kinds = wire.kinds()
        assert kinds.index("response.done") < len(kinds) - 1
        assert "conversation.item.added" not in kinds
        assert wire.of("response.done")[0]["response"]["usage"] is None


async def test_xai_shapes_and_cumulative_transcripts() -> None:
    brain = ScriptedBrain(replies=["Hello."], hears=["Hello, my name is Marcelo, from Lisbon."])
    server = LoopbackServer(brain, personality=XAI, any_model=True)
    async with server, Wire.to(server, "grok-voice-latest") as wire:
        await wire.send(
            "session.update",
            session={
                "instructions": "Be brief.",
                "turn_detection": {"type": "server_vad"},
                "voice": "ara",
                "audio": {"input": {"transcription": {"model": "grok-transcribe"}}},
            },
        )
        session = (await wire.until("session.updated"))["session"]
        assert "type" not in session
        assert (session["voice"], session["turn_detection"]["type"]) == ("ara", "server_vad")
        for chunk in (tone(1000), silence(1000)):
            await wire.hear(chunk)
        done = await wire.until("response.done")
        assert done["response"]["usage"] == {}
        assert done["response"]["status_details"] == "unimplemented"
        assert done["usage"]["output_tokens"] > 0
        await wire.quiet()
        prefix = "conversation.item.input_audio_transcription."
        ends = wire.of(prefix + "completed")
        assert [end["status"] for end in ends] == ["in_progress", "in_progress", "completed"]
        assert ends[0]["transcript"] < ends[1]["transcript"] < ends[2]["transcript"]
        kinds = wire.kinds()
        assert {"ping", "conversation.created"} <= set(kinds)
        assert "conversation.item.done" not in kinds
        started = kinds.index("input_audio_buffer.speech_started")
        assert kinds[started + 1] == "conversation.item.added"
        assert wire.of("response.content_part.added")[0]["previous_item_id"] == "0"
        await wire.add("x", id="x")
        await wire.send("conversation.item.delete", item_id="x")
        assert (await wire.until("conversation.item.deleted"))["item_id"] == ""
        server.session.expire("error")
        assert (await wire.until("error"))["error"]["type"] == "max_duration"


async def test_voice_live_speaks_beta() -> None:
    brain = ScriptedBrain(replies=["Hello."], hears=["Hi."])
    async with LoopbackServer(brain, personality=VOICE_LIVE) as server, Wire.to(server) as wire:
        flat = {
            "modalities": ["text", "audio"],
            "instructions": "Be brief.",
            "input_audio_format": "pcm16",
            "turn_detection": {"type": "server_vad"},
            "input_audio_transcription": {"model": "whisper-1"},
        }
        await wire.send("session.update", session=flat)
        session = (await wire.until("session.updated"))["session"]
        assert session["modalities"] == ["audio", "text"]
        assert session["instructions"] == "Be brief."
        for chunk in (tone(1000), silence(1000)):
            await wire.hear(chunk)
        done = (await wire.until("response.done"))["response"]
        assert done["output"][0]["content"] == [{"type": "audio", "transcript": "Hello."}]
        kinds = set(wire.kinds())
        assert {"response.audio.delta", "response.audio_transcript.done"} <= kinds
        assert "conversation.item.created" in kinds
        assert not {kind for kind in kinds if "output_audio." in kind}


async def test_no_delete_hears_16_khz() -> None:
    async with LoopbackServer(personality=NO_DELETE) as server, Wire.to(server) as wire:
        await wire.manual()
        await wire.add("x", id="x")
        for kind in ("delete", "retrieve", "truncate"):
            await wire.send(f"conversation.item.{kind}", item_id="x")
            assert (await wire.until("error"))["error"]["code"] == "unknown_or_invalid_event"
        await wire.hear(silence(1500))
        await wire.send("input_audio_buffer.commit")
        await wire.until("input_audio_buffer.committed")
        assert duration_ms(server.session.items[-1].audio) == 2250


async def test_inworld_ignores_delete_and_omits_names() -> None:
    brain = ScriptedBrain(replies=[Call("light")])
    async with LoopbackServer(brain, personality=INWORLD) as server, Wire.to(server) as wire:
        await wire.add("x", id="x")
        await wire.send("conversation.item.delete", item_id="x")
        await wire.respond()
        assert server.session.texts() == ["x"]
        assert "name" not in wire.of("response.function_call_arguments.done")[0]
        assert not wire.of("error")


async def test_speaches_refuses_out_of_band_and_cancel() -> None:
    async with LoopbackServer(personality=SPEACHES) as server, Wire.to(server) as wire:
        refused = await wire.respond(conversation="none")
        assert refused["error"]["code"] == "unknown_parameter"
        await wire.send("response.cancel")
        assert (await wire.until("error"))["error"]["code"] == "server_error"


async def test_mute_acknowledges_and_does_nothing() -> None:
    async with LoopbackServer(personality=MUTE) as server, Wire.to(server) as wire:
        said = (await wire.respond(metadata={"turn": "1"}))["output"][0]["id"]
        before = server.session.items[0].audio
        await wire.send(
            "conversation.item.truncate", item_id=said, content_index=0, audio_end_ms=10
        )
        await wire.until("conversation.item.truncated")
        assert server.session.items[0].audio == before
        assert wire.of("response.done")[0]["response"]["metadata"] is None


async def test_azure_sends_the_part_twice_and_semantic_vad_is_dead() -> None:
    brain = ScriptedBrain(hears=[Transcript(failure="DeploymentNotFound")])
    async with LoopbackServer(brain, personality=AZURE) as server, Wire.to(server) as wire:
        await wire.update(audio={"input": {"turn_detection": {"type": "semantic_vad"}}})
        for chunk in (tone(1000), silence(9000)):
            await wire.hear(chunk)
        await wire.respond()
        part = wire.of("response.content_part.added")[0]
        assert part["content"] == part["part"]
        assert not wire.of("input_audio_buffer.speech_started")
