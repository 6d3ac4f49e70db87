"""Going back: an entry shows what it was before, and can be that again."""

from typing import Any

import pytest
from homeassistant.exceptions import ServiceValidationError

from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.writing import MAX_PREVIOUS
from tests.home import Home
from tests.people import People, act
from tests.satellite import speech

HOME: dict[str, Any] = {"scope": "global", "key": "bins"}


async def bins(house: Home) -> dict[str, Any]:
    """Return the entry as it is read."""
    (entry,) = (await act(house.hass, "get_memory", scope="global", keys=["bins"]))["entries"]
    return dict(entry)


async def test_an_entry_goes_back_to_any_version_that_is_kept(house: Home) -> None:
    """A wrong change is undone: the old value counts again, as a version of its own."""
    for value in ("Monday", ["Tuesday"], {"day": "Wednesday"}):
        await act(house.hass, "set_memory", **HOME, value=value, tags=["home"], priority=2)
    before = await bins(house)
    assert [(old["version"], old["value"]) for old in before["previous"]] == [
        (1, "Monday"),
        (2, ["Tuesday"]),
    ]
    assert all(old["at"] <= before["updated"] for old in before["previous"])
    done = await act(house.hass, "set_memory", **HOME, version=1)
    (entry,) = done["entries"]
    assert (entry["value"], entry["version"]) == ("Monday", 4)
    assert [(old["version"], old["value"]) for old in entry["previous"]] == [
        (1, "Monday"),
        (2, ["Tuesday"]),
        (3, {"day": "Wednesday"}),
    ]
    assert (entry["tags"], entry["priority"]) == (["home"], 2)
    again = await act(house.hass, "set_memory", **HOME, version=3, pinned=True)
    assert again["entries"][0]["value"] == {"day": "Wednesday"}
    assert again["entries"][0]["pinned"] is True
    same = await act(house.hass, "set_memory", **HOME, version=5)
    assert same["entries"][0]["version"] == 5


async def test_the_open_session_goes_back_too(house: Home) -> None:
    """The conversation that is going on is told the old value again, and only that."""
    await act(house.hass, "set_memory", **HOME, value="on Monday")
    await act(house.hass, "set_memory", **HOME, value="on Friday")
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    done = await act(house.hass, "set_memory", **HOME, version=1)
    assert [each["state"] for each in done["sessions"]] == ["updated"]
    newest = [text for text in house.server.session.texts() if 'kind="facts"' in text][-1]
    assert "on Monday" in newest
    assert "on Friday" not in newest


async def test_a_version_that_there_is_not(house: Home) -> None:
    """Whoever asks for the wrong version is told, and nothing is changed."""
    for value in ("Monday", "Tuesday"):
        await act(house.hass, "set_memory", **HOME, value=value)
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"version": 3}, "unknown_version"),
        ({"version": 1, "value": "Monday"}, "value_or_version"),
        ({}, "value_or_version"),
    )
    for data, key in wrong:
        with pytest.raises(ServiceValidationError) as caught:
            await act(house.hass, "set_memory", **HOME, **data)
        assert caught.value.translation_key == key
    assert ((await bins(house))["value"], (await bins(house))["version"]) == ("Tuesday", 2)


async def test_all_places_go_back_or_none(house: Home) -> None:
    """Where one of several places never had that version, none of them changes."""
    places: dict[str, Any] = {"area_id": ["kitchen", "bedroom"]}
    await act(house.hass, "set_memory", **places, key="lamp", value="old")
    await act(house.hass, "set_memory", area_id="kitchen", key="lamp", value="new")
    with pytest.raises(ServiceValidationError):
        await act(house.hass, "set_memory", **places, key="lamp", version=2)
    held = house.memory.context.get((ScopeKey(Scope.AREA, "kitchen"),), "lamp")
    assert held is not None
    assert held.value == "new"
    await act(house.hass, "set_memory", **places, key="lamp", version=1)
    found = await act(house.hass, "get_memory", **places)
    assert [entry["value"] for entry in found["entries"]] == ["old", "old"]


async def test_what_is_too_long_ago_or_forgotten_does_not_come_back(house: Home) -> None:
    """Versions have numbers that stay; the oldest are let go, and forgetting takes all of them."""
    for number in range(MAX_PREVIOUS + 3):
        await act(house.hass, "set_memory", **HOME, value=number)
    entry = await bins(house)
    assert [old["version"] for old in entry["previous"]] == list(range(3, MAX_PREVIOUS + 3))
    assert [old["value"] for old in entry["previous"]] == list(range(2, MAX_PREVIOUS + 2))
    with pytest.raises(ServiceValidationError):
        await act(house.hass, "set_memory", **HOME, version=2)
    await act(house.hass, "delete_memory", scope="global", keys=["bins"])
    for version in (1, MAX_PREVIOUS):
        with pytest.raises(ServiceValidationError) as caught:
            await act(house.hass, "set_memory", **HOME, version=version)
        assert caught.value.translation_key == "unknown_version"
    assert house.memory.context.get((GLOBAL,), "bins") is None


async def test_nobody_else_sees_or_undoes_what_is_a_persons_own(
    house: Home, people: People
) -> None:
    """Earlier values are as private as the one that counts."""
    own: dict[str, Any] = {"entity_id": "person.anna", "key": "tea"}
    for value in ("Assam", "Darjeeling"):
        await act(house.hass, "set_memory", user=people.anna, **own, value=value)
    with pytest.raises(ServiceValidationError) as caught:
        await act(house.hass, "set_memory", user=people.tom, **own, version=1)
    assert caught.value.translation_key == "not_your_memory"
    back = await act(house.hass, "set_memory", user=people.anna, **own, version=1)
    assert back["entries"][0]["value"] == "Assam"
