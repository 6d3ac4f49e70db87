"""How many tokens something costs, estimated: every number here is a guess, never a report."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_TWO_BYTES: Final = re.compile("[\u0080-\u07ff]")
_FOUR_BYTES: Final = re.compile("[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is to a model.

    A token is about four letters of English, two of Greek, Cyrillic or Arabic, one sign of
    Chinese, Japanese or Hindi, half an emoji. The estimate of two texts together is never more
    than the sum of both.
    """
    if text.isascii():
        return -(-len(text) // 4)
    two = len(_TWO_BYTES.findall(text))
    four = len(_FOUR_BYTES.findall(text))
    plain = sum(map(str.isascii, text))
    three = len(text) - plain - two - four
    return -(-(plain + 2 * two + 4 * three + 8 * four) // 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioRates:
    """Tokens for each second of speech. The defaults are OpenAI's (documented: realtime-costs)."""

    heard: float = 10.0
    """What the user says."""
    said: float = 20.0
    """What the model says."""


OPENAI_RATES: Final = AudioRates()
GEMINI_RATES: Final = AudioRates(heard=32.0, said=32.0)
"""Documented for files; 25 are reported for live sessions, so this is the safe side."""

ITEM_TOKENS: Final = 3
"""What an item costs beside its words (documented: ten tokens of text may count twelve)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Something that a model reads or says: words, in estimated tokens, and speech in ms."""

    text_tokens: int = 0
    heard_ms: int = 0
    said_ms: int = 0

    def audio_tokens(self, rates: AudioRates = OPENAI_RATES) -> int:
        """Return about how many tokens its speech costs, a begun one of each kind counted whole."""
        heard = -(-self.heard_ms * rates.heard // 1000)
        return int(heard - (-self.said_ms * rates.said // 1000))

    def tokens(self, rates: AudioRates = OPENAI_RATES) -> int:
        """Return about how many tokens all of it costs."""
        return self.text_tokens + self.audio_tokens(rates)

    @property
    def audio_seconds(self) -> float:
        """Return how long its speech is."""
        return (self.heard_ms + self.said_ms) / 1000


def load_of(parts: Iterable[Load]) -> Load:
    """Return several loads as one."""
    text = heard = said = 0
    for part in parts:
        text += part.text_tokens
        heard += part.heard_ms
        said += part.said_ms
    return Load(text_tokens=text, heard_ms=heard, said_ms=said)
