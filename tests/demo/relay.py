"""Stands between Home Assistant and a real provider, so that what passes can be shown.

Nothing is changed on the way. The key passes in its header and is written nowhere.
"""

import asyncio
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Self, TextIO

import aiohttp
from aiohttp import web

_BYTES = 32 * 1024 * 1024
"""The longest frame and the longest body that pass."""

_PASSED_ON = ("Authorization", "Content-Type", "OpenAI-Beta", "User-Agent")


class Relay:
    """A server on a free port of 127.0.0.1 that passes everything on to `upstream`."""

    def __init__(self, upstream: str, log: Path) -> None:
        """Pass on to `upstream`, an address ending in /v1, and write each event to `log`."""
        self._upstream = upstream.rstrip("/")
        self._path = log
        self._log: TextIO | None = None
        self._sessions = 0
        self._http: aiohttp.ClientSession | None = None
        self._runner: web.AppRunner | None = None
        self.base_url = ""

    async def __aenter__(self) -> Self:
        """Listen."""
        app = web.Application(client_max_size=_BYTES)
        app.router.add_get("/v1/realtime", self._realtime)
        app.router.add_route("*", "/v1/{path:.*}", self._plain)
        self._log = self._path.open("a", encoding="utf-8")
        self._http = aiohttp.ClientSession()
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every connection."""
        assert self._runner is not None
        assert self._http is not None
        assert self._log is not None
        await self._http.close()
        await self._runner.cleanup()
        self._log.close()

    async def _plain(self, request: web.Request) -> web.StreamResponse:
        """Pass on an ordinary request and its answer."""
        assert self._http is not None
        url = f"{self._upstream}/{request.match_info['path']}"
        try:
            async with self._http.request(
                request.method,
                url,
                params=request.query,
                headers=_headers(request),
                data=await request.read(),
                allow_redirects=False,
            ) as answer:
                kind = answer.headers.get("Content-Type", "application/json")
                body = await answer.read()
                return web.Response(status=answer.status, body=body, headers={"Content-Type": kind})
        except aiohttp.ClientError:
            return _unreachable()

    async def _realtime(self, request: web.Request) -> web.StreamResponse:
        """Pass on a session; a refusal of the handshake too."""
        assert self._http is not None
        try:
            upstream = await self._http.ws_connect(
                f"{self._upstream}/realtime",
                params=request.query,
                headers=_headers(request),
                max_msg_size=_BYTES,
                heartbeat=20,
            )
        except aiohttp.WSServerHandshakeError as err:
            return web.json_response({"error": {"message": err.message}}, status=err.status)
        except aiohttp.ClientError:
            return _unreachable()
        number = self._sessions
        self._sessions += 1
        socket = web.WebSocketResponse(max_msg_size=_BYTES)
        await socket.prepare(request)
        ways = (
            asyncio.create_task(self._pass_on(socket, upstream, "received", number)),
            asyncio.create_task(self._pass_on(upstream, socket, "sent", number)),
        )
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            code = _sendable(upstream.close_code)
            with suppress(ConnectionError):
                await upstream.close()
                await socket.close(code=code)
        return socket

    async def _pass_on(
        self,
        source: web.WebSocketResponse | aiohttp.ClientWebSocketResponse,
        target: web.WebSocketResponse | aiohttp.ClientWebSocketResponse,
        way: str,
        session: int,
    ) -> None:
        async for message in source:
            if message.type is aiohttp.WSMsgType.TEXT:
                self._write(way, session, message.data)
                await target.send_str(message.data)
            elif message.type is aiohttp.WSMsgType.BINARY:
                await target.send_bytes(message.data)

    def _write(self, way: str, session: int, text: str) -> None:
        assert self._log is not None
        line = {"at": round(time.time(), 4), "session": session, way: json.loads(text)}
        print(json.dumps(line), file=self._log, flush=True)


def _unreachable() -> web.Response:
    return web.json_response({"error": {"message": "unreachable"}}, status=502)


def _headers(request: web.Request) -> dict[str, str]:
    return {name: request.headers[name] for name in _PASSED_ON if name in request.headers}


def _sendable(code: int | None) -> int:
    """Return a close code that may be sent: 1006 and the like only describe what happened."""
    if code is None or (code < 3000 and code not in (1000, 1001, 1008, 1011)):
        return 1011
    return code
