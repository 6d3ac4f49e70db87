"""On live sessions: whatever happens in the home, the model knows only what the turn may see.

A walk by chance through two rooms, over the wire to a server that keeps what a provider would
keep. Rooms, speakers, entity ids, sockets, facts and Home Assistant itself change in between. In
the suite it is short and always the same; `REALTIME_ASSIST_LONGER=20 scripts/test
tests/test_living_visibility.py` walks 20 times, another way each time.
"""

import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.realtime_assist.house import DATA_HOUSE
from custom_components.realtime_assist.memory.scopes import ScopeKey
from custom_components.realtime_assist.update import MemoryUpdate
from custom_components.realtime_assist.who import async_who
from tests.longer import LONGER
from tests.on_disk import hass_config_dir, hass_storage  # noqa: F401 - fixtures
from tests.people import People, device_id, person_scope
from tests.satellite import Satellite, speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

STEPS: Final = 14
ROOMS: Final = ("kitchen", "bedroom")


@dataclass(slots=True)
class Walk:
    """A home, and who may see which word that is kept in it."""

    house: Home
    people: People
    chance: random.Random
    needs: dict[str, frozenset[str]] = field(default_factory=dict)
    facts: dict[str, tuple[ScopeKey, str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    rooms: dict[str, str] = field(default_factory=lambda: {room: room for room in ROOMS})
    speakers: dict[str, str | None] = field(default_factory=dict)

    def satellite(self, place: str) -> Satellite:
        """Return the satellite of a place."""
        return self.house.kitchen if place == ROOMS[0] else self.house.bedroom

    def sees(self, place: str) -> frozenset[str]:
        """Return what may be seen there now."""
        who = self.speakers.get(place)
        own = (
            frozenset([str(person_scope(self.house.hass, getattr(self.people, who)))])
            if who
            else frozenset[str]()
        )
        return own | {
            f"device:{device_id(self.satellite(place))}",
            f"area:{self.rooms[place]}",
            "global:home",
        }

    def word(self, needs: frozenset[str]) -> str:
        """Return a new word."""
        word = f"zq{len(self.needs)}q"
        self.needs[word] = needs
        return word

    async def step(self) -> None:
        """Let something happen somewhere."""
        place = self.chance.choice(ROOMS)
        happens = self.chance.choices(
            (self.say, self.remember, self.forget, self.speak, self.move, self.rename, self.drop),
            (8, 4, 1, 4, 2, 1, 1),
        )[0]
        await happens(place)

    async def say(self, place: str) -> None:
        """Speak, and see what the model knew when it answered."""
        seen = self.sees(place)
        kept = {key for key in seen if key.startswith(("device:", "speaker:"))}
        word = self.word(frozenset(kept))
        self.house.hears.append(f"my word is {word}")
        self.house.replies.append(f"{word}.")
        before = len(self.house.brain.requests)
        # No two sound alike: the server knows words by their audio.
        await self.satellite(place).hear(speech(260 - len(self.needs)))
        await self.satellite(place).play()
        await self.house.settled()
        request = self.house.brain.requests[before]
        texts = [*request.texts(), *map(self.house.brain.words, request.context)]
        told = set(re.findall(r"zq\d+q", "\n".join(texts)))
        assert word in told
        for each in told:
            assert self.needs[each] <= seen, (each, self.needs[each], seen)
            assert each not in self.gone
        facts = {each for each in self.facts if self.needs[each] <= seen}
        assert facts <= told

    async def remember(self, place: str) -> None:
        """Write a fact for a part of those who are there."""
        scope = ScopeKey.parse(self.chance.choice(sorted(self.sees(place))))
        word = self.word(frozenset({str(scope)}))
        self.facts[word] = (scope, f"key {word}")
        entries = {f"key {word}": f"it is {word}"}
        await self.house.memory.async_update(MemoryUpdate(scopes=(scope,), entries=entries))

    async def forget(self, _place: str) -> None:
        """Forget a fact, or what was said in a word."""
        left = [word for word in self.needs if word not in self.gone]
        if not left:
            return
        word = self.chance.choice(left)
        self.gone.add(word)
        if word not in self.facts:
            await self.house.memory.changes.async_forget_words([word])
            return
        scope, key = self.facts.pop(word)
        await self.house.memory.async_update(MemoryUpdate(scopes=(scope,), forget=(key,)))

    async def speak(self, place: str) -> None:
        """Somebody else is there now."""
        who = self.speakers[place] = self.chance.choice(("anna", "tom", None))
        entry = self.satellite(place).registry_entry
        assert entry is not None
        scope = person_scope(self.house.hass, getattr(self.people, who)) if who else None
        async_who(self.house.hass).choose(entry.id, scope)

    async def move(self, place: str) -> None:
        """Carry the satellite to a room."""
        self.rooms[place] = self.chance.choice(ROOMS)
        device = device_id(self.satellite(place))
        dr.async_get(self.house.hass).async_update_device(device, area_id=self.rooms[place])

    async def rename(self, place: str) -> None:
        """Give the satellite another entity id."""
        satellite = self.satellite(place)
        new = f"assist_satellite.{place}_{len(self.needs)}"
        if satellite.entity_id != new:
            registry = er.async_get(self.house.hass)
            registry.async_update_entity(satellite.entity_id, new_entity_id=new)
        await self.house.hass.async_block_till_done()

    async def drop(self, _place: str) -> None:
        """Cut the network, or start Home Assistant anew."""
        if self.chance.random() < 0.5:
            for session in list(self.house.server.open_sessions):
                session.close(1006)
            await self.house.until(lambda: not self.house.server.open_sessions)
            return
        entries = self.house.hass.config_entries
        await self.house.memory.storage.async_flush()
        assert await entries.async_unload(self.house.entry.entry_id)
        self.house.memory.storage.close()
        del self.house.hass.data[DATA_HOUSE]
        assert await entries.async_setup(self.house.entry.entry_id)
        await self.house.hass.async_block_till_done()


@pytest.mark.parametrize("number", range(LONGER))
async def test_the_model_knows_only_what_the_turn_may_see(
    house: Home, people: People, number: int
) -> None:
    """Nobody hears of another's, however people, satellites and rooms come and go."""
    seed = f"walk {number}" if LONGER == 1 else None
    walk = Walk(house, people, random.Random(seed))  # noqa: S311 - nothing is secret
    for _ in range(STEPS):
        await walk.step()
    await walk.say(ROOMS[0])
    await walk.say(ROOMS[1])
