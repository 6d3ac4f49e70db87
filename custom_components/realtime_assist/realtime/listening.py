"""Where a turn ends that the provider listens for: its turn detection, and our own limits.

With Home Assistant's detection nothing here decides anything. With the provider's, its word
counts; but it may be deaf (some accept a kind of detection and never report speech), and a
satellite keeps its microphone open until somebody says that the turn is over.
"""

import asyncio
from enum import StrEnum
from typing import Final

from .timers import Timers

NO_SPEECH_SECONDS: Final = 5.0
SPEECH_SECONDS: Final = 30.0
SILENT_PROVIDER_SECONDS: Final = 3.0

FRAME_BYTES: Final = 640
"""20 ms of PCM16 mono at 16 kHz."""
LOUD_PEAK: Final = 600
LOUD_RATIO: Final = 3
SPEECH_FRAMES: Final = 6
QUIET_FRAMES: Final = 25


class Loudness:
    """A crude ear: whether somebody spoke, and whether it is quiet since.

    It only has to tell a voice near a microphone from a silent room. Where a provider says more,
    the provider is believed.
    """

    def __init__(self) -> None:
        """Listen from silence."""
        self._rest = b""
        self._floor = 200.0
        self._loud = 0
        self._quiet = 0

    @property
    def spoke(self) -> bool:
        """Whether there was something as loud and as long as a word."""
        return self._loud >= SPEECH_FRAMES

    @property
    def quiet(self) -> bool:
        """Whether the last half second was quiet."""
        return self._quiet >= QUIET_FRAMES

    def feed(self, pcm: bytes) -> None:
        """Listen to PCM16 mono at 16 kHz, in pieces of any size."""
        data = self._rest + pcm
        whole = len(data) - len(data) % FRAME_BYTES
        self._rest = data[whole:]
        for start in range(0, whole, FRAME_BYTES):
            samples = memoryview(data)[start : start + FRAME_BYTES].cast("h")
            loudest, lowest = max(samples), min(samples)
            self._hear(max(loudest, -lowest))

    def _hear(self, peak: int) -> None:
        if peak > max(LOUD_PEAK, LOUD_RATIO * self._floor):
            self._loud += 1
            self._quiet = 0
        else:
            self._quiet += 1
        self._floor = min(peak, self._floor * 1.02 + 1)


class Ended(StrEnum):
    """Why a turn's speech is over."""

    PROVIDER = "provider"
    LIMIT = "limit"
    DEAF = "deaf"
    NO_SPEECH = "no_speech"
    GIVEN_UP = "given_up"


class Listening:
    """Waits for the end of one turn's speech."""

    def __init__(self) -> None:
        """Wait for nothing yet."""
        self.loudness = Loudness()
        self.heard_by_provider = False
        self.ended: Ended | None = None
        self._timers = Timers()
        self._done = asyncio.Event()

    @property
    def spoke(self) -> bool:
        """Whether anybody heard speech."""
        return self.heard_by_provider or self.loudness.spoke

    async def wait(self) -> Ended:
        """Return when the speech is over, and why. Only then do our own limits run."""
        self._timers.start_once("no_speech", NO_SPEECH_SECONDS, self._check_speech)
        while self.ended is None:
            await self._done.wait()
        return self.ended

    def feed(self, pcm: bytes) -> None:
        """Listen along to PCM16 mono at 16 kHz."""
        self.loudness.feed(pcm)
        if not self.loudness.spoke:
            return
        self._timers.start_once("speech", SPEECH_SECONDS, lambda: self.end(Ended.LIMIT))
        if self.loudness.quiet:
            self._timers.start_once("deaf", SILENT_PROVIDER_SECONDS, lambda: self.end(Ended.DEAF))
        else:
            self._timers.stop("deaf")

    def started(self) -> None:
        """Take it that the provider hears speech."""
        self.heard_by_provider = True
        self._timers.stop("deaf")
        self._timers.start_once("speech", SPEECH_SECONDS, lambda: self.end(Ended.LIMIT))

    def end(self, why: Ended) -> None:
        """Take it that the speech is over; the first word counts."""
        if self.ended is None:
            self.ended = why
            self._timers.close()
            self._done.set()

    def close(self) -> None:
        """Wait no more."""
        self.end(Ended.GIVEN_UP)

    def _check_speech(self) -> None:
        if not self.spoke:
            self.end(Ended.NO_SPEECH)
