"""PCM16 mono audio: other sample rates, WAV framing, and the sounds that we make ourselves.

Importing this module imports numpy, which takes a tenth of a second: it is imported with the
integration, in Home Assistant's executor, and never in the event loop.
"""

import math
import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

BYTES_PER_SAMPLE: Final = 2
_TAPS: Final = 64
"""Input samples that one output sample is made of: 2 ms of delay at 16 kHz."""
_CUTOFF: Final = 0.94
"""Of the lower Nyquist frequency."""
_KAISER_BETA: Final = 8.0
"""Keeps images and aliases 80 dB down."""
_UNKNOWN_SIZE: Final = 0xFFFFFFFF
_PCM: Final = 1
_FLOAT: Final = 3

type _Floats = NDArray[np.float32]


class Resampler:
    """A streaming polyphase FIR filter from one rate to another.

    State is carried from chunk to chunk, so chunks may have any size, also of one byte, and nothing
    clicks where they meet. All output together is as long as all input, and aligned with it; the
    last 2 ms of it come with `flush`.
    """

    def __init__(self, rate_in: int, rate_out: int) -> None:
        """Prepare for rates in Hz.

        Raises:
            ValueError: a rate is not positive.

        """
        if rate_in <= 0 or rate_out <= 0:
            raise ValueError("rates are positive")
        divisor = math.gcd(rate_in, rate_out)
        self._up: Final = rate_out // divisor
        self._down: Final = rate_in // divisor
        self._same: Final = rate_in == rate_out
        self._filter: Final = _block_filter(self._up, self._down)
        self._history: Final = len(self._filter) - self._down
        self._odd = b""
        self._reset()

    def feed(self, pcm: bytes) -> bytes:
        """Return what can be said so far; an odd last byte waits for its other half."""
        if self._odd:
            pcm = self._odd + pcm
        whole = len(pcm) & ~1
        self._odd = pcm[whole:]
        if self._same:
            return pcm[:whole]
        samples = np.frombuffer(pcm, "<i2", whole // BYTES_PER_SAMPLE).astype(np.float32)
        self._taken += len(samples)
        return self._push(samples)

    def flush(self) -> bytes:
        """Return the rest, and be ready for another stream. Half a sample is dropped."""
        self._odd = b""
        if self._same:
            return b""
        total = -(-self._taken * self._up // self._down)
        missing = total - self._given
        rest = self._push(np.zeros(self._history + 2 * self._down, np.float32))
        self._reset()
        return rest[: missing * BYTES_PER_SAMPLE]

    def _reset(self) -> None:
        self._taken = self._given = 0
        self._waiting: _Floats = np.zeros(self._history, np.float32)
        self._skip = _half_length(self._up, self._down) // self._down

    def _push(self, samples: _Floats) -> bytes:
        """Filter all blocks of `down` input samples that are complete, into `up` samples each."""
        waiting = np.concatenate((self._waiting, samples))
        width, step = len(self._filter), self._down
        blocks = (len(waiting) - self._history) // step
        if blocks <= 0:
            self._waiting = waiting
            return b""
        # Overlapping windows without a copy: each row begins `step` samples after the one before.
        size = waiting.itemsize
        rows = np.ndarray((blocks, width), np.float32, waiting, 0, (step * size, size))
        self._waiting = waiting[blocks * step :].copy()
        out = (rows @ self._filter).reshape(-1)
        if self._skip:
            skipped = min(self._skip, len(out))
            self._skip -= skipped
            out = out[skipped:]
        self._given += len(out)
        np.rint(out, out)
        np.clip(out, -32768, 32767, out)
        return out.astype("<i2").tobytes()


def wav_header(rate: int, *, float32: bool = False) -> bytes:
    """Return the header of a mono WAV stream of unknown length.

    With `float32` its samples are IEEE floats (`pcm_to_float`): ffmpeg looks at 64 KiB of integer
    samples before it plays them, since they could be something else in disguise.
    """
    tag, width = (_FLOAT, 4) if float32 else (_PCM, 2)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, tag, 1, rate, rate * width, width, width * 8)
    riff = struct.pack("<4sI4s", b"RIFF", _UNKNOWN_SIZE, b"WAVE")
    return riff + form + struct.pack("<4sI", b"data", _UNKNOWN_SIZE)


def pcm_to_float(pcm: bytes) -> bytes:
    """Return PCM16 as little-endian IEEE floats between -1 and 1.

    Raises:
        ValueError: `pcm` ends in the middle of a sample.

    """
    return (np.frombuffer(pcm, "<i2").astype("<f4") / np.float32(32768)).tobytes()


def silence(ms: float, rate: int) -> bytes:
    """Return so many milliseconds of PCM16 silence."""
    return bytes(round(ms * rate / 1000) * BYTES_PER_SAMPLE)


def duration_ms(n_bytes: int, rate: int) -> float:
    """Return how many milliseconds so many bytes of PCM16 last."""
    return n_bytes * 1000 / (rate * BYTES_PER_SAMPLE)


def failure_tone(rate: int) -> bytes:
    """Return half a second of PCM16: two soft notes, falling. Something went wrong."""
    notes = []
    for hertz in (392.0, 311.1):  # G, E flat
        t = np.arange(rate // 4) / rate
        swell = np.sin(np.pi * t * 4) ** 2
        notes.append(swell * (np.sin(2 * np.pi * hertz * t) + 0.2 * np.sin(4 * np.pi * hertz * t)))
    return bytes(np.rint(np.concatenate(notes) * 4000).astype("<i2").tobytes())


def _half_length(up: int, down: int) -> int:
    """Return half of the filter's length, so that its delay is a whole number of output samples."""
    return -(-_TAPS * up // 2 // down) * down


def _block_filter(up: int, down: int) -> _Floats:
    """Return the matrix that makes `up` output samples of a window of input samples.

    The last `down` rows of the window are new samples, those before them history.
    """
    half = _half_length(up, down)
    position = np.arange(-half, half + 1)
    cutoff = _CUTOFF / max(up, down)
    taps = cutoff * np.sinc(cutoff * position) * np.kaiser(2 * half + 1, _KAISER_BETA) * up
    history = 2 * half // up
    matrix = np.zeros((history + down, up), np.float32)
    for column in range(up):
        newest, phase = divmod(column * down, up)
        part = taps[phase::up]
        first = history + newest
        matrix[first - np.arange(len(part)), column] = part
    return matrix
