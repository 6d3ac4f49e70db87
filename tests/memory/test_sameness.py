"""When two texts say the same."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.sameness import entry_for, same_form, told_before
from custom_components.realtime_assist.memory.scopes import GLOBAL


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Die Mülltonnen", "die mulltonnen"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("\uff2c\uff25\uff24", "led"),
        ("bin_collection", "Bin collection"),
        ("On Thursday.", "on thursday"),
        ("Anna\u2019s tea", "anna's  tea"),
    ],
)
def test_ways_to_write_the_same(one: str, other: str) -> None:
    """Nobody has to spell a fact as it was spelled before."""
    assert same_form(one) == same_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("3.5", "35"), ("-5", "5"), ("10:30", "1030"), ("100%", "100"), ("5 €", "5 $"), ("!", "?")],
)
def test_signs_that_mean_something(one: str, other: str) -> None:
    """Two numbers stay two."""
    assert same_form(one) != same_form(other)


@given(st.text())
def test_a_form_is_its_own_form_and_never_empty(text: str) -> None:
    """Whatever is said, two facts do not become one by being nothing."""
    form = same_form(text)
    assert bool(form) == bool(text.strip())


def test_an_entry_is_found_under_every_spelling_of_its_key() -> None:
    """A correction meets the fact that it corrects."""
    store = ContextStore(lambda: datetime(2026, 11, 30, tzinfo=UTC))
    bins = store.set(GLOBAL, "Bin_Day", "It is on Thursday morning")
    count = store.set(GLOBAL, "count", {"a": [1, 2]})
    held = store.visible((GLOBAL,))
    assert entry_for("bin day", held) == bins
    assert entry_for("bins", held) is None
    assert told_before("other", "it is on thursday MORNING!", held) == bins
    assert told_before("other", "Bin day: It is on Thursday morning", held) == bins
    assert told_before("count", '{"a":[1,2]}', held) == count
    assert told_before("bin day", "It is on Friday morning", held) is None
