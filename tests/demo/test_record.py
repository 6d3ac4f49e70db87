"""Whoever has a key can compare the loopback server with the real one."""

import aiohttp
import pytest
import yaml

from tests.loopback import LOCALAI, LoopbackServer, ScriptedBrain, tone

from .record import against_loopback, compare, play, written
from .script import acts

pytestmark = pytest.mark.usefixtures("socket_enabled")

_OUTCOMES = {
    "open": "session.created",
    "note": "conversation.item.done",
    "same_id_again": "error",
    "delete": "conversation.item.deleted",
    "delete_again": "error",
    "answer_speech": "response.done completed",
    "cut": "conversation.item.truncated",
    "cut_to_nothing": "error",
    "cut_too_far": "error",
    "second_at_once": "error",
    "cancel": "response.done cancelled",
    "aside": "response.done completed",
    "call": "response.done completed",
    "answer_call": "response.done completed",
    "unknown_event": "error",
}


async def test_the_script_plays_to_its_end_and_is_written() -> None:
    """One run with a key yields the frames that no public recording has."""
    async with aiohttp.ClientSession() as http:
        played = await against_loopback(http, tone(900), settle=0.05)
    assert [one.name for one in played] == ["open", *(act.name for act in acts())]
    outcomes = {one.name: one.outcome for one in played}
    assert outcomes | _OUTCOMES == outcomes
    assert "nothing" not in outcomes.values()

    text = written(played)
    interactions = yaml.safe_load(text)["interactions"]
    kinds = {one["data"]["type"] for one in interactions if one["direction"] == "received"}
    assert {"conversation.item.deleted", "conversation.item.truncated", "error"} <= kinds
    appended = [
        one["data"] for one in interactions if one["data"]["type"] == "input_audio_buffer.append"
    ]
    assert appended
    assert all(len(data["audio"]) == 64 for data in appended)


async def test_a_server_that_behaves_otherwise_is_found_out() -> None:
    """A difference between the loopback server and the real one is seen, act by act."""
    async with aiohttp.ClientSession() as http:
        ours = await against_loopback(http, tone(900), settle=0.05)
        async with LoopbackServer(ScriptedBrain(), personality=LOCALAI, any_model=True) as other:
            theirs = await play(http, other.base_url, "any", tone(900), settle=0.05, patience=0.5)
    results = {result.step: result for result in compare(theirs, ours)}
    assert results["delete"].ok
    assert not results["note_after_unknown"].ok
    assert results["note_after_unknown"].evidence["loopback"] == "error"
