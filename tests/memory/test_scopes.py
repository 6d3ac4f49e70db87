"""Memory has owners, and nobody reads past them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.scopes import (
    GLOBAL,
    Scope,
    ScopeKey,
    audience,
    visible_keys,
)


@given(scope=st.sampled_from(Scope), name=st.text(min_size=1))
def test_a_key_is_read_back_from_its_text(scope: Scope, name: str) -> None:
    """Whatever an automation calls its namespace, it finds it again."""
    key = ScopeKey(scope, name)
    assert ScopeKey.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "device", "device:", ":x", "house:x"])
def test_what_is_no_key_is_refused(text: str) -> None:
    """A key that would mean everything, or nothing, is an error."""
    with pytest.raises(ValueError, match=r"\w"):
        ScopeKey.parse(text)


def test_the_narrowest_comes_first() -> None:
    """What is said of a room counts more there than what is said of the home."""
    keys = visible_keys(
        session="s", temporary="s", device="d", area="a", speaker="p", plugins=["z", "b", "z"]
    )
    assert [str(key) for key in keys] == [
        "session:s",
        "temporary:s",
        "device:d",
        "area:a",
        "speaker:p",
        "global:home",
        "plugin:b",
        "plugin:z",
    ]


def test_nobody_known_sees_nothing_personal() -> None:
    """Without proof of who speaks there is no personal scope at all."""
    assert visible_keys() == (GLOBAL,)
    assert visible_keys(speaker="", device=None) == (GLOBAL,)


def test_only_lasting_scopes_may_be_stored() -> None:
    """What belongs to one conversation never reaches the disk."""
    assert {scope for scope in Scope if not ScopeKey(scope, "x").durable} == {
        Scope.SESSION,
        Scope.TEMPORARY,
    }


def test_an_audience_is_all_of_its_keys() -> None:
    """Who reads must be allowed all of it."""
    assert audience() == frozenset()
    assert audience(GLOBAL, ScopeKey(Scope.SPEAKER, "p")) == {"global:home", "speaker:p"}
