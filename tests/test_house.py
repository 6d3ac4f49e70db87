"""The house remembers: over dropped sockets, restarts and accounts, and within what it may cost."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.house import DATA_HOUSE
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import Said, ThreadKey, TurnRecord
from custom_components.realtime_assist.memory.usage import estimate_tokens
from tests.on_disk import hass_config_dir, hass_storage  # noqa: F401 - fixtures
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)


async def say(house: Home, words: str, reply: str = "Fine.") -> None:
    """Say something in the kitchen and hear the reply to its end."""
    house.hears.append(words)
    house.replies.append(reply)
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


def files(folder: Path) -> list[Path]:
    """Return what is in a folder, at any depth."""
    return [path for path in folder.rglob("*") if path.is_file()]


def recap(house: Home) -> str:
    """Return what the newest session was told of earlier conversation."""
    return next((t for t in house.server.session.texts() if 'kind="recap"' in t), "")


async def test_a_conversation_goes_on_after_a_restart(house: Home) -> None:
    """Who told the house a name before a restart need not do so again after it."""
    await say(house, "my name is Anna", "Hello Anna.")
    await house.restart()
    await say(house, "what is my name")
    assert len(house.server.sessions) == 2
    assert "my name is Anna" in recap(house)
    assert "Hello Anna." in recap(house)


async def test_a_conversation_goes_on_after_the_socket_was_lost(house: Home) -> None:
    """A hiccup of the network costs nobody what was said before."""
    await say(house, "my name is Anna")
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    await say(house, "what is my name")
    assert "my name is Anna" in recap(house)


async def test_a_session_that_goes_on_needs_no_recap(house: Home) -> None:
    """What the provider heard itself is not told to it again."""
    await say(house, "my name is Anna")
    await say(house, "what is my name")
    assert len(house.server.sessions) == 1
    assert not recap(house)


@pytest.mark.parametrize("options", [{"resume_tokens": 300}])
async def test_a_long_history_costs_no_more_than_the_option_says(
    house: Home, options: dict[str, Any]
) -> None:
    """After months of talk a new session is told a summary and the last turns, no more."""
    await say(house, "my name is Anna, and I live in Utrecht")
    (projection,) = house.assistant.projections()
    for number in range(60):
        record = TurnRecord(
            id=f"old{number}",
            at=dt_util.now() - timedelta(minutes=60 - number),
            heard_text=f"How many lamps are there in room {number}, and which of them are on?",
            said=(Said(index=0, text=f"There are {number} lamps, and half of them are on now."),),
        )
        house.memory.join(projection.key, record, options["resume_tokens"])
        await asyncio.sleep(0.02)  # a turn takes longer than its summary
    thread = house.memory.thread(projection.key)
    assert thread.summary is not None
    assert thread.summary.upto + len(thread.turns) == 61
    await house.restart()
    await say(house, "what is my name")
    assert 0 < estimate_tokens(recap(house)) <= 300
    assert "room 59" in recap(house)


async def test_another_account_knows_the_same(house: Home) -> None:
    """Who changes the provider loses nothing that was remembered."""
    house.memory.context.set(GLOBAL, "bins", "Thursday")
    other = MockConfigEntry(domain=DOMAIN, data={"base_url": house.server.base_url})
    other.add_to_hass(house.hass)
    assert await house.hass.config_entries.async_setup(other.entry_id)
    assert await house.hass.config_entries.async_remove(house.entry.entry_id)
    assert house.memory.context.get((GLOBAL,), "bins") is not None
    assert await house.hass.config_entries.async_remove(other.entry_id)


async def test_the_last_account_takes_the_memory_with_it(house: Home) -> None:
    """Who removes the integration leaves nothing behind that was said."""
    await say(house, "my name is Anna")
    house.memory.context.set(GLOBAL, "bins", "Thursday")
    await house.memory.storage.async_flush()
    folder = Path(house.hass.config.config_dir, ".storage", DOMAIN)
    assert files(folder)
    await house.hass.config_entries.async_remove(house.entry.entry_id)
    await house.hass.async_block_till_done()
    assert not files(folder)
    assert not house.memory.context.scopes()


async def test_a_turn_in_one_session_reaches_the_other_of_its_thread(house: Home) -> None:
    """With one history for the whole home, the bedroom knows what was said in the kitchen."""
    subentry = next(iter(house.entry.subentries.values()))
    house.hass.config_entries.async_update_subentry(
        house.entry, subentry, data={"history_scope": "global"}
    )
    await house.hass.async_block_till_done()
    await house.bedroom.hear(speech())
    await house.bedroom.play()
    await house.settled()
    bedroom = house.server.session
    await say(house, "the cat is in the garden")
    await house.until(lambda: any('kind="meanwhile"' in text for text in bedroom.texts()))
    assert any("cat is in the garden" in text for text in bedroom.texts())


async def test_memory_of_a_quiet_house_is_read_when_it_is_needed(hass: HomeAssistant) -> None:
    """Home Assistant does not start later because much is remembered."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    house = hass.data[DATA_HOUSE]
    key = ThreadKey("assistant", ScopeKey(Scope.DEVICE, "kitchen"))
    assert house.storage.thread(key) is None
    await house.async_ready(key, (key.scope,))
    assert house.storage.thread(key) is not None
