"""Remembering: in the right scope, once, and never for a person who is not known."""

import asyncio
import unicodedata
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import pytest
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from tests.people import People, act, device_id, person_scope
from tests.satellite import speech

from .calling import caller, use

if TYPE_CHECKING:
    from tests.home import Home


async def test_a_fact_goes_where_the_model_says(house: Home, people: People) -> None:
    """What is for the room, the device, the person or the home is told there and nowhere else."""
    kitchen = caller(at=house.kitchen)
    phone = caller(user=people.anna)
    for who, scope, key in (
        (kitchen, "room", ScopeKey(Scope.AREA, "kitchen")),
        (kitchen, "device", ScopeKey(Scope.DEVICE, device_id(house.kitchen))),
        (kitchen, "home", GLOBAL),
        (phone, "person", person_scope(house.hass, people.anna)),
    ):
        done = await use(
            house.hass, "remember", who, about=f"a {scope}", fact=f"for the {scope}", scope=scope
        )
        assert done == {"result": "remembered", "scope": scope, "about": f"a {scope}"}
        (entry,) = house.memory.context.visible((key,))
        assert (entry.value, entry.source) == (f"for the {scope}", "assistant")


async def test_what_one_agent_remembers_another_knows_at_once(house: Home) -> None:
    """What is told to the agent in the app is known in the conversation in the kitchen."""
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    await asyncio.sleep(0.2)
    await use(house.hass, "remember", caller(), about="bins", fact="They go out on Thursday")
    await house.until(lambda: any("Thursday" in text for text in house.server.session.texts()), 1)


async def test_what_no_scope_was_said_for_is_told_to_the_fewest(
    house: Home, people: People
) -> None:
    """A model that does not say for whom keeps it to the device, or to the person who is known."""
    for who, scope in (
        (caller(at=house.kitchen), "device"),
        (caller(user=people.anna), "person"),
        (caller(user=people.admin), "home"),
        (caller(), "home"),
    ):
        done = await use(house.hass, "remember", who, about=scope, fact="something to know")
        assert done["scope"] == scope


async def test_nobody_is_known_at_a_satellite(house: Home, people: People) -> None:
    """A satellite's run proves nobody, whatever user it carries: nothing personal is written."""
    for user in (None, people.anna, people.system):
        who = caller(at=house.kitchen, user=user)
        done = await use(
            house.hass, "remember", who, about="tea", fact="Anna likes Assam", scope="person"
        )
        assert done["error"] == "unknown_scope"
    assert not house.memory.context.scopes()


@pytest.mark.parametrize(
    ("about", "fact"),
    [
        ("Café", "Le CAFÉ ouvre à huit heures"),
        ("cafe", "le cafe\u0301 ouvre à huit heures."),
        ("CAFÉ", "Le cafe ouvre  a huit heures!"),
        ("opening time", "Le café ouvre à huit heures"),
        ("the café", "Café: le café ouvre à huit heures"),
    ],
)
async def test_a_fact_told_again_is_one_entry(house: Home, about: str, fact: str) -> None:
    """Case, accents, Unicode form and another name make no second fact."""
    who = caller(at=house.kitchen)
    first = {"about": "Café", "fact": "Le café ouvre à huit heures"}
    for scope in ("home", "device"):
        await use(house.hass, "remember", who, **first, scope=scope)
    known = await use(house.hass, "remember", who, about=about, fact=fact, scope="device")
    assert known["result"] == "already_known"
    (entry,) = house.memory.context.visible((GLOBAL, *who_sees(house)))
    assert (entry.key, entry.version) == ("Café", 1)


async def test_a_fact_told_a_hundred_times_is_one_entry(house: Home) -> None:
    """However often and however written a family says the same, it is remembered once."""
    who, facts = caller(at=house.kitchen), ("Der Müll kommt am Dienstag", "Le café ouvre à huit")
    forms: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
    for number in range(100):
        text = unicodedata.normalize(forms[number % 4], facts[number % 2])
        told = (text.upper, text.lower, text.title, text.swapcase, text.casefold)[number % 5]()
        name = ("Müll", "Café")[number % 2]
        done = await use(
            house.hass,
            "remember",
            who,
            about=(name.upper, name.lower)[number // 7 % 2](),
            fact=f"  {told}{('', '.', '!')[number % 3]} ",
            scope="home",
        )
        assert done.get("result") == ("remembered" if number < 2 else "already_known")
    assert [entry.version for entry in house.memory.context.visible((GLOBAL,))] == [1, 1]


def who_sees(house: Home) -> tuple[ScopeKey, ...]:
    """Return the scopes of the kitchen."""
    return (ScopeKey(Scope.DEVICE, device_id(house.kitchen)), ScopeKey(Scope.AREA, "kitchen"))


async def test_a_contradiction_replaces_and_keeps_what_was(house: Home) -> None:
    """A correction counts, wherever the fact is kept, and the old value can be looked up."""
    who = caller(at=house.kitchen)
    await use(house.hass, "remember", who, about="Bins", fact="On Tuesday", scope="home")
    done = await use(house.hass, "remember", who, about="bins", fact="On Thursday")
    assert done == {"result": "replaced", "scope": "home", "about": "Bins"}
    (entry,) = house.memory.context.visible((GLOBAL, *who_sees(house)))
    assert (entry.value, entry.version) == ("On Thursday", 2)
    assert [old.value_json for old in entry.previous] == ['"On Tuesday"']


async def test_a_number_is_not_the_same_as_another(house: Home) -> None:
    """Signs that mean something make another fact."""
    who = caller(at=house.kitchen)
    for fact in ("The cellar has 3.5 degrees", "The cellar has 35 degrees", "The cellar has -35 C"):
        done = await use(house.hass, "remember", who, about="cellar", fact=fact)
        assert done["result"] in ("remembered", "replaced")
    short = [await use(house.hass, "remember", who, about=a, fact="yes") for a in ("gate", "door")]
    assert [each["result"] for each in short] == ["remembered", "remembered"]


async def test_what_was_recalled_is_not_learned_again(house: Home) -> None:
    """A model that repeats what it looked up makes no second memory of it."""
    who = caller(at=house.kitchen)
    await act(house.hass, "set_memory", scope="global", key="bin_day", value="The bins go Thursday")
    (fact,) = (await use(house.hass, "recall", who, about="bins"))["facts"]
    for scope in ("home", "room"):
        again = await use(
            house.hass, "remember", who, about="rubbish", fact=fact["fact"], scope=scope
        )
        assert again["result"] == "already_known"
        again = await use(
            house.hass,
            "remember",
            who,
            about="rubbish",
            scope=scope,
            fact=f"{fact['about']}: {fact['fact']}",
        )
        assert again["result"] == "already_known"
    assert len(house.memory.context.visible((GLOBAL, *who_sees(house)))) == 1


async def test_for_some_hours_only(house: Home) -> None:
    """What holds for today is over tomorrow; said again without an end, it stays."""
    who = caller(at=house.kitchen)
    fact = {"about": "guests", "fact": "Tom sleeps in the guest room"}
    await use(house.hass, "remember", who, **fact, hours=2)
    (entry,) = house.memory.context.visible(who_sees(house))
    assert entry.expires_at is not None
    assert timedelta(hours=1.9) < entry.expires_at - dt_util.utcnow() <= timedelta(hours=2)
    await use(house.hass, "remember", who, **fact)
    (entry,) = house.memory.context.visible(who_sees(house))
    assert entry.expires_at is None


async def test_what_cannot_be_kept_is_told(house: Home) -> None:
    """A model is told when nothing was remembered, and does not promise it."""
    who = caller(at=house.kitchen)
    done = await use(house.hass, "remember", who, about=" ", fact="something")
    assert done["error"] == "empty"
    done = await use(house.hass, "remember", who, about="a", fact="half \ud83d")
    assert done["error"] == "not_kept"
    house.memory.context.guard(lambda _scope: "newer_file")
    done = await use(house.hass, "remember", who, about="a", fact="something")
    assert done["error"] == "not_kept"
