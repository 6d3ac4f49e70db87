"""The relay changes nothing between Home Assistant and a real provider, and keeps no key."""

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest

from tests.loopback import LoopbackServer, ScriptedBrain

from .relay import Relay
from .wire import Wire

pytestmark = pytest.mark.usefixtures("socket_enabled")

_KEY = "sk-secret-of-a-user"
_MODEL = {"model": "gpt-realtime-2.1"}


async def test_a_session_passes_and_is_logged_without_the_key(tmp_path: Path) -> None:
    """With a real provider the demo shows the same evidence as with the loopback server."""
    log = tmp_path / "wire.jsonl"
    headers = {"Authorization": f"Bearer {_KEY}"}
    async with (
        LoopbackServer(ScriptedBrain(), key=_KEY) as server,
        Relay(server.base_url, log) as relay,
        aiohttp.ClientSession(headers=headers) as http,
        http.ws_connect(f"{relay.base_url}/realtime", params=_MODEL) as socket,
    ):
        created = await socket.receive_json(timeout=5)
        await socket.send_json({"type": "input_audio_buffer.clear", "event_id": "mine"})
        cleared = await socket.receive_json(timeout=5)
    assert (created["type"], cleared["type"]) == ("session.created", "input_audio_buffer.cleared")
    frames = Wire(log).since()
    assert [(frame.way, frame.kind) for frame in frames] == [
        ("sent", "session.created"),
        ("received", "input_audio_buffer.clear"),
        ("sent", "input_audio_buffer.cleared"),
    ]
    assert _KEY not in log.read_text()


async def test_requests_pass_with_their_answers(tmp_path: Path) -> None:
    """The config flow can list models and check the key through the relay."""
    async with (
        LoopbackServer(ScriptedBrain(), key=_KEY) as server,
        Relay(server.base_url, tmp_path / "log") as relay,
        aiohttp.ClientSession() as http,
    ):
        url = f"{relay.base_url}/models"
        async with http.get(url, headers={"Authorization": f"Bearer {_KEY}"}) as answer:
            assert answer.status == 200
            assert (await answer.json())["data"]
        async with http.get(url) as answer:
            assert answer.status == 401


async def test_a_refused_handshake_stays_a_refusal(tmp_path: Path) -> None:
    """A wrong key is reported by the config flow as a wrong key."""
    async with (
        LoopbackServer(ScriptedBrain(), key=_KEY) as server,
        Relay(server.base_url, tmp_path / "log") as relay,
        aiohttp.ClientSession() as http,
    ):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect(f"{relay.base_url}/realtime", params=_MODEL)
        assert refused.value.status == 401


async def test_an_end_passes(tmp_path: Path) -> None:
    """When the provider ends a session, Home Assistant learns of it at once."""
    async with (
        LoopbackServer(ScriptedBrain()) as server,
        Relay(server.base_url, tmp_path / "log") as relay,
        aiohttp.ClientSession() as http,
        http.ws_connect(f"{relay.base_url}/realtime", params=_MODEL) as socket,
    ):
        await socket.receive_json(timeout=5)
        server.session.close(1001, "bye")
        async with asyncio.timeout(5):
            message = await socket.receive()
        assert message.type is aiohttp.WSMsgType.CLOSE
        assert message.data == 1001


async def test_nobody_there_is_a_refusal_too(tmp_path: Path) -> None:
    """An unreachable provider is reported, not waited for."""
    async with (
        Relay("http://127.0.0.1:9/v1", tmp_path / "log") as relay,
        aiohttp.ClientSession() as http,
    ):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect(f"{relay.base_url}/realtime", params=_MODEL)
        assert refused.value.status == 502
        async with http.get(f"{relay.base_url}/models") as answer:
            assert answer.status == 502
            assert json.loads(await answer.text())["error"]
