"""The room `realtime/` alone, without Home Assistant: what one stream of ours costs."""

import asyncio
import time
from typing import override

import aiohttp

from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel
from custom_components.realtime_assist.realtime.replies import ReplyEnd
from custom_components.realtime_assist.realtime.session import RealtimeSession, SessionState
from tests.realtime.rig import Record, Spoken

from .load import Heard, Stream, arguments_of, measured, tell


class Ours(Stream):
    """One satellite on a session of ours."""

    def __init__(self, http: aiohttp.ClientSession, base_url: str) -> None:
        """Make a session that knows the way to the server."""
        self._record = Record()
        self._number = 0
        self._exchange: Exchange | None = None
        self.session = RealtimeSession(
            http=http,
            model=OpenAIModel(base_url=base_url, api_key="key", compatible=False),
            source=self._record,
            start_task=lambda work, name: asyncio.create_task(work, name=name),
            idle_seconds=600,
            time=time.time,
        )

    async def connected(self) -> None:
        """Open the socket."""
        self.session.wake()
        async with asyncio.timeout(30):
            while self.session.state is not SessionState.IDLE:  # noqa: ASYNC110 - tells nobody
                await asyncio.sleep(0.01)

    @override
    async def begin(self) -> None:
        """Begin a turn."""
        self._number += 1
        self._exchange = self.session.begin(f"turn{self._number}", voice=True)

    @override
    def frame(self, pcm: bytes) -> None:
        """Pass it on."""
        assert self._exchange is not None
        self._exchange.append(pcm)

    @override
    async def answer(self, heard: Heard) -> None:
        """Ask, and take the answer as the stages of a pipeline do."""
        exchange = self._exchange
        assert exchange is not None
        exchange.end_of_speech(respond=True)
        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen(exchange, heard))
            tasks.create_task(self._read(exchange))
        exchange.close()
        self._record.turns.append(Spoken(record=exchange.record))
        self.session.settle(exchange.turn_id)

    async def _listen(self, exchange: Exchange, heard: Heard) -> None:
        async for pcm in exchange.speech:
            heard.take(len(pcm))

    async def _read(self, exchange: Exchange) -> None:
        async for reply in exchange.replies():
            if isinstance(reply, ReplyEnd) and reply.failure is not None:
                raise OSError(f"no answer: {reply.failure.code}")


async def _connect(base_url: str, satellites: int) -> list[Stream]:
    http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    made = [Ours(http, base_url) for _ in range(satellites)]
    for stream in made:
        await stream.connected()
    return list(made)


if __name__ == "__main__":
    tell(asyncio.run(measured(_connect, arguments_of(__doc__))))
