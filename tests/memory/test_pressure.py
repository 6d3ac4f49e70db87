"""How near a session is to one of its limits."""

import pytest

from custom_components.realtime_assist.memory.pressure import (
    Extent,
    Level,
    Limit,
    Pressure,
    pressure,
)

LIMITS = Extent(tokens=1000, audio_seconds=100, turns=10, age_seconds=3600)


@pytest.mark.parametrize(
    ("extent", "limit", "level"),
    [
        (Extent(), None, Level.NONE),
        (Extent(tokens=699), Limit.TOKENS, Level.NONE),
        (Extent(tokens=700), Limit.TOKENS, Level.SOFT),
        (Extent(tokens=849), Limit.TOKENS, Level.SOFT),
        (Extent(tokens=850), Limit.TOKENS, Level.HARD),
        (Extent(tokens=100, audio_seconds=75), Limit.AUDIO, Level.SOFT),
        (Extent(tokens=700, turns=9), Limit.TURNS, Level.HARD),
        (Extent(turns=1, age_seconds=3300), Limit.AGE, Level.HARD),
    ],
)
def test_the_nearest_limit_counts(extent: Extent, limit: Limit | None, level: Level) -> None:
    """Whatever runs out first decides."""
    found = pressure(extent, LIMITS)
    assert (found.limit, found.level) == (limit, level)


def test_what_has_no_limit_never_presses() -> None:
    """A model without a limit on turns may have as many as it likes."""
    full = Extent(tokens=10**9, audio_seconds=10**9, turns=10**9, age_seconds=10**9)
    assert pressure(full, Extent()) == Pressure()
    assert pressure(full, Extent(tokens=0)) == Pressure()
