"""Whatever goes wrong in a turn, and whenever: somebody who asks is never left without a word."""

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.longer import LONGER

from .lane import Lane, Outcome, lanes

LANES: Final = 10
TURNS: Final = 4 * LONGER
"""For each lane."""
REPORT: Final = "REALTIME_ASSIST_CHAOS"
"""Environment: a file into which the counts are written, for the bench."""


def ours() -> list[str]:
    """Return the names of the tasks of ours that run."""
    names = [task.get_name() for task in asyncio.all_tasks()]
    return [name for name in names if "realtime" in name]


@pytest.mark.timeout(120 + 30 * LONGER)
@pytest.mark.usefixtures("socket_enabled")
async def test_chaos(hass: HomeAssistant) -> None:
    """Nothing that goes wrong makes the house silent, lets it say what is wrong, or stays."""
    for component in ("homeassistant", "assist_pipeline", "assist_satellite"):
        assert await async_setup_component(hass, component, {})
    seed = 1 if LONGER == 1 else int.from_bytes(os.urandom(3))
    async with lanes(hass, LANES, seed) as made:
        await asyncio.gather(*(_drive(lane) for lane in made))
        servers = [lane.server for lane in made]
    left = len(ours()) + sum(len(server.open_sessions) for server in servers)
    turns = [turn for lane in made for turn in lane.turns]
    counts: dict[str, Any] = dict.fromkeys(map(str, Outcome), 0)
    counts |= Counter(str(turn.outcome) for turn in turns)
    counts |= {"leaked": left, "seed": seed, "slowest": max(turn.seconds for turn in turns)}
    bad = [t for t in turns if t.outcome in {Outcome.SILENT, Outcome.WRONG}]
    if path := os.environ.get(REPORT):
        await asyncio.to_thread(Path(path).write_text, json.dumps(counts), encoding="utf-8")
    assert not bad, "\n".join(map(str, [counts, *bad]))
    assert not left, ours()


async def _drive(lane: Lane) -> None:
    for _ in range(TURNS):
        await lane.take()
