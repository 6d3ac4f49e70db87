"""Setting up, unloading and removing: once for the house, and for each account."""

import asyncio
from typing import TYPE_CHECKING

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from tests.loopback import Speech
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)


async def test_the_least_entry_works(hass: HomeAssistant) -> None:
    """An account with nothing chosen has one assistant, with an ear, a mind and a voice."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    entities = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    assert {"conversation", "stt", "tts"} <= {entity.domain for entity in entities}


async def test_the_last_assistant_can_be_deleted(hass: HomeAssistant) -> None:
    """Who deletes the assistant does not get it back at the next start."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    (first,) = entry.subentries
    hass.config_entries.async_remove_subentry(entry, first)
    await hass.async_block_till_done()
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert not entry.subentries


async def test_unloading_ends_everything(house: Home) -> None:
    """A reload in the middle of an answer leaves no socket, no task and no turn behind."""
    house.replies.append(Speech("This takes a while.", ms=60_000))
    hearing = asyncio.create_task(house.kitchen.hear(speech()))
    await house.server.wait_for(lambda server: bool(server.open_sessions))
    assert await house.hass.config_entries.async_unload(house.entry.entry_id)
    await asyncio.wait([hearing], timeout=5)
    assert hearing.done()
    assert house.entry.state is ConfigEntryState.NOT_LOADED
    await house.until(lambda: not house.server.open_sessions)
    assert await house.hass.config_entries.async_setup(house.entry.entry_id)
    await house.kitchen.hear(speech())
    assert "error" not in house.kitchen.kinds


async def test_a_changed_option_is_followed(house: Home) -> None:
    """Another voice is heard with the next words, without a restart."""
    await house.kitchen.hear(speech())
    subentry = next(iter(house.entry.subentries.values()))
    house.hass.config_entries.async_update_subentry(
        house.entry, subentry, data={**subentry.data, "voice": "cedar"}
    )
    await house.hass.async_block_till_done()
    await house.kitchen.hear(speech())
    assert house.server.session.config.wire["audio"]["output"]["voice"] == "cedar"
