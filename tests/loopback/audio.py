"""PCM of the loopback server: 16 bit, little endian, mono, 24 kHz, handled as bytes only."""

import array
import io
import math
import sys
import wave
from functools import lru_cache
from operator import mul

RATE = 24_000
"""Samples a second of everything on the wire."""

BYTES_PER_MS = RATE * 2 // 1000
"""How many bytes of PCM last one millisecond."""


def duration_ms(pcm: bytes | bytearray) -> int:
    """Return how long `pcm` lasts, in whole milliseconds."""
    return len(pcm) // BYTES_PER_MS


def silence(ms: float) -> bytes:
    """Return `ms` milliseconds of digital silence."""
    return bytes(2 * int(RATE * ms / 1000))


def tone(ms: float, hertz: float = 440.0, amplitude: int = 8000) -> bytes:
    """Return a sine of `ms` milliseconds.

    `hertz` is rounded to a whole number of samples a cycle.
    """
    cycle = _cycle(max(2, round(RATE / hertz)), amplitude)
    wanted = 2 * int(RATE * ms / 1000)
    return (cycle * (wanted // len(cycle) + 1))[:wanted]


@lru_cache(maxsize=256)
def _cycle(samples: int, amplitude: int) -> bytes:
    """Return one cycle of a sine that is `samples` long."""
    step = 2 * math.pi / samples
    values = array.array("h", (round(amplitude * math.sin(step * i)) for i in range(samples)))
    return _little(values).tobytes()


def voice_for(text: str, characters_per_second: float = 15.0) -> bytes:
    """Return a tone that stands for `text` being spoken.

    Its length by its letters, its pitch by its words.

    Two different texts sound different, so that audio can be told apart by its bytes.
    """
    mix = sum(ord(letter) * (place + 1) for place, letter in enumerate(text))
    ms = max(300.0, 1000.0 * len(text) / characters_per_second)
    return tone(ms, RATE / (40 + mix % 160), 6000 + mix % 997)


def loudness(pcm: bytes | bytearray) -> float:
    """Return the root mean square of the samples, 0 to 32767; 0 for no samples."""
    samples = array.array("h")
    samples.frombytes(bytes(pcm[: len(pcm) // 2 * 2]))
    values = _little(samples)
    return math.sqrt(sum(map(mul, values, values, strict=True)) / len(values)) if values else 0.0


def wav(pcm: bytes) -> bytes:
    """Return `pcm` as a complete WAV file."""
    target = io.BytesIO()
    with wave.open(target, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(RATE)
        writer.writeframes(pcm)
    return target.getvalue()


def _little(samples: array.array[int]) -> array.array[int]:
    """Swap `samples` in place where the machine is big endian, and return them."""
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def resample(pcm: bytes, source: int, target: int) -> bytes:
    """Return `pcm` of `source` samples a second as `target`, by straight lines between samples."""
    if source == target or not pcm:
        return pcm
    samples = array.array("h")
    samples.frombytes(pcm[: len(pcm) // 2 * 2])
    values = _little(samples)
    last = len(values) - 1
    made = array.array("h")
    for place in range(len(values) * target // source):
        whole, part = divmod(place * source, target)
        first = values[min(whole, last)]
        second = values[min(whole + 1, last)]
        made.append(first + (second - first) * part // target)
    return _little(made).tobytes()
