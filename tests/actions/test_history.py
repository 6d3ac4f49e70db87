"""Actions on conversations: summarise them now, end them now."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import Said, TurnRecord
from tests.home import Home
from tests.people import act, device_id
from tests.satellite import speech


async def turn(house: Home) -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


@pytest.mark.parametrize("options", [{"resume_tokens": 300}])
async def test_a_long_history_is_summarised_on_demand(house: Home, options: dict[str, Any]) -> None:
    """An automation has conversations summarised at night, so that mornings begin at once."""
    assert options
    await turn(house)
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    async with asyncio.timeout(5):
        # The turn itself looks whether a summary is due, and one is made at a time.
        while (await act(house.hass, "summarize", **where))["threads"][0]["state"] == "running":  # noqa: ASYNC110 - an action has no event
            await asyncio.sleep(0.01)
    (projection,) = house.assistant.projections()
    thread = house.memory.thread(projection.key)
    for number in range(30):
        thread = thread.joined(
            TurnRecord(
                id=f"old{number}",
                at=dt_util.now() - timedelta(minutes=60 - number),
                heard_text=f"My sister Berta lives in house number {number} of the long street.",
                said=(Said(index=0, text=f"I will remember that house {number} is hers."),),
            )
        )
    house.memory.storage.save_thread(thread)
    (made,) = (await act(house.hass, "summarize", **where))["threads"]
    assert (made["state"], made["scope_id"]) == ("summarized", device_id(house.kitchen))
    left = house.memory.thread(projection.key)
    assert left.summary is not None
    assert made["turns"] == 31 - len(left.turns) > 0
    assert made["lines"] == len(left.summary.lines) > 0
    (again,) = (await act(house.hass, "summarize", **where))["threads"]
    assert (again["state"], again["turns"]) == ("up_to_date", 0)


async def test_nothing_said_is_nothing_to_summarise(house: Home) -> None:
    """A quiet room is no error."""
    assert (await act(house.hass, "summarize", scope="global"))["threads"] == []


async def test_a_conversation_is_ended_and_its_facts_with_it(house: Home) -> None:
    """What held for one conversation only is over with it; the history goes on."""
    house.hears.append("the cat is in the garden")
    await turn(house)
    await turn(house)
    (projection,) = house.assistant.projections()
    session = ScopeKey(Scope.SESSION, next(k.id for k in projection.visible))
    house.memory.context.set(session, "guest", "Tom is here")
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    await act(house.hass, "set_memory", **where, key="a", value="secret", retention="session_end")
    assert any("Tom is here" in text for text in house.server.session.texts())
    (reset,) = (await act(house.hass, "reset_session", **where))["sessions"]
    assert (reset["device_id"], reset["rebuilt"]) == (device_id(house.kitchen), True)
    texts = house.server.session.texts()
    assert not any("Tom is here" in text or "secret" in text for text in texts)
    assert any("cat is in the garden" in text for text in texts)
    assert len(house.server.open_sessions) == 1


async def test_other_conversations_go_on(house: Home) -> None:
    """Ending the conversation in the kitchen does not disturb the bedroom."""
    await house.bedroom.hear(speech())
    await house.bedroom.play()
    await house.settled()
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    assert (await act(house.hass, "reset_session", **where))["sessions"] == []
    assert len(house.server.sessions) == len(house.server.open_sessions) == 1
