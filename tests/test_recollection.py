"""A search finds what is so now, however often somebody searched before."""

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.house import House
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.searching import Query
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord

KITCHEN = ScopeKey(Scope.DEVICE, "kitchen")
THREAD = ThreadKey("assistant", KITCHEN)


async def found(house: House, word: str) -> list[str]:
    """Return the texts in which a word is found."""
    hits = await house.recollection.async_find(Query(words=word), [KITCHEN, GLOBAL], 10)
    return [hit.text for hit in hits]


async def test_a_search_sees_each_change(hass: HomeAssistant) -> None:
    """What was set, replaced, said, forgotten or removed a moment ago counts at once."""
    house = House(hass)
    house.context.set(GLOBAL, "cat", "Minka")
    assert await found(house, "Minka") == ["cat Minka"]
    house.context.set(GLOBAL, "cat", "Mohrle")
    assert await found(house, "Minka") == []
    assert await found(house, "Mohrle") == ["cat Mohrle"]
    thread = await house.storage.async_load_thread(THREAD)
    turn = TurnRecord(id="t", at=dt_util.now(), heard_text="The parrot is hungry")
    house.storage.save_thread(thread.joined(turn))
    assert await found(house, "parrot") == ["The parrot is hungry"]
    house.context.forget(GLOBAL, ["cat"])
    assert await found(house, "Mohrle") == []
    await house.storage.async_remove_thread(THREAD)
    assert await found(house, "parrot") == []
    assert len(house.recollection._index) == 0
    house.storage.close()
    await house.storage.async_flush()


async def test_nothing_is_entered_twice(hass: HomeAssistant) -> None:
    """A search in a memory that did not change costs only the search."""
    house = House(hass)
    house.context.set(GLOBAL, "cat", "Minka")
    assert await found(house, "Minka")
    before = house.recollection._index._next
    assert await found(house, "Minka")
    house.context.set(KITCHEN, "lamp", "on")
    assert await found(house, "lamp")
    assert house.recollection._index._next == before + 1
    house.storage.close()
    await house.storage.async_flush()
