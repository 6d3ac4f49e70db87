"""The speech of one turn, kept until its turn is over so that another session can hear it again."""

from typing import Final

from .audio import Resampler

SATELLITE_RATE: Final = 16_000
SECONDS: Final = 60
"""Longest speech that is kept; more of it is counted and left out."""
CHUNK_MS: Final = 200
"""Longest piece that is sent in one frame."""


class Recording:
    """PCM16 mono, resampled as it comes. `take` gives what the current session has not got yet."""

    def __init__(self, rate: int) -> None:
        """Begin with silence; `rate` is what the provider wants, in Hz."""
        self.dropped_bytes = 0
        self._rate = rate
        self._resampler = Resampler(SATELLITE_RATE, rate)
        self._limit = SECONDS * rate * 2
        self._pcm = bytearray()
        self._sent = 0

    @property
    def ms(self) -> float:
        """Milliseconds of speech so far."""
        return len(self._pcm) / (self._rate * 2) * 1000

    @property
    def taken(self) -> bool:
        """Whether the current session has got any of it."""
        return self._sent > 0

    def feed(self, pcm: bytes) -> None:
        """Add PCM16 mono of the satellite."""
        self._add(self._resampler.feed(pcm))

    def finish(self) -> None:
        """Add what the resampler still holds: the speech is over."""
        self._add(self._resampler.flush())

    def take(self) -> list[bytes]:
        """Return what was not taken yet, in pieces for one frame each."""
        step = self._rate * 2 * CHUNK_MS // 1000
        end = len(self._pcm) - len(self._pcm) % 2
        pieces = [
            bytes(self._pcm[start : min(start + step, end)])
            for start in range(self._sent, end, step)
        ]
        self._sent = end
        return pieces

    def rewind(self) -> None:
        """Begin again for another session."""
        self._sent = 0

    def discard(self) -> None:
        """Forget the speech: nobody will hear it again."""
        self._pcm.clear()
        self._sent = 0

    def _add(self, pcm: bytes) -> None:
        room = self._limit - len(self._pcm)
        self._pcm += pcm[:room]
        self.dropped_bytes += max(0, len(pcm) - room)
