"""The simulated day is counted as it says."""

from pathlib import Path

import pytest

from . import cost
from .cost import Caches
from .cost_ways import PREFIX, Piece


def test_a_day_is_told_in_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wonders what a day costs sees ours beside the other ways, as a simulation."""
    monkeypatch.setattr(cost, "TURNS", 48)
    monkeypatch.setattr(cost, "DAYS_BEFORE", 2)
    told = {figure.name.removeprefix("cost.simulation."): figure for figure in cost.figures()}
    ours, replay, server = (
        told[f"{way}.input"].value for way in ("ours", "full_replay", "server_truncation")
    )
    assert PREFIX < ours < replay < server
    assert told["ours.input.last_hour_by_first"].met
    assert told["ours.rebuilds"].value == told["full_replay.rebuilds"].value > 10
    assert told["ours.summaries"].value > 1
    assert 0 < told["ours.summaries.cost"].value < told["ours.ideal_cache"].value
    for way in ("ours", "full_replay", "server_truncation"):
        none, recorded, ideal = (
            told[f"{way}.{which}_cache"].value for which in ("no", "recorded", "ideal")
        )
        assert 0 < ideal < recorded < none


def test_an_ideal_cache_knows_beginnings_and_nothing_else() -> None:
    """What stands behind something new is paid for in full, as at a provider."""
    one, two, other = Piece("one", text=10), Piece("two", audio=5), Piece("other", text=1)
    caches = Caches(0.25)
    assert caches.shares([one, two])["ideal_cache"] == [0.0, 0.0]
    assert caches.shares([one, other, two])["ideal_cache"] == [1.0, 0.0, 0.0]
    assert caches.shares([one, two, other]) == {
        "no_cache": [0.0, 0.0, 0.0],
        "recorded_cache": [0.25, 0.25, 0.25],
        "ideal_cache": [1.0, 1.0, 0.0],
    }


def test_the_recorded_share_is_read(tmp_path: Path) -> None:
    """The share is that of real sessions; without them it is the one that was read before."""
    assert cost.recorded_share(tmp_path) == cost.RECORDED_SHARE
    (tmp_path / "openai-a.yaml").write_text("input_tokens: 30\ncached_tokens: 10\n")
    (tmp_path / "azure-b.yaml").write_text("input_tokens: 10\ncached_tokens: 0\n")
    assert cost.recorded_share(tmp_path) == 0.25
