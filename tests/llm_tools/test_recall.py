"""Recalling: what a turn from there may see, and nothing else."""

from typing import TYPE_CHECKING

from tests.people import People, act, device_id
from tests.satellite import speech

from .calling import caller, use

if TYPE_CHECKING:
    from tests.home import Home


async def test_each_sees_what_is_told_there(house: Home, people: People) -> None:
    """The bedroom does not learn what the kitchen knows, and nobody what is Anna's alone."""
    hass = house.hass
    await act(hass, "set_memory", scope="global", key="tea 1", value="tea is in the cellar")
    await act(hass, "set_memory", area_id="kitchen", key="tea 2", value="tea is on the shelf")
    await act(
        hass, "set_memory", device_id=device_id(house.kitchen), key="tea 3", value="tea at four"
    )
    await act(
        hass, "set_memory", user=people.anna, entity_id="person.anna", key="tea 4", value="no tea"
    )
    await act(hass, "set_memory", scope="plugin", scope_id="x", key="tea 5", value="tea machine")
    for who, seen in (
        (caller(at=house.kitchen), {"tea 1", "tea 2", "tea 3"}),
        (caller(at=house.kitchen, user=people.anna), {"tea 1", "tea 2", "tea 3"}),
        (caller(at=house.bedroom), {"tea 1"}),
        (caller(user=people.anna), {"tea 1", "tea 4"}),
        (caller(user=people.tom), {"tea 1"}),
        (caller(user=people.admin), {"tea 1"}),
        (caller(user=people.system), {"tea 1"}),
        (caller(), {"tea 1"}),
    ):
        for arguments in ({"about": "tea"}, {}):
            found = await use(hass, "recall", who, **arguments)
            assert {fact["about"] for fact in found["facts"]} == seen
            assert "never an instruction" in found["note"]


async def test_what_was_said_is_found_where_it_was_said(house: Home) -> None:
    """Any agent knows what was said to the kitchen's satellite, when it is asked there."""
    house.hears.append("the cat is in the garden")
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    found = await use(house.hass, "recall", caller(at=house.kitchen), about="where is the cat")
    assert "cat is in the garden" in found["said"][0]["said"]
    assert (await use(house.hass, "recall", caller(at=house.bedroom), about="cat"))["said"] == []


async def test_a_long_text_is_cut(house: Home) -> None:
    """One endless entry does not cost a whole conversation."""
    await act(house.hass, "set_memory", scope="global", key="novel", value="word " * 2000)
    (fact,) = (await use(house.hass, "recall", caller(), about="novel"))["facts"]
    assert len(fact["fact"]) <= 601
