"""How much of what was summarised away is kept, and for how long."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.segments import (
    MAX_BYTES,
    MAX_RESULT_BYTES,
    MAX_RESULTS,
    ArchiveKey,
    Segment,
    oldest_month,
    segment_from_dict,
    segment_to_dict,
    too_much,
)
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord

from .history import KEY, thread, turn, turns

NOVEMBER = ArchiveKey(KEY, "2026-11")


@given(
    st.text("0123456789-:T", min_size=1, max_size=20),
    st.text("0123456789abcdef", max_size=8),
    st.text(min_size=1, max_size=30),
)
def test_a_key_is_read_back(when: str, result: str, scope: str) -> None:
    """Whatever a scope is called, its archive is found again."""
    key = ArchiveKey(ThreadKey.parse(f"assistant/plugin:{scope}"), when, result)
    assert ArchiveKey.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "2026-11", "2026-11/a/global:home", "./a/global:home"])
def test_what_is_no_key_is_refused(text: str) -> None:
    """A broken index does not become a file."""
    with pytest.raises(ValueError, match=r"key|scope"):
        ArchiveKey.parse(text)


@given(st.lists(turns(), max_size=3))
def test_a_segment_is_read_back(some: list[TurnRecord]) -> None:
    """Whatever was said is the same after a restart."""
    made = thread(*(replace(each, id=str(n)) for n, each in enumerate(some)))
    segment = Segment(key=NOVEMBER).holding(made.turns)
    assert segment_from_dict(segment_to_dict(segment)) == (segment, 0)


def test_a_turn_is_held_once_and_in_its_place() -> None:
    """A turn that is archived twice, after a power cut, is found once."""
    one, two = turn("one", minutes=1), turn("two", minutes=2)
    held = Segment(key=NOVEMBER).holding([two]).holding([two, one])
    assert [each.id for each in held.turns] == ["one", "two"]


def test_a_month_with_too_many_words_lets_go_of_the_oldest() -> None:
    """The disk is not filled by a month of long stories; the newest of them stay."""
    told = [turn(str(n), heard="word " * 200, minutes=n) for n in range(10)]
    held = Segment(key=NOVEMBER).holding(told, most=4000)
    assert [each.id for each in held.turns] == ["8", "9"]
    assert len(Segment(key=NOVEMBER).holding(told, most=1).turns) == 1


@given(
    st.integers(0, 10_000).map(lambda days: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=days))
)
def test_a_year_is_kept(now: datetime) -> None:
    """What was said a year ago can still be found, and what is much older is gone."""
    assert f"{now - timedelta(days=365):%Y-%m}" >= oldest_month(now)
    assert f"{now - timedelta(days=400):%Y-%m}" < oldest_month(now)


def test_what_goes_is_the_oldest() -> None:
    """Too much is never paid for with the newest, nor what was said with what tools told."""
    months = [ArchiveKey(KEY, f"2026-{month:02}") for month in range(1, 12)]
    result = ArchiveKey(KEY, "2026-01-05T12:00:00", "cafe")
    sizes = [MAX_BYTES // 4] * len(months)
    gone = too_much([*months, result], [*sizes, 5], "2025-11")
    assert sorted(key.when for key in gone) == [key.when for key in months[:-4]]
    assert too_much([*months, result], [1] * 12, "2026-10") == [*months[8::-1], result]
    assert too_much([NOVEMBER], [2 * MAX_BYTES], "2025-11") == []
    results = [ArchiveKey(KEY, f"2026-11-05T12:{n:03}", "cafe") for n in range(MAX_RESULTS + 1)]
    assert too_much(results, [1] * len(results), "2025-11") == results[:1]
    assert too_much(results[:3], [MAX_RESULT_BYTES] * 3, "2025-11") == results[1::-1]
