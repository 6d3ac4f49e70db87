"""The connection test: try whether this address, key and model really talk.

A handshake alone proves little: some servers refuse the key or the model only by an event, and a
web page or an echo answers too. So a real session is opened, configured and closed again.
"""

import asyncio
from typing import Final

import aiohttp

from . import failures
from .commands import Configure
from .config import SessionConfig
from .connection import Connection
from .errors import CannotConnect, NotRealtime, RealtimeError
from .events import ErrorEvent, Event, SessionConfigured, SessionOpened
from .model import RealtimeModel

CHECK_SECONDS: Final = 10.0


async def check(
    http: aiohttp.ClientSession,
    model: RealtimeModel,
    config: SessionConfig,
    timeout: float = CHECK_SECONDS,  # noqa: ASYNC109 - it bounds the handshake and the greeting
) -> None:
    """Open a session, configure it and close it, within `timeout` seconds.

    Raises AuthenticationFailed, ModelNotFound, QuotaExceeded, RateLimited, NotRealtime,
    CannotConnect, or ResponseFailed with the provider's code if it refuses the configuration.
    """
    started = asyncio.get_running_loop().time()
    connection = await Connection.open(http, model, config, timeout)
    try:
        connection.send(Configure(config), "check")
        left = timeout - (asyncio.get_running_loop().time() - started)
        await _greeted(connection, max(left, 0.0))
    finally:
        await connection.close()


async def _greeted(connection: Connection, seconds: float) -> None:
    """Return when the session is configured; raise why it is not."""
    opened = False
    result: asyncio.Future[RealtimeError | None] = asyncio.get_running_loop().create_future()

    def settle(error: RealtimeError | None) -> None:
        if not result.done():
            result.set_result(error)

    def handle(event: Event) -> None:
        nonlocal opened
        match event:
            case SessionOpened():
                opened = True
            case SessionConfigured():
                settle(None)
            case ErrorEvent(code=code):
                settle(failures.failure(code))
            case _:
                pass

    async def run() -> None:
        ended = await connection.run(handle)
        settle(ended if opened or failures.is_fatal(ended) else NotRealtime("closed_at_once"))

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(run())
        try:
            async with asyncio.timeout(seconds):
                error = await result
        except TimeoutError:
            error = CannotConnect("not_configured") if opened else NotRealtime("no_greeting")
        running.cancel()
    if error is not None:
        raise error
