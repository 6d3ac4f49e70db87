"""A long life: every turn ends well, nothing is told twice, lost or kept for ever."""

import asyncio
import gc
import json
import os
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.longer import LONGER

from .lane import Lane, lane
from .voice import number_of, sound

LANES = 4
MORE_OBJECTS = 3_000
"""That there may be more of in the end than after a quarter: histories are of different lengths."""
TURNS = 20
"""Of each lane; `REALTIME_ASSIST_LONGER=125` takes 10,000 in all."""


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.timeout(120 + 30 * LONGER)
async def test_thousands_of_turns() -> None:
    """Whatever breaks: who asks is answered or told why not, and the history is what was heard."""
    seed = 1 if LONGER == 1 else int.from_bytes(os.urandom(3))
    turns = TURNS * LONGER
    objects: list[int] = []
    tasks: list[int] = []

    async def live(one: Lane) -> None:
        for number in range(turns):
            await one.turn()
            assert not one.problems, f"seed {seed}: {one.problems}"
            if one is lanes[0] and number in {turns // 4, turns // 2, turns - 1}:
                gc.collect()
                objects.append(len(gc.get_objects()))
                tasks.append(len(asyncio.all_tasks()))

    async with AsyncExitStack() as stack:
        lanes = [await stack.enter_async_context(lane(seed + n)) for n in range(LANES)]
        async with asyncio.TaskGroup() as group:
            for one in lanes:
                group.create_task(live(one))
        for one in lanes:
            numbers = [turn.number for turn in one.past.thread.turns]
            assert len(set(numbers)) == len(numbers)
            assert one.past.thread.next_number == turns + 1
            assert len(one.house.session._keeper.ledger.items) < 400
    outcomes = sum((one.outcomes for one in lanes), Counter[str]())
    ended = sum(n for what, n in outcomes.items() if not what.startswith("update"))
    assert ended == LANES * turns
    assert outcomes["answered"] > 0.6 * ended
    assert max(tasks) < 40 * LANES
    if turns > 500:
        assert objects[-1] < objects[0] + MORE_OBJECTS
    if report := os.environ.get("REALTIME_ASSIST_SOAK"):
        told = {"seed": seed, "objects": objects, "tasks": tasks, **outcomes}
        await asyncio.to_thread(Path(report).write_text, json.dumps(told), encoding="utf-8")


def test_a_sound_says_its_number() -> None:
    """What the soak takes for heard was heard."""
    for number in (0, 1, 4711, 65_535):
        assert number_of(sound(number, 24_000), 24_000) == number
        assert number_of(sound(number, 16_000, 900), 16_000) == number
    assert number_of(sound(7, 24_000, 200), 24_000) is None
