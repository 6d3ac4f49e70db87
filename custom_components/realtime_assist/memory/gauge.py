"""How full a session is: what the provider last reported, and what was added or taken away since.

    a response ends ──reported input──> base ──┐
    what is held now ──estimate─────────────────┴──> reading

A report replaces the one before, it is never added to it. What came or went since is estimated, on
a scale that the reports themselves calibrate. So the gauge falls when the context does: with what
is removed or cut, and with a new session.
"""

from dataclasses import dataclass, replace
from typing import Final

from .spending import Provenance

LEAST_FACTOR: Final = 0.5
MOST_FACTOR: Final = 2.0
FAR_BELOW: Final = 0.85
"""A report of less than this share of what there must be at least is no matter of counting."""
NOISE: Final = 200
"""Tokens by which reports may be wrong without anything being wrong."""
LOST_AFTER: Final = 2
"""So many such reports running, and the server has dropped something without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A report, and what we thought was held then."""

    tokens: int
    held: int
    """Estimated tokens, not calibrated."""
    loose: int
    """Those of them that a server may cease to count by itself."""
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How many tokens a session holds."""

    tokens: int
    provenance: Provenance
    reported: int | None = None
    """What the provider said last in this session, None if it has not."""
    reported_at: float | None = None
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """What is known of the size of a session."""

    factor: float = 1.0
    """Tokens of the provider for each one that we estimate; it outlives the session."""
    base: Base | None = None
    misses: int = 0
    """Reports running that were far below what there must be."""
    ceiling: int | None = None
    """The most that the server was ever seen to hold, if it dropped something beyond that."""

    @property
    def lost(self) -> bool:
        """Whether the server holds less than it was given, and nobody knows what."""
        return self.misses >= LOST_AFTER

    def fresh(self) -> Gauge:
        """Return the gauge of a new, empty session."""
        return replace(self, base=None, misses=0)

    def reported(self, tokens: int, held: int, at: float, *, loose: int = 0) -> Gauge:
        """Take the input tokens of a response that had all of the conversation.

        `held`: what we estimate was held, not calibrated; `loose` of it is the speech of replies,
        which a server may replace by its text (recorded: in three turns 27, 96 and 124 tokens of
        audio, where all of it would be 166). A number far below what there must be is not believed
        at once: when it comes twice running, the gauge is `lost`.
        """
        least = self._least(held)
        if tokens < FAR_BELOW * least and least - tokens >= NOISE:
            return self._missed()
        factor = min(max(tokens / held, LEAST_FACTOR), MOST_FACTOR) if held else self.factor
        return replace(
            self, factor=factor, base=Base(tokens=tokens, held=held, loose=loose, at=at), misses=0
        )

    def reading(self, held: int) -> Reading:
        """Return how full the session is, of what we estimate that it holds, not calibrated."""
        base = self.base
        if base is None:
            return Reading(tokens=round(self.factor * held), provenance=Provenance.ESTIMATED)
        since = self.factor * (held - base.held)
        # However much went, what is there costs something.
        least = min(base.tokens, round(LEAST_FACTOR * held))
        return Reading(
            tokens=max(round(base.tokens + since), least),
            provenance=Provenance.REPORTED if held == base.held else Provenance.ESTIMATED,
            reported=base.tokens,
            reported_at=base.at,
        )

    def _least(self, held: int) -> float:
        """Return what the server must still hold: the last report less all that may be gone."""
        if self.base is None:
            return 0.0
        gone = max(0, self.base.held - held)
        return self.base.tokens - MOST_FACTOR * gone - self.base.loose

    def _missed(self) -> Gauge:
        misses = self.misses + 1
        if misses < LOST_AFTER or self.base is None:
            return replace(self, misses=misses)
        seen = self.base.tokens
        return replace(self, misses=misses, ceiling=min(self.ceiling or seen, seen))
