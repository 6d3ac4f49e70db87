"""What is known of models: how much they hold, what they cost, how they count speech. Data only.

Read on 2026-11-30 from the model pages and the pricing page at developers.openai.com, and from
ai.google.dev. Prices change: a cost that is shown is an estimate from this table. A model that is
not in it has no known price, and a window that is a guess.
"""

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from .const import PROVIDER_OPENAI
from .memory.money import Prices
from .memory.usage import GEMINI_RATES, OPENAI_RATES, AudioRates

PRICES_AT: Final = "2026-11-30"
UNKNOWN_CONTEXT: Final = 32_000
PREFIX_LIMIT: Final = 16_384
"""Tokens of instructions and tools that OpenAI takes (reported by its users, undocumented)."""
PREFIX_WARNING: Final = 12_000

_HOUR: Final = 3600.0
_SNAPSHOT: Final = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of one model. None: not known, or no such limit."""

    context: int = UNKNOWN_CONTEXT
    """Tokens, the answer included."""
    output: int = 4_096
    """Tokens of an answer, at most."""
    session_seconds: float | None = _HOUR
    audio_seconds: float | None = None
    turns: int | None = None
    rates: AudioRates = OPENAI_RATES
    provider: str = PROVIDER_OPENAI
    """Whose prices these are: who else has a model of this name has prices of its own."""
    prices: Prices | None = None

    @property
    def room(self) -> int:
        """Tokens that may be held, so that the longest answer still fits."""
        return self.context - self.output


_LARGE: Final = Prices(
    text_in=4.0,
    text_cached=0.4,
    text_out=24.0,
    audio_in=32.0,
    audio_cached=0.4,
    audio_out=64.0,
    image_in=5.0,
    image_cached=0.5,
)
_EARLIER: Final = replace(_LARGE, text_out=16.0)
_MINI: Final = Prices(
    text_in=0.6,
    text_cached=0.06,
    text_out=2.4,
    audio_in=10.0,
    audio_cached=0.3,
    audio_out=20.0,
    image_in=0.8,
    image_cached=0.08,
)

_GEMINI: Final = Prices(
    text_in=0.75,
    text_cached=0.75,
    text_out=4.5,
    audio_in=3.0,
    audio_cached=3.0,
    audio_out=12.0,
)

UNKNOWN: Final = ModelFacts()
_NEW: Final = ModelFacts(context=128_000, output=32_000, prices=_LARGE)
_OLD: Final = ModelFacts(context=32_000, output=4_096, prices=_EARLIER)

MODELS: Final = MappingProxyType(
    {
        "gpt-realtime-2.1": _NEW,
        "gpt-realtime-2": _NEW,
        "gpt-realtime-2.1-mini": replace(_NEW, prices=_MINI),
        "gpt-realtime-1.5": _OLD,
        "gpt-realtime": _OLD,
        "gpt-realtime-mini": replace(_OLD, prices=_MINI),
        "gpt-realtime-mini-2025-12-15": replace(_OLD, context=128_000, prices=_MINI),
        "gemini-3.8-live": ModelFacts(
            context=131_072,
            output=65_536,
            session_seconds=600.0,
            audio_seconds=900.0,
            rates=GEMINI_RATES,
            provider="gemini",
            prices=_GEMINI,
        ),
    }
)

TRANSCRIBERS: Final = MappingProxyType(
    {"gpt-realtime-whisper": 0.017, "gpt-live-transcribe": 0.017}
)
"""US dollars for a minute of speech."""


def model_facts(model: str, provider: str = PROVIDER_OPENAI) -> ModelFacts:
    """Return what is known of a model; the prices only if it is that provider's own."""
    facts = MODELS.get(model) or MODELS.get(_SNAPSHOT.sub("", model), UNKNOWN)
    return facts if provider == facts.provider else replace(facts, prices=None)


def minute_price(transcriber: str | None, provider: str = PROVIDER_OPENAI) -> float | None:
    """Return what a minute of speech costs to write down, in US dollars, None if unknown."""
    return TRANSCRIBERS.get(transcriber or "") if provider == PROVIDER_OPENAI else None
