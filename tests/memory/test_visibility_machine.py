"""Nobody is ever shown what is not for them, over any sequence of what happens in a home.

Rooms, satellites and people are Home Assistant's own registries; memory, threads, summaries and
search are the house's; the disk is real, its time is not. Each thing that is kept holds a word that
is nowhere else, and a simple account says who may see it. After each step everybody who might speak
is told all that they would be told, and it is held against that account.

In the suite it is short and always the same; `REALTIME_ASSIST_LONGER=20 scripts/test
tests/memory/test_visibility_machine.py` tries 20 times as many sequences, new ones each time.
"""

import asyncio
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_test_home_assistant

from custom_components.realtime_assist.assistant import HistoryScope
from custom_components.realtime_assist.house import House
from custom_components.realtime_assist.hub import Assistant
from custom_components.realtime_assist.items import View
from custom_components.realtime_assist.memory.compose import compose
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.searching import Query
from custom_components.realtime_assist.memory.transcript import (
    Called,
    Said,
    Source,
    Thread,
    ThreadKey,
    TurnRecord,
)
from custom_components.realtime_assist.pipeline.origin import Origin, resolve
from custom_components.realtime_assist.update import MemoryUpdate
from custom_components.realtime_assist.who import async_who
from tests.longer import LONGER

from .virtual import VirtualLoop

PLACES: Final = ("kitchen", "bedroom")
PEOPLE: Final = ("anna", "tom")
ROOMS: Final = ("Kitchen", "Bedroom", "Attic")
SECOND: Final = 1.0

PLACE = st.sampled_from(PLACES)
ROOM = st.none() | st.integers(0, len(ROOMS) - 1)
HISTORY = st.sampled_from(HistoryScope)

type Keys = frozenset[str]


@dataclass(slots=True, kw_only=True)
class Told:
    """One thing that is kept, by the word that only it has."""

    needs: Keys
    """Who sees all of these may see it."""
    scope: ScopeKey | None = None
    key: str = ""
    """Of a fact: where it is held."""
    at: float = 0.0
    """When it came to be, or was replaced."""
    gone: bool = False
    """Nobody may see it any more."""
    unsure: bool = False
    """A kill may have undone what happened to it last."""


@dataclass(slots=True, kw_only=True)
class Place:
    """A satellite, as the account has it."""

    entity: str
    device: str
    room: int | None = None
    own_room: int | None = None
    """The entity's, which comes first."""
    speaker: str | None = None
    epoch: str = field(default="")


class VisibilityMachine(RuleBasedStateMachine):
    """A home with two satellites, three rooms, two people and four ways to keep its history."""

    def __init__(self) -> None:
        """Furnish it."""
        super().__init__()
        memory = Path("/dev/shm")  # noqa: S108 - only to be quick, where there is one
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.loop = VirtualLoop()
        self.made = async_test_home_assistant(config_dir=str(self.folder))
        self.hass = self.run(self.made.__aenter__())
        self.told: dict[str, Told] = {}
        self.base: dict[ThreadKey, Thread] = {}
        self.count = 0
        self.run(self._furnish())
        self.open()

    def run(self, work: Any) -> Any:  # noqa: ANN401
        """Do something to its end, and what follows from it."""
        result = self.loop.run_until_complete(work)
        self.loop.run_until_complete(asyncio.sleep(0.001))
        return result

    async def _furnish(self) -> None:
        registry = ar.async_get(self.hass)
        self.rooms: list[str | None] = [registry.async_create(name).id for name in ROOMS]
        entry = MockConfigEntry(domain="test")
        entry.add_to_hass(self.hass)
        self.places = {name: self._place(entry, name) for name in PLACES}
        self.people = {name: self._person(name) for name in PEOPLE}

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

    def _person(self, name: str) -> str:
        made = er.async_get(self.hass).async_get_or_create(
            "person", "person", name, suggested_object_id=name
        )
        self.hass.states.async_set(
            made.entity_id, "home", {"user_id": name, "friendly_name": name.title()}
        )
        return made.id

    def open(self) -> None:
        """Open the memory and read it."""

        async def load() -> House:
            house = House(self.hass)
            await house.storage.async_load()
            for key in await house.storage.async_thread_keys():
                await house.storage.async_load_thread(key)
            return house

        self.house: House = self.run(load())

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.run(self.hass.async_stop(force=True))
        self.run(self.made.__aexit__(None, None, None))
        self.loop.close()
        shutil.rmtree(self.folder)

    # The account

    def sees(self, place: Place) -> Keys:
        """Return what may be seen at a place."""
        room = place.own_room if place.own_room is not None else place.room
        return frozenset(
            {f"session:{place.epoch}", f"device:{place.device}", "global:home"}
            | ({f"area:{self.rooms[room]}"} if room is not None else set())
            | ({f"speaker:{self.people[place.speaker]}"} if place.speaker else set())
        )

    def word(self, needs: Keys, scope: ScopeKey | None = None, key: str = "") -> str:
        """Return a new word, and enter for whom it is."""
        self.count += 1
        word = f"zq{self.count}q"
        self.told[word] = Told(needs=needs, scope=scope, key=key, at=self.loop.time())
        return word

    # What is kept

    @rule(name=PLACE, kind=st.sampled_from(Scope), key=st.integers(0, 3))
    def remember(self, name: str, kind: Scope, key: int) -> None:
        """Write a fact, or write it anew."""
        seen = sorted(self.sees(self.places[name]) | {"plugin:garden"})
        scope = next((k for text in seen if (k := ScopeKey.parse(text)).scope is kind), None)
        if scope is None:
            return
        named = f"{kind} {key}"
        for old in self.told.values():
            if (old.scope, old.key) == (scope, named):
                old.gone, old.at = True, self.loop.time()
        word = self.word(frozenset({str(scope)}), scope, named)
        update = MemoryUpdate(scopes=(scope,), entries={named: f"it is {word}"})
        self.run(self.house.changes.async_apply(update))

    @rule(
        name=PLACE,
        history=HISTORY,
        source=st.sampled_from(Source),
        people=st.sampled_from((("anna",), ("tom",), (None,), ("anna", None, "tom", "anna", None))),
        opens=st.booleans(),
    )
    def say(
        self,
        name: str,
        history: HistoryScope,
        source: Source,
        people: tuple[str | None, ...],
        *,
        opens: bool,
    ) -> None:
        """Say something; it joins its history, which is summed up when it is long."""
        for who in people:
            self.speak(name, who, guest=False)
            self._say(name, history, source)
        if opens:
            self.begin(name, history)

    def _say(self, name: str, history: HistoryScope, source: Source) -> None:
        place = self.places[name]
        origin = self._origin(place)
        key = _thread_key(origin, history)
        people = {text for text in self.sees(place) if text.startswith("speaker:")}
        word = self.word(frozenset({str(key.scope), *people}))
        record = TurnRecord(
            id=f"turn-{word}",
            at=dt_util.now(),
            source=source,
            heard_text=f"My name is {word}, and I always like tea.",
            said=(Said(index=0, text=f"I promise to remember {word} tomorrow."),),
            calls=(Called(call_id=word, name="look", arguments=word, output=word),),
            audience=audience(origin.speaker) if origin.speaker else frozenset(),
            speaker=origin.speaker_name,
        )

        async def join() -> None:
            await self.house.async_ready(key, origin.visible())
            self.house.join(key, record, 200)

        self.run(join())

    @rule(name=PLACE, history=HISTORY)
    def sum_up(self, name: str, history: HistoryScope) -> None:
        """Put a summary by hand in place of the one that there is."""
        scope = _thread_key(self._origin(self.places[name]), history).scope
        word = self.word(frozenset({str(scope)}))
        update = MemoryUpdate(scopes=(scope,), summary=f"They spoke of {word}.")
        self.run(self.house.changes.async_apply(update))

    @rule(name=PLACE, history=HISTORY)
    def begin(self, name: str, history: HistoryScope) -> None:
        """Open a session: its recap stays as it is now."""
        key = _thread_key(self._origin(self.places[name]), history)
        self.base[key] = self.house.thread(key)

    @precondition(lambda self: any(not told.gone for told in self.told.values()))
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """Forget one thing."""
        left = [word for word, told in self.told.items() if not told.gone]
        word = data.draw(st.sampled_from(left))
        told = self.told[word]
        if told.scope is None:
            self.run(self.house.changes.async_forget_words([word]))
        else:
            update = MemoryUpdate(scopes=(told.scope,), forget=(told.key,))
            self.run(self.house.changes.async_apply(update))
        for other in self.told.values():
            if other is told or (told.key and (other.scope, other.key) == (told.scope, told.key)):
                other.gone, other.unsure = True, False

    @rule(name=PLACE)
    def end_session(self, name: str) -> None:
        """End a conversation, and what belongs to it alone."""
        place = self.places[name]
        session = ScopeKey(Scope.SESSION, place.epoch)
        self.house.context.end_session(session, self._origin(place).visible(place.epoch))
        self._end(session)
        place.epoch += "+"

    def _end(self, session: ScopeKey) -> None:
        for told in self.told.values():
            if told.scope == session:
                told.gone = True

    # What changes in the home

    @rule(name=PLACE, who=st.none() | st.sampled_from(PEOPLE), guest=st.booleans())
    def speak(self, name: str, who: str | None, *, guest: bool) -> None:
        """Somebody else speaks there now."""
        place = self.places[name]
        key = ScopeKey(Scope.SPEAKER, self.people[who]) if who else None
        async_who(self.hass).choose(place.entity, key, guest=guest and who is None)
        place.speaker = who

    @rule(name=PLACE, room=ROOM, own=st.booleans())
    def move(self, name: str, room: int | None, *, own: bool) -> None:
        """Put a satellite into another room."""
        if room is not None and self.rooms[room] is None:
            return
        place, area = self.places[name], None if room is None else self.rooms[room]

        async def put() -> None:
            if own:
                registry = er.async_get(self.hass)
                registry.async_update_entity(self._entity_id(place), area_id=area)
            else:
                dr.async_get(self.hass).async_update_device(place.device, area_id=area)

        self.run(put())
        if own:
            place.own_room = room
        else:
            place.room = room

    @rule(name=PLACE, number=st.integers(0, 99))
    def rename(self, name: str, number: int) -> None:
        """Give a satellite another entity id, perhaps the one that the other had."""
        place = self.places[name]
        new = f"assist_satellite.s{number}"

        async def update() -> None:
            registry = er.async_get(self.hass)
            if registry.async_get(new) is None:
                registry.async_update_entity(self._entity_id(place), new_entity_id=new)
            dr.async_get(self.hass).async_update_device(place.device, name_by_user=f"No {number}")

        self.run(update())

    @rule(room=st.integers(0, len(ROOMS) - 1), name=st.text("abc", min_size=1, max_size=5))
    def rename_room(self, room: int, name: str) -> None:
        """Give a room another name."""

        async def update() -> None:
            if area := self.rooms[room]:
                ar.async_get(self.hass).async_update(area, name=f"{name} {room}")

        self.run(update())

    @rule(room=st.integers(0, len(ROOMS) - 1), other=ROOM)
    def remove_room(self, room: int, other: int | None) -> None:
        """Remove a room; what it leaves may be given to another one."""
        area = self.rooms[room]
        if area is None:
            return

        async def remove() -> None:
            ar.async_get(self.hass).async_delete(area)

        self.run(remove())
        self.rooms[room] = None
        for place in self.places.values():
            place.room = None if place.room == room else place.room
            place.own_room = None if place.own_room == room else place.own_room
        target = None if other is None else self.rooms[other]
        if target is not None:
            self._give(ScopeKey(Scope.AREA, area), ScopeKey(Scope.AREA, target))

    def _give(self, old: ScopeKey, new: ScopeKey) -> None:
        """Give what one room remembers to another."""
        self.run(self.house.leftovers.async_move(old, new))
        held = {entry.key: str(entry.value) for entry in self.house.context.visible([new])}
        for word, told in self.told.items():
            if str(old) in told.needs:
                told.needs = told.needs - {str(old)} | {str(new)}
            if told.scope in (old, new):
                # Of two with one key the newer stays.
                told.scope = new
                told.gone = told.gone or word not in held.get(told.key, "")

    # Time

    @rule(seconds=st.sampled_from((0.3, 1.1)))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.run(asyncio.sleep(seconds))

    @rule(kills=st.booleans())
    def restart(self, *, kills: bool) -> None:
        """Home Assistant starts anew, with what is on the disk."""
        if kills:
            for told in self.told.values():
                told.unsure |= told.at >= self.loop.time() - SECOND and told.scope is not None
        else:
            self.run(self.house.storage.async_flush())
        for file in self.house.storage._disk._files.values():
            file.make_read_only()
        self.house.storage.close()
        self.base.clear()
        for place in self.places.values():
            self._end(ScopeKey(Scope.SESSION, place.epoch))
            place.epoch += "+"
        self.open()

    # What is shown

    @invariant()
    def nobody_is_shown_what_is_not_for_them(self) -> None:
        """Whoever speaks, wherever: what they are told is for them, and all of it is told."""
        for place in self.places.values():
            visible = self._origin(place).visible(session=place.epoch)
            assert frozenset(map(str, visible)) == self.sees(place)
            self._look(visible)
        for name, person in self.people.items():
            visible = resolve(self.hass, None, name).visible(plugins=("garden",))
            expected = {f"speaker:{person}", "global:home", "plugin:garden"}
            assert set(map(str, visible)) == expected
            self._look(visible)

    def _look(self, visible: tuple[ScopeKey, ...]) -> None:
        seen = frozenset(map(str, visible))
        shown = set[str]()
        held = self.house.storage._threads.values()
        threads = [thread for thread in held if thread.turns or thread.summary]
        for thread in threads or [Thread(key=ThreadKey("none", GLOBAL))]:
            for view in _views(thread):
                made = compose(
                    thread=thread,
                    entries=self.house.context.visible(visible),
                    now=None,
                    visible=visible,
                    view=view,
                    resume_tokens=400,
                    base=self.base.get(thread.key),
                )
                for item in made.desired:
                    for word in _words(item.body):
                        self._may(word, seen)
                        # So a session that holds it gives it back when somebody else speaks.
                        assert self.told[word].needs <= item.audience, (word, item.key)
                        shown.add(word)
        self._all_there(shown, seen)
        self._search(visible, seen)

    def _search(self, visible: tuple[ScopeKey, ...], seen: Keys) -> None:
        words = list(self.told)[-30:]
        if not words:
            return
        query = Query(words=" ".join(words))
        hits = self.run(self.house.recollection.async_find(query, visible, 100))
        found = {word for hit in hits for word in _words(hit.text)}
        for word in found:
            self._may(word, seen)
        self._all_there(found, seen, words)

    def _may(self, word: str, seen: Keys) -> None:
        told = self.told[word]
        assert told.needs <= seen, f"{word} is for {told.needs}, not for {seen}"
        assert not told.gone or told.unsure, f"{word} is gone"

    def _all_there(self, shown: set[str], seen: Keys, words: list[str] | None = None) -> None:
        for word in self.told if words is None else words:
            told = self.told[word]
            if told.scope is not None and not told.gone and not told.unsure and told.needs <= seen:
                assert word in shown, f"{word} is lost"

    # Inside

    def _entity_id(self, place: Place) -> str:
        entry = er.async_get(self.hass).async_get(place.entity)
        assert entry is not None
        return entry.entity_id

    def _origin(self, place: Place) -> Origin:
        return resolve(self.hass, self._entity_id(place), None)


def _thread_key(origin: Origin, history: HistoryScope) -> ThreadKey:
    """Return which history a turn belongs to, as an assistant with that option says."""
    assistant = cast("Assistant", SimpleNamespace(options=SimpleNamespace(history_scope=history)))
    return ThreadKey(str(history), Assistant._thread_scope(assistant, origin, None))


def _views(thread: Thread) -> Iterator[View]:
    """Yield how a session may see a thread: opened now, at its beginning, or there all the time."""
    yield View(recap_upto=thread.next_number - 1)
    yield View()
    yield View(natives=frozenset(turn.id for turn in thread.turns))


def _words(text: str) -> set[str]:
    return set(re.findall(r"zq\d+q", text))


@pytest.mark.timeout(600 + 60 * LONGER)
def test_nobody_is_ever_shown_what_is_not_for_them() -> None:
    """Whatever happens in a home: what is a room's or a person's own is told to no other."""
    run_state_machine_as_test(
        VisibilityMachine,
        settings=settings(
            max_examples=80 * LONGER,
            stateful_step_count=30,
            deadline=None,
            derandomize=LONGER == 1,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
