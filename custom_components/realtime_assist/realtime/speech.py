"""The spoken answer of one turn, as a stream of PCM16 mono.

Audio comes faster than it is played, and whoever plays it may come late, stop early or never come:
so the stream is bounded and counts what it had to leave out.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

SECONDS: Final = 600
"""Longest answer that is kept; more of it is counted and left out."""


class Speech:
    """Audio of all responses of a turn, in the order in which it is to be heard.

    Iterate once. It ends when the turn's answer is complete, cut off or given up.
    """

    def __init__(self, rate: int = 24_000, seconds: float = SECONDS) -> None:
        """Begin an empty stream of PCM16 mono with `rate` samples a second."""
        self.rate = rate
        self.received_bytes = 0
        self.dropped_bytes = 0
        self.ended = False
        self._limit = int(seconds * rate * 2)
        self._chunks: deque[bytes] = deque()
        self._wake = asyncio.Event()

    @property
    def received_ms(self) -> float:
        """Milliseconds of audio that the stream has taken."""
        return self.received_bytes / (self.rate * 2) * 1000

    def append(self, pcm: bytes) -> bool:
        """Add audio; return False if it was left out: the stream has ended or is full."""
        if self.ended or not pcm:
            return False
        if self.received_bytes + len(pcm) > self._limit:
            self.dropped_bytes += len(pcm)
            return False
        self.received_bytes += len(pcm)
        self._chunks.append(pcm)
        self._wake.set()
        return True

    def end(self) -> None:
        """Let the stream end after what it has."""
        self.ended = True
        self._wake.set()

    def drop(self) -> None:
        """End the stream now: what was not taken is not wanted any more."""
        self._chunks.clear()
        self.end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Give the audio as it comes."""
        while True:
            while self._chunks:
                yield self._chunks.popleft()
            if self.ended:
                return
            self._wake.clear()
            await self._wake.wait()
