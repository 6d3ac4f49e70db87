"""The speaking brain in its own environment: it hears real audio, and knows only what it holds."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession

from . import silence
from .other_python import ROOT, python_of
from .wire import Json, Wire

_NOTE = '<home_notes kind="facts">Told by the speaker: the user\'s name is Anna.</home_notes>'
_LIGHT = {
    "type": "function",
    "name": "HassTurnOn",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
}


@pytest.fixture(scope="module")
def speech() -> str:
    """Return the Python of the speech environment."""
    return python_of("speech")


@asynccontextmanager
async def served(python: str) -> AsyncIterator[dict[str, str]]:
    """Run the server with its speaking brain; yield its addresses."""
    arguments = ("-m", "tests.loopback", "--brain", "speaking", "--speed", "5")
    process = await asyncio.create_subprocess_exec(
        python, *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            ready = json.loads(await process.stdout.readline())
        yield ready
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


class Talk:
    """Somebody who speaks with the server, with the server's own voice."""

    def __init__(self, http: ClientSession, base_url: str, wire: Wire) -> None:
        """Speak over `wire`."""
        self._http = http
        self._speech = f"{base_url}/audio/speech"
        self._wire = wire

    async def say(self, words: str) -> Json:
        """Say something aloud and return the first item of the answer."""
        wanted = {"model": "tts", "voice": "rms", "input": words, "response_format": "pcm"}
        async with self._http.post(self._speech, json=wanted) as answer:
            spoken = await answer.read()
        await self._wire.hear(silence(300) + spoken + silence(300))
        await self._wire.send("input_audio_buffer.commit")
        return dict((await self._wire.respond())["output"][0])

    async def ask(self, words: str) -> str:
        """Say something aloud and return what is answered, in small letters."""
        said: str = (await self.say(words))["content"][0]["transcript"]
        return re.sub(r"[^a-z ]", "", said.lower())


async def test_it_answers_only_from_what_it_holds(speech: str) -> None:
    async with served(speech) as ready, ClientSession() as http:
        url = f"{ready['ws_url']}?model=gpt-realtime-2.1"

        @asynccontextmanager
        async def session() -> AsyncIterator[tuple[Talk, Wire]]:
            async with http.ws_connect(url, max_msg_size=0) as socket:
                wire = Wire(socket)
                await wire.manual(transcription={"model": "whisper-1"})
                yield Talk(http, ready["base_url"], wire), wire

        async with session() as (talk, wire):
            assert "do not know" in await talk.ask("What is my name?")
            assert "anna" in await talk.ask("My name is Anna.")
            assert "anna" in await talk.ask("What is my name?")
            assert "anna" not in await talk.ask("Where is my passport?")
        async with session() as (talk, wire):
            assert "do not know" in await talk.ask("What is my name?")
            await wire.add(_NOTE, role="system")
            assert "anna" in await talk.ask("What is my name?")
        async with session() as (talk, wire):
            await wire.update(tools=[_LIGHT])
            call = await talk.say("Turn on the kitchen light.")
            assert call["name"] == "HassTurnOn"
            assert "kitchen" in str(call["arguments"]).lower()
            output = {"success": True, "data": {"success": [{"name": "Kitchen Light"}]}}
            item = {
                "type": "function_call_output",
                "call_id": call["call_id"],
                "output": json.dumps(output),
            }
            await wire.send("conversation.item.create", item=item)
            done = (await wire.respond())["output"][0]["content"][0]["transcript"]
            assert done == "I turned on the Kitchen Light."
