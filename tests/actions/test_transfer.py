"""Export and import: a copy of the memory, and what becomes of what is there."""

import asyncio
import json
from typing import Any

import pytest
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord
from tests.home import Home
from tests.people import People, act, device_id, person_scope
from tests.satellite import speech


async def turn(house: Home, words: str) -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    house.hears.append(words)
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


async def exported(house: Home, people: People, **data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return an export as it comes out of a file."""
    made = await act(house.hass, "export_memory", user=people.admin, **data)
    copy: dict[str, Any] = json.loads(json.dumps(made))
    return copy


async def test_what_is_exported_can_be_imported_again(house: Home, people: People) -> None:
    """A home that lost its memory gets it back, versions, people and conversations included."""
    await turn(house, "my name is Anna")
    await act(house.hass, "set_memory", scope="global", key="bins", value="Tuesday")
    await act(house.hass, "set_memory", scope="global", key="bins", value="Thursday")
    await act(
        house.hass,
        "set_memory",
        user=people.anna,
        entity_id="person.anna",
        key="tea",
        value="Assam",
    )
    before = house.memory.context.visible((GLOBAL, person_scope(house.hass, people.anna)))
    copy = await exported(house, people, everything=True, history=True)
    assert (copy["format"], copy["version"]) == ("realtime_assist.memory", 1)
    await act(house.hass, "clear_memory", scope="global")
    await act(house.hass, "clear_memory", user=people.anna, entity_id="person.anna")
    await act(house.hass, "clear_memory", device_id=device_id(house.kitchen), history=True)
    assert not house.memory.context.scopes()
    tried = await act(house.hass, "import_memory", user=people.admin, data=copy, dry_run=True)
    assert not house.memory.context.scopes()
    done = await act(house.hass, "import_memory", user=people.admin, data=copy)
    assert {**tried, "dry_run": False} == done
    assert done["entries"] == {"set": 2, "unchanged": 0, "older": 0, "forgotten": 0}
    assert done["threads"] == {"set": 1, "kept": 0}
    after = house.memory.context.visible((GLOBAL, person_scope(house.hass, people.anna)))
    assert [e.to_dict() for e in after] == [e.to_dict() for e in before]
    assert [r.heard_text for r in house.records(house.kitchen)] == ["my name is Anna"]
    await turn(house, "what is my name")
    assert any("my name is Anna" in text for text in house.server.session.texts())
    again = await act(house.hass, "import_memory", user=people.admin, data=copy)
    assert again["entries"] == {"set": 0, "unchanged": 2, "older": 0, "forgotten": 0}


async def test_merging_keeps_what_is_newer_and_replacing_does_not(
    house: Home, people: People
) -> None:
    """Who imports an old copy decides what becomes of what happened since."""
    await act(house.hass, "set_memory", scope="global", key="bins", value="Tuesday")
    copy = await exported(house, people, scope="global")
    await act(house.hass, "set_memory", scope="global", key="bins", value="Thursday")
    await act(house.hass, "set_memory", scope="global", key="cat", value="Miezi")
    merged = await act(house.hass, "import_memory", data=copy)
    assert merged["entries"] == {"set": 0, "unchanged": 0, "older": 1, "forgotten": 0}
    assert {e.key: e.value for e in house.memory.context.visible((GLOBAL,))} == {
        "bins": "Thursday",
        "cat": "Miezi",
    }
    replaced = await act(house.hass, "import_memory", data=copy, mode="replace")
    assert replaced["entries"] == {"set": 1, "unchanged": 0, "older": 0, "forgotten": 1}
    assert {e.key: e.value for e in house.memory.context.visible((GLOBAL,))} == {"bins": "Tuesday"}


async def test_an_import_reaches_the_session_that_is_open(house: Home, people: People) -> None:
    """The conversation that is going on knows what was imported."""
    await act(house.hass, "set_memory", scope="global", key="bins", value="Thursday")
    copy = await exported(house, people, scope="global")
    await act(house.hass, "clear_memory", scope="global")
    await turn(house, "hello")
    await asyncio.sleep(0.2)
    await act(house.hass, "import_memory", data=copy)
    await house.until(lambda: any("Thursday" in text for text in house.server.session.texts()), 1)


async def test_a_history_that_is_replaced_leaves_the_open_session(
    house: Home, people: People
) -> None:
    """What was said since the copy was made is not held by the provider either."""
    await turn(house, "my name is Anna")
    where = {"device_id": device_id(house.kitchen)}
    copy = await exported(house, people, **where, history=True)
    await turn(house, "the code is 4711")
    await act(house.hass, "import_memory", user=people.admin, data=copy, mode="replace")
    assert [r.heard_text for r in house.records(house.kitchen)] == ["my name is Anna"]
    await turn(house, "what is my name")
    seen = house.brain.requests[-1].context
    assert len([item for item in seen if item.audio and item.role == "user"]) == 1
    assert "4711" not in str(seen)


async def test_only_administrators_export_everything(house: Home, people: People) -> None:
    """Nobody carries the whole memory of a home away who does not administer it."""
    for user in (people.anna, people.system, None):
        with pytest.raises(ServiceValidationError) as caught:
            await act(house.hass, "export_memory", user=user, everything=True)
        assert caught.value.translation_key == "administrators_only"


async def test_what_a_person_said_is_exported_for_that_person(house: Home, people: People) -> None:
    """Tom's copy of the kitchen's conversations holds nothing that Anna said in private."""
    key = ThreadKey(house.assistant.subentry_id, ScopeKey(Scope.DEVICE, device_id(house.kitchen)))
    thread = await house.memory.storage.async_load_thread(key)
    anna = audience(person_scope(house.hass, people.anna))
    record = TurnRecord(id="t", at=dt_util.now(), heard_text="secret", audience=anna)
    house.memory.storage.save_thread(thread.joined(record))
    where: dict[str, Any] = {"device_id": device_id(house.kitchen), "history": True}
    assert "secret" not in str(await act(house.hass, "export_memory", user=people.tom, **where))
    copy = await exported(house, people, **where)
    assert "secret" in str(copy)
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "import_memory", user=people.tom, data=copy)
    assert caught.value.translation_key == "not_your_memory"


GOOD = {"format": "realtime_assist.memory", "version": 1, "scopes": []}
HOME = {"scope": "global", "scope_id": "home", "entries": []}


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({}, "import_unknown"),
        ({**GOOD, "version": "1"}, "import_unknown"),
        ({**GOOD, "version": 2}, "import_newer"),
        (GOOD, "empty_filter"),
        ({**GOOD, "scopes": 7}, "import_damaged"),
        ({**GOOD, "scopes": [{"scope": "moon", "scope_id": "x", "entries": []}]}, "import_damaged"),
        ({**GOOD, "scopes": [{**HOME, "scope": "session"}]}, "import_damaged"),
        ({**GOOD, "scopes": [{**HOME, "entries": [{"key": "a"}]}]}, "import_damaged"),
        ({**GOOD, "threads": [{"key": "x/global:home"}]}, "import_damaged"),
        ({**GOOD, "scopes": [{**HOME, "scope": "speaker"}]}, "not_your_memory"),
    ],
)
async def test_a_damaged_export_changes_nothing(
    house: Home, data: dict[str, Any], key: str
) -> None:
    """Whoever imports the wrong file is told, and nothing of it is taken over."""
    await act(house.hass, "set_memory", scope="global", key="cat", value="Miezi")
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "import_memory", data=data, mode="replace")
    assert caught.value.translation_key == key
    assert [e.value for e in house.memory.context.visible((GLOBAL,))] == ["Miezi"]


async def test_one_entry_that_cannot_be_kept_stops_the_import(house: Home, people: People) -> None:
    """An import is done whole or not at all."""
    await act(house.hass, "set_memory", scope="global", key="a", value="one")
    await act(house.hass, "set_memory", scope="global", key="b", value="two")
    copy = await exported(house, people, scope="global")
    copy["scopes"][0]["entries"][1]["value"] = "x" * 20_000
    await act(house.hass, "clear_memory", scope="global")
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "import_memory", data=copy)
    assert caught.value.translation_key == "invalid_options"
    assert not house.memory.context.scopes()
    house.memory.context.guard(lambda _scope: "newer_file")
    copy["scopes"][0]["entries"][1]["value"] = "two"
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "import_memory", data=copy)
    assert caught.value.translation_key == "storage_read_only"
