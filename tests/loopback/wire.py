"""A bare client for the server's own tests: JSON over a WebSocket, no beliefs of its own."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from .server import LoopbackServer

type Json = dict[str, Any]

MODEL = "gpt-realtime-2.1"
_PATIENCE = 10.0


class Wire:
    """One connection: what was sent by hand, and every event that came."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        """Use an open socket."""
        self.socket = socket
        self.events: list[Json] = []
        self.frames: list[bytes | str] = []

    @classmethod
    @asynccontextmanager
    async def to(
        cls,
        server: LoopbackServer,
        model: str = MODEL,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Self]:
        """Connect, with permessage-deflate offered."""
        async with (
            ClientSession(headers=headers) as session,
            session.ws_connect(
                f"{server.ws_url}?model={model}", compress=15, max_msg_size=0
            ) as socket,
        ):
            yield cls(socket)

    async def send(self, kind: str, **fields: object) -> None:
        """Send one event."""
        await self.socket.send_json({"type": kind, **fields})

    async def next(self) -> Json:
        """Return the next event. Raises EOFError when the connection ended."""
        while True:
            message = await self.socket.receive(timeout=_PATIENCE)
            if message.type in {WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.CLOSING}:
                raise EOFError(self.socket.close_code)
            if message.type is WSMsgType.ERROR:
                raise EOFError(str(message.data))
            self.frames.append(message.data)
            try:
                event = json.loads(message.data)
            except ValueError:
                continue
            self.events.append(event)
            return dict(event)

    async def until(self, *kinds: str) -> Json:
        """Return the next event of one of these types, passing over the others."""
        while (event := await self.next())["type"] not in kinds:
            pass
        return event

    async def closed(self) -> int | None:
        """Read until the connection ends; return the close code."""
        try:
            while True:
                await self.next()
        except EOFError:
            return self.socket.close_code

    async def quiet(self, seconds: float = 0.15) -> list[Json]:
        """Return what comes within real `seconds`."""
        before = len(self.events)
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self.next()
        except TimeoutError:
            return self.events[before:]

    async def update(self, **session: object) -> Json:
        """Change the session and return what it is then, or the error."""
        await self.send("session.update", session={"type": "realtime", **session})
        return await self.until("session.updated", "error")

    async def manual(self, **hearing: object) -> Json:
        """Turn the voice detector off."""
        return await self.update(audio={"input": {"turn_detection": None, **hearing}})

    async def add(self, words: str, role: str = "user", **fields: object) -> Json:
        """Add a text and return its acknowledgement, or the error."""
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}
        placed = {name: fields.pop(name) for name in ("previous_item_id",) if name in fields}
        await self.send("conversation.item.create", item=item | fields, **placed)
        return await self.until("conversation.item.added", "conversation.item.created", "error")

    async def hear(self, pcm: bytes) -> None:
        """Append audio."""
        await self.send("input_audio_buffer.append", audio=base64.b64encode(pcm).decode())

    async def respond(self, **response: object) -> Json:
        """Ask for a response and return it once it is done, or the error."""
        await self.send("response.create", response=response)
        done = await self.until("response.done", "error")
        return dict(done["response"] if done["type"] == "response.done" else done)

    def of(self, kind: str) -> list[Json]:
        """Return the events of that type that came so far."""
        return [event for event in self.events if event["type"] == kind]

    def kinds(self) -> list[str]:
        """Return the types of all events that came, in order."""
        return [event["type"] for event in self.events]

    def audio(self) -> bytes:
        """Return all audio that came, as PCM."""
        deltas = (
            base64.b64decode(event["delta"])
            for event in self.events
            if event["type"] in {"response.output_audio.delta", "response.audio.delta"}
        )
        return b"".join(deltas)
