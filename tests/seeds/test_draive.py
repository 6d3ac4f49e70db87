"""What draive has, row by row of the feature table, from outside; and better.

Each test says which row it is about. `README.md` says of each row and each defect which tests hold
it: most stand where their room is, and are not written again here.
"""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.loopback import Call, Duplicate, Error, Fault, Request, Speech
from tests.people import act, device_id
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)


async def say(house: Home, words: str, *replies: Any) -> None:  # noqa: ANN401
    """Say something in the kitchen, and hear the answer to its end."""
    house.hears.append(words)
    house.replies.extend(replies)
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


async def update(house: Home, **data: Any) -> dict[str, Any]:  # noqa: ANN401
    """Call `memory.update`, as an automation does."""
    response = await house.hass.services.async_call(
        "memory", "update", data, blocking=True, return_response=True
    )
    assert response is not None
    return dict(response)


def recap(house: Home) -> str:
    """Return what the newest session was told of earlier conversation."""
    return next((t for t in house.server.session.texts() if 'kind="recap"' in t), "")


async def test_row_refresh_a_live_session(house: Home) -> None:
    """Refresh of a live session: again and again, at once, and nothing is told or kept twice."""
    await say(house, "the cat is called Minka", "A good name.")
    for number in range(4):
        asked = [
            update(house, scope="global", entries={f"fact {n}": f"value {number}"})
            for n in range(3)
        ]
        for response in await asyncio.gather(*asked):
            (session,) = response["sessions"]
            assert (session["state"], session["failed"]) == ("updated", 0)
    assert len(house.records(house.kitchen)) == 1
    held = house.server.session.items
    assert len({item.id for item in held}) == len(held)
    facts = [text for text in house.server.session.texts() if 'kind="facts"' in text]
    assert facts[-1].count("value 3") == 3
    assert len(facts) <= 12
    response = await update(house, full=True)
    assert response["sessions"][0]["rebuilt"] is True
    texts = house.server.session.texts()
    assert [sum(what in text for text in texts) for what in ("Minka", "value 3")] == [1, 1]
    await say(house, "what is it called", "Minka.")
    assert len(house.records(house.kitchen)) == 2


@pytest.mark.parametrize("ids", [True, False])
async def test_row_deletion_confirmed_by_the_server(house: Home, *, ids: bool) -> None:
    """Deletion confirmed: a server that refuses to delete keeps the secret, but nobody asks it."""
    await update(house, scope="global", entries={"code": "4711"})
    await say(house, "hello", "Good morning.")
    refusal = Error("invalid_value", instead=True, names_event=ids)
    house.server.faults.add(Fault("client:conversation.item.delete", refusal, times=0))
    await act(house.hass, "delete_memory", scope="global", keys=["code"])
    answered: list[Request] = []

    def answer(request: Request) -> str:
        answered.append(request)
        return "I do not know."

    await say(house, "what is the code", answer)
    assert [said.text for said in house.records(house.kitchen)[-1].said] == ["I do not know."]
    assert not any("4711" in text for text in answered[0].texts())


async def test_row_reset_drops_live_tool_items(house: Home) -> None:
    """Reset drops live tool items: what a tool did is known as words, and cannot be taken up."""
    await say(house, "open the gate", Call("open_the_gate", '{"far": true}'), "It did not work.")
    assert {"function_call", "function_call_output"} <= {
        item.type for item in house.server.session.items
    }
    await act(house.hass, "reset_session", device_id=device_id(house.kitchen))
    assert {(item.type, item.role) for item in house.server.session.items} == {
        ("message", "system")
    }
    assert "The assistant used open_the_gate" in recap(house)


async def test_row_memory_write_on_both_sides(house: Home) -> None:
    """Memory write: who said what stays so, also where only sound was exchanged."""
    await say(house, "the cat is called Minka", "A good name.")
    (record,) = house.records(house.kitchen)
    assert record.heard_text == "the cat is called Minka"
    assert [said.text for said in record.said] == ["A good name."]
    await update(house, full=True)
    assert "User: the cat is called Minka" in recap(house)
    assert "Assistant: A good name." in recap(house)
    assert {item.role for item in house.server.session.items} == {"system"}


async def test_row_duplicate_safe_recording(house: Home) -> None:
    """Duplicate-safe recording: a server that says everything twice is remembered once."""
    house.server.faults.add(
        Fault("conversation.item.*", Duplicate(), times=0),
        Fault("response.output_item.*", Duplicate(), times=0),
    )
    await say(house, "the cat is called Minka", "A good name.")
    for _ in range(3):
        await update(house, full=True)
    assert len(house.records(house.kitchen)) == 1
    assert recap(house).count("Minka") == 1
    assert recap(house).count("A good name.") == 1
    assert not house.server.total("conversation.item.retrieve")


async def test_row_safe_with_a_response_in_flight(house: Home) -> None:
    """Safe in flight: an update while the house speaks loses neither the turn nor the update."""
    house.hears.append("tell me of Minka")
    house.replies.append(Speech("Minka is a cat.", ms=20_000))
    heard = asyncio.create_task(house.kitchen.hear(speech()))
    await house.server.wait_for(
        lambda s: s.sessions and s.session.sent_of("response.output_audio.delta")
    )
    asked = asyncio.create_task(
        update(house, scope="global", entries={"bins": "Thursday"}, full=True)
    )
    await heard
    assert (await asked)["sessions"][0]["state"] in {"updated", "deferred"}
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    told = house.brain.requests[-1].texts()
    assert sum("Thursday" in text for text in told) == 1
    assert [record.heard_text for record in house.records(house.kitchen)] == [
        "tell me of Minka",
        "hello",
    ]
    assert sum("tell me of Minka" in text for text in told) == (len(house.server.sessions) > 1)
