"""Text is cut where a word ends, whatever the script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.usage import estimate_tokens
from custom_components.realtime_assist.memory.words import cut_at_word, indented, shorten


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [
        ("turn on the light", 8, "turn on"),
        ("turn on the light", 7, "turn on"),
        ("turn on the light", 6, "turn"),
        ("turn on the light", 3, ""),
        ("turn on the light", 0, ""),
        ("turn on the light", -5, ""),
        ("turn on the light", 99, "turn on the light"),
        ("猫の名前はタマです", 4, "猫の名前"),
        ("อุณหภูมิห้องครัว", 8, "อุณหภูมิ"),
        ("か\u3099き", 1, ""),
        ("hi 👋🏽 you", 4, "hi"),
        ("👩\u200d👧 ok", 2, ""),
    ],
)
def test_words_stay_whole(text: str, length: int, cut: str) -> None:
    """What was heard of a reply ends with a word, a sign or a whole emoji."""
    assert cut_at_word(text, length) == cut


@given(text=st.text(), length=st.integers(-5, 80))
def test_a_cut_is_a_beginning(text: str, length: int) -> None:
    """Nothing is made up by cutting."""
    cut = cut_at_word(text, length)
    assert text.startswith(cut)
    assert len(cut) <= max(length, 0) or cut == text


@given(text=st.text(max_size=400), tokens=st.integers(0, 80))
def test_shortened_text_fits(text: str, tokens: int) -> None:
    """A budget is kept in every script."""
    short = shorten(text, tokens)
    assert estimate_tokens(short) <= tokens
    assert short == text or short.endswith("\u2026") or not short


def test_an_endless_word_is_cut_all_the_same() -> None:
    """A tool that returns one long token does not vanish."""
    assert len(shorten("x" * 5000, 50)) > 150


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("turn on the light", 5),
        ("Grüße", 2),
        ("猫の名前", 4),
        ("👋", 2),
        ("Привет", 3),
    ],
)
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    """A Japanese history does not cost four times what was expected."""
    assert estimate_tokens(text) == tokens


@given(first=st.text(), second=st.text())
def test_estimates_add_up(first: str, second: str) -> None:
    """Parts that fit a budget fit it together."""
    assert estimate_tokens(first + second) <= estimate_tokens(first) + estimate_tokens(second)


@given(text=st.text())
def test_further_lines_are_set_in(text: str) -> None:
    """No line of what was said can begin where ours do."""
    assert all(line.startswith("    ") for line in indented(text).splitlines()[1:])
