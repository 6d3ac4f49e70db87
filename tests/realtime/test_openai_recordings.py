"""Real sessions of real servers are understood."""

import json
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
import yaml

from custom_components.realtime_assist.realtime.events import (
    AudioDelta,
    CallDone,
    Committed,
    Event,
    ItemAdded,
    ItemKind,
    OtherEvent,
    ReplyItem,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    SessionConfigured,
    SessionOpened,
    SpeechStarted,
    SpeechStopped,
    TextDelta,
    TranscriptDelta,
    TranscriptDone,
)
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel

FOLDER = Path(__file__).parents[3] / "shared" / "recordings"
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
SPEAKING = [name for name in FILES if not name.startswith("google")]
EXPECTED = {
    "SpeechStarted",
    "SpeechStopped",
    "Committed",
    "ItemAdded",
    "ResponseStarted",
    "ReplyItem",
    "ResponseDone",
}

HEARD = "SpeechStarted SpeechStopped Committed"
ANSWERED = "ResponseStarted ReplyItem ItemAdded ReplyItem ResponseDone"

pytestmark = pytest.mark.skipif(
    not FILES, reason="the recorded sessions are not beside this repository"
)


@cache
def events(name: str) -> tuple[Event, ...]:
    """Return what a server said in a recorded session."""
    model = OpenAIModel(
        base_url="https://api.openai.com/v1", api_key="", compatible=not name.startswith("openai")
    )
    recording = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    frames = [m["data"] for m in recording["interactions"] if m.get("direction") == "received"]
    return tuple(event for frame in frames for event in model.decode(json.dumps(frame)))


def only[T](name: str, kind: type[T]) -> list[T]:
    """Return the events of one kind."""
    return [event for event in events(name) if isinstance(event, kind)]


def order(name: str) -> list[str]:
    """Return the main lane of a session: what is not content, runs of one kind taken together."""
    names = (type(event).__name__ for event in events(name))
    return [key for key, _ in groupby(n for n in names if n in EXPECTED)]


@pytest.mark.parametrize("name", FILES)
def test_every_frame_can_be_read(name: str) -> None:
    """No server that was ever recorded breaks a turn."""
    assert events(name)


@pytest.mark.parametrize("name", SPEAKING)
def test_a_session_begins_and_its_responses_end(name: str) -> None:
    """The house knows when it may speak, and when an answer is over."""
    kinds = [type(event) for event in events(name)]
    assert kinds.index(SessionOpened) < kinds.index(SessionConfigured)
    started = [event.response_id for event in only(name, ResponseStarted)]
    done = only(name, ResponseDone)
    assert started == [event.response_id for event in done]
    assert all(event.status is ResponseStatus.COMPLETED for event in done)
    assert all(event.error_code is None for event in done)
    assert not any(event.isolated for event in only(name, ResponseStarted))


@pytest.mark.parametrize("name", SPEAKING)
def test_everything_of_a_reply_belongs_to_an_item_of_its_response(name: str) -> None:
    """No word of an answer is lost or given to another."""
    items = {(e.response_id, e.item_id, e.output_index) for e in only(name, ReplyItem)}
    pieces = [e for e in events(name) if isinstance(e, AudioDelta | TextDelta | CallDone)]
    assert pieces
    assert {(e.response_id, e.item_id, e.output_index) for e in pieces} <= items
    assert all(e.pcm for e in only(name, AudioDelta))


@pytest.mark.parametrize("name", [n for n in SPEAKING if "tool" in n])
def test_a_call_is_complete_before_its_response_is(name: str) -> None:
    """A tool runs with the arguments that the model meant."""
    calls = {call.call_id: call for call in only(name, CallDone)}
    (call,) = calls.values()
    assert call.name == "get_weather"
    assert json.loads(call.arguments) == {"city": "London"}
    assert any(
        event.kind is ItemKind.CALL and event.call_id == call.call_id
        for event in only(name, ItemAdded)
    )
    said = events(name)
    assert said.index(call) < said.index(only(name, ResponseDone)[0])
    assert len(only(name, ResponseDone)) == 2


@pytest.mark.parametrize("name", [n for n in SPEAKING if "audio_in" in n or "audio_retention" in n])
def test_what_was_said_is_bound_to_its_item(name: str) -> None:
    """The words that the house shows are those of the speech that it heard."""
    spoken = [event.item_id for event in only(name, SpeechStarted)]
    assert [event.item_id for event in only(name, SpeechStopped)] == spoken
    assert [event.item_id for event in only(name, Committed)] == spoken
    users = [e.item_id for e in only(name, ItemAdded) if e.kind is ItemKind.USER]
    assert users == spoken
    words = {event.item_id: event.text for event in only(name, TranscriptDone)}
    assert list(words) == spoken
    for item_id, text in words.items():
        heard = ""
        for delta in only(name, TranscriptDelta):
            if delta.item_id == item_id:
                heard = delta.text if delta.replaces else heard + delta.text
        assert text
        assert text.strip().startswith(heard.strip())


@pytest.mark.parametrize("name", ["openai-2.1-text_tool_round"])
def test_the_newest_model_fills_two_items_at_once(name: str) -> None:
    """A preamble and a call do not get mixed, and the preamble is known as such."""
    first = [
        e for e in only(name, ReplyItem) if e.response_id == only(name, ResponseDone)[0].response_id
    ]
    assert [(e.output_index, e.kind, e.phase) for e in first] == [
        (0, ItemKind.ASSISTANT, "commentary"),
        (1, ItemKind.CALL, None),
        (0, ItemKind.ASSISTANT, "commentary"),
        (1, ItemKind.CALL, None),
    ]
    assert [e.phase for e in only(name, ReplyItem)][-1] == "final_answer"


@pytest.mark.parametrize(
    ("name", "lane"),
    [
        ("openai-audio_in_server_vad_turn", f"{HEARD} ItemAdded {ANSWERED}"),
        ("azure-tool_call_round", f"ItemAdded {ANSWERED} ItemAdded {ANSWERED}"),
        ("azure_voice_live-audio_in_server_vad_turn", f"{HEARD} ItemAdded {ANSWERED}"),
        (
            "xai-audio_in_server_vad_turn",
            f"SpeechStarted ItemAdded SpeechStopped Committed {ANSWERED}",
        ),
    ],
)
def test_the_order_of_a_session_is_known(name: str, lane: str) -> None:
    """Old names and new ones tell the same story."""
    assert order(name) == lane.split()


@pytest.mark.parametrize("name", [n for n in SPEAKING if "voice_live" not in n])
def test_the_cost_of_every_answer_is_known(name: str) -> None:
    """The house can tell what a conversation cost."""
    for event in only(name, ResponseDone):
        assert event.usage.input_tokens is not None
        assert event.usage.output_tokens is not None


def test_a_transcript_that_is_told_several_times_is_one_transcript() -> None:
    """Words do not multiply on servers that repeat them."""
    name = "xai-audio_in_server_vad_turn"
    assert all(delta.replaces for delta in only(name, TranscriptDelta))
    assert [done.text for done in only(name, TranscriptDone)] == ["Hello, my name is Marcelo."]


@pytest.mark.parametrize("name", [n for n in FILES if n.startswith("google")])
def test_another_protocol_is_not_mistaken_for_ours(name: str) -> None:
    """A wrong address is noticed, not misunderstood."""
    assert all(isinstance(event, OtherEvent) for event in events(name))


@pytest.mark.parametrize("name", SPEAKING)
def test_what_a_response_cost_is_known(name: str) -> None:
    """Each recorded bill is read, whole and in parts, wherever a server puts it."""
    for done in only(name, ResponseDone):
        usage = done.usage
        assert usage.input_tokens is not None
        parts = (usage.input_text_tokens, usage.input_audio_tokens, usage.input_image_tokens)
        assert usage.input_tokens == sum(part or 0 for part in parts)
        parts = (usage.output_text_tokens, usage.output_audio_tokens, 0)
        assert usage.output_tokens == sum(part or 0 for part in parts)
        cached = (usage.cached_text_tokens, usage.cached_audio_tokens, usage.cached_image_tokens)
        assert (usage.cached_tokens or 0) == sum(part or 0 for part in cached)


def test_what_a_transcript_cost_is_known() -> None:
    """OpenAI counts the seconds that it wrote down."""
    (done,) = only("openai-audio_in_server_vad_turn", TranscriptDone)
    assert done.usage is not None
    assert done.usage.seconds == 3
