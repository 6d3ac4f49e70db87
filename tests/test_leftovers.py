"""Who or what is gone leaves memory behind that nobody sees: it is moved or deleted by choice."""

from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.components.repairs import repairs_flow_manager
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.house import async_get_house
from custom_components.realtime_assist.memory.context import ScopeRefused
from custom_components.realtime_assist.memory.moving import merged
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.transcript import (
    LineKind,
    Summary,
    SummaryLine,
    Thread,
    ThreadKey,
    TurnRecord,
)
from custom_components.realtime_assist.pipeline.origin import resolve
from tests.people import People, device_id, person_scope
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")


async def looked(hass: HomeAssistant) -> None:
    """Wait until nothing is looked for in the background any more."""
    await hass.async_block_till_done()
    async with async_get_house(hass).leftovers._lock:
        pass


async def shown(hass: HomeAssistant) -> list[ir.IssueEntry]:
    """Return the repairs for what was left behind."""
    await looked(hass)
    return [
        each
        for each in ir.async_get(hass).issues.values()
        if each.domain == DOMAIN and each.translation_key == "memory_left_behind"
    ]


async def fix(hass: HomeAssistant, how: str, typed: dict[str, Any]) -> str:
    """Go through the repair; return how it ended, or why not."""
    assert await async_setup_component(hass, "repairs", {})
    await hass.async_block_till_done()
    manager = repairs_flow_manager(hass)
    assert manager is not None
    [issue] = await shown(hass)
    assert issue.is_fixable
    assert issue.is_persistent
    menu = await manager.async_init(DOMAIN, data={"issue_id": issue.issue_id})
    assert menu["type"] is FlowResultType.MENU
    assert menu["description_placeholders"] == issue.translation_placeholders
    form = await manager.async_configure(menu["flow_id"], {"next_step_id": how})
    assert form["type"] is FlowResultType.FORM
    result = await manager.async_configure(form["flow_id"], typed)
    await looked(hass)
    return result.get("reason") or str(result["type"].value)


async def say(house: Home, words: str) -> None:
    """Say something in the kitchen and hear the reply to its end."""
    house.hears.append(words)
    await house.kitchen.hear(speech(120 - len(house.brain.requests)))
    await house.kitchen.play()
    await house.settled()


def device(house: Home, name: str = "kitchen") -> ScopeKey:
    """Return the scope of a satellite's device."""
    return ScopeKey(Scope.DEVICE, device_id(getattr(house, name)))


def thread(house: Home, scope: ScopeKey) -> ThreadKey:
    """Return which history of our assistant is that of a scope."""
    return ThreadKey(house.assistant.subentry_id, scope)


def remove(house: Home, scope: ScopeKey) -> None:
    """Remove a device from the home."""
    dr.async_get(house.hass).async_remove_device(scope.id)


async def test_a_satellite_that_is_replaced(house: Home) -> None:
    """The new satellite knows what was said to the old one, after what it was told itself."""
    hass, kitchen, bedroom = house.hass, device(house), device(house, "bedroom")
    await say(house, "the cat is called Momo")
    await house.bedroom.hear(speech(30))
    await house.bedroom.play()
    await house.settled()
    context = house.memory.context
    context.set(kitchen, "cat", "Momo")
    context.set(bedroom, "bed", "at ten")
    assert await shown(hass) == []
    remove(house, kitchen)
    [issue] = await shown(hass)
    assert issue.translation_placeholders == {"name": "kitchen"}
    assert await fix(hass, "move", {"target": bedroom.id}) == "create_entry"
    assert await shown(hass) == []
    assert [entry.key for entry in context.visible((bedroom,))] == ["bed", "cat"]
    assert context.visible((kitchen,)) == ()
    told = house.memory.thread(thread(house, bedroom))
    assert [turn.number for turn in told.turns] == [1, 2]
    assert told.turns[0].heard_text == "the cat is called Momo"
    assert not house.memory.thread(thread(house, kitchen)).turns
    house.hears.append("what is the cat called")
    await house.bedroom.hear(speech(31))
    await house.bedroom.play()
    assert "Momo" in "\n".join(house.brain.requests[-1].texts())


async def test_a_satellite_that_is_thrown_away(house: Home) -> None:
    """What belonged to it can be deleted, and is gone from everywhere."""
    hass, kitchen = house.hass, device(house)
    await say(house, "the cat is called Momo")
    house.memory.context.set(kitchen, "cat", "Momo")
    remove(house, kitchen)
    assert await fix(hass, "delete", {}) == "create_entry"
    assert await shown(hass) == []
    assert house.memory.context.scopes() == ()
    assert not house.memory.thread(thread(house, kitchen)).turns


async def test_a_room_that_is_no_more(house: Home) -> None:
    """What belonged to a room is moved to another; of two facts of one name the newer stays."""
    hass, areas, context = house.hass, ar.async_get(house.hass), house.memory.context
    old, new = areas.async_create("Old room"), areas.async_create("New room")
    await shown(hass)
    old_scope, new_scope = ScopeKey(Scope.AREA, old.id), ScopeKey(Scope.AREA, new.id)
    context.set(new_scope, "lamp", "broken")
    context.set(old_scope, "lamp", "mended")
    context.set(old_scope, "window", "squeaks")
    context.set(new_scope, "window", "is new")
    areas.async_delete(old.id)
    [issue] = await shown(hass)
    assert issue.translation_placeholders == {"name": "Old room"}
    assert await fix(hass, "move", {"target": "no_room"}) == "target_gone"
    assert await fix(hass, "move", {"target": new.id}) == "create_entry"
    assert [entry.value for entry in context.visible((new_scope,))] == ["mended", "is new"]
    assert context.scopes() == (new_scope,)


async def test_a_person_who_left(house: Home, people: People) -> None:
    """What one said alone in a history of all is found too, and deleted or given to another."""
    hass, kitchen = house.hass, device(house)
    anna, tom = person_scope(hass, people.anna), person_scope(hass, people.tom)
    key = thread(house, kitchen)
    await house.memory.storage.async_load_thread(key)
    for name, scope in (("anna", anna), ("tom", tom)):
        record = TurnRecord(
            id=name, at=dt_util.now(), heard_text=f"I am {name}", audience=audience(scope)
        )
        house.memory.join(key, record, 1500)
    await shown(hass)
    house.memory.leftovers.look()
    assert await shown(hass) == []
    for name in ("anna", "tom"):
        er.async_get(hass).async_remove(f"person.{name}")
        hass.states.async_remove(f"person.{name}")
        [issue] = await shown(hass)
        assert issue.translation_placeholders == {"name": name.capitalize()}
        if name == "anna":
            assert await fix(hass, "move", {"target": tom.id}) == "create_entry"
            turns = house.memory.thread(key).turns
            assert [turn.audience for turn in turns] == [audience(tom)] * 2
    assert await fix(hass, "delete", {}) == "create_entry"
    assert house.memory.thread(key).turns == ()


async def test_a_speaker_who_is_deleted_or_becomes_a_person(house: Home, people: People) -> None:
    """What belongs to a speaker without a person is not lost when that changes."""
    hass = house.hass
    speaker = ConfigSubentry(
        data=MappingProxyType({"name": "Gran"}),
        subentry_type="speaker",
        title="Gran",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(house.entry, speaker)
    gran = ScopeKey(Scope.SPEAKER, speaker.subentry_id)
    house.memory.context.set(gran, "tea", "Assam")
    assert await shown(hass) == []
    hass.config_entries.async_remove_subentry(house.entry, speaker.subentry_id)
    [issue] = await shown(hass)
    assert issue.translation_placeholders == {"name": "Gran"}
    anna = person_scope(hass, people.anna)
    assert await fix(hass, "move", {"target": anna.id}) == "create_entry"
    assert house.memory.context.get((anna,), "tea") is not None


async def test_what_comes_back_needs_no_repair(house: Home) -> None:
    """A device that is added again has its memory again, and nothing is asked."""
    hass, kitchen = house.hass, device(house)
    made, owner = dr.async_get(hass).async_get(kitchen.id), house.kitchen.platform.config_entry
    assert owner is not None
    assert made is not None
    house.memory.context.set(kitchen, "cat", "Momo")
    remove(house, kitchen)
    assert await shown(hass)
    dr.async_get(hass).async_get_or_create(
        config_entry_id=owner.entry_id, identifiers=made.identifiers
    )
    assert await shown(hass) == []


async def test_the_last_account_takes_the_repairs_with_it(house: Home) -> None:
    """Who removes the integration is asked nothing about memory that is gone."""
    hass, kitchen = house.hass, device(house)
    house.memory.context.set(kitchen, "cat", "Momo")
    remove(house, kitchen)
    assert await shown(hass)
    await hass.config_entries.async_remove(house.entry.entry_id)
    assert await shown(hass) == []


@pytest.mark.parametrize(("how", "typed"), [("move", True), ("delete", False)])
async def test_memory_that_must_not_be_changed(house: Home, *, how: str, typed: bool) -> None:
    """Memory that a newer version wrote is neither moved nor deleted, and the form says so."""
    hass, kitchen = house.hass, device(house)
    house.memory.context.set(kitchen, "cat", "Momo")
    remove(house, kitchen)
    house.memory.context.guard(lambda _scope: "newer_file")
    target = {"target": device(house, "bedroom").id} if typed else {}
    assert await fix(hass, how, target) == "read_only"
    assert house.memory.context.get((kitchen,), "cat") is not None
    with pytest.raises(ScopeRefused):
        await house.memory.leftovers.async_delete(kitchen)


async def test_a_satellite_that_moves_keeps_its_memory_and_sees_the_new_room(house: Home) -> None:
    """Renamed, or carried to another room, a satellite is the same, and hears of the new room."""
    hass, context = house.hass, house.memory.context
    areas, before = ar.async_get(hass), resolve(hass, house.kitchen.entity_id, None)
    garage = areas.async_create("Garage")
    assert before.area_id is not None
    context.set(ScopeKey(Scope.AREA, before.area_id), "stove", "gas")
    context.set(ScopeKey(Scope.AREA, garage.id), "gate", "jammed")
    context.set(device(house), "cat", "Momo")
    await say(house, "my name is Anna")
    er.async_get(hass).async_update_entity(
        house.kitchen.entity_id, new_entity_id="assist_satellite.den"
    )
    dr.async_get(hass).async_update_device(device(house).id, area_id=garage.id, name_by_user="Den")
    areas.async_update(garage.id, name="Den")
    await hass.async_block_till_done()
    await say(house, "what is my name")
    told = "\n".join(house.brain.requests[-1].texts())
    assert "jammed" in told
    assert "Momo" in told
    assert "gas" not in told
    assert "Room: Den" in told
    assert [turn.heard_text for turn in house.records(house.kitchen)] == [
        "my name is Anna",
        "what is my name",
    ]
    assert await shown(hass) == []


def test_two_histories_with_summaries_become_one() -> None:
    """Nothing that was summed up or said is lost when histories meet, and numbers still fit."""
    kitchen = ScopeKey(Scope.DEVICE, "kitchen")
    now = dt_util.utcnow()

    def history(name: str) -> Thread:
        line = SummaryLine(kind=LineKind.FACT, text=name, turns=(1, 2))
        made = Thread(
            key=ThreadKey("one", ScopeKey(Scope.DEVICE, name)),
            summary=Summary(lines=(line,), upto=2, made_by="test", at=now),
            next_number=3,
            revision=4,
        )
        return made.joined(TurnRecord(id=name, at=now + timedelta(seconds=len(name))))

    both = merged(history("old"), history("newer"), ThreadKey("one", kitchen))
    assert both.key.scope == kitchen
    assert [(turn.id, turn.number) for turn in both.turns] == [("old", 3), ("newer", 6)]
    assert both.summary is not None
    assert both.summary.upto == 2
    assert [(line.text, line.turns) for line in both.summary.lines] == [
        ("old", (1, 2)),
        ("newer", (4, 5)),
    ]
    assert (both.next_number, both.revision) == (7, 5)
    assert both.last_at == now + timedelta(seconds=5)
