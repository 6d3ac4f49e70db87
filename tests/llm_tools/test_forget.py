"""Forgetting: first what it would be, then exactly that, everywhere and for good."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from homeassistant.helpers import device_registry as dr

from custom_components.realtime_assist import forgetting
from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from tests.loopback import Call, Speech
from tests.loopback.brain import Request
from tests.people import People, act, device_id
from tests.satellite import speech

from .calling import caller, use

if TYPE_CHECKING:
    import pytest

    from tests.home import Home


async def turn(house: Home, words: str, reply: str = "Fine.") -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    house.hears.append(words)
    house.replies.append(reply)
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


async def test_first_it_tells_and_then_it_forgets(house: Home) -> None:
    """Nothing is lost by a misheard word: what would go is said before it goes."""
    who = caller(at=house.kitchen)
    await act(house.hass, "set_memory", scope="global", key="wifi", value="The wifi word is Miezi")
    await act(house.hass, "set_memory", scope="global", key="bins", value="On Thursday")
    asked = await use(house.hass, "forget", who, about="wifi")
    assert [each["about"] for each in asked["would_forget"]] == ["wifi"]
    assert "Miezi" in asked["would_forget"][0]["fact"]
    assert len(house.memory.context.visible((GLOBAL,))) == 2
    done = await use(house.hass, "forget", who, confirm=asked["confirm"])
    assert done == {"forgotten": 1}
    assert [entry.key for entry in house.memory.context.visible((GLOBAL,))] == ["bins"]
    assert house.memory.context.forgotten(GLOBAL, "wifi")
    again = await use(house.hass, "forget", who, confirm=asked["confirm"])
    assert again["error"] == "unknown_confirmation"


async def test_only_what_is_meant(house: Home) -> None:
    """Of several things that fit, the ones that the person names are forgotten."""
    who = caller(at=house.kitchen)
    for key in ("tea one", "tea two", "tea three"):
        await act(house.hass, "set_memory", scope="global", key=key, value="some tea")
    asked = await use(house.hass, "forget", who, about="tea")
    second = asked["would_forget"][1]
    wrong = await use(house.hass, "forget", who, confirm=asked["confirm"], only=[4])
    assert wrong["error"] == "unknown_number"
    asked = await use(house.hass, "forget", who, about="tea")
    await use(house.hass, "forget", who, confirm=asked["confirm"], only=[second["number"]])
    left = {entry.key for entry in house.memory.context.visible((GLOBAL,))}
    assert left == {"tea one", "tea two", "tea three"} - {second["about"]}


async def test_a_yes_holds_for_what_was_shown(house: Home, people: People) -> None:
    """What has changed since, what others were shown, and what is long ago is not forgotten."""
    who = caller(at=house.kitchen)
    await act(house.hass, "set_memory", scope="global", key="wifi", value="The word is Miezi")
    asked = await use(house.hass, "forget", who, about="wifi")
    for other in (caller(at=house.bedroom), caller(user=people.admin), caller()):
        refused = await use(house.hass, "forget", other, confirm=asked["confirm"])
        assert refused["error"] == "unknown_confirmation"
    asked_in_app = await use(house.hass, "forget", caller(user=people.admin), about="wifi")
    refused = await use(house.hass, "forget", caller(), confirm=asked_in_app["confirm"])
    assert refused["error"] == "unknown_confirmation"
    await act(house.hass, "set_memory", scope="global", key="wifi", value="The word is Mauzi")
    refused = await use(house.hass, "forget", who, confirm=asked["confirm"])
    assert refused["error"] == "changed"
    assert (await use(house.hass, "forget", who, about="..."))["error"] == "empty"
    assert (await use(house.hass, "forget", who))["error"] == "empty"
    nothing = await use(house.hass, "forget", who, about="dragons")
    assert nothing["would_forget"] == []
    assert len(house.memory.context.visible((GLOBAL,))) == 1


async def test_a_yes_reaches_no_further_than_the_eye(house: Home) -> None:
    """What cannot be seen any more where the yes is said stays; so does what is read-only."""
    who = caller(at=house.kitchen)
    devices = dr.async_get(house.hass)
    await act(house.hass, "set_memory", area_id="kitchen", key="wifi", value="The word is Miezi")
    asked = await use(house.hass, "forget", who, about="wifi")
    devices.async_update_device(device_id(house.kitchen), area_id="bedroom")
    refused = await use(house.hass, "forget", who, confirm=asked["confirm"])
    assert refused["error"] == "changed"
    devices.async_update_device(device_id(house.kitchen), area_id="kitchen")
    asked = await use(house.hass, "forget", who, about="wifi")
    house.memory.context.guard(lambda _scope: "newer_file")
    refused = await use(house.hass, "forget", who, confirm=asked["confirm"])
    assert refused["error"] == "not_forgotten"
    assert len(house.memory.context.visible((ScopeKey(Scope.AREA, "kitchen"),))) == 1


async def test_a_yes_comes_in_time(house: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that a model finds in an old conversation forgets nothing."""
    monkeypatch.setattr(forgetting, "LIFETIME", timedelta(0))
    await act(house.hass, "set_memory", scope="global", key="wifi", value="The word is Miezi")
    asked = await use(house.hass, "forget", caller(), about="wifi")
    refused = await use(house.hass, "forget", caller(), confirm=asked["confirm"])
    assert refused["error"] == "unknown_confirmation"


async def test_what_was_said_is_forgotten_too(house: Home) -> None:
    """A secret that was only said, and what the house made of it, is gone from everywhere."""
    await turn(house, "my secret number is 4711", "I see.")
    await turn(house, "the cat is in the garden")
    who = caller(at=house.kitchen)
    asked = await use(house.hass, "forget", who, about="secret number")
    assert "4711" in asked["would_forget"][0]["said"]
    only = [asked["would_forget"][0]["number"]]
    done = await use(house.hass, "forget", who, confirm=asked["confirm"], only=only)
    assert done == {"forgotten": 1}
    assert [r.heard_text for r in house.records(house.kitchen)] == ["the cat is in the garden"]
    await turn(house, "what is my secret number")
    assert not any("4711" in text for text in house.server.session.texts())
    spoken = [i for i in house.brain.requests[-1].context if i.audio and i.role == "user"]
    assert len(spoken) == 2


async def test_what_was_recalled_of_it_is_forgotten_as_well(house: Home) -> None:
    """Turns in which the house only repeated it, in quotes of its own, are gone, too."""
    await turn(house, 'my "secret" number is 4711', "I see.")
    recall = [Speech("One moment."), Call(f"{DOMAIN}__recall", '{"about": "secret number"}')]
    house.replies.append(recall)
    await turn(house, "look it up", "I told you.")
    await turn(house, "the cat is in the garden")
    told = house.records(house.kitchen)[1]
    assert "4711" in str(told.calls[0].output)
    key = next(house.assistant.projections()).key
    first = house.records(house.kitchen)[0]
    await house.memory.changes.async_forget_turns({key: [first.id]})
    assert [r.heard_text for r in house.records(house.kitchen)] == ["the cat is in the garden"]


async def test_a_fact_in_quotes_is_forgotten_where_it_was_recalled(house: Home) -> None:
    """Signs that JSON writes in another way hide nothing from forgetting."""
    fact = 'The "wifi" word is Miezi'
    await act(house.hass, "set_memory", scope="global", key="wifi", value=fact)
    recall = [Speech("One moment."), Call(f"{DOMAIN}__recall", '{"about": "wifi"}')]
    house.replies.append(recall)
    await turn(house, "look it up", "It is on your telephone.")
    assert len(house.records(house.kitchen)) == 1
    await act(house.hass, "delete_memory", scope="global", keys=["wifi"])
    assert house.records(house.kitchen) == []


async def test_forgetting_what_was_said_in_one_breath(house: Home) -> None:
    """Also where a model asks and confirms in one turn, its question brings nothing back."""
    await turn(house, "my secret number is 4711", "I see.")

    def confirm(request: Request) -> list[Call]:
        asked = json.loads(next(i.output for i in reversed(request.context) if i.output))
        only = [each["number"] for each in asked["would_forget"] if "4711" in each["said"]]
        arguments = {"confirm": asked["confirm"], "only": only}
        return [Call(f"{DOMAIN}__forget", json.dumps(arguments))]

    house.replies.append([Call(f"{DOMAIN}__forget", '{"about": "secret number"}')])
    house.replies.append(confirm)
    await turn(house, "forget that", "Done.")
    assert house.records(house.kitchen) == []
    await turn(house, "what is my number")
    assert "4711" not in str(house.brain.requests[-1].context)


async def test_a_line_of_a_summary_is_forgotten(house: Home) -> None:
    """What only a summary still knows can be forgotten as well."""
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    await turn(house, "hello")
    await act(house.hass, "update_memory", **where, summary="Anna is afraid of spiders.")
    who = caller(at=house.kitchen)
    asked = await use(house.hass, "forget", who, about="afraid of spiders")
    (line,) = [each for each in asked["would_forget"] if "spiders" in each["said"]]
    await use(house.hass, "forget", who, confirm=asked["confirm"], only=[line["number"]])
    assert (await act(house.hass, "get_memory", **where))["summaries"] == []
    assert len(house.records(house.kitchen)) == 1
