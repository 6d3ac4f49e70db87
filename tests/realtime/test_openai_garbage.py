"""Whatever a server sends, nothing breaks, and nothing that was said gets into a log."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.realtime.events import Event, OtherEvent
from custom_components.realtime_assist.realtime.providers import openai_frames, openai_wire
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel

OPENAI = OpenAIModel(base_url="https://api.openai.com/v1", api_key="", compatible=False)
COMPATIBLE = OpenAIModel(base_url="http://localhost/v1", api_key="", compatible=True)
SPOKEN = "Don't tell anybody: 1234."


def read(kind: str, /, **fields: Any) -> tuple[Event, ...]:  # noqa: ANN401 - any JSON
    """Return what a frame means; `model`: to another adapter than OpenAI's own."""
    model = fields.pop("model", OPENAI)
    assert isinstance(model, OpenAIModel)
    return model.decode(orjson.dumps({"type": kind, "event_id": "x", **fields}).decode())


@pytest.mark.parametrize(
    "frame", ["", "{", "[]", "17", "null", '{"type": 5}', '{"no": "type"}', "\ud800", "[" * 100_000]
)
def test_garbage_is_counted_and_nothing_else(frame: str) -> None:
    """A server that breaks does not break the house."""
    assert OPENAI.decode(frame) == (OtherEvent(openai_wire.GARBAGE),)


@pytest.mark.parametrize("kind", ["error", SPOKEN])
def test_nothing_that_was_said_is_in_a_code_or_a_type(kind: str) -> None:
    """What you said is in no log."""
    error = {"code": SPOKEN, "type": SPOKEN, "message": SPOKEN, "param": SPOKEN}
    assert SPOKEN not in repr(read(kind, error=error))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(sorted(openai_frames.Frame.model_fields))
KINDS = st.sampled_from(
    sorted(openai_wire._READERS) + sorted(openai_wire._AUDIO) + ["response.created"]
)
PARTS = st.dictionaries(
    st.sampled_from(
        [
            "id",
            "type",
            "role",
            "call_id",
            "status",
            "status_details",
            "error",
            "metadata",
            "usage",
            "conversation_id",
            "expires_at",
            "code",
            "input_token_details",
            "logprob",
            "reason",
        ]
    ),
    JSON,
    max_size=4,
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(kind=KINDS, fields=st.dictionaries(FIELDS, JSON | PARTS | st.lists(PARTS, max_size=2)))
def test_no_frame_raises(kind: str, fields: dict[str, object]) -> None:
    """Whatever a server sends, the turn goes on."""
    frame = json.dumps({**fields, "type": kind})
    for model in (OPENAI, COMPATIBLE):
        events = model.decode(frame)
        assert events
        assert [hash(event) for event in events]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(frame=st.text(st.characters(codec=None)))
def test_no_text_raises(frame: str) -> None:
    """Whatever stands on the wire, the turn goes on."""
    assert OPENAI.decode(frame)
