"""Long tool results in parts: readable, valid, and all of it together."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.long_results import Part
from custom_components.realtime_assist.memory.usage import estimate_tokens
from custom_components.realtime_assist.pipeline.json_safe import json_object, json_text
from custom_components.realtime_assist.pipeline.parts import (
    LEFT_OUT,
    MAX_CHARS,
    cost,
    parts,
    readable,
)

TEXTS = st.text(max_size=300) | st.sampled_from(
    [
        "word " * 300,
        "x" * 3000,
        "👩‍👧🏽 " * 200,
        "e\u0301" * 500,
        '"\\\n' * 400,
        "\x00\x1f\u2028" * 200,
        "猫の名前はタマです。" * 100,
        "a long line without an end " * 100 + "\n" + "short\n" * 50,
        "\ud83d lone",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(VALUES, st.integers(8, 400))
def test_any_result_comes_in_valid_parts(value: object, tokens: int) -> None:
    """Whatever a tool returns: each part is valid, within its limit, and none is missing."""
    text = readable(json_object(value))
    found = parts(text, tokens)
    assert "".join(found) == text
    assert all(found) or found == [""]
    for number, piece in enumerate(found, 1):
        piece.encode()  # no half of a sign
        assert estimate_tokens(json.dumps(piece, ensure_ascii=False)) <= tokens
        data = Part(result="r", number=number, count=len(found), left_out=0, text=piece).data
        assert json.loads(json_text(data))["text"] == piece


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(20, 400))
def test_a_part_ends_with_a_line(seed: int, tokens: int) -> None:
    """No entry of a list is torn where there is a better place."""
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    data = {"items": [{"n": n, "name": "x" * chance.randint(1, 20)} for n in range(60)]}
    for piece in parts(readable(data), tokens)[:-1]:
        assert piece.endswith("\n")


@settings(deadline=None)
@given(st.integers(10, 200))
def test_words_and_signs_stay_whole(tokens: int) -> None:
    """A line that is too long is parted between words, an endless word between signs."""
    for piece in parts("wonderful " * 200, tokens):
        assert piece.strip(" ").replace("wonderful", "").strip() == ""
    for piece in parts("👩‍👧🏽" * 300, max(tokens, 60)):
        assert piece.startswith("👩")
    for piece in parts("e\u0301" * 500, tokens):
        assert piece.startswith("e")
        assert piece.endswith("\u0301")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ({}, []),
        ({"success": True, "none": None, "n": 1.5}, ["success: true", "none: null", "n: 1.5"]),
        (
            {"a": {"b": ["one", 2, []], "c": {}}},
            ["a:", "  b:", "    - one", "    - 2", "    - []", "  c: {}"],
        ),
        (
            {"l": [{"x": 1, "y": {"z": 2}}, [1]]},
            ["l:", "  - x: 1", "    y:", "      z: 2", "  - - 1"],
        ),
        ({"text": "one\ntwo"}, ["text:", "  one", "  two"]),
        ({"odd\nkey": "v"}, ['"odd\\nkey": v']),
    ],
)
def test_json_becomes_lines(data: dict[str, Any], lines: list[str]) -> None:
    """A model reads a part of a result as easily as all of it."""
    assert readable(data).split("\n") == (lines or [""])


def test_what_is_far_too_long_ends() -> None:
    """A tool that returns a whole database costs neither the disk nor the memory."""
    text = readable({"a": "word " * MAX_CHARS})
    assert text.endswith(LEFT_OUT)
    assert len(text) <= MAX_CHARS + len(LEFT_OUT)


def test_a_result_costs_what_is_sent() -> None:
    """What is measured is the JSON that goes over the wire."""
    data = {"a": 'quoted "words" and ümlauts'}
    assert cost(data) == estimate_tokens(json_text(data))
