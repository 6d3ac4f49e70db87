"""A home in which nobody speaks, on a real disk: what is remembered, and what a restart finds.

Quicker than `tests.home`, for tests of the memory from outside.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.house import DATA_HOUSE, async_get_house
from tests.people import act

HOME: Final[dict[str, Any]] = {"scope": "global"}


@dataclass
class Quiet:
    """A home in which nobody speaks: a kitchen and a bedroom, each with a device."""

    hass: HomeAssistant
    entry: MockConfigEntry
    folder: Path
    devices: tuple[str, str]

    async def set(self, key: str, value: object, **data: Any) -> dict[str, Any]:  # noqa: ANN401
        """Write an entry, into the home unless something else is said."""
        where = {} if {"scope", "area_id", "device_id", "entity_id"} & data.keys() else HOME
        return await act(self.hass, "set_memory", key=key, value=value, **where, **data)

    async def get(self, **where: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return what is remembered there: key -> entry."""
        found = await act(self.hass, "get_memory", **(where or HOME))
        return {entry["key"]: entry for entry in found["entries"]}

    async def restart(self) -> None:
        """Start anew with what is on the disk."""
        await async_get_house(self.hass).storage.async_flush()
        assert await self.hass.config_entries.async_unload(self.entry.entry_id)
        async_get_house(self.hass).storage.close()
        del self.hass.data[DATA_HOUSE]
        assert await self.hass.config_entries.async_setup(self.entry.entry_id)
        await self.hass.async_block_till_done()

    async def on_disk(self) -> str:
        """Return all that the memory has written."""
        await async_get_house(self.hass).storage.async_flush()
        files = [each for each in (self.folder / ".storage" / DOMAIN).rglob("*") if each.is_file()]
        return "\n".join(each.read_text() for each in files)


@pytest.fixture
async def quiet(hass: HomeAssistant, tmp_path: Path) -> AsyncGenerator[Quiet]:
    """Give a home in which nobody speaks."""
    assert await async_setup_component(hass, "homeassistant", {})
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    owner = MockConfigEntry(domain="test")
    owner.add_to_hass(hass)
    devices = []
    for name in ("Kitchen", "Bedroom"):
        area = ar.async_get(hass).async_create(name)
        device = dr.async_get(hass).async_get_or_create(
            config_entry_id=owner.entry_id, identifiers={("test", name)}
        )
        dr.async_get(hass).async_update_device(device.id, area_id=area.id)
        devices.append(device.id)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    yield Quiet(hass, entry, tmp_path, (devices[0], devices[1]))
    await hass.config_entries.async_unload(entry.entry_id)
