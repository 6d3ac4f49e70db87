"""Hear the house's own voice for what it is: a satellite that listened too early.

Some satellites open the microphone while they still speak. What they hear then looks like a
question, and the house would talk with itself.
"""

import re
from difflib import SequenceMatcher
from typing import Final

ECHO_SECONDS: Final = 6.0
"""How long after an answer its words may still be heard as an echo."""
FEWEST_WORDS: Final = 4
"""Fewer words are not told apart from somebody who repeats them on purpose."""
SHARE: Final = 0.8

_WORD: Final = re.compile(r"\w+")


def is_echo(heard: str, said: str) -> bool:
    """Return whether what was heard is a part of what the house itself said just before."""
    words, own = _words(heard), _words(said)
    if len(words) < FEWEST_WORDS or not own:
        return False
    matcher = SequenceMatcher(None, own, words, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not blocks:
        return False
    matched = sum(block.size for block in blocks)
    span = blocks[-1].a + blocks[-1].size - blocks[0].a
    # Scattered matches are the small words of every sentence.
    return matched >= SHARE * len(words) and span <= len(words) / SHARE


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
