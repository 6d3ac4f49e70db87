"""What is handed out for a report of a fault helps, and gives nothing away."""

import json
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry, get_system_health_info
from pytest_homeassistant_custom_component.components.diagnostics import (
    get_diagnostics_for_config_entry,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.realtime_assist.assistant import default_assistant
from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.pipeline.origin import Origin
from tests.loopback import LoopbackServer

pytestmark = pytest.mark.usefixtures("socket_enabled")

KEY: Final = "a key that nobody has"
SECRET: Final = "Grandmother's safe is behind the clock"


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    """Have a provider in this machine."""
    async with LoopbackServer(key=KEY) as server:
        yield server


@pytest.fixture
async def entry(hass: HomeAssistant, server: LoopbackServer) -> MockConfigEntry:
    """Have an account whose assistant was told a secret."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Grandmother's account",
        data={"provider": "openai", "base_url": server.base_url, "api_key": KEY},
        subentries_data=[{**default_assistant(), "data": {"prompt": SECRET}}],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    await hass.services.async_call(
        DOMAIN,
        "update_memory",
        {"scope": "global", "entries": {"safe": SECRET}},
        blocking=True,
    )
    return entry


async def report(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, entry: MockConfigEntry
) -> dict[str, Any]:
    """Return what a person downloads."""
    return cast("dict[str, Any]", await get_diagnostics_for_config_entry(hass, hass_client, entry))


async def test_diagnostics(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, entry: MockConfigEntry
) -> None:
    """A report shows how an account is set up and what it holds, in counts."""
    told = await report(hass, hass_client, entry)
    assert told["state"] == "loaded"
    assert told["account"] == {
        "provider": "openai",
        "usual_address": False,
        "encrypted": False,
        "has_key": True,
    }
    [assistant] = told["assistants"]
    assert assistant["options"]["own_prompt"]
    assert assistant["options"]["prompt_characters"] == len(SECRET)
    assert assistant["sessions"] == []
    assert assistant["usage"] == {
        "responses": 0,
        "transcripts": 0,
        "cost_usd": None,
        "unpriced": 0,
        "tokens": {},
    }
    assert told["memory"] == {
        "scopes": {"global": 1},
        "entries": 1,
        "summaries": {},
        "problems": [],
    }


async def test_diagnostics_of_a_house_that_talks(
    hass: HomeAssistant,
    hass_client: ClientSessionGenerator,
    entry: MockConfigEntry,
    server: LoopbackServer,
) -> None:
    """Neither key, address, name, prompt, words nor memory leave the house with a report."""
    agent = next(each for each in hass.states.async_entity_ids("conversation") if DOMAIN in each)
    assert await async_setup_component(hass, "conversation", {})
    await hass.services.async_call(
        "conversation", "process", {"agent_id": agent, "text": SECRET}, blocking=True
    )
    found = await report(hass, hass_client, entry)
    usage = found["assistants"][0]["usage"]
    assert usage["responses"] == 1
    assert usage["tokens"]["input"]["provenance"] == "reported"
    told = json.dumps(found)
    assert server.sessions
    for secret in (SECRET, KEY, server.base_url, "127.0.0.1", "Grandmother", "OK."):
        assert secret not in told


async def test_diagnostics_of_a_satellite(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, entry: MockConfigEntry
) -> None:
    """A report shows how the session of a satellite stands, and not which satellite it is."""
    origin = Origin(satellite="registry-id", platform="esphome", device_id="device-id", name="Anna")
    [assistant] = entry.runtime_data.assistants.values()
    assistant.projection(origin, None)
    told = await report(hass, hass_client, entry)
    [session] = told["assistants"][0]["sessions"]
    assert session["state"] == "closed"
    assert session["platform"] == "esphome"
    assert session["last_failure"] is None
    assert session["thread"]["turns"] == 0
    assert session["thread"]["turns_to_archive"] == 0
    for secret in ("registry-id", "device-id", "Anna"):
        assert secret not in json.dumps(told)


async def test_diagnostics_of_an_account_that_is_not_loaded(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, entry: MockConfigEntry
) -> None:
    """An account that cannot be set up can be reported too."""
    await hass.config_entries.async_unload(entry.entry_id)
    told = await report(hass, hass_client, entry)
    assert told["state"] == "not_loaded"
    assert told["assistants"][0]["sessions"] == []


@pytest.mark.usefixtures("socket_enabled", "entry")
async def test_system_health(hass: HomeAssistant) -> None:
    """One look shows whether the provider can be reached."""
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    info = await get_system_health_info(hass, DOMAIN)
    assert await info.pop("can_reach_provider") == "ok"
    assert info == {
        "accounts": 1,
        "accounts_loaded": 1,
        "assistants": 1,
        "tokens_used": 0,
        "tokens_in_advance": 0,
    }
