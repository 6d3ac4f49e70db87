"""An event that a server sends twice happens once."""

import json

import pytest

from custom_components.realtime_assist.realtime.repeats import REMEMBERED, Repeats
from tests.loopback import Duplicate, Fault, LoopbackServer, ScriptedBrain

from .rig import rig


def frame(event_id: str | None, delta: str) -> str:
    """Return a piece of an answer."""
    named = {} if event_id is None else {"event_id": event_id}
    return json.dumps({"type": "response.output_audio_transcript.delta", **named, "delta": delta})


def test_the_same_event_is_told_once() -> None:
    """Nobody hears a word twice that was said once."""
    repeats = Repeats()
    assert not repeats.has(frame("e1", "no"))
    assert not repeats.has(frame("e2", "no"))
    assert repeats.has(frame("e1", "no"))
    assert repeats.has(frame("e2", "no"))
    for number in range(REMEMBERED):
        assert not repeats.has(frame(f"more{number}", "no"))
    assert not repeats.has(frame("e1", "no"))


@pytest.mark.parametrize("event_id", ["event_TODO", None])
def test_a_server_that_numbers_nothing_is_heard_whole(event_id: str | None) -> None:
    """Silence is as long as it is, though one piece of it looks like the other."""
    repeats = Repeats()
    pieces = ["opened", "configured", "AAAA", "AAAA", "AAAA"]
    assert [repeats.has(frame(event_id, piece)) for piece in pieces] == [False] * 5


def test_words_are_no_id() -> None:
    """What is said cannot pass for the number of an event."""
    repeats = Repeats()
    said = frame(None, '"event_id": "e1"')
    assert not repeats.has(said)
    assert not repeats.has(said)


@pytest.mark.usefixtures("socket_enabled")
@pytest.mark.parametrize("kind", ["response.*", "conversation.*", "input_audio_buffer.*"])
async def test_a_stutter_on_the_wire_is_not_heard(kind: str) -> None:
    """An answer is whole, and said once, though all of it comes twice."""
    twice = Fault(kind, Duplicate(), times=0)
    brain = ScriptedBrain(["One two."])
    async with LoopbackServer(brain, faults=[twice]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert (result.text, result.first_audio) == ("One two.", 1)
        assert abs(len(result.audio) / 48 - 533) < 40
        await house.session.refresh(full=True)
        assert house.session.counters["repeated_frames"] > 0
