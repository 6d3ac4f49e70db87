"""Nothing in the server is there merely because its author believed it."""

from dataclasses import fields, replace

import pytest

from .events import EVENTS
from .handlers import HANDLERS
from .marks import Known, Mark
from .personalities import OPENAI, PERSONALITIES
from .switches import Switches


def test_every_handler_event_switch_and_personality_says_where_it_is_known_from() -> None:
    marks: dict[str, Mark] = {name: handler.mark for name, handler in HANDLERS.items()}
    marks |= {f"event {name}": mark for name, mark in EVENTS.items()}
    marks |= {f"switch {one.name}": one.metadata["mark"] for one in fields(Switches)}
    marks |= {f"personality {one.name}": one.mark for one in PERSONALITIES.values()}
    for name, mark in marks.items():
        assert isinstance(mark, Mark), name
        assert len(mark.source) > 5, name


def test_what_is_not_recorded_is_in_the_mix_or_a_clones_own() -> None:
    elsewhere = {name for one in PERSONALITIES.values() for name in one.overrides}
    for one in fields(Switches):
        mark: Mark = one.metadata["mark"]
        if mark.known in {Known.ASSUMED, Known.REPORTED}:
            assert one.metadata["mix"] or one.name in elsewhere, one.name


def test_a_mix_keeps_what_is_recorded_and_throws_dice_for_the_rest() -> None:
    mixes = [Switches.mixed(seed) for seed in range(40)]
    assert mixes[3] == Switches.mixed(3)
    for one in fields(Switches):
        seen = {getattr(mix, one.name) for mix in mixes}
        assert seen == set(one.metadata["mix"] or (getattr(Switches(), one.name),)), one.name


def test_every_default_is_among_its_alternatives() -> None:
    for one in fields(Switches):
        if one.metadata["mix"]:
            assert one.default in one.metadata["mix"], one.name


@pytest.mark.parametrize("name", PERSONALITIES)
def test_personalities_override_what_exists(name: str) -> None:
    personality = PERSONALITIES[name]
    known = {one.name for one in fields(Switches)}
    assert set(personality.overrides) <= known
    assert set(personality.unsupported) <= set(HANDLERS)
    mixed = personality.mixed(1)
    for switch, value in personality.overrides.items():
        assert getattr(mixed, switch) == value


def test_openai_is_the_default_without_changes() -> None:
    assert OPENAI.switches == replace(Switches())
