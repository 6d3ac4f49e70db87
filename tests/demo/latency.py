"""How long the house lets somebody wait, measured over Home Assistant's websocket API."""

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import Any

import aiohttp

from .client import Client, CommandFailed, Subscription
from .sound import RATE, Sound

_FRAME_MS = 20
_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds from the last audio frame of speech to what followed, and the answer itself."""

    end_of_speech_ms: int | None
    """Until Home Assistant took the speech for ended."""
    transcript_ms: int | None
    """Until it had the words."""
    first_byte_ms: int
    """Until the first byte of the answer's audio at the stream's URL."""
    words: str
    """What was understood."""
    audio: bytes
    """The answer, as the file that Home Assistant serves."""
    kind: str
    """The type of that file."""


class _Run:
    """One run of a pipeline, fed in real time as a microphone would."""

    def __init__(self, client: Client, http: aiohttp.ClientSession, said: Sound) -> None:
        self._client = client
        self._http = http
        self._said = said
        self._handler = b""
        self._url = ""
        self._spoken_at = 0.0
        self._times: dict[str, float] = {}
        self._words = ""

    async def follow(self, events: Subscription) -> Latency:
        """Feed the run, follow its events, and fetch the answer as soon as there is one."""
        feeder: asyncio.Task[None] | None = None
        try:
            while True:
                event = await events.next(_PATIENCE_SECONDS)
                kind, data = event["type"], event.get("data") or {}
                self._times.setdefault(kind, monotonic())
                if kind == "error":
                    raise CommandFailed(f"the run failed: {data.get('code')}")
                if kind == "run-start":
                    self._handler = bytes([data["runner_data"]["stt_binary_handler_id"]])
                    self._url = data["tts_output"]["url"]
                elif kind == "stt-start":
                    feeder = asyncio.create_task(self._feed(), name="demo microphone")
                elif kind == "stt-end":
                    self._words = str(data["stt_output"]["text"])
                    await _ended(feeder)
                if data.get("tts_start_streaming") or kind == "tts-end":
                    return await self._fetch()
        finally:
            await _ended(feeder)

    async def _feed(self) -> None:
        """Say it, and then be silent, one frame at a time."""
        loud = self._said.segments()
        last = loud[-1].end_ms if loud else self._said.ms
        size, begun = 2 * RATE * _FRAME_MS // 1000, monotonic()
        for index in range(round(_PATIENCE_SECONDS * 1000) // _FRAME_MS):
            frame = self._said.pcm[index * size : (index + 1) * size].ljust(size, b"\0")
            await self._client.send_bytes(self._handler + frame)
            if (index + 1) * _FRAME_MS <= last + _FRAME_MS:
                self._spoken_at = monotonic()
            await asyncio.sleep(max(0.0, begun + (index + 1) * _FRAME_MS / 1000 - monotonic()))

    async def _fetch(self) -> Latency:
        """Fetch the answer as a player would."""
        async with self._http.get(self._client.base + self._url) as response:
            body = await response.content.readany()
            first = monotonic()
            async with asyncio.timeout(_PATIENCE_SECONDS):
                body += await response.content.read()
            return Latency(
                end_of_speech_ms=self._after("stt-vad-end"),
                transcript_ms=self._after("stt-end"),
                first_byte_ms=round((first - self._spoken_at) * 1000),
                words=self._words,
                audio=body,
                kind=response.content_type,
            )

    def _after(self, kind: str) -> int | None:
        at = self._times.get(kind)
        return None if at is None else round((at - self._spoken_at) * 1000)


async def measure(
    client: Client, http: aiohttp.ClientSession, pipeline: str, said: Sound
) -> Latency:
    """Say something to a pipeline in real time and measure how long the answer takes.

    Raises:
        CommandFailed: the run failed.
        TimeoutError: nothing happened for 30 seconds.

    """
    request: dict[str, Any] = {
        "start_stage": "stt",
        "end_stage": "tts",
        "pipeline": pipeline,
        "input": {"sample_rate": RATE},
    }
    async with client.subscribed("assist_pipeline/run", **request) as events:
        return await _Run(client, http, said).follow(events)


async def _ended(task: asyncio.Task[None] | None) -> None:
    """Cancel a task and wait for its end."""
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
