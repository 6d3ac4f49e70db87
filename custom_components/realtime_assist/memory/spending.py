"""What responses used, number by number: reported by the provider or estimated, and how long ago.

A number that nobody knows is absent. It is never zero; a zero that was reported is a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from .usage import OPENAI_RATES, AudioRates, Load


class Kind(StrEnum):
    """What is counted. Cached tokens are part of the input."""

    INPUT = "input"
    INPUT_TEXT = "input_text"
    INPUT_AUDIO = "input_audio"
    INPUT_IMAGE = "input_image"
    CACHED = "cached"
    CACHED_TEXT = "cached_text"
    CACHED_AUDIO = "cached_audio"
    CACHED_IMAGE = "cached_image"
    OUTPUT = "output"
    OUTPUT_TEXT = "output_text"
    OUTPUT_AUDIO = "output_audio"


class Provenance(StrEnum):
    """Where a number comes from."""

    REPORTED = "reported"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One number of tokens."""

    tokens: int
    provenance: Provenance
    at: float
    """When it was reported or estimated, in seconds since the epoch."""

    def age(self, now: float) -> float:
        """Return how old it is, in seconds."""
        return max(0.0, now - self.at)

    def plus(self, other: Amount) -> Amount:
        """Return the sum: reported only if both were, and as old as the newer one."""
        return Amount(
            tokens=self.tokens + other.tokens,
            provenance=max(self.provenance, other.provenance, key=_WORSE.index),
            at=max(self.at, other.at),
        )


_WORSE: Final = (Provenance.REPORTED, Provenance.ESTIMATED)

type Amounts = Mapping[Kind, Amount]
NOTHING: Final[Amounts] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What one response, or one transcript, used."""

    at: float
    """Seconds since the epoch."""
    amounts: Amounts = NOTHING
    """What is known. A kind that is not there is unknown."""
    seconds: float | None = None
    """Seconds of audio, where a provider counts those (transcription)."""

    def get(self, kind: Kind) -> int | None:
        """Return how many tokens of a kind, None if nobody knows."""
        amount = self.amounts.get(kind)
        return None if amount is None else amount.tokens


def reported(at: float, counts: Mapping[Kind, int | None], *, seconds: float | None = None) -> Use:
    """Return what a provider reports; None is unknown and left out."""
    return Use(
        at=at,
        amounts={
            kind: Amount(tokens=tokens, provenance=Provenance.REPORTED, at=at)
            for kind, tokens in counts.items()
            if tokens is not None
        },
        seconds=seconds,
    )


def completed(use: Use, read: Load, made: Load, rates: AudioRates = OPENAI_RATES) -> Use:
    """Return a use in which what was not reported of its main numbers is estimated.

    `read` is what the model was given, `made` what came of it. Input and output are split into
    text and audio as the estimate has it; of images and of the cache nothing is guessed.
    """
    known = dict(use.amounts)
    for whole, text, audio, load in (
        (Kind.INPUT, Kind.INPUT_TEXT, Kind.INPUT_AUDIO, read),
        (Kind.OUTPUT, Kind.OUTPUT_TEXT, Kind.OUTPUT_AUDIO, made),
    ):
        total = known[whole].tokens if whole in known else load.tokens(rates)
        parts = _split(total, known.get(text), known.get(audio), load, rates)
        for kind, tokens in zip((whole, text, audio), (total, *parts), strict=True):
            estimate = Amount(tokens=tokens, provenance=Provenance.ESTIMATED, at=use.at)
            known.setdefault(kind, estimate)
    return replace(use, amounts=known)


def _split(
    total: int, text: Amount | None, audio: Amount | None, load: Load, rates: AudioRates
) -> tuple[int, int]:
    """Return how much of a total is text and how much is audio."""
    if text is not None:
        return text.tokens, audio.tokens if audio else max(0, total - text.tokens)
    if audio is not None:
        return max(0, total - audio.tokens), audio.tokens
    estimate = load.tokens(rates)
    spoken = round(total * load.audio_tokens(rates) / estimate) if estimate else 0
    return total - spoken, spoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What many responses used together."""

    responses: int = 0
    transcripts: int = 0
    amounts: Amounts = field(default=NOTHING)
    """Sums. A kind that no response had is not there."""
    cost: float | None = None
    """US dollars of what has a known price; None if nothing has."""
    unpriced: int = 0
    """Responses and transcripts whose price is not known: they are not in `cost`."""

    def plus(self, use: Use, cost: float | None, *, transcript: bool = False) -> Total:
        """Return the total with one more response, or transcript, in it."""
        amounts = dict(self.amounts)
        if not transcript:
            for kind, amount in use.amounts.items():
                amounts[kind] = amounts[kind].plus(amount) if kind in amounts else amount
        return Total(
            responses=self.responses + (not transcript),
            transcripts=self.transcripts + transcript,
            amounts=amounts,
            cost=self.cost if cost is None else (self.cost or 0.0) + cost,
            unpriced=self.unpriced + (cost is None),
        )

    @property
    def provenance(self) -> Provenance | None:
        """Return where its numbers come from: reported only if all of them are."""
        return max((a.provenance for a in self.amounts.values()), key=_WORSE.index, default=None)

    @property
    def tokens(self) -> int | None:
        """Return all tokens in and out, None if nobody knows any."""
        parts = [a.tokens for k in (Kind.INPUT, Kind.OUTPUT) if (a := self.amounts.get(k))]
        return sum(parts) if parts else None
