"""The connection test says what is wrong, in words that a person can act on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from custom_components.realtime_assist.realtime.check import check
from custom_components.realtime_assist.realtime.errors import (
    AuthenticationFailed,
    CannotConnect,
    ModelNotFound,
    NotRealtime,
    QuotaExceeded,
    RateLimited,
    RealtimeError,
)
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel
from tests.loopback import PERSONALITIES, Fault, Hang, LoopbackServer, Switches

from .rig import CONFIG, changed

pytestmark = pytest.mark.usefixtures("socket_enabled")

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def try_it(base_url: str, *, key: str = "sk", model: str = CONFIG.model) -> None:
    """Check an address as the account's screen does."""
    async with aiohttp.ClientSession() as http:
        adapter = OpenAIModel(base_url=base_url, api_key=key, compatible=False)
        await check(http, adapter, changed(CONFIG, model=model), timeout=2)


@asynccontextmanager
async def answering(handler: Handler) -> AsyncIterator[str]:
    """Serve something that is no realtime server; gives its address."""
    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}/v1"
    finally:
        await runner.cleanup()


async def test_all_is_well() -> None:
    """An account that works can be saved, and no session is left open at the provider."""
    async with LoopbackServer(key="sk") as server:
        await try_it(server.base_url)
        await server.wait_for(lambda s: not s.open_sessions)
        assert server.session.count("session.update") == 1


@pytest.mark.parametrize("name", sorted(PERSONALITIES))
async def test_all_known_servers_are_recognised(name: str) -> None:
    """Every known kind of server passes the test, whatever names its greeting has."""
    async with LoopbackServer(personality=PERSONALITIES[name], any_model=True) as server:
        await try_it(server.base_url)


@pytest.mark.parametrize("how", ["http", "event"])
async def test_a_wrong_key(how: str) -> None:
    """A typo in the key is called so, whether the server says it early or late."""
    switches = Switches().but(auth_refusal=how)
    async with LoopbackServer(key="right", switches=switches) as server:
        with pytest.raises(AuthenticationFailed):
            await try_it(server.base_url, key="wrong")


@pytest.mark.parametrize("how", ["http", "event"])
async def test_an_unknown_model(how: str) -> None:
    """A model that this account does not have is named as the reason."""
    switches = Switches().but(model_refusal=how)
    async with LoopbackServer(switches=switches) as server:
        with pytest.raises(ModelNotFound):
            await try_it(server.base_url, model="gpt-unheard-of")


async def test_nobody_there() -> None:
    """A server that is switched off is not mistaken for a wrong key."""
    async with LoopbackServer() as server:
        address = server.base_url
    with pytest.raises(CannotConnect):
        await try_it(address)


async def test_a_server_that_hangs() -> None:
    """A server that never answers is given up in time."""
    async with LoopbackServer() as server:
        server.hang_handshake = True
        started = asyncio.get_running_loop().time()
        with pytest.raises(CannotConnect):
            await try_it(server.base_url)
        assert asyncio.get_running_loop().time() - started < 3


async def test_a_server_that_does_not_go_on() -> None:
    """A socket on which nothing is ever said is no realtime server."""
    async with LoopbackServer(faults=[Fault("session.created", Hang())]) as server:
        with pytest.raises(NotRealtime):
            await try_it(server.base_url)


async def page(_request: web.Request) -> web.StreamResponse:
    """Answer as any web page does."""
    return web.Response(text="<html>Welcome</html>", content_type="text/html")


async def missing(_request: web.Request) -> web.StreamResponse:
    """Answer as a web server that has no such page."""
    return web.Response(status=404, text="<html>Not found</html>", content_type="text/html")


async def echo(request: web.Request) -> web.StreamResponse:
    """Send back whatever comes."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data)
    return socket


@pytest.mark.parametrize("handler", [page, missing, echo])
async def test_something_else_answers(handler: Handler) -> None:
    """A web page, a wrong path and an echo are told from a server that is off."""
    async with answering(handler) as address:
        with pytest.raises(NotRealtime):
            await try_it(address)


async def test_something_that_is_not_even_http() -> None:
    """Another kind of server at that port is told from a server that is off."""

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(NotRealtime):
            await try_it(f"http://127.0.0.1:{port}/v1")


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (429, "insufficient_quota", QuotaExceeded),
        (429, "rate_limit_exceeded", RateLimited),
        (401, "invalid_api_key", AuthenticationFailed),
        (403, "model_not_found", ModelNotFound),
        (400, "OperationNotSupported", ModelNotFound),
        (503, "overloaded", CannotConnect),
        (400, "a sentence with words of a person", NotRealtime),
    ],
)
async def test_a_refusal_says_why(status: int, code: str, error: type[RealtimeError]) -> None:
    """An account without money is told from one that asks too often; no message is repeated."""

    async def refuse(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"code": code, "message": "secret"}}, status=status)

    async with answering(refuse) as address:
        with pytest.raises(error) as raised:
            await try_it(address)
        assert " " not in str(raised.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    """A key goes to the address that was typed in, and nowhere else."""
    async with LoopbackServer(key="sk") as elsewhere:

        async def send_on(request: web.Request) -> web.StreamResponse:
            to = elsewhere.base_url.removesuffix("/v1") + request.path_qs
            return web.Response(status=status, headers={"Location": to})

        async with answering(send_on) as address:
            with pytest.raises(NotRealtime, match=f"http_{status}"):
                await try_it(address)
        assert not elsewhere.handshakes


async def test_a_refusal_is_asked_for_once() -> None:
    """A server that counts failed attempts is not asked twice to learn why it refuses."""
    asked: list[str] = []

    async def refuse(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return web.json_response({"error": {"code": "insufficient_quota"}}, status=429)

    async with answering(refuse) as address:
        with pytest.raises(QuotaExceeded):
            await try_it(address)
    assert len(asked) == 1


@pytest.mark.parametrize("body", [b"[" * 50_000, b'{"error": ' * 9_000, b"\\xff" * 100_000, b"{}"])
async def test_a_hostile_refusal_is_a_refusal(body: bytes) -> None:
    """A body that nests without end, or has no end, ends nothing but the attempt."""

    async def refuse(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=401, body=body)

    async with answering(refuse) as address:
        with pytest.raises(AuthenticationFailed):
            await try_it(address)
