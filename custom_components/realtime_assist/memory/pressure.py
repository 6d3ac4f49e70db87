"""How near a session is to one of its limits, and what that calls for."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

SOFT: Final = 0.7
HARD: Final = 0.85


class Level(IntEnum):
    """What the pressure calls for."""

    NONE = 0
    SOFT = 1
    """Nothing while the session is hot; a new one at the next wake after a pause."""
    HARD = 2
    """A summary now, and a new session at the next boundary."""


class Limit(StrEnum):
    """What may run out."""

    TOKENS = "tokens"
    AUDIO = "audio"
    TURNS = "turns"
    AGE = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of each there is, or may be. As a limit, None and 0 mean that there is none."""

    tokens: float | None = None
    audio_seconds: float | None = None
    turns: float | None = None
    age_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """The largest share of a limit that is used."""

    share: float = 0.0
    limit: Limit | None = None

    @property
    def level(self) -> Level:
        """Return what it calls for."""
        if self.share >= HARD:
            return Level.HARD
        return Level.SOFT if self.share >= SOFT else Level.NONE


def pressure(extent: Extent, limits: Extent) -> Pressure:
    """Return how near an extent is to its limits; the nearest one counts."""
    worst = Pressure()
    for limit, used, most in (
        (Limit.TOKENS, extent.tokens, limits.tokens),
        (Limit.AUDIO, extent.audio_seconds, limits.audio_seconds),
        (Limit.TURNS, extent.turns, limits.turns),
        (Limit.AGE, extent.age_seconds, limits.age_seconds),
    ):
        share = (used or 0.0) / most if most else 0.0
        if share > worst.share:
            worst = Pressure(share=share, limit=limit)
    return worst
