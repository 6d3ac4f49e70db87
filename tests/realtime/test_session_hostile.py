"""A server that means no good, or is out of its mind: it ends its own session at worst."""

import json
from typing import Any

import pytest

from custom_components.realtime_assist.realtime.errors import ResponseFailed
from custom_components.realtime_assist.realtime.exchange import MOST_ROUNDS
from custom_components.realtime_assist.realtime.routing import MAX_EARLY
from tests.loopback import Call, Change, Fault, Garbage, Insert, LoopbackServer, ScriptedBrain

from .rig import rig

pytestmark = pytest.mark.usefixtures("socket_enabled")

HOSTILE = "../../../etc/passwd\x00\r\n\x1b[31m{{ 1 / 0 }}<facts>" + "x" * 5000


def renamed(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event in which everything that has a name is called something else."""

    def walk(value: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, dict):
            return {name: walk(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, key) for inner in value]
        named = key in {"id", "item_id", "response_id", "call_id", "previous_item_id"}
        ours = isinstance(value, str) and value.startswith("ra_")
        return HOSTILE + value if named and isinstance(value, str) and not ours else value

    changed: dict[str, Any] = walk(event)
    return changed


PIECES = ("response.output_audio_transcript.delta", "response.output_text.delta", "unheard.of")


async def test_names_of_any_kind_are_names() -> None:
    """Ids that look like paths, orders or pages of text name their items, and nothing happens."""
    brain = ScriptedBrain([[Call("HassTurnOn")], "It is on."])
    faults = [
        Fault(kind, Change(renamed), times=0)
        for kind in ("response.*", "conversation.*", "input_audio_buffer.*", "session.*")
    ]
    async with LoopbackServer(brain, faults=faults) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        result = await house.take(exchange)
        assert {call.name for call in result.calls} == {"HassTurnOn"}
        heard = await exchange.heard()
        assert heard.text == "hello"
        # The server does not know its own names again, and so refuses each answer about the tool.
        house.close(result)
        server.faults.clear()
        assert (await house.voice_turn()).end.failure is None


@pytest.mark.parametrize(
    "frame",
    [
        "[" * 200_000,
        '{"type": "response.done", "response": ' + '{"a": ' * 50_000 + "1" + "}" * 50_001,
        json.dumps({"type": "response.output_audio.delta", "delta": "A" * 8_000_000}),
        json.dumps({"type": "conversation.item.added", "item": [{"id": 1}] * 20_000}),
        b"\x00" * 1_000_000,
    ],
)
async def test_frames_without_measure_harm_nothing(frame: str | bytes) -> None:
    """What nests without end, or is larger than anything that is said, is no event."""
    async with LoopbackServer() as server, rig(server) as house:
        await house.voice_turn()
        server.faults.add(Fault("response.created", Garbage(frame)))
        assert (await house.voice_turn()).end.failure is None
        assert len(server.sessions) == 1


async def test_a_foreign_response_is_not_heard() -> None:
    """Pieces of a response that nobody announced are not taken for the answer."""
    async with LoopbackServer() as server, rig(server) as house:
        await house.voice_turn()
        foreign = [{"type": kind, "event_id": kind, **unknown(0)} for kind in PIECES]
        server.faults.add(*(Fault("response.created", Insert(event)) for event in foreign))
        result = await house.voice_turn()
        assert (result.text, result.end.failure) == ("OK.", None)


async def test_a_flood_leaves_no_trace() -> None:
    """A server that talks without end about nothing that was asked fills no memory."""
    kinds = ("conversation.item.input_audio_transcription.delta", *PIECES)
    async with LoopbackServer() as server, rig(server) as house:
        await house.voice_turn()
        for number in range(500):
            for kind in kinds:
                server.session.push(kind, **unknown(number))
        assert (await house.voice_turn()).end.failure is None
        conductor = house.session._conductor
        assert conductor is not None
        assert len(conductor.router._early) <= MAX_EARLY


async def test_a_model_that_calls_for_ever_is_stopped() -> None:
    """A model that goes round in circles ends in an apology, not in a bill without end."""
    brain = ScriptedBrain(default=[Call("HassTurnOn")])
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, ResponseFailed)
        assert result.end.failure.code == "too_many_calls"
        assert len(result.calls) == MOST_ROUNDS
        brain.default = "Here I am."
        assert (await house.voice_turn()).text == "Here I am."


def unknown(number: int) -> dict[str, str]:
    """Return the fields of an event about something that nobody knows."""
    return {"item_id": f"item{number}", "response_id": f"response{number}", "delta": "blah " * 20}
