"""A socket that keeps its order, its bounds and its end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from custom_components.realtime_assist.realtime import connection as module
from custom_components.realtime_assist.realtime.commands import AppendAudio, ClearAudio, Configure
from custom_components.realtime_assist.realtime.connection import Connection
from custom_components.realtime_assist.realtime.errors import (
    CannotConnect,
    ConnectionLost,
    NotRealtime,
    RealtimeError,
)
from custom_components.realtime_assist.realtime.events import Event, SessionConfigured
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel
from tests.loopback import Fault, Hang, LoopbackServer

from .rig import CONFIG

pytestmark = pytest.mark.usefixtures("socket_enabled")


@asynccontextmanager
async def connected(server: LoopbackServer) -> AsyncIterator[tuple[Connection, list[Event]]]:
    """Give a connection that is being read, and what it has heard."""
    events: list[Event] = []
    model = OpenAIModel(base_url=server.base_url, api_key="sk", compatible=False)
    async with aiohttp.ClientSession() as http:
        connection = await Connection.open(http, model, CONFIG)
        running = asyncio.create_task(connection.run(events.append))
        try:
            yield connection, events
        finally:
            await connection.close()
            async with asyncio.timeout(3):
                await running


async def test_commands_go_out_in_order() -> None:
    """What was said first is heard first, however fast it is said."""
    async with LoopbackServer() as server, connected(server) as (connection, events):
        connection.send(Configure(CONFIG), "first")
        for number in range(200):
            connection.send(AppendAudio(bytes(2 + 2 * number)), f"audio{number}")
        connection.send(ClearAudio(), "last")
        await server.wait_for(lambda s: s.session.count("input_audio_buffer.clear") == 1)
        sizes = [
            len(event["audio"]) for event in server.session.received_of("input_audio_buffer.append")
        ]
        assert sizes == sorted(sizes)
        assert len(sizes) == 200
        await server.wait_for(lambda _: any(isinstance(e, SessionConfigured) for e in events))


async def test_a_slow_server_costs_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Speech that nobody takes is dropped, the oldest first, and counted; commands are kept."""
    monkeypatch.setattr(module, "MAX_WAITING_AUDIO", 10_000)
    async with LoopbackServer() as server, connected(server) as (connection, _):
        for number in range(500):
            connection.send(AppendAudio(bytes(600)), f"audio{number}")
            if number == 0:
                connection.send(ClearAudio(), "kept")
        assert connection.dropped_frames > 450
        await server.wait_for(lambda s: s.session.count("input_audio_buffer.clear") == 1)


async def test_closing_is_quick_while_the_server_talks_on() -> None:
    """Home Assistant stops at once, though a long answer is still coming."""
    async with LoopbackServer() as server, connected(server) as (connection, _):
        await server.wait_for(lambda s: bool(s.open_sessions))
        pushing = asyncio.create_task(_push(server))
        await asyncio.sleep(0.05)
        started = asyncio.get_running_loop().time()
        await connection.close()
        assert asyncio.get_running_loop().time() - started < 1.5
        pushing.cancel()


async def _push(server: LoopbackServer) -> None:
    while True:
        server.session.push("response.output_audio.delta", delta="AAAA" * 100)
        await asyncio.sleep(0.01)


async def test_a_dead_line_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is cut without a word is found out, and the next turn opens another."""
    monkeypatch.setattr(module, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(module, "PONG_SECONDS", 0.1)
    reader_gone = asyncio.Event()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Shake hands, and never say anything again."""
        import base64  # noqa: PLC0415 - what only this server needs
        import hashlib  # noqa: PLC0415

        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(
            line.partition(": ")[2]
            for line in request.splitlines()
            if line.lower().startswith("sec-websocket-key")
        )
        accept = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode())  # noqa: S324
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(accept.digest()) + b"\r\n\r\n"
        )
        while await reader.read(1000):
            pass
        writer.close()
        reader_gone.set()

    server = await asyncio.start_server(deaf, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    model = OpenAIModel(base_url=f"http://127.0.0.1:{port}/v1", api_key="sk", compatible=False)
    async with server, aiohttp.ClientSession() as http:
        connection = await Connection.open(http, model, CONFIG)
        async with asyncio.timeout(4):
            error = await connection.run(lambda _: None)
            await reader_gone.wait()
    assert isinstance(error, ConnectionLost)
    assert error.code == "no_heartbeat"


async def test_a_quiet_line_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has nothing to say, but lives, is not hung up on."""
    monkeypatch.setattr(module, "HEARTBEAT_SECONDS", 0.03)
    monkeypatch.setattr(module, "PONG_SECONDS", 0.05)
    faults = [Fault("session.created", Hang())]
    async with LoopbackServer(faults=faults) as server, connected(server) as (connection, _):
        await asyncio.sleep(0.4)
        assert connection.received_frames > 2
        assert server.open_sessions


@pytest.mark.parametrize(
    ("code", "reason", "error", "told"),
    [
        (1006, "", ConnectionLost, "closed_1006"),
        (1011, "keepalive", ConnectionLost, "closed_1011"),
        (1001, "Your session hit the maximum duration.", ConnectionLost, "session_expired"),
        (1000, "maximum duration of 60 minutes", ConnectionLost, "session_expired"),
        (4000, "beta", NotRealtime, "beta_api_shape_disabled"),
    ],
)
async def test_why_a_socket_ended(
    code: int, reason: str, error: type[RealtimeError], told: str
) -> None:
    """A session limit is told from a broken line."""
    async with LoopbackServer() as server, aiohttp.ClientSession() as http:
        model = OpenAIModel(base_url=server.base_url, api_key="sk", compatible=False)
        connection = await Connection.open(http, model, CONFIG)
        running = asyncio.create_task(connection.run(lambda _: None))
        await server.wait_for(lambda s: bool(s.open_sessions))
        server.session.close(code, reason)
        async with asyncio.timeout(3):
            ended = await running
        assert type(ended) is error
        assert ended.code == told


@pytest.mark.parametrize("address", ["http://no-such-host.invalid/v1", "http://[broken/v1"])
async def test_an_address_that_leads_nowhere(address: str) -> None:
    """A typo in the address is told as one that cannot be reached."""
    async with aiohttp.ClientSession() as http:
        with pytest.raises(CannotConnect):
            await Connection.open(
                http, OpenAIModel(base_url=address, api_key="", compatible=True), CONFIG, 3
            )
