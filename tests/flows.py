"""The forms of an account's parts, as a person opens and submits them."""

from typing import Any

from homeassistant.config_entries import SOURCE_USER, ConfigFlowResult, SubentryFlowResult
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

type Form = SubentryFlowResult | ConfigFlowResult


async def begin(hass: HomeAssistant, entry: MockConfigEntry, kind: str) -> SubentryFlowResult:
    """Open the form of a new part of this kind."""
    return await hass.config_entries.subentries.async_init(
        (entry.entry_id, kind), context={"source": SOURCE_USER}
    )


async def submit(hass: HomeAssistant, form: Form, typed: dict[str, Any]) -> SubentryFlowResult:
    """Submit a form, and wait until what it started is done."""
    result = await hass.config_entries.subentries.async_configure(form["flow_id"], typed)
    await hass.async_block_till_done()
    return result
