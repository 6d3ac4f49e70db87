"""The official client of OpenAI judges the server, each event by the published types."""

import asyncio
import json
from pathlib import Path

import pytest

from . import Call, LoopbackServer, ScriptedBrain, Speech, Switches
from .other_python import python_of

_HERE = Path(__file__).resolve().parent
_WANTED = {
    "session.updated",
    "conversation.item.retrieved",
    "conversation.item.deleted",
    "conversation.item.truncated",
    "conversation.item.input_audio_transcription.completed",
    "response.function_call_arguments.done",
    "response.output_audio.delta",
    "response.output_text.done",
    "error",
}


@pytest.fixture(scope="module")
def judge() -> str:
    """Return the Python of the judge's environment."""
    return python_of("judge-openai")


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
async def test_the_official_client_agrees(judge: str, seed: int | None) -> None:
    switches = Switches() if seed is None else Switches.mixed(seed)
    # What the published types do not know, or the judge does not ask about, stays fixed.
    switches = switches.but(extra_events=False, metadata_echo=True, unanswered_calls="ignored")
    switches = switches.but(cancel_idle="refused")
    brain = ScriptedBrain(
        replies=[
            "Hello, how can I help you today?",
            [Speech("One moment."), Call("get_weather", '{"city":"London"}')],
            "It is foggy.",
            Speech("A long story.", ms=30_000),
        ]
    )
    async with LoopbackServer(brain, switches=switches) as server:
        process = await asyncio.create_subprocess_exec(
            judge,
            str(_HERE / "judge_openai.py"),
            server.base_url,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, error = await process.communicate()
        assert process.returncode == 0, error.decode()[-3000:]
        steps = [json.loads(line) for line in out.splitlines()]
        assert all(step["ok"] for step in steps)
        assert set(steps[-1]["kinds"]) >= _WANTED
