"""What changes in a home: who speaks where, who lives there, what rooms there are."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final, cast

from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from custom_components.realtime_assist.assistant import HistoryScope
from custom_components.realtime_assist.hub import Assistant
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import Thread, ThreadKey
from custom_components.realtime_assist.pipeline.origin import Origin
from custom_components.realtime_assist.update import MemoryUpdate
from custom_components.realtime_assist.who import async_who

from .visibility_account import MOMENT, Account, Told
from .visibility_home import PEOPLE, PLACES, ROOMS, FurnishedHome

PLACE: Final = st.sampled_from(PLACES)
WHO: Final = st.sampled_from(PEOPLE)
ROOM: Final = st.none() | st.integers(0, len(ROOMS) - 1)


class ChangingHome(RuleBasedStateMachine):
    """Two satellites, three rooms and two people, which come and go."""

    def __init__(self) -> None:
        """Furnish it."""
        super().__init__()
        self.home = FurnishedHome()
        self.account = Account()
        self.base: dict[ThreadKey, Thread] = {}

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.home.close()

    def do(self, work: Any) -> Any:  # noqa: ANN401
        """Do something to its end."""
        return self.home.run(work)

    def apply(self, update: MemoryUpdate) -> None:
        """Change the memory as an action does."""
        self.do(self.home.house.changes.async_apply(update))

    def call(self, work: Callable[[], object]) -> Any:  # noqa: ANN401
        """Do something that needs a loop that runs."""

        async def run() -> object:
            return work()

        return self.do(run())

    def forgotten(self, which: Iterable[Told]) -> None:
        """Let things be gone for good."""
        for told in which:
            told.gone, told.forgotten, told.unsure = True, True, False

    @rule(name=PLACE, who=st.none() | WHO, guest=st.booleans(), brief=st.booleans())
    def speak(self, name: str, who: str | None, *, guest: bool, brief: bool) -> None:
        """Somebody else speaks there now; that is known for a moment, or for an hour."""
        place = self.home.places[name]
        who = who if who in self.home.people else None
        known = MOMENT if brief else 3600.0
        async_who(self.home.hass).choose(
            place.entity,
            self.home.person(who) if who else None,
            guest=guest and who is None,
            expires_in=timedelta(seconds=known),
        )
        place.speaker, place.known_until = who, self.home.now + known

    @rule(name=PLACE, who=WHO)
    def speak_and_go(self, name: str, who: str) -> None:
        """Somebody speaks there, and by now it is not known any more who would."""
        self.speak(name, who, guest=False, brief=True)
        self.do(asyncio.sleep(MOMENT + 1))

    @rule(who=WHO, other=st.sampled_from(("nobody", "delete", *PEOPLE)))
    def leave(self, who: str, other: str) -> None:
        """Somebody lives here no more, and what was theirs is kept, deleted or given to another."""
        if who not in self.home.people:
            return
        scope = self.call(lambda: self.home.leave(who))
        if other == "delete":
            self.do(self.home.house.leftovers.async_delete(scope))
            self.forgotten(told for told in self.account.told.values() if str(scope) in told.needs)
        elif other in self.home.people:
            self._give(scope, self.home.person(other))
        # A session of a history that became another one begins anew.
        self.base.clear()

    @rule(who=WHO)
    def arrive(self, who: str) -> None:
        """Somebody lives here again."""
        if who not in self.home.people:
            self.call(lambda: self.home.arrive(who))

    @rule(name=PLACE, room=ROOM, own=st.booleans())
    def move(self, name: str, room: int | None, *, own: bool) -> None:
        """Put a satellite into another room."""
        place, area = self.home.places[name], self.home.area(room)
        if room is not None and area is None:
            return
        hass = self.home.hass
        if own:
            entity_id, registry = self.home.entity_id(place), er.async_get(hass)
            self.call(lambda: registry.async_update_entity(entity_id, area_id=area))
            place.own_room = room
        else:
            devices = dr.async_get(hass)
            self.call(lambda: devices.async_update_device(place.device, area_id=area))
            place.room = room

    @rule(name=PLACE, number=st.integers(0, 99))
    def rename(self, name: str, number: int) -> None:
        """Give a satellite another entity id, perhaps the one that the other had."""
        place = self.home.places[name]
        new, registry = f"assist_satellite.s{number}", er.async_get(self.home.hass)

        def update() -> None:
            if registry.async_get(new) is None:
                registry.async_update_entity(self.home.entity_id(place), new_entity_id=new)
            devices = dr.async_get(self.home.hass)
            devices.async_update_device(place.device, name_by_user=f"No {number}")

        self.call(update)

    @rule(room=st.integers(0, len(ROOMS) - 1), name=st.text("abc", min_size=1, max_size=5))
    def rename_room(self, room: int, name: str) -> None:
        """Give a room another name."""
        areas = ar.async_get(self.home.hass)
        if area := self.home.area(room):
            self.call(lambda: areas.async_update(area, name=f"{name} {room}"))

    @rule(room=st.integers(0, len(ROOMS) - 1), other=ROOM)
    def remove_room(self, room: int, other: int | None) -> None:
        """Remove a room; what it leaves may be given to another one."""
        area = self.home.area(room)
        if area is None:
            return
        self.call(lambda: ar.async_get(self.home.hass).async_delete(area))
        self.home.rooms[room] = None
        for place in self.home.places.values():
            place.room = None if place.room == room else place.room
            place.own_room = None if place.own_room == room else place.own_room
        if target := self.home.area(other):
            self._give(ScopeKey(Scope.AREA, area), ScopeKey(Scope.AREA, target))

    def _give(self, old: ScopeKey, new: ScopeKey) -> None:
        """Give what belongs to one that is gone to another."""
        self.do(self.home.house.leftovers.async_move(old, new))
        held = {e.key: str(e.value) for e in self.home.house.context.visible([new])}
        self.account.given(old, new, held, self.home.now)


def thread_key(origin: Origin, history: HistoryScope) -> ThreadKey:
    """Return which history a turn belongs to, as an assistant with that option says."""
    assistant = cast("Assistant", SimpleNamespace(options=SimpleNamespace(history_scope=history)))
    return ThreadKey(str(history), Assistant._thread_scope(assistant, origin, None))
