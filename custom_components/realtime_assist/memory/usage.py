"""How many tokens something costs, estimated: every number here is a guess, never a report."""

import re
from typing import Final

_TWO_BYTES: Final = re.compile("[\u0080-\u07ff]")
_FOUR_BYTES: Final = re.compile("[\U00010000-\U0010ffff]")

USER_AUDIO_MS_PER_TOKEN: Final = 100
"""OpenAI's rate for what the user says."""
REPLY_AUDIO_MS_PER_TOKEN: Final = 50
"""OpenAI's rate for what the model says."""


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


def estimate_audio_tokens(*, heard_ms: int = 0, said_ms: int = 0) -> int:
    """Return about how many tokens speech costs, in milliseconds of the user's and of ours."""
    return -(-heard_ms // USER_AUDIO_MS_PER_TOKEN) + -(-said_ms // REPLY_AUDIO_MS_PER_TOKEN)
