"""Sounds that say a number: so that what was heard can be told from what was meant.

Sixteen pieces of 20 ms, each loud or not so loud. Resampling and cutting the end leave it readable.
"""

import array
import math
from functools import lru_cache
from typing import Final

BITS: Final = 16
PIECE_MS: Final = 20
SOUND_MS: Final = BITS * PIECE_MS
_LOUD: Final = 10_000
_SOFT: Final = 4_000
_LIMIT: Final = 5_000
_HERTZ: Final = 400


def sound(number: int, rate: int, ms: int = SOUND_MS) -> bytes:
    """Return PCM16 mono that says a number, over and over for `ms`."""
    loud, soft = _piece(_LOUD, rate), _piece(_SOFT, rate)
    once = b"".join(loud if number >> bit & 1 else soft for bit in range(BITS))
    length = ms * rate // 1000 * 2
    return (once * (length // len(once) + 1))[:length]


@lru_cache
def _piece(level: int, rate: int) -> bytes:
    period = (math.sin(2 * math.pi * _HERTZ * n / rate) for n in range(PIECE_MS * rate // 1000))
    return array.array("h", [round(level * value) for value in period]).tobytes()


def number_of(pcm: bytes, rate: int) -> int | None:
    """Return the number that a sound says, None if there is not enough of it."""
    whole = BITS * (PIECE_MS * rate // 1000) * 2
    return _read(pcm[:whole], rate) if len(pcm) >= whole else None


@lru_cache(maxsize=256)
def _read(pcm: bytes, rate: int) -> int:
    piece = PIECE_MS * rate // 1000
    samples = array.array("h", pcm)
    number = 0
    for bit in range(BITS):
        middle = samples[bit * piece + piece // 4 : (bit + 1) * piece - piece // 4]
        level = math.sqrt(sum(value * value for value in middle) / len(middle))
        number |= (level > _LIMIT) << bit
    return number
