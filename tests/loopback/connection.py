"""One socket: a first-in-first-out queue of client events, and one of server events.

Client events are handled one after the other; each has its effect before its acknowledgement is
said, and both before the next event is looked at. Server events leave in the order in which they
were said, past the faults that a test planned.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from aiohttp import WSMsgType, web

from .faults import Error, Holding
from .refusal import RefusedError

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]

_ABNORMAL = 1006
GARBAGE = "loopback.garbage"
"""Marks what came for a frame that is no JSON object."""


class Transport(Protocol):
    """What can be cut without a goodbye."""

    def abort(self) -> None:
        """Close at once."""


@dataclass(frozen=True, slots=True)
class _End:
    """Stands in the queue of server events for the end of the connection."""

    code: int
    reason: str


class Connection:
    """The wire side of a session."""

    def __init__(self, session: LoopbackSession, handle: Callable[[Json], None]) -> None:
        """Prepare it; `handle` takes each client event in its turn."""
        self.close_code: int | None = None
        self._session = session
        self._handle = handle
        self._clock = session.clock
        self._faults = session.setting.faults
        self._inbox: asyncio.Queue[Json | Callable[[], None]] = asyncio.Queue()
        self._outbox: asyncio.Queue[tuple[str, Json] | _End] = asyncio.Queue()
        self._held_in = Holding()
        self._held_out = Holding()
        self._ended = asyncio.Event()
        self._socket: web.WebSocketResponse | None = None
        self._transport: Transport | None = None
        self._reader: asyncio.Future[None] | None = None

    def say(self, kind: str, event: Json) -> None:
        """Queue a server event; `kind` is its name in the API."""
        self._outbox.put_nowait((kind, event))

    def close(self, code: int, reason: str) -> None:
        """Queue the end of the connection; 1006 cuts it without a goodbye."""
        self._outbox.put_nowait(_End(code, reason))

    def later(self, act: Callable[[], None]) -> None:
        """Do something in turn with the client events."""
        self._inbox.put_nowait(act)

    async def run(self, socket: web.WebSocketResponse, transport: Transport | None) -> None:
        """Serve until the connection ends."""
        self._socket, self._transport = socket, transport
        self._session.spawn(self._work())
        self._session.spawn(self._write(socket))
        reader = self._reader = asyncio.ensure_future(self._read(socket))
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({reader, ended}, return_when=asyncio.FIRST_COMPLETED)
            if self.close_code is not None:
                await ended
        finally:
            reader.cancel()
            ended.cancel()
            await asyncio.gather(reader, ended, return_exceptions=True)
        if self.close_code is None:
            self.close_code = socket.close_code

    # In

    async def _read(self, socket: web.WebSocketResponse) -> None:
        """Put what comes into the queue."""
        async for message in socket:
            event = _parsed(message.data if message.type is WSMsgType.TEXT else "")
            self._session.note("received", event)
            self._inbox.put_nowait(event)

    async def _work(self) -> None:
        """Handle client events in their order."""
        while True:
            event = await self._inbox.get()
            if callable(event):
                event()
                continue
            kind = str(event.get("type"))
            if kind != "input_audio_buffer.append":
                await self._clock.sleep(self._session.handling_time())
            await self._come_in(kind, event)

    async def _come_in(self, kind: str, event: Json) -> None:
        """Handle one client event the way the planned faults want it."""
        passage = self._faults.passage((f"client:{kind}",), event, self._session.index)
        await self._clock.lapse(passage.wait)
        if passage.drop is not None:
            self.close(passage.drop.code, passage.drop.reason)
        if passage.hang:
            await self._ended.wait()
        for frame in passage.frames:
            await self._send_frame(frame)
        for error in passage.errors:
            self._session.refuse(planned(error), event)
        if passage.hold is not None:
            self._held_in.hold(passage.event, passage.hold)
        times = 0 if passage.errors else passage.times
        for one in [*passage.before, *([passage.event] * times), *passage.after]:
            self._handle(one)
        if times:
            for released in self._held_in.passed(kind):
                self._handle(released)

    # Out

    async def _write(self, socket: web.WebSocketResponse) -> None:
        """Send server events in their order."""
        while True:
            said = await self._outbox.get()
            if isinstance(said, _End):
                await self._hang_up(socket, said)
            else:
                await self._go_out(socket, *said)

    async def _go_out(self, socket: web.WebSocketResponse, kind: str, event: Json) -> None:
        """Send one event the way the planned faults want it."""
        names = (kind, str(event.get("type")))
        passage = self._faults.passage(names, event, self._session.index)
        if passage.overtaken:
            self._session.spawn(self._send_later(passage.wait, passage.event))
            return
        await self._clock.lapse(passage.wait)
        if passage.drop is not None:
            await self._hang_up(socket, _End(passage.drop.code, passage.drop.reason))
        if passage.hang:
            await self._ended.wait()
        for frame in passage.frames:
            await self._send_frame(frame)
        for error in passage.errors:
            body = planned(error).wire(None)
            said = {"type": "error", "event_id": self._session.new_id("event"), "error": body}
            await self._send(said)
        if passage.hold is not None:
            self._held_out.hold(passage.event, passage.hold)
        for one in [*passage.before, *([passage.event] * passage.times), *passage.after]:
            await self._send(one)
        if passage.times:
            for released in self._held_out.passed(kind):
                await self._send(released)

    async def _send_later(self, seconds: float, event: Json) -> None:
        """Send an event after a while, past the faults."""
        await self._clock.lapse(seconds)
        await self._send(event)

    async def _send(self, event: Json) -> None:
        """Write one event to the wire."""
        await self._send_frame(json.dumps(event))
        self._session.note("sent", event)

    async def _send_frame(self, data: bytes | str) -> None:
        """Write one frame; a client that is gone ends the connection."""
        assert self._socket is not None
        try:
            if isinstance(data, str):
                await self._socket.send_str(data)
            else:
                await self._socket.send_bytes(data)
        except ConnectionError:
            self._ended.set()
            await asyncio.Event().wait()

    async def _hang_up(self, socket: web.WebSocketResponse, end: _End) -> None:
        """End the connection, with or without a goodbye, and never come back."""
        self.close_code = end.code
        if end.code == _ABNORMAL:
            if self._transport is not None:
                self._transport.abort()
        else:
            # A pending read would make the server drop the line before the client has answered.
            if self._reader is not None:
                self._reader.cancel()
                await asyncio.wait({self._reader})
            await socket.close(code=end.code, message=end.reason.encode())
        self._ended.set()
        await asyncio.Event().wait()


def planned(error: Error) -> RefusedError:
    """Return the refusal that a planned error stands for."""
    return RefusedError(
        code=error.code,
        says=error.message,
        param=error.param,
        kind=error.type,
        names_event=error.names_event,
    )


def _parsed(frame: str) -> Json:
    """Return the object in a frame, or a marked one if it holds none."""
    try:
        event = json.loads(frame)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {"type": "", GARBAGE: True}
