"""Server-side voice activity detection by energy.

When speech begins and ends in a stream of PCM.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from .audio import BYTES_PER_MS, loudness

_FRAME_MS = 20
_FRAME = _FRAME_MS * BYTES_PER_MS
_ONSET_MS = 60
_LOUDNESS_AT_FULL_THRESHOLD = 800.0
"""Root mean square that counts as speech at threshold 1.0; 400 at the default of 0.5."""

_EAGERNESS_MS = {"high": 500, "medium": 1_000, "auto": 1_000, "low": 2_000}


@dataclass(frozen=True, slots=True)
class Edge:
    """Speech began or ended, at `at_ms` of all audio of the session."""

    kind: Literal["started", "stopped"]
    at_ms: int


class EnergyVad:
    """Finds speech frame by frame. Edges are where the provider's events say they are.

    `started` lies `prefix_padding_ms` before the first loud frame, `stopped` where the audio that
    goes to the model ends, which includes the silence that ended it [documented].
    """

    def __init__(self, settings: dict[str, object], start_ms: int) -> None:
        """Begin to listen at `start_ms` of the session's audio, by a `turn_detection` object."""
        self.prefix_ms = _whole(settings.get("prefix_padding_ms"), 300)
        semantic = _EAGERNESS_MS.get(str(settings.get("eagerness", "auto")), 1_000)
        plain = settings.get("type") != "semantic_vad"
        self.silence_ms = _whole(settings.get("silence_duration_ms"), 500) if plain else semantic
        threshold = settings.get("threshold")
        level = threshold if isinstance(threshold, int | float) else 0.5
        self._level = max(1.0, level * _LOUDNESS_AT_FULL_THRESHOLD)
        self._rest = bytearray()
        self._at_ms = start_ms
        self._floor_ms = start_ms
        self._loud_ms = 0
        self._quiet_ms = 0
        self.speaking = False

    def feed(self, pcm: bytes) -> Iterator[Edge]:
        """Take more audio and yield the edges in it."""
        self._rest += pcm
        while len(self._rest) >= _FRAME:
            frame = bytes(self._rest[:_FRAME])
            del self._rest[:_FRAME]
            self._at_ms += _FRAME_MS
            edge = self._frame(loud=loudness(frame) >= self._level)
            if edge is not None:
                yield edge

    def _frame(self, *, loud: bool) -> Edge | None:
        """Count one frame; return the edge it completes."""
        self._loud_ms = self._loud_ms + _FRAME_MS if loud else 0
        self._quiet_ms = 0 if loud else self._quiet_ms + _FRAME_MS
        if not self.speaking and self._loud_ms >= _ONSET_MS:
            self.speaking = True
            start = self._at_ms - self._loud_ms - self.prefix_ms
            return Edge("started", max(self._floor_ms, start))
        if self.speaking and self._quiet_ms >= self.silence_ms:
            self.speaking = False
            self._floor_ms = self._at_ms
            return Edge("stopped", self._at_ms)
        return None


def _whole(value: object, default: int) -> int:
    """Return `value` if it is a number, else `default`."""
    return int(value) if isinstance(value, int | float) else default
