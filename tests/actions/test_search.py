"""Searching: over exactly the scopes that are named, and what their caller may see."""

from typing import Any

from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord
from tests.home import Home
from tests.people import People, act, device_id, person_scope


async def test_facts_are_found_by_any_form_of_their_words(house: Home) -> None:
    """Nobody has to know the exact words or names."""
    for key, value in (("bin_collection", "Die Mülltonnen kommen am Donnerstag"), ("cat", "Miezi")):
        await act(house.hass, "set_memory", scope="global", key=key, value=value, tags=["home"])
    (hit,) = (await act(house.hass, "search_memory", scope="global", query="mulltonne"))["hits"]
    assert (hit["kind"], hit["entry"]["key"]) == ("entry", "bin_collection")
    assert hit["score"] > 0
    by_key = await act(house.hass, "search_memory", scope="global", key="BIN*")
    assert [each["entry"]["key"] for each in by_key["hits"]] == ["bin_collection"]
    by_tag = await act(house.hass, "search_memory", scope="global", tags=["home"], limit=1)
    assert len(by_tag["hits"]) == 1
    by_source = await act(house.hass, "search_memory", scope="global", source="assistant")
    assert by_source["hits"] == []
    other = await act(house.hass, "search_memory", area_id="kitchen", query="mulltonne")
    assert other["hits"] == []


async def test_what_was_forgotten_is_not_found(house: Home) -> None:
    """The index keeps nothing that the memory has lost."""
    await act(house.hass, "set_memory", scope="global", key="code", value="The code is 4711")
    assert (await act(house.hass, "search_memory", scope="global", query="code"))["hits"]
    await act(house.hass, "set_memory", scope="global", key="code", value="It is 1234 now")
    old = await act(house.hass, "search_memory", scope="global", query="4711")
    assert old["hits"] == []
    await act(house.hass, "delete_memory", scope="global", keys=["code"])
    assert (await act(house.hass, "search_memory", scope="global", query="code"))["hits"] == []


async def test_what_one_person_said_is_found_by_that_person(house: Home, people: People) -> None:
    """Anna's words in a shared room are not found by Tom, nor by an automation."""
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    scope = ScopeKey(Scope.DEVICE, device_id(house.kitchen))
    key = ThreadKey(house.assistant.subentry_id, scope)
    thread = await house.memory.storage.async_load_thread(key)
    records = (
        TurnRecord(id="t1", at=dt_util.now(), heard_text="The doctor is on the second floor"),
        TurnRecord(
            id="t2",
            at=dt_util.now(),
            heard_text="My doctor says I may go home",
            audience=audience(person_scope(house.hass, people.anna)),
            speaker="Anna",
        ),
    )
    for record in records:
        thread = thread.joined(record)
    house.memory.storage.save_thread(thread)
    for number in range(3):
        await act(
            house.hass,
            "set_memory",
            user=people.anna,
            entity_id="person.anna",
            key=f"doctor {number}",
            value="doctor, doctor",
        )
    best = await act(
        house.hass, "search_memory", user=people.anna, **where, query="doctor", limit=1
    )
    assert [hit["scope"] for hit in best["hits"]] == ["device"]
    for user, turns in (
        (people.anna, {"t1", "t2"}),
        (people.admin, {"t1", "t2"}),
        (people.tom, {"t1"}),
        (people.system, {"t1"}),
        (None, {"t1"}),
    ):
        hits = (await act(house.hass, "search_memory", user=user, **where, query="doctor"))["hits"]
        assert {hit["turn"] for hit in hits} == turns
        facts = await act(
            house.hass, "search_memory", user=user, **where, query="doctor", history=False
        )
        assert facts["hits"] == []
