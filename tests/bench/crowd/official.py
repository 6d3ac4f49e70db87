"""OpenAI's own realtime client, with base64 both ways and our resampler, to compare with.

It runs in an environment that has neither Home Assistant nor this integration.
"""

import asyncio
import base64
import importlib.util
from pathlib import Path
from typing import Any, override

from openai import AsyncOpenAI  # type: ignore[import-not-found]  # in an environment of its own

from tests.bench.crowd.load import Heard, Stream, arguments_of, measured, tell

_AUDIO = Path(__file__).parents[3] / "custom_components/realtime_assist/realtime/audio.py"


def _resampler() -> Any:  # noqa: ANN401 - loaded by its path, without the package around it
    spec = importlib.util.spec_from_file_location("audio", _AUDIO)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Resampler


class Official(Stream):
    """One satellite on a connection of the official client."""

    def __init__(self, connection: Any, resampler: Any) -> None:  # noqa: ANN401 - the client's own type
        """Use a connection."""
        self._connection = connection
        self._new = resampler
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None

    @override
    async def begin(self) -> None:
        """Send what comes, as it comes."""
        self._sending = asyncio.create_task(self._send())

    @override
    def frame(self, pcm: bytes) -> None:
        """Queue it: sending waits."""
        self._frames.put_nowait(pcm)

    async def _send(self) -> None:
        resampler = self._new(16_000, 24_000)
        while (pcm := await self._frames.get()) is not None:
            audio = base64.b64encode(resampler.feed(pcm)).decode()
            await self._connection.input_audio_buffer.append(audio=audio)

    @override
    async def answer(self, heard: Heard) -> None:
        """Ask, and decode what comes."""
        self._frames.put_nowait(None)
        assert self._sending is not None
        await self._sending
        await self._connection.input_audio_buffer.commit()
        await self._connection.response.create()
        while True:
            event = await self._connection.recv()
            if event.type == "response.output_audio.delta":
                heard.take(len(base64.b64decode(event.delta)))
            elif event.type == "response.done":
                return


async def _connect(base_url: str, satellites: int) -> list[Stream]:
    client = AsyncOpenAI(base_url=base_url, api_key="key")
    resampler = _resampler()
    streams: list[Stream] = []
    for _ in range(satellites):
        connection = await client.realtime.connect(model="gpt-realtime-2.1").enter()
        hearing = {"turn_detection": None, "transcription": {"model": "gpt-realtime-whisper"}}
        await connection.session.update(session={"type": "realtime", "audio": {"input": hearing}})
        while (await connection.recv()).type != "session.updated":
            pass
        streams.append(Official(connection, resampler))
    return streams


if __name__ == "__main__":
    tell(asyncio.run(measured(_connect, arguments_of(__doc__))))
