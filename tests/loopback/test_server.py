"""The door: keys, models, expiry, compression, a process of its own."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from . import LoopbackServer, Switches, VirtualClock
from .wire import Wire


async def test_key_by_http() -> None:
    async with LoopbackServer(key="right") as server:
        with pytest.raises(WSServerHandshakeError) as refused:
            async with Wire.to(server, headers={"Authorization": "Bearer wrong"}):
                pass
        assert refused.value.status == 401
        for headers in ({"Authorization": "Bearer right"}, {"api-key": "right"}):
            async with Wire.to(server, headers=headers) as wire:
                assert (await wire.next())["type"] == "session.created"
        async with ClientSession() as http:
            async with http.get(f"{server.base_url}/models") as answer:
                body = await answer.json()
                assert (answer.status, body["error"]["code"]) == (401, "invalid_api_key")
            given = {"Authorization": "Bearer right"}
            async with http.get(f"{server.base_url}/models", headers=given) as answer:
                names = [model["id"] for model in (await answer.json())["data"]]
                assert "gpt-realtime-2.1" in names


async def test_key_and_model_by_an_event() -> None:
    switches = Switches().but(auth_refusal="event", model_refusal="event")
    async with LoopbackServer(key="right", switches=switches) as server:
        async with Wire.to(server) as wire:
            assert (await wire.next())["error"]["code"] == "invalid_api_key"
            assert await wire.closed() == 3000
        server.key = None
        async with Wire.to(server, "gpt-nothing") as wire:
            assert (await wire.next())["error"]["code"] == "model_not_found"
            assert await wire.closed() == 4004


async def test_unknown_model_and_beta_header() -> None:
    async with LoopbackServer() as server:
        with pytest.raises(WSServerHandshakeError) as refused:
            async with Wire.to(server, "gpt-nothing"):
                pass
        assert refused.value.status == 404
        async with Wire.to(server, headers={"OpenAI-Beta": "realtime=v1"}) as wire:
            assert (await wire.next())["error"]["code"] == "beta_api_shape_disabled"
            assert await wire.closed() == 4000
        assert server.sessions == []
        assert server.handshakes == 2


async def test_refused_and_hanging_connections() -> None:
    async with LoopbackServer() as server:
        server.refuse_connections = True
        with pytest.raises(Exception, match=r".*"):
            async with Wire.to(server):
                pass
        server.refuse_connections = 503
        with pytest.raises(WSServerHandshakeError) as refused:
            async with Wire.to(server):
                pass
        assert refused.value.status == 503
        server.refuse_connections = False
        server.hang_handshake = True
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1), Wire.to(server):
                pass


@pytest.mark.parametrize("form", ["error", "close"])
async def test_expiry_in_both_forms(form: str) -> None:
    clock = VirtualClock()
    switches = Switches().but(expiry=form)
    async with (
        LoopbackServer(clock=clock, switches=switches, lifetime=60) as server,
        Wire.to(server) as wire,
    ):
        created = (await wire.until("session.created"))["session"]
        assert created["expires_at"] == int(clock.wall()) + 60
        await clock.advance(59)
        assert not server.session.closed
        await clock.advance(1)
        if form == "error":
            assert (await wire.next())["error"]["code"] == "session_expired"
        assert await wire.closed() == 1001
        await server.wait_for(lambda s: s.session.closed)
        assert server.session.close_code == 1001


async def test_messages_are_compressed() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        assert wire.socket.compress == 15


async def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    async with LoopbackServer() as server:
        async with Wire.to(server) as wire:
            await wire.send("response.create")
            await wire.until("response.created")
        await server.wait_for(lambda s: s.session.closed)
        assert server.open_sessions == []


async def test_sessions_of_one_server_do_not_know_each_other() -> None:
    async with LoopbackServer() as server, Wire.to(server) as one, Wire.to(server) as two:
        await one.add("first")
        await two.add("second")
        assert [session.texts() for session in server.sessions] == [["first"], ["second"]]
        assert server.total("conversation.item.create") == 2


async def test_as_a_process(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    arguments = ("-m", "tests.loopback", "--key", "k", "--speed", "0", "--log", str(log))
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    headers = {"Authorization": "Bearer k"}
    async with (
        ClientSession(headers=headers) as http,
        http.ws_connect(f"{ready['ws_url']}?model=gpt-realtime") as socket,
    ):
        wire = Wire(socket)
        assert (await wire.respond())["status"] == "completed"
    process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[0]["sent"]["type"] == "session.created"
    assert any(line.get("received", {}).get("type") == "response.create" for line in lines)
