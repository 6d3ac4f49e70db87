"""Times turns in this Home Assistant: `python -m tests.bench.turns [--turns N]`.

Prints one JSON object a line: `{"kind": ..., "length": ..., "mode": ..., "stamps": {...}}`, all
stamps in seconds after the last frame of speech.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, override

from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from homeassistant.components import tts
from homeassistant.components.assist_pipeline import PipelineEvent, PipelineEventType
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.realtime_assist.hub import Assistant
from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests import ha_compat  # noqa: F401 - before the test plugin, which is for one release
from tests.bench.home import home, use_everywhere
from tests.satellite import Satellite, satellites

from .bare import Bare
from .classic import Ear, Mind, Voice
from .declared import END_OF_TURN, FRAME_MS, LENGTHS, SPEECH_FRAMES

PLAIN: Final = {tts.ATTR_PREFERRED_FORMAT: "wav"}
"""Nothing is converted."""
CONVERTED: Final = {
    tts.ATTR_PREFERRED_FORMAT: "flac",
    tts.ATTR_PREFERRED_SAMPLE_RATE: 48_000,
    tts.ATTR_PREFERRED_SAMPLE_CHANNELS: 1,
    tts.ATTR_PREFERRED_SAMPLE_BYTES: 2,
}
"""What a Voice PE asks for."""
_WAV_HEADER: Final = 44
_LOUD: Final = b"\x00\x40\x00\xc0" * (16 * FRAME_MS // 2)
_SILENT: Final = bytes(16 * FRAME_MS * 2)


@dataclass(slots=True)
class Stamps:
    """Seconds after the last frame of speech."""

    stream_end: float = 0.0
    stt_end: float = 0.0
    intent_start: float = 0.0
    announced: float = 0.0
    """The satellite is told that the answer can be fetched."""
    first: float = 0.0
    last: float = 0.0


class Timed(Satellite):
    """A satellite that fetches as soon as it may, over HTTP, and looks at the clock."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        """Be called `name`."""
        super().__init__(name, tts_options=options)
        self.http: ClientSession
        self.address = ""
        self.stamps = Stamps()
        self._since = 0.0
        self._url = ""
        self._fetching: list[asyncio.Task[None]] = []

    @property
    def _now(self) -> float:
        return time.perf_counter() - self._since

    @override
    def on_pipeline_event(self, event: PipelineEvent) -> None:
        """Note when it happens."""
        super().on_pipeline_event(event)
        data = event.data or {}
        match event.type:
            case PipelineEventType.RUN_START:
                self._url = data["tts_output"]["url"]
            case PipelineEventType.STT_END:
                self.stamps.stt_end = self._now
            case PipelineEventType.INTENT_START:
                self.stamps.intent_start = self._now
            case PipelineEventType.INTENT_PROGRESS if data.get("tts_start_streaming"):
                self._fetch()
            case PipelineEventType.TTS_END:
                self._fetch()
            case PipelineEventType.ERROR:
                raise OSError(f"a turn failed: {data.get('code')}")

    async def turn(self) -> Stamps:
        """Speak, and fetch the answer to its end."""
        self.stamps = Stamps()
        self._fetching.clear()
        await self.hear(self._speech())
        if not self._fetching:
            raise OSError("there was no answer")
        await self._fetching[0]
        self.tts_response_finished()
        return self.stamps

    async def _speech(self) -> AsyncGenerator[bytes]:
        for _ in range(SPEECH_FRAMES):
            await asyncio.sleep(FRAME_MS / 1000)
            yield _LOUD
            self._since = time.perf_counter()
        while (left := END_OF_TURN - self._now) > 0:
            await asyncio.sleep(min(FRAME_MS / 1000, left))
            yield _SILENT
        self.stamps.stream_end = self._now

    def _fetch(self) -> None:
        if not self._fetching:
            self.stamps.announced = self._now
            self._fetching.append(asyncio.ensure_future(self._take()))

    async def _take(self) -> None:
        head = b""
        async with self.http.get(f"{self.address}{self._url}") as response:
            async for piece in response.content.iter_any():
                if not self.stamps.first:
                    head += piece
                    if len(head) > _header(head):
                        self.stamps.first = self._now
                self.stamps.last = self._now


def _header(head: bytes) -> int:
    """Return how many bytes come before the first sound of a WAV or FLAC stream."""
    if not head.startswith(b"fLaC"):
        return _WAV_HEADER
    at, last = 4, False
    while not last and len(head) >= at + 4:
        last = bool(head[at] & 0x80)
        at += 4 + int.from_bytes(head[at + 1 : at + 4])
    return at if last else at + 4


class Bench:
    """Everything that turns are timed on."""

    def __init__(
        self, assistant: Assistant, bare: Bare, server: asyncio.subprocess.Process
    ) -> None:
        """Use what is there."""
        self.hass: HomeAssistant = assistant.hub.hass
        self.assistant = assistant
        self._bare = bare
        self._server = server
        self.mind = Mind()

    async def reply(self, length: int) -> None:
        """Let replies be of that many characters from now on."""
        self.mind.length = length
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(f"{length}\n".encode())
        await self._server.stdout.readline()

    async def ours(self, satellite: Timed, length: int, kind: str, mode: str) -> None:
        """Time one turn of ours, or of whatever the pipeline is made of."""
        stamps = await satellite.turn()
        async with asyncio.timeout(10):
            while async_open_turns(self.hass):  # noqa: ASYNC110 - a turn tells nobody of its end
                await asyncio.sleep(0.01)
        _tell(kind, length, mode, **{name: getattr(stamps, name) for name in stamps.__slots__})

    async def floor(self, length: int) -> None:
        """Time one turn of a bare client."""
        floor = await self._bare.turn()
        _tell("floor", length, "", **{name: getattr(floor, name) for name in floor.__slots__})


def _tell(kind: str, length: int, mode: str, **stamps: float) -> None:
    line = {"kind": kind, "length": length, "mode": mode, "stamps": stamps}
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


@asynccontextmanager
async def _server() -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, str]]]:
    """Run the server in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.bench.turns.server"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()


async def _run(turns: int) -> None:
    async with _server() as (process, address):
        with tempfile.TemporaryDirectory() as folder:
            async with home(Path(folder), address["base_url"]) as (assistant, _):
                hass = assistant.hub.hass
                for component in ("http", "assist_satellite"):
                    if not await async_setup_component(hass, component, {}):
                        raise OSError(f"{component} cannot be set up")
                plain, converted = Timed("plain", PLAIN), Timed("converted", CONVERTED)
                bare = await Bare.to(address["ws_url"])
                bench = Bench(assistant, bare, process)
                async with (
                    satellites(hass, plain, converted),
                    TestServer(hass.http.app) as proxy,
                    ClientSession() as http,
                ):
                    for satellite in (plain, converted):
                        satellite.http, satellite.address = (
                            http,
                            str(proxy.make_url("")).rstrip("/"),
                        )
                    await _add_classic(hass, bench.mind)
                    await _measure(bench, plain, converted, turns)
                    await bare.close()


async def _add_classic(hass: HomeAssistant, mind: Mind) -> None:
    engines = {"stt": Ear(), "conversation": mind, "tts": Voice()}
    for domain, entity in engines.items():
        await hass.data["entity_components"][domain].async_add_entities([entity])


async def _measure(bench: Bench, plain: Timed, converted: Timed, turns: int) -> None:
    """Take the turns of all kinds; ours and the floor's by turns."""
    await use_everywhere(bench.assistant)
    await bench.reply(2)
    for satellite in (plain, converted):
        # Sockets open, imports happen, code is compiled.
        await satellite.turn()
    for length in LENGTHS:
        await bench.reply(length)
        for _ in range(turns if length < LENGTHS[-1] else max(turns // 4, 1)):
            await bench.ours(plain, length, "ours", "plain")
            await bench.floor(length)
            if length < LENGTHS[-1]:
                await bench.ours(converted, length, "ours", "converted")
    await use_everywhere(bench.assistant, local=True)
    await bench.reply(20)
    for _ in range(turns):
        await bench.ours(plain, 20, "after_transcript", "plain")
    await use_everywhere(bench.assistant, suffix="classic")
    for length in LENGTHS[1:]:
        await bench.reply(length)
        for _ in range(turns if length < LENGTHS[-1] else max(turns // 4, 1)):
            await bench.ours(plain, length, "classic", "plain")


def main() -> int:
    """Time turns."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.turns", description=__doc__)
    parser.add_argument("--turns", type=int, default=10)
    asyncio.run(_run(parser.parse_args().turns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
