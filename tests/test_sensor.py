"""What an assistant uses is shown, goes on over restarts, and says where it comes from."""

from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.components.sensor import SensorStateClass
from homeassistant.const import STATE_UNKNOWN, EntityCategory
from homeassistant.core import State
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import get_system_health_info

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.models import PREFIX_WARNING
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)


def entity(house: Home, key: str) -> str:
    """Return the sensor of a kind."""
    unique_id = f"{house.assistant.subentry_id}_{key}"
    found = er.async_get(house.hass).async_get_entity_id("sensor", DOMAIN, unique_id)
    assert found is not None
    return found


def state(house: Home, key: str) -> State:
    """Return what a sensor shows."""
    found = house.hass.states.get(entity(house, key))
    assert found is not None
    return found


async def reload(house: Home) -> None:
    """Set the account up anew."""
    assert await house.hass.config_entries.async_reload(house.entry.entry_id)
    await house.hass.async_block_till_done()


async def say(house: Home) -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    before = house.assistant.usage.total.transcripts
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    # What it costs to write it down comes when it likes.
    await house.until(lambda: house.assistant.usage.total.transcripts > before, 20)


async def test_use_is_shown_and_goes_on(house: Home) -> None:
    """Tokens and money add up from turn to turn and over a restart; nothing is not unknown."""
    assert state(house, "tokens_used").state == "0"
    assert state(house, "cost").state == "0.0"
    await say(house)
    (done,) = house.server.session.sent_of("response.done")
    used = state(house, "tokens_used")
    assert int(used.state) == done["response"]["usage"]["total_tokens"]
    assert used.attributes["state_class"] == SensorStateClass.TOTAL_INCREASING
    assert used.attributes["provenance"] == "reported"
    assert used.attributes["input"] == done["response"]["usage"]["input_tokens"]
    cost = state(house, "cost")
    assert float(cost.state) > 0
    assert cost.attributes["unit_of_measurement"] == "USD"
    await reload(house)
    assert float(state(house, "tokens_used").state) == int(used.state)
    assert float(state(house, "cost").state) == float(cost.state)
    await say(house)
    assert float(state(house, "tokens_used").state) > int(used.state)


async def test_a_sum_that_nobody_knows_is_unknown(house: Home) -> None:
    """A provider without a price list has no cost sensor; what is not known is not zero."""
    assert state(house, "prefix_tokens").state == STATE_UNKNOWN
    house.hass.config_entries.async_update_entry(
        house.entry, data={**house.entry.data, "provider": "openai_compatible"}
    )
    await house.hass.async_block_till_done()
    assert state(house, "cost").state == "unavailable"
    assert state(house, "tokens_used").state == "0"


async def test_the_context_is_shown_to_who_asks_for_it(house: Home) -> None:
    """How full a session is can be watched; it changes with each answer, so not by default."""
    registry = er.async_get(house.hass)
    entry = registry.async_get(entity(house, "context_tokens"))
    assert entry is not None
    assert entry.disabled_by is er.RegistryEntryDisabler.INTEGRATION
    assert entry.entity_category is EntityCategory.DIAGNOSTIC
    registry.async_update_entity(entry.entity_id, disabled_by=None)
    await reload(house)
    assert state(house, "context_tokens").state == "0"
    await say(house)
    (done,) = house.server.session.sent_of("response.done")
    shown = state(house, "context_tokens")
    assert int(shown.state) >= done["response"]["usage"]["input_tokens"]
    assert shown.attributes["reported"] == done["response"]["usage"]["input_tokens"]
    assert shown.attributes["provenance"] == "estimated"
    assert shown.attributes["reported_at"]
    assert shown.attributes["limit"] == house.assistant.options.context_limit
    house.server.session.close(1006)
    await house.until(lambda: state(house, "context_tokens").state == "0")


@pytest.mark.parametrize("options", [{"prompt": "Be kind. " * (4 * PREFIX_WARNING // 9)}])
async def test_too_long_a_beginning_is_told_of(house: Home, options: dict[str, Any]) -> None:
    """A person learns that an assistant is told too much before the provider refuses."""
    del options
    await say(house)
    tokens = int(state(house, "prefix_tokens").state)
    assert tokens > PREFIX_WARNING
    (issue,) = (
        issue
        for issue in ir.async_get(house.hass).issues.values()
        if issue.translation_key == "long_prefix"
    )
    assert issue.translation_placeholders == {
        "assistant": "Realtime Assist",
        "tokens": str(round(tokens, -2)),
        "limit": "16384",
    }


async def test_the_systems_health_tells_of_it(house: Home) -> None:
    """What is used can be read where a person looks for what is wrong."""
    assert await async_setup_component(house.hass, "system_health", {})
    await house.hass.async_block_till_done()
    await say(house)
    info = await get_system_health_info(house.hass, DOMAIN)
    await info.pop("can_reach_provider")
    assert info["tokens_used"] == int(state(house, "tokens_used").state)
    assert info["tokens_in_advance"] == int(state(house, "prefix_tokens").state)
