"""One socket to a realtime model: commands go out in order, events come in.

A connection knows nothing of turns and items. It opens once, runs once and closes once:

    connection = await Connection.open(http, model, config, timeout=10)
    connection.send(command, event_id)      # at any time, never waits
    error = await connection.run(handle)    # until the socket ends, and why it did
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Self

import aiohttp

from . import failures
from .commands import AppendAudio, Command
from .config import SessionConfig
from .errors import CannotConnect, ConnectionLost, NotRealtime, RealtimeError
from .events import Event
from .model import Handshake, RealtimeModel
from .repeats import Repeats

HANDSHAKE_SECONDS: Final = 10.0
HEARTBEAT_SECONDS: Final = 20.0
PONG_SECONDS: Final = 10.0
"""A server that says nothing at all for so long after a ping is gone."""
SEND_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 1.0
MAX_FRAME_BYTES: Final = 32 * 1024 * 1024
MAX_WAITING_AUDIO: Final = 8 * 1024 * 1024
"""Bytes of audio frames that may wait for a slow server; beyond it the oldest are dropped."""
MAX_REFUSAL_BYTES: Final = 64 * 1024
DIAGNOSE_SECONDS: Final = 3.0


class Connection:
    """One open socket. `dropped_frames` counts audio that a slow server made us drop."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, model: RealtimeModel) -> None:
        """Take over an open socket; use `open`."""
        self._socket = socket
        self._model = model
        self._waiting: deque[tuple[str, bool]] = deque()
        self._waiting_audio = 0
        self._wake = asyncio.Event()
        self._failure: RealtimeError | None = None
        self._close_reason = ""
        self.dropped_frames = 0
        self.received_frames = 0
        self.repeated_frames = 0
        self._repeats = Repeats()

    @classmethod
    async def open(
        cls,
        http: aiohttp.ClientSession,
        model: RealtimeModel,
        config: SessionConfig,
        timeout: float = HANDSHAKE_SECONDS,  # noqa: ASYNC109 - it bounds three awaits together
    ) -> Self:
        """Open the socket within `timeout` seconds.

        Raises AuthenticationFailed, ModelNotFound, QuotaExceeded, RateLimited, NotRealtime or
        CannotConnect.
        """
        try:
            handshake = model.handshake(config)
        except ValueError:
            raise CannotConnect("invalid_url") from None
        try:
            async with asyncio.timeout(timeout):
                socket = await _dial(http, handshake)
        except TimeoutError:
            raise CannotConnect("timeout") from None
        except aiohttp.InvalidURL:
            raise CannotConnect("invalid_url") from None
        except aiohttp.ClientConnectorCertificateError:
            raise CannotConnect("certificate") from None
        except aiohttp.ClientConnectorDNSError:
            raise CannotConnect("unknown_host") from None
        except aiohttp.ClientResponseError:
            raise NotRealtime("no_http") from None
        except aiohttp.ClientError, OSError:
            raise CannotConnect("unreachable") from None
        return cls(socket, model)

    def send(self, command: Command, event_id: str) -> None:
        """Put a command behind those before it; it goes out as fast as the server takes it."""
        audio = isinstance(command, AppendAudio)
        frame = self._model.encode(command, event_id)
        self._waiting.append((frame, audio))
        if audio:
            self._waiting_audio += len(frame)
            self._shed()
        self._wake.set()

    async def run(self, handle: Callable[[Event], None]) -> RealtimeError:
        """Pass on every event until the socket ends, and return why it did; closes it."""
        try:
            async with asyncio.TaskGroup() as tasks:
                others = [tasks.create_task(self._write()), tasks.create_task(self._beat())]
                await self._read(handle)
                for task in others:
                    task.cancel()
        finally:
            await self.close()
        if self._failure is not None:
            return self._failure
        return failures.closed(self._socket.close_code, self._close_reason)

    async def close(self) -> None:
        """End the socket; at most a second."""
        self._waiting.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._socket.close()

    async def _read(self, handle: Callable[[Event], None]) -> None:
        while True:
            message = await self._socket.receive()
            self.received_frames += 1
            match message.type:
                case aiohttp.WSMsgType.TEXT if self._repeats.has(message.data):
                    self.repeated_frames += 1
                case aiohttp.WSMsgType.TEXT:
                    for event in self._model.decode(message.data):
                        handle(event)
                case aiohttp.WSMsgType.CLOSE:
                    self._close_reason = str(message.extra or "")
                    return
                case aiohttp.WSMsgType.PING:
                    await self._socket.pong(message.data)
                case aiohttp.WSMsgType.PONG | aiohttp.WSMsgType.BINARY:
                    pass
                case _:
                    return

    async def _beat(self) -> None:
        """Notice a line that is dead though nobody said so.

        The client library's own heartbeat outlives a socket that is closed while it receives.
        """
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            before = self.received_frames
            with suppress(aiohttp.ClientError, ConnectionError):
                await self._socket.ping()
            await asyncio.sleep(PONG_SECONDS)
            if self.received_frames == before:
                await self._fail("no_heartbeat")
                return

    async def _fail(self, code: str) -> None:
        """End the socket for a reason of our own."""
        self._failure = ConnectionLost(code)
        await self.close()

    async def _write(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._waiting:
                    frame, audio = self._waiting.popleft()
                    if audio:
                        self._waiting_audio -= len(frame)
                    async with asyncio.timeout(SEND_SECONDS):
                        await self._socket.send_str(frame)
        except TimeoutError, aiohttp.ClientError, ConnectionError:
            await self._fail("send_failed")

    def _shed(self) -> None:
        """Drop the oldest audio beyond the bound; never a command about items or responses."""
        while self._waiting_audio > MAX_WAITING_AUDIO:
            oldest = next(i for i, (_, audio) in enumerate(self._waiting) if audio)
            self._waiting_audio -= len(self._waiting[oldest][0])
            del self._waiting[oldest]
            self.dropped_frames += 1


async def _dial(
    http: aiohttp.ClientSession, handshake: Handshake
) -> aiohttp.ClientWebSocketResponse:
    """Open the socket at exactly this address. Raises RealtimeError if it is refused.

    `ws_connect` follows redirects, and has no argument against it: a key would go to wherever one
    points. It throws away the body of a refusal, too. So a middleware looks at the answer first,
    in a session that has nothing of its own but that: the connector stays that of `http`.
    """
    async with aiohttp.ClientSession(
        connector=http.connector,
        connector_owner=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=http.headers,
        trust_env=http.trust_env,
        middlewares=(_only_here,),
    ) as once:
        return await once.ws_connect(
            handshake.url,
            headers=handshake.headers,
            autoping=False,
            max_msg_size=MAX_FRAME_BYTES,
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
        )


async def _only_here(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Let only an upgrade pass. Raises RealtimeError for any other answer, redirects too."""
    answer = await handler(request)
    if answer.status == 101:  # noqa: PLR2004 - switching protocols
        return answer
    async with answer:
        code = await _refusal_code(answer)
    raise failures.refused_handshake(answer.status, code)


async def _refusal_code(answer: aiohttp.ClientResponse) -> str | None:
    """Return the code in the body of a refused handshake, None if it has none.

    It tells an empty account from too many requests, and an unknown model from a wrong address.
    """
    try:
        async with asyncio.timeout(DIAGNOSE_SECONDS):
            body = json.loads(await answer.content.read(MAX_REFUSAL_BYTES))
    except TimeoutError, aiohttp.ClientError, OSError, ValueError, RecursionError:
        return None
    return _code_in(body)


def _code_in(body: Any) -> str | None:  # noqa: ANN401 - whatever a server says
    """Return the code of an error body of OpenAI's kind."""
    if not isinstance(body, dict):
        return None
    error = body.get("error", body)
    if not isinstance(error, dict):
        return "unknown_error"
    for name in ("code", "type"):
        if isinstance(code := error.get(name), str) and code:
            return code
    return "unknown_error"
