"""An assistant that goes away in mid turn says so, and leaves nothing."""

import asyncio
from collections.abc import Callable

import pytest
from homeassistant.config_entries import ConfigEntryDisabler

from custom_components.realtime_assist.pipeline.turn import Turn, async_open_turns
from tests.loopback import Speech
from tests.satellite import speech

from .conftest import Home
from .test_ends import MOMENTS

LEAST_BYTES = 5000


async def leave(house: Home, how: str) -> None:
    """Let the account go away."""
    entries = house.hass.config_entries
    if how == "reload":
        await entries.async_reload(house.entry.entry_id)
    elif how == "disable":
        await entries.async_set_disabled_by(house.entry.entry_id, ConfigEntryDisabler.USER)
    else:
        await entries.async_remove(house.entry.entry_id)


def left() -> set[str]:
    """Return the names of the tasks of ours that run."""
    names = (task.get_name() for task in asyncio.all_tasks())
    return {name for name in names if "realtime" in name or "tts_load" in name}


@pytest.mark.parametrize(
    ("moment", "how"),
    [
        ("listening", "reload"),
        ("listening", "remove"),
        ("commit", "disable"),
        ("first words", "reload"),
        ("first words", "disable"),
    ],
)
async def test_who_asks_meanwhile_is_not_left_without_a_word(
    house: Home, moment: str, how: str
) -> None:
    """Somebody who speaks while the account is set up anew hears that it did not work."""
    house.replies.append(Speech("One two three four five six seven.", ms=60_000))
    run = asyncio.create_task(house.kitchen.hear(speech(100, wait=0.01)))
    reached: Callable[[Home], object] = MOMENTS[moment]
    await house.until(lambda: reached(house), 20)
    async with asyncio.timeout(5):
        await leave(house, how)
    await run
    assert "error" not in house.kitchen.kinds
    assert "Please ask again" in house.kitchen.event("tts-start")["tts_input"]
    assert len(await house.kitchen.fetch()) > LEAST_BYTES
    house.kitchen.tts_response_finished()
    assert not async_open_turns(house.hass)
    await house.until(lambda: not left())
    await house.until(lambda: not house.server.open_sessions)


async def test_what_was_said_whole_is_heard_whole(house: Home) -> None:
    """An answer that is there is played to its end, whatever happens to the account."""
    house.replies.append(Speech("All is well.", ms=1500))
    await house.kitchen.hear(speech())
    await house.until(lambda: any(t.playout and t.playout.complete for t in turns(house)))
    await leave(house, "reload")
    assert len(await house.kitchen.fetch()) / 32 > 1500
    house.kitchen.tts_response_finished()


def turns(house: Home) -> tuple[Turn, ...]:
    """Return the open turns."""
    return async_open_turns(house.hass)
