"""What OpenAI and its kind say is understood, however they say it."""

import base64
from typing import Any

import orjson
import pytest

from custom_components.realtime_assist.realtime.events import (
    AudioDelta,
    CallDone,
    Cleared,
    Committed,
    ErrorEvent,
    Event,
    ItemAdded,
    ItemCut,
    ItemDeleted,
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
    Usage,
)
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel

OPENAI = OpenAIModel(base_url="https://api.openai.com/v1", api_key="", compatible=False)
COMPATIBLE = OpenAIModel(base_url="http://localhost/v1", api_key="", compatible=True)
SPOKEN = "Don't tell anybody: 1234."


def read(kind: str, /, **fields: Any) -> tuple[Event, ...]:  # noqa: ANN401 - any JSON
    """Return what a frame means; `model`: to another adapter than OpenAI's own."""
    model = fields.pop("model", OPENAI)
    assert isinstance(model, OpenAIModel)
    return model.decode(orjson.dumps({"type": kind, "event_id": "x", **fields}).decode())


def one(kind: str, /, **fields: Any) -> Event:  # noqa: ANN401 - any JSON
    """Return the one event of a frame."""
    (event,) = read(kind, **fields)
    return event


PIECE = {"response_id": "r", "item_id": "i", "output_index": 1, "content_index": 0}
TRANSCRIPTION = "conversation.item.input_audio_transcription"


@pytest.mark.parametrize(
    ("kind", "fields", "event"),
    [
        (
            "session.created",
            {"session": {"id": "s", "expires_at": 17}},
            SessionOpened(session_id="s", expires_at=17.0),
        ),
        ("session.created", {"session": {"id": None, "expires_at": None}}, SessionOpened()),
        ("session.created", {}, SessionOpened()),
        ("session.updated", {"session": {}}, SessionConfigured()),
        ("input_audio_buffer.speech_started", {"item_id": "i"}, SpeechStarted("i")),
        ("input_audio_buffer.speech_started", {}, SpeechStarted(None)),
        ("input_audio_buffer.speech_stopped", {"item_id": "i"}, SpeechStopped("i")),
        ("input_audio_buffer.committed", {"item_id": "i"}, Committed("i")),
        ("input_audio_buffer.cleared", {}, Cleared()),
        (
            "conversation.item.added",
            {"item": {"id": "i", "type": "message", "role": "user"}},
            ItemAdded(item_id="i", kind=ItemKind.USER),
        ),
        (
            "conversation.item.created",
            {"item": {"id": "i", "type": "function_call", "role": "tool", "call_id": "c"}},
            ItemAdded(item_id="i", kind=ItemKind.CALL, call_id="c"),
        ),
        (
            "conversation.item.added",
            {"item": {"id": "i", "type": "function_call_output", "call_id": "c"}},
            ItemAdded(item_id="i", kind=ItemKind.OUTPUT, call_id="c"),
        ),
        (
            "conversation.item.added",
            {"item": {"id": "i", "type": "mcp_call"}},
            ItemAdded(item_id="i", kind=ItemKind.OTHER),
        ),
        ("conversation.item.deleted", {"item_id": ""}, ItemDeleted("")),
        ("conversation.item.truncated", {"item_id": "i", "audio_end_ms": 12}, ItemCut("i", 12)),
        (
            f"{TRANSCRIPTION}.delta",
            {"item_id": "i", "delta": "a"},
            TranscriptDelta(item_id="i", text="a"),
        ),
        (
            f"{TRANSCRIPTION}.updated",
            {"item_id": "i", "transcript": "a b"},
            TranscriptDelta(item_id="i", text="a b", replaces=True),
        ),
        (
            f"{TRANSCRIPTION}.completed",
            {"item_id": "i", "transcript": "a b", "status": "in_progress"},
            TranscriptDelta(item_id="i", text="a b", replaces=True),
        ),
        (
            f"{TRANSCRIPTION}.completed",
            {"item_id": "i", "transcript": "a b"},
            TranscriptDone(item_id="i", text="a b"),
        ),
        (
            f"{TRANSCRIPTION}.failed",
            {"item_id": "i", "error": {"code": "DeploymentNotFound", "message": SPOKEN}},
            TranscriptDone(item_id="i", text=None),
        ),
        (
            "response.output_item.added",
            {
                "response_id": "r",
                "output_index": 2,
                "item": {"id": "i", "type": "message", "role": "assistant", "phase": "commentary"},
            },
            ReplyItem(
                response_id="r",
                item_id="i",
                output_index=2,
                kind=ItemKind.ASSISTANT,
                phase="commentary",
            ),
        ),
        (
            "response.output_audio_transcript.delta",
            {**PIECE, "delta": "a", "obfuscation": "zz"},
            TextDelta(response_id="r", item_id="i", output_index=1, text="a", spoken=True),
        ),
        (
            "response.text.delta",
            {**PIECE, "delta": "a"},
            TextDelta(response_id="r", item_id="i", output_index=1, text="a", spoken=False),
        ),
        (
            "error",
            {
                "error": {
                    "type": "invalid_request_error",
                    "code": "c",
                    "event_id": "e",
                    "param": "p",
                }
            },
            ErrorEvent(code="c", event_id="e", param="p"),
        ),
        (
            "error",
            {"error": {"type": "max_duration", "code": None}},
            ErrorEvent(code="max_duration"),
        ),
        ("error", {"error": "broken"}, ErrorEvent(code="unknown_error")),
        ("ping", {"timestamp": 1}, OtherEvent("ping")),
        ("conversation.item.done", {"item": {"id": "i"}}, OtherEvent("conversation.item.done")),
    ],
)
def test_an_event_is_understood(kind: str, fields: dict[str, Any], event: Event) -> None:
    """Servers of all kinds are understood."""
    assert one(kind, **fields) == event


@pytest.mark.parametrize("kind", ["response.output_audio.delta", "response.audio.delta"])
def test_audio_is_decoded(kind: str) -> None:
    """Every sample of an answer is heard."""
    pcm = bytes(range(200))
    audio = base64.b64encode(pcm).decode()
    assert one(kind, **PIECE, delta=audio) == AudioDelta(
        response_id="r", item_id="i", output_index=1, pcm=pcm
    )


@pytest.mark.parametrize("delta", ["a", "not base64!", "ä", None, 17, ["AAAA"]])
def test_broken_audio_is_no_audio(delta: object) -> None:
    """A damaged piece costs a moment of speech and nothing else."""
    event = one("response.output_audio.delta", delta=delta)
    assert isinstance(event, AudioDelta)
    assert len(event.pcm) < 8


def test_a_call_is_complete_whichever_event_tells_it() -> None:
    """A tool runs also where a server forgets its name at first."""
    kind = "response.function_call_arguments.done"
    done = CallDone(
        response_id="r", item_id="i", output_index=1, call_id="c", name="light", arguments="{}"
    )
    assert one(kind, **PIECE, call_id="c", name="light", arguments="{}") == done
    assert one(kind, **PIECE, call_id="c", arguments="{}") == OtherEvent(kind)
    item = {"id": "i", "type": "function_call", "call_id": "c", "name": "light", "arguments": "{}"}
    events = read("response.output_item.done", response_id="r", output_index=1, item=item)
    assert events[1:] == (done,)


def test_a_response_finds_its_turn() -> None:
    """An answer is never given to somebody else's question."""
    response = {"id": "r", "conversation_id": "c", "metadata": {"turn": "7"}}
    assert one("response.created", response=response) == ResponseStarted(
        response_id="r", turn_id="7"
    )
    assert one("response.created", response={"id": "r", "metadata": None}) == ResponseStarted(
        response_id="r"
    )


def test_a_response_of_its_own_is_isolated() -> None:
    """A summary is never spoken."""
    nowhere = {"id": "r", "conversation_id": None}
    marked = {"id": "r", "conversation_id": "c", "metadata": {"turn": "s", "isolated": "true"}}
    for model, response, isolated in (
        (OPENAI, nowhere, True),
        (COMPATIBLE, nowhere, False),  # some servers say null of everything
        (OPENAI, marked, True),
        (COMPATIBLE, marked, True),
    ):
        event = one("response.created", model=model, response=response)
        assert isinstance(event, ResponseStarted)
        assert event.isolated is isolated


@pytest.mark.parametrize(
    ("response", "status", "code"),
    [
        ({"status": "completed", "status_details": "unimplemented"}, "completed", None),
        ({}, "completed", None),
        ({"status": "cancelled", "status_details": {"reason": "turn_detected"}}, "cancelled", None),
        (
            {"status": "incomplete", "status_details": {"reason": "max_output_tokens"}},
            "incomplete",
            "max_output_tokens",
        ),
        ({"status": "incomplete"}, "incomplete", "incomplete"),
        (
            {"status": "failed", "status_details": {"error": {"code": "c", "message": SPOKEN}}},
            "failed",
            "c",
        ),
        ({"status": "failed", "status_details": {"error": {"type": "t"}}}, "failed", "t"),
        ({"status": "failed", "status_details": {"reason": SPOKEN}}, "failed", "unknown_error"),
        ({"status": "failed"}, "failed", "unknown_error"),
        ({"status": "exploded"}, "failed", "unknown_status"),
    ],
)
def test_the_end_of_a_response(response: dict[str, Any], status: str, code: str | None) -> None:
    """A failure that a server tells nowhere else is not silence."""
    event = one("response.done", response={"id": "r", **response})
    assert isinstance(event, ResponseDone)
    assert (event.response_id, event.status, event.error_code) == (
        "r",
        ResponseStatus(status),
        code,
    )


def test_usage_is_read_where_it_is() -> None:
    """What a turn cost is known, and what is not known is not zero."""
    usage = {
        "input_tokens": 100,
        "output_tokens": 50,
        "input_token_details": {"cached_tokens": 64, "audio_tokens": 27},
        "output_token_details": {"audio_tokens": 40},
    }
    known = Usage(
        input_tokens=100,
        output_tokens=50,
        cached_tokens=64,
        input_audio_tokens=27,
        output_audio_tokens=40,
    )
    for frame in (
        {"response": {"id": "r", "usage": usage}},
        {"response": {"id": "r", "usage": {}}, "usage": usage},
        {"response": {"id": "r", "usage": None}, "usage": usage},
    ):
        event = one("response.done", **frame)
        assert isinstance(event, ResponseDone)
        assert event.usage == known
    details = {
        "text_tokens": 60,
        "audio_tokens": 27,
        "image_tokens": 13,
        "cached_tokens": 64,
        "cached_tokens_details": {"text_tokens": 32, "audio_tokens": 0, "image_tokens": None},
    }
    event = one("response.done", response={"usage": {"input_token_details": details}})
    assert isinstance(event, ResponseDone)
    assert event.usage == Usage(
        input_text_tokens=60,
        input_audio_tokens=27,
        input_image_tokens=13,
        cached_tokens=64,
        cached_text_tokens=32,
        cached_audio_tokens=0,
    )
    event = one("response.done", response={"usage": {"input_tokens": -1, "output_tokens": "many"}})
    assert isinstance(event, ResponseDone)
    assert event.usage == Usage()


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"type": "duration", "seconds": 1.5}, Usage(seconds=1.5)),
        ({"type": "duration", "seconds": -1}, Usage()),
        ({"type": "tokens", "input_tokens": 12}, Usage(input_tokens=12)),
        (None, None),
    ],
)
def test_what_a_transcript_cost_is_read(
    usage: dict[str, object] | None, known: Usage | None
) -> None:
    """Writing down what was said is paid for apart, in seconds or in tokens."""
    event = one(f"{TRANSCRIPTION}.completed", item_id="i", transcript="a", usage=usage)
    assert isinstance(event, TranscriptDone)
    assert event.usage == known


def test_confidence_is_the_mean_probability() -> None:
    """What was not understood well can be told from what was."""
    logprobs = [{"logprob": 0.0}, {"logprob": -0.6931471805599453}, {"token": "x"}, {"logprob": 3}]
    event = one(f"{TRANSCRIPTION}.completed", item_id="i", transcript="a", logprobs=logprobs)
    assert isinstance(event, TranscriptDone)
    assert event.confidence == pytest.approx(0.75)
