"""Home Assistant stops in mid turn: nothing runs on, and nothing that was heard is forgotten."""

import asyncio
from pathlib import Path

import pytest

from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.loopback import Speech
from tests.on_disk import hass_config_dir, hass_storage
from tests.satellite import speech

from .conftest import Home
from .test_ends import MOMENTS
from .test_leaving import left

__all__ = ["hass_config_dir", "hass_storage"]


def written(folder: Path) -> str:
    """Return all that is on the disk."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "".join(path.read_text(errors="ignore") for path in files)


# Home Assistant's own timers of the run that is stopped.
@pytest.mark.parametrize("expected_lingering_timers", [True])
@pytest.mark.usefixtures("expected_lingering_timers")
@pytest.mark.parametrize("moment", ["listening", "commit", "response", "first words"])
async def test_a_turn_ends_with_home_assistant(house: Home, moment: str) -> None:
    """A restart while somebody speaks or waits is not held up, and nothing of it runs on."""
    house.replies.append(Speech("One two three four five six seven eight.", ms=60_000))
    run = asyncio.create_task(house.kitchen.hear(speech(100, wait=0.01)))
    await house.until(lambda: MOMENTS[moment](house), 20)
    async with asyncio.timeout(20):
        await house.hass.async_stop(force=True)
    await asyncio.gather(run, return_exceptions=True)
    assert not async_open_turns(house.hass)
    await house.until(lambda: not left())
    await house.until(lambda: not house.server.open_sessions)
    assert not house.memory.storage._lock.locked()


async def test_what_was_heard_before_home_assistant_stopped_is_on_the_disk(
    house: Home,
    hass_config_dir: str,
) -> None:
    """After a restart in the middle of an answer the assistant knows how far it came."""
    house.replies.append(Speech("One two three four five six seven eight.", ms=12_000))
    await house.kitchen.hear(speech())
    await asyncio.sleep(1.5)
    assert async_open_turns(house.hass)
    await house.hass.async_stop(force=True)
    assert not async_open_turns(house.hass)
    assert not left()
    (record,) = house.records(house.kitchen)
    assert record.interrupted
    assert record.said[0].heard_words.startswith("One")
    assert "eight" not in record.said[0].heard_words
    assert record.id in written(Path(hass_config_dir))
