"""An entry: what it says of itself."""

from datetime import UTC, datetime

import pytest

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.scopes import GLOBAL

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("Miezi", {"Miezi"}),
        (4711, {"4711"}),
        (True, set()),
        (None, set()),
        ("on", set()),
        ({"cat": ["Miezi", 12, {"chip": 900.5}]}, {"Miezi", "900.5"}),
    ],
)
def test_an_entry_knows_the_words_by_which_it_was_told(value: object, words: set[str]) -> None:
    """What is forgotten is looked for in what was said by each of its telling words."""
    store = ContextStore(lambda: NOW)
    assert store.set(GLOBAL, "key", value).words == words


def test_earlier_values_are_words_too() -> None:
    """A value that was replaced is forgotten as well."""
    store = ContextStore(lambda: NOW)
    store.set(GLOBAL, "key", "Tuesday")
    assert store.set(GLOBAL, "key", "Thursday").words == {"Tuesday", "Thursday"}
