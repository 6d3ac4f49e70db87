"""All of it: satellites on real pipelines of a real Home Assistant, with our integration."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final, override

from homeassistant.components import tts
from homeassistant.components.assist_pipeline import PipelineEvent, PipelineEventType
from homeassistant.components.tts.const import DATA_TTS_MANAGER
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests import ha_compat  # noqa: F401 - before the test plugin, which is for one release
from tests.bench.home import home, use_everywhere
from tests.satellite import Satellite, satellites

from .load import Heard, Stream, arguments_of, measured, tell

_PLAIN: Final = {tts.ATTR_PREFERRED_FORMAT: "wav"}


class Talker(Satellite):
    """A satellite that is fed from outside, and takes its answer as it comes."""

    def __init__(self, name: str) -> None:
        """Be called `name`."""
        super().__init__(name, tts_options=_PLAIN)
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._announced = asyncio.Event()
        self._run: asyncio.Task[None] | None = None

    @override
    def on_pipeline_event(self, event: PipelineEvent) -> None:
        """Note that the answer can be fetched."""
        super().on_pipeline_event(event)
        if event.type is PipelineEventType.ERROR:
            sys.stderr.write(f"{event.data}\n")
        if event.type is PipelineEventType.TTS_END or (event.data or {}).get("tts_start_streaming"):
            self._announced.set()

    async def begin(self) -> None:
        """Have played the last answer, and run a pipeline."""
        if self._run is not None:
            self.tts_response_finished()
        self.events.clear()
        self._announced.clear()
        self._run = self.hass.async_create_background_task(
            self.async_accept_pipeline_from_satellite(self._speech()), "talker"
        )

    def frame(self, pcm: bytes) -> None:
        """Hear it."""
        self._frames.put_nowait(pcm)

    async def answer(self, heard: Heard) -> None:
        """End the speech, and take the answer."""
        self._frames.put_nowait(None)
        async with asyncio.timeout(60):
            await self._announced.wait()
            stream = tts.async_get_stream(self.hass, self._token or "")
            assert stream is not None
            async for piece in stream.async_stream_result():
                heard.take(len(piece))
            assert self._run is not None
            await self._run

    async def _speech(self) -> AsyncGenerator[bytes]:
        while (pcm := await self._frames.get()) is not None:
            yield pcm


def kept_mb(hass: HomeAssistant) -> float:
    """Return how much speech Home Assistant keeps: each answer for 300 s."""
    caches = hass.data[DATA_TTS_MANAGER].mem_cache.values()
    return sum(len(cache._result_data or b"") for cache in caches) / 1e6


async def _measure(arguments: argparse.Namespace) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        async with home(Path(folder), arguments.base_url) as (assistant, _):
            hass = assistant.hub.hass
            if not await async_setup_component(hass, "assist_satellite", {}):
                raise OSError("assist_satellite cannot be set up")
            await use_everywhere(assistant)
            talkers = [Talker(f"talker{number}") for number in range(arguments.satellites)]
            async with satellites(hass, *talkers):

                async def connect(_url: str, _satellites: int) -> list[Stream]:
                    return list(talkers)

                told = await measured(connect, arguments)
                told["kept_mb"] = kept_mb(hass)
                for talker in talkers:
                    talker.tts_response_finished()
                return told


if __name__ == "__main__":
    tell(asyncio.run(_measure(arguments_of(__doc__))))
