"""A home for the visibility machine: real registries, a real disk, and a time of its own."""

import asyncio
import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_test_home_assistant

from custom_components.realtime_assist.house import House
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.pipeline.origin import Origin, resolve

from .virtual import BEGIN, VirtualLoop
from .visibility_account import Keys, Place

PLACES: Final = ("kitchen", "bedroom")
PEOPLE: Final = ("anna", "tom")
ROOMS: Final = ("Kitchen", "Bedroom", "Attic")


class FurnishedHome:
    """Two satellites, three rooms and two people."""

    def __init__(self) -> None:
        """Furnish it, and open its memory."""
        memory = Path("/dev/shm")  # noqa: S108 - only to be quick, where there is one
        self._folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self._loop = VirtualLoop()
        self._clocks = (
            patch.object(dt_util, "utcnow", self._utcnow),
            patch.object(dt_util, "now", lambda _zone=None: self._utcnow()),
        )
        for clock in self._clocks:
            clock.start()
        self._made = async_test_home_assistant(config_dir=str(self._folder))
        self.hass = self.run(self._made.__aenter__())
        self.rooms: list[str | None] = []
        self.places: dict[str, Place] = {}
        self.people: dict[str, str] = {}
        self.run(self._furnish())
        self.house = self._opened()

    def _utcnow(self) -> datetime:
        return BEGIN + timedelta(seconds=self._loop.time())

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return self._loop.time()

    def run(self, work: Any) -> Any:  # noqa: ANN401
        """Do something to its end, and what follows from it."""
        result = self._loop.run_until_complete(work)
        self._loop.run_until_complete(asyncio.sleep(0.001))
        return result

    async def _furnish(self) -> None:
        registry = ar.async_get(self.hass)
        self.rooms = [registry.async_create(name).id for name in ROOMS]
        entry = MockConfigEntry(domain="test")
        entry.add_to_hass(self.hass)
        self.places = {name: self._place(entry, name) for name in PLACES}
        for name in PEOPLE:
            self.arrive(name)

    def _place(self, entry: MockConfigEntry, name: str) -> Place:
        device = dr.async_get(self.hass).async_get_or_create(
            config_entry_id=entry.entry_id, identifiers={("test", name)}
        )
        made = er.async_get(self.hass).async_get_or_create(
            "assist_satellite",
            "test",
            name,
            config_entry=entry,
            device_id=device.id,
            # Without a name of its own it could not have a room of its own.
            original_name="Ear",
        )
        return Place(entity=made.id, device=device.id, epoch=f"epoch-{name}")

    def arrive(self, name: str) -> None:
        """Let somebody live here, or live here again; to be called in the loop."""
        made = er.async_get(self.hass).async_get_or_create(
            "person", "person", name, suggested_object_id=name
        )
        self.hass.states.async_set(
            made.entity_id, "home", {"user_id": name, "friendly_name": name.title()}
        )
        self.people[name] = made.id

    def leave(self, name: str) -> ScopeKey:
        """Let somebody live here no more; to be called in the loop."""
        registry = er.async_get(self.hass)
        entry = registry.async_get(self.people.pop(name))
        assert entry is not None
        registry.async_remove(entry.entity_id)
        self.hass.states.async_remove(entry.entity_id)
        return ScopeKey(Scope.SPEAKER, entry.id)

    def person(self, name: str) -> ScopeKey:
        """Return what belongs to somebody who lives here."""
        return ScopeKey(Scope.SPEAKER, self.people[name])

    def area(self, room: int | None) -> str | None:
        """Return the area of a room that there is."""
        return None if room is None else self.rooms[room]

    # The memory

    def _opened(self) -> House:
        async def load() -> House:
            house = House(self.hass)
            await house.storage.async_load()
            for key in await house.storage.async_thread_keys():
                await house.storage.async_load_thread(key)
            return house

        opened: House = self.run(load())
        return opened

    def restart(self, *, kills: bool) -> None:
        """Start anew with what is on the disk; a kill leaves there what is there already."""
        if not kills:
            self.run(self.house.storage.async_flush())
        for file in self.house.storage._disk._files.values():
            file.make_read_only()
        self.house.storage.close()
        self.house = self._opened()

    def close(self) -> None:
        """Leave nothing behind."""
        self.run(self.hass.async_stop(force=True))
        self.run(self._made.__aexit__(None, None, None))
        self._loop.close()
        for clock in self._clocks:
            clock.stop()
        shutil.rmtree(self._folder)

    # What there is at a place

    def entity_id(self, place: Place) -> str:
        """Return the present entity id of a satellite."""
        entry = er.async_get(self.hass).async_get(place.entity)
        assert entry is not None
        return entry.entity_id

    def origin(self, place: Place) -> Origin:
        """Return where a turn at a satellite comes from, as the integration has it."""
        return resolve(self.hass, self.entity_id(place), None)

    def visible(self, place: Place) -> tuple[ScopeKey, ...]:
        """Return what may be seen there, as the integration has it."""
        return self.origin(place).visible(session=place.epoch, temporary=place.epoch)

    def sees(self, place: Place) -> Keys:
        """Return what may be seen there, as the account has it."""
        area = self.area(place.in_room)
        speaks = place.speaker in self.people and self.now < place.known_until
        return frozenset(
            {
                f"session:{place.epoch}",
                f"temporary:{place.epoch}",
                f"device:{place.device}",
                "global:home",
            }
            | ({f"area:{area}"} if area else set())
            | ({f"speaker:{self.people[place.speaker]}"} if speaks and place.speaker else set())
        )
