"""What AgentScope and its two branches have, row by row of the feature table, from outside; better.

Each test says which row it is about. `README.md` says of each row and each defect which tests hold
it: most stand where their room is, and are not written again here.
"""

from typing import TYPE_CHECKING, Any

import pytest

from tests.loopback import Call
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


def recap(house: Home) -> str:
    """Return what the newest session was told of earlier conversation."""
    return next((t for t in house.server.session.texts() if 'kind="recap"' in t), "")


@pytest.mark.parametrize("options", [{"resume_tokens": 400}])
async def test_row_history_injection(house: Home, options: dict[str, Any]) -> None:  # noqa: ARG001
    """History injection: the summary always, the newest turns, and no long line hides the rest."""
    await say(house, "the cat is called Minka", "A good name.")
    await say(house, "listen: " + "the story goes on and on, " * 200, "What a story.")
    await say(house, "good night", "Sleep well.")
    where: dict[str, Any] = {"scope": "device", "scope_id": device_id(house.kitchen)}
    await act(house.hass, "update_memory", **where, summary="Anna lives here.", full=True)
    told = recap(house)
    for known in ("Anna lives here.", "Minka", "What a story.", "good night", "Sleep well."):
        assert known in told
    assert "the story goes on" in told
    assert len(told) < 4 * 400 + 300


async def test_row_interrupted_and_failed_replies(house: Home) -> None:
    """Interrupted replies replayed: what was heard is known, marked, and nothing that was not."""
    house.server.faults.clear()
    await say(house, "open the gate", Call("open_the_gate"), "The gate does not open.")
    house.hears.append("tell me a story")
    house.replies.append("Once upon a time there was a heron by the sea.")
    await house.kitchen.hear(speech())
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    interrupted = house.records(house.kitchen)[1]
    assert interrupted.interrupted
    await act(house.hass, "reset_session", device_id=device_id(house.kitchen))
    assert "tell me a story" in recap(house)
    assert "by the sea" not in recap(house)
    assert "The gate does not open." in recap(house)


async def test_row_instructions_in_mid_session(house: Home) -> None:
    """Change of instructions in mid session: what is told of the moment changes, the prefix not."""
    await say(house, "hello", "Good morning.")
    await act(house.hass, "update_memory", scope="global", entries={"guests": "two until Sunday"})
    await say(house, "who is here", "Two guests.")
    first, second = house.brain.requests[-2:]
    assert first.instructions == second.instructions
    assert first.tools == second.tools
    assert any("two until Sunday" in text for text in second.texts())
    assert house.server.total("session.update") == 1
