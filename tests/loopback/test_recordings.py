"""Our events against real traffic: the order in lanes, the fields by presence and type."""

from collections import defaultdict

import pytest

from . import (
    AZURE,
    OPENAI,
    VOICE_LIVE,
    XAI,
    Call,
    LoopbackServer,
    Personality,
    ScriptedBrain,
    Speech,
    silence,
    tone,
)
from .brain import ReplyPart
from .events import EVENTS
from .marks import Known
from .recordings import FOLDER, fields_of, is_side, main_lane, responses, sessions
from .wire import Json, Wire

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the folder of recorded sessions is not beside this repository"
)
WRITES = {"transcription": {"model": "gpt-realtime-whisper"}}
TOOLS = [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}]
PREFIX = "conversation.item.input_audio_transcription."


async def conversation(
    personality: Personality, model: str, *, text: bool, seed: int = 0
) -> list[Json]:
    """Return all server events of a session like the recorded ones: speech, a tool, an answer."""
    call = Call("get_weather", '{"city":"London"}')
    first: list[ReplyPart] = (
        [Speech("I will check that."), call] if model.endswith("2.1") else [call]
    )
    brain = ScriptedBrain(
        replies=["Hello! Nice to meet you. How can I help you today?", first, "It is foggy."],
        hears=["Hello, my name is Marcelo."],
    )
    server = LoopbackServer(brain, personality=personality, any_model=True, seed=seed)
    async with server, Wire.to(server, model) as wire:
        modalities = ["text"] if text else ["audio"]
        hearing = {"turn_detection": {"type": "server_vad"}, **WRITES}
        await wire.update(output_modalities=modalities, tools=TOOLS, audio={"input": hearing})
        for chunk in (silence(1000), tone(2000), silence(1000)):
            await wire.hear(chunk)
        await wire.until("response.done")
        await wire.add("What is the weather in London?")
        output = (await wire.respond())["output"][-1]
        item = {
            "type": "function_call_output",
            "call_id": output["call_id"],
            "output": "It is foggy and 12 degrees.",
        }
        await wire.send("conversation.item.create", item=item)
        await wire.respond()
        await wire.quiet()
        return wire.events


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize(
    ("recorded", "personality", "model"),
    [
        ("openai-", OPENAI, "gpt-realtime"),
        ("openai-2.1", OPENAI, "gpt-realtime-2.1"),
        ("azure-", AZURE, "gpt-realtime"),
    ],
)
async def test_every_response_has_a_recorded_order(
    recorded: str, personality: Personality, model: str, *, text: bool
) -> None:
    known = {
        main_lane(response)
        for events in sessions(recorded, "openai-", "azure-").values()
        for response in responses(events)
    }
    assert len(known) == 4, "three sequences, and one of 2.1"
    for response in responses(await conversation(personality, model, text=text)):
        lane = main_lane(response)
        spoken_with_call = "response.output_audio.done" in lane and any(
            "function_call" in tag for tag in lane
        )
        if not spoken_with_call:
            assert lane in known


def test_a_spoken_message_with_a_call_is_in_order_like_the_written_one() -> None:
    """What is not recorded: it keeps the order of the written one, which is."""
    lanes = [
        main_lane(response)
        for recorded in sessions("openai-2.1").values()
        for response in responses(recorded)
    ]
    (written,) = (lane for lane in lanes if any("function_call" in tag for tag in lane))
    assert written.index("response.output_text.done") > written.index(
        "response.function_call_arguments.delta"
    )


@pytest.mark.parametrize("seed", range(4))
async def test_side_lanes_keep_their_constraints(seed: int) -> None:
    ours = await conversation(OPENAI, "gpt-realtime", text=False, seed=seed)
    for events in [ours, *sessions("openai-", "azure-").values()]:
        kinds = [event["type"] for event in events]
        if PREFIX + "completed" not in kinds:
            continue
        completed = kinds.index(PREFIX + "completed")
        assert kinds.index("input_audio_buffer.committed") < completed
        deltas = [i for i, kind in enumerate(kinds[: completed + 1]) if kind == PREFIX + "delta"]
        assert deltas
        assert max(deltas) < completed
        before = kinds[:completed].count("response.output_audio.delta")
        assert 4 <= before <= 9
        for place, kind in enumerate(kinds):
            if kind == "rate_limits.updated":
                assert "response.done" in kinds[:place]


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize(
    ("recorded", "personality", "model"),
    [
        ("openai-2.1", OPENAI, "gpt-realtime-2.1"),
        ("openai-", OPENAI, "gpt-realtime"),
        ("azure-", AZURE, "gpt-realtime"),
    ],
)
async def test_events_have_the_recorded_fields(
    recorded: str, personality: Personality, model: str, *, text: bool
) -> None:
    known: dict[str, set[tuple[str, str]]] = defaultdict(set)
    always: dict[str, set[str]] = {}
    families = {"openai-2.1": ("openai-",), "openai-": ("openai-",), "azure-": ("azure-",)}
    for events in sessions(*families[recorded]).values():
        for event in events:
            found = fields_of(event)
            known[event["type"]] |= found
            paths = {path for path, _ in found}
            always[event["type"]] = always.get(event["type"], paths) & paths
    for event in await conversation(personality, model, text=text):
        kind = event["type"]
        if kind not in known:
            assert EVENTS[kind].known in {Known.DOCUMENTED, Known.RECORDED}, kind
            continue
        found = fields_of(event)
        assert found <= known[kind] | _not_in_every(kind), (kind, found - known[kind])
        missing = always[kind] - {path for path, _ in found}
        assert not {path for path in missing if "[]" not in path}, (kind, missing)


def _not_in_every(kind: str) -> set[tuple[str, str]]:
    """Return fields that other recordings of that kind show in the same places."""
    common = {(".previous_item_id", "null"), (".previous_item_id", "string")}
    if kind == "conversation.item.added":
        common |= {(".item.content[].transcript", "null"), (".item.phase", "string")}
    if kind.startswith("session."):
        tool = ".session.tools[]"
        common |= {(tool, "object"), (f"{tool}.type", "string"), (f"{tool}.name", "string")}
        common |= {(f"{tool}.parameters", "object")}
    return common


@pytest.mark.parametrize(
    ("recorded", "personality", "model"),
    [
        ("xai-audio", XAI, "grok-voice-latest"),
        ("azure_voice_live", VOICE_LIVE, "gpt-realtime"),
    ],
)
async def test_other_servers_keep_their_own_order(
    recorded: str, personality: Personality, model: str
) -> None:
    (theirs,) = (
        main_lane(response)
        for events in sessions(recorded).values()
        for response in responses(events)
    )
    events = await conversation(personality, model, text=False)
    ours = main_lane(next(iter(responses(events))))
    assert _without_deltas(ours) == _without_deltas(theirs)
    recorded_kinds = {event["type"] for found in sessions(recorded[:4]).values() for event in found}
    unknown = {event["type"] for event in events} - recorded_kinds
    assert not {kind for kind in unknown if "function_call" not in kind and kind != "error"}


def _without_deltas(lane: tuple[str, ...]) -> list[str]:
    """Return a lane without deltas: xAI has whole sentences, so what comes first is chance."""
    return [tag for tag in lane if "delta" not in tag]


def test_lanes_leave_the_side_lanes_out() -> None:
    for events in sessions("openai-").values():
        for response in responses(events):
            assert not any("transcription" in tag for tag in main_lane(response))
            assert sum(is_side(event) for event in response) < len(response)
