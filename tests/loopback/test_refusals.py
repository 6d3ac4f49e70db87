"""Everything that is refused, with its code, and without any effect."""

import base64
from typing import Any

import pytest

from . import LoopbackServer, ScriptedBrain, Speech, Switches, silence
from .wire import Wire

type Json = dict[str, Any]


def message(role: str, *content: Json, **fields: object) -> Json:
    """Return the item of a message."""
    return {"type": "message", "role": role, "content": [*content], **fields}


def create(item: Json, **fields: object) -> Json:
    """Return the event that creates an item."""
    return {"type": "conversation.item.create", "item": item, **fields}


def update(**session: object) -> Json:
    """Return the event that updates the session."""
    return {"type": "session.update", "session": {"type": "realtime", **session}}


def hearing(**settings: object) -> Json:
    """Return an update of the audio input."""
    return update(audio={"input": settings})


def respond(**response: object) -> Json:
    """Return the event that asks for a response."""
    return {"type": "response.create", "response": response}


TEXT = {"type": "input_text", "text": "hello"}
AUDIO = {"type": "input_audio", "audio": base64.b64encode(silence(200)).decode()}
TOOL = {"type": "function", "name": "x" * 65, "parameters": {}}

REFUSED: dict[str, tuple[Json, str | None, str | None]] = {
    "unknown event": ({"type": "session.refresh"}, "invalid_value", "type"),
    "no type": ({"event_id": "e"}, "missing_required_parameter", "type"),
    "unknown field": (
        {"type": "input_audio_buffer.clear", "why": 1},
        "unknown_parameter",
        "why",
    ),
    "session without type": (
        {"type": "session.update", "session": {}},
        "missing_required_parameter",
        "session.type",
    ),
    "beta session": (update(modalities=["text"]), "unknown_parameter", "session.modalities"),
    "other model": (update(model="gpt-realtime"), "invalid_value", "session.model"),
    "both modalities": (
        update(output_modalities=["text", "audio"]),
        "invalid_value",
        "session.output_modalities",
    ),
    "rate": (
        hearing(format={"type": "audio/pcm", "rate": 16000}),
        "invalid_value",
        "session.audio.input.format.rate",
    ),
    "threshold": (
        hearing(turn_detection={"type": "server_vad", "threshold": 1.5}),
        "invalid_value",
        "session.audio.input.turn_detection.threshold",
    ),
    "eagerness": (
        hearing(turn_detection={"type": "semantic_vad", "eagerness": "very"}),
        "invalid_value",
        "session.audio.input.turn_detection.eagerness",
    ),
    "speed": (
        update(audio={"output": {"speed": 9}}),
        "invalid_value",
        "session.audio.output.speed",
    ),
    "tool name": (update(tools=[TOOL]), "string_above_max_length", "session.tools[0].name"),
    "instructions": (
        update(instructions="x" * 70_000),
        "string_above_max_length",
        "session.instructions",
    ),
    "type of a field": (update(instructions=7), "invalid_type", "session.instructions"),
    "assistant audio": (
        create(message("assistant", {"type": "output_audio", "transcript": "hi"})),
        "missing_required_parameter",
        "item.content[0].text",
    ),
    "user writes as assistant": (
        create(message("user", {"type": "output_text", "text": "hi"})),
        "invalid_value",
        "item.content[0].type",
    ),
    "system speaks": (create(message("system", AUDIO)), "invalid_value", "item.content[0].type"),
    "empty content": (create(message("user")), "empty_array", "item.content"),
    "unknown role": (create(message("robot", TEXT)), "invalid_value", "item.role"),
    "unknown kind of item": (
        create({"type": "item_reference", "id": "a"}),
        "invalid_value",
        "item.type",
    ),
    "long id": (
        create(message("user", TEXT, id="x" * 33)),
        "string_above_max_length",
        "item.id",
    ),
    "odd id": (create(message("user", TEXT, id="turn:7")), "invalid_value", "item.id"),
    "unknown previous": (
        create(message("user", TEXT), previous_item_id="nobody"),
        "item_create_invalid_previous_item_id",
        None,
    ),
    "unknown call": (
        create({"type": "function_call_output", "call_id": "call_x", "output": "1"}),
        "invalid_tool_call_id",
        None,
    ),
    "delete": (
        {"type": "conversation.item.delete", "item_id": "nobody"},
        "item_delete_invalid_item_id",
        None,
    ),
    "retrieve": (
        {"type": "conversation.item.retrieve", "item_id": "nobody"},
        "item_retrieve_invalid_item_id",
        None,
    ),
    "truncate": (
        {
            "type": "conversation.item.truncate",
            "item_id": "nobody",
            "content_index": 0,
            "audio_end_ms": 1,
        },
        "item_truncate_invalid_item_id",
        None,
    ),
    "truncate without end": (
        {"type": "conversation.item.truncate", "item_id": "a", "content_index": 0},
        "missing_required_parameter",
        "audio_end_ms",
    ),
    "empty commit": (
        {"type": "input_audio_buffer.commit"},
        "input_audio_buffer_commit_empty",
        None,
    ),
    "no base64": (
        {"type": "input_audio_buffer.append", "audio": "?"},
        "invalid_value",
        "audio",
    ),
    "cancel idle": ({"type": "response.cancel"}, "response_cancel_not_active", None),
    "metadata": (
        respond(metadata={"key": "x" * 513}),
        "string_above_max_length",
        "response.metadata.key",
    ),
    "much metadata": (
        respond(metadata={str(i): "x" for i in range(17)}),
        "object_above_max_properties",
        "response.metadata",
    ),
    "unknown reference": (
        respond(input=[{"type": "item_reference", "id": "nobody"}]),
        "invalid_value",
        "response.input[0].id",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_refused_with_its_code_and_without_effect(case: str) -> None:
    event, code, param = REFUSED[case]
    async with LoopbackServer() as server, Wire.to(server) as wire:
        before = (await wire.until("session.created"))["session"]
        await wire.socket.send_json({"event_id": "mine"} | event)
        error = (await wire.until("error"))["error"]
        assert (error["code"], error["param"]) == (code, param)
        assert error["type"] == "invalid_request_error"
        assert error["message"]
        named = event.get("event_id", "mine") if case != "unknown call" else None
        assert error["event_id"] == named
        assert server.session.items == []
        assert server.session.config.wire == before


async def test_frames_that_are_no_objects_are_refused() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        for frame in ("{", "[]", "7"):
            await wire.socket.send_str(frame)
            assert (await wire.until("error"))["error"]["code"] == "invalid_json"
        await wire.socket.send_bytes(b"{}")
        assert (await wire.until("error"))["error"]["code"] == "invalid_json"
        assert (await wire.add("still here"))["type"] == "conversation.item.added"


async def test_duplicate_id() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.add("one", id="a")
        error = await wire.add("two", id="a")
        assert error["error"]["code"] == "item_create_duplicate_item_id"
        assert server.session.texts() == ["one"]


async def test_bad_update_is_refused_whole() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        before = (await wire.until("session.created"))["session"]
        answer = await wire.update(instructions="new", tools=[], output_modalities=["video"])
        assert answer["error"]["code"] == "invalid_value"
        assert server.session.config.wire == before


@pytest.mark.parametrize("ms", [0, 50, 99])
async def test_short_commits_are_refused(ms: int) -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.manual()
        await wire.hear(silence(ms))
        await wire.send("input_audio_buffer.commit")
        error = (await wire.until("error"))["error"]
        assert error["code"] == "input_audio_buffer_commit_empty"
        assert f"{ms}.00ms" in error["message"]


async def test_second_active_response() -> None:
    brain = ScriptedBrain(replies=[Speech("A long story.", ms=20_000)])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.send("response.create")
        first = await wire.until("response.created")
        await wire.send("response.create", event_id="second")
        error = (await wire.until("error"))["error"]
        assert error["code"] == "conversation_already_has_active_response"
        assert error["event_id"] == "second"
        assert first["response"]["id"] in error["message"]


async def test_truncate_refusals() -> None:
    brain = ScriptedBrain(replies=[Speech("Hello.", ms=1000)])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.add("hello", id="text")
        said = (await wire.respond())["output"][0]["id"]

        async def cut(item_id: str, end: int) -> Json:
            await wire.send(
                "conversation.item.truncate",
                item_id=item_id,
                content_index=0,
                audio_end_ms=end,
            )
            return dict((await wire.until("error"))["error"])

        for item_id, end in (("text", 10), (said, 0)):
            error = await cut(item_id, end)
            assert error["code"] is None
            assert error["message"] == "Only model output audio messages can be truncated"
        error = await cut(said, 1001)
        assert error["code"] == "invalid_value"
        assert error["message"] == "Audio content of 1000ms is already shorter than 1001ms"


async def test_voice_is_fixed_after_audio() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        changed = await wire.update(audio={"output": {"voice": "cedar"}})
        assert changed["session"]["audio"]["output"]["voice"] == "cedar"
        await wire.respond()
        refused = await wire.update(instructions="new", audio={"output": {"voice": "ash"}})
        assert refused["error"]["code"] == "cannot_update_voice"
        assert server.session.config.wire["instructions"] != "new"
        same = await wire.update(instructions="new", audio={"output": {"voice": "cedar"}})
        assert same["session"]["instructions"] == "new"
        assert (await wire.respond(audio={"output": {"voice": "ash"}}))["type"] == "error"


async def test_older_models_do_not_reason() -> None:
    async with LoopbackServer() as server, Wire.to(server, "gpt-realtime") as wire:
        refused = await wire.update(reasoning={"effort": "low"})
        assert refused["error"]["param"] == "session.reasoning"
    async with LoopbackServer() as server, Wire.to(server) as wire:
        assert (await wire.update(reasoning={"effort": "low"}))["type"] == "session.updated"


@pytest.mark.parametrize("value", ["refused", "ignored"])
async def test_both_values_of_a_switch(value: str) -> None:
    switches = Switches().but(unknown_fields=value)
    async with LoopbackServer(switches=switches) as server, Wire.to(server) as wire:
        answer = await wire.update(mood="good")
        assert answer["type"] == ("error" if value == "refused" else "session.updated")
