"""What fails is left alone for a while, and what was left alone can be seen."""

from datetime import UTC, datetime, timedelta

from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import ThreadKey
from custom_components.realtime_assist.summaries.tries import (
    HOLD_OFF,
    MOST_PUT_OFF,
    MOST_RESULTS,
    Tries,
)

KEY = ThreadKey("assistant", GLOBAL)
OTHER = ThreadKey("assistant", ScopeKey(Scope.DEVICE, "kitchen"))


class Clock:
    """A time that stands still."""

    now = datetime(2026, 11, 29, 19, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


def test_a_way_that_failed_is_left_alone_for_ten_minutes_there() -> None:
    """One broken conversation costs no other its summaries, and no way is given up for ever."""
    clock = Clock()
    tries = Tries(clock)
    tries.failed(KEY, "model", "broken")
    assert not tries.may(KEY, "model")
    assert tries.may(KEY, "ai_task")
    assert tries.may(OTHER, "model")
    clock.now += HOLD_OFF - timedelta(seconds=1)
    assert not tries.may(KEY, "model")
    clock.now += timedelta(seconds=1)
    assert tries.may(KEY, "model")


def test_a_summary_waits_for_some_turns_and_no_more() -> None:
    """Who never stops talking does not keep the summary from being made."""
    tries = Tries(Clock())
    waits = [tries.put_off(KEY, "model") for _ in range(MOST_PUT_OFF)]
    assert waits == [True] * (MOST_PUT_OFF - 1) + [False]
    assert tries.put_off(KEY, "model")
    tries.made(KEY, "model")
    assert all(tries.put_off(KEY, "model") for _ in range(MOST_PUT_OFF - 1))


def test_what_is_counted_has_a_bound() -> None:
    """However many codes a provider invents, the counts stay few."""
    tries = Tries(Clock())
    for number in range(1000):
        tries.failed(
            ThreadKey("assistant", ScopeKey(Scope.DEVICE, f"{number}")), "model", f"{number}"
        )
    assert len(tries.counts) == MOST_RESULTS + 1
    assert tries.counts.total() == 1000
