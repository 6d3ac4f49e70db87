"""What is held, as lines, and how a fact is found in them.

A fact is found by the words that a question and a held sentence share; nothing is known about any
particular topic.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .brain import ItemView

NAMED = re.compile(
    r"(?:\b|(?<=_))(?:my name is|my name's|i am called|call me|name\s*(?:is|:)|(?:is|am) called)"
    r"\s+(?!not\b|what\b)(?P<name>[^\W\d_][\w'-]*)",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"^\W*(?:what|when|where|who|whose|which|how|why|is|are|do|does|did|can|could|will|have|has)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_MARKUP = re.compile(r"<[^<>]*>")
_LABEL = re.compile(r"^[\s\-*>\"']*(?:(?:\[[^\]]*\]|[\w ]{1,20}):\s*)?[\s\"']*")
WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        a about again an and any are at be been but by can could did do does for from go goes
        going had has have he her him his how i if in into is it its know m me mine my no not of
        off on or our out please re s she should so tell than that the their them then there
        these they this to up us was we were what when where which who whose why will with would
        you your
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing held. `who` said it: a user (aloud or typed), a note of the house, us, a tool."""

    who: Literal["user", "note", "assistant", "tool"]
    text: str
    tool: str = ""


def is_note(item: ItemView) -> bool:
    """Tell whether a message is data that the client put there, not something a person said."""
    return not item.audio and (item.role == "system" or item.text.lstrip().startswith("<"))


def find_fact(question: str, held: Sequence[Line]) -> str | None:
    """Return the held sentence that shares the rarest words with `question`, or None.

    Newer sentences win among equals. At least half of what the question is about must be shared.
    """
    wanted = content_words(question)
    sentences = [
        (text, content_words(text))
        for line in held
        if line.who != "assistant"
        for text in sentences_of(line.text)
        if not QUESTION.search(text) and not text.endswith("?")
    ]
    best: tuple[float, int, str] | None = None
    for place, (text, words) in enumerate(sentences):
        shared = wanted & words
        if not shared or len(shared) * 2 < len(wanted):
            continue
        weight = sum(1 / sum(word in other for _, other in sentences) for word in shared)
        score = (len(shared) + weight, place, text)
        best = max(best, score) if best else score
    return best[2] if best else None


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text without markup, list marks and speakers' names."""
    for found in _SENTENCE.findall(_MARKUP.sub("\n", text)):
        sentence = _LABEL.sub("", found).strip(" \"'")
        if WORD.search(sentence):
            yield sentence


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say what it is about, without endings."""
    words = (word.lower() for word in WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _COMMON)


def _stem(word: str) -> str:
    """Return a word without a plural's or verb's ending."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def name_in(held: Sequence[Line]) -> str | None:
    """Return the newest name that a user gave or a note tells."""
    for line in reversed(held):
        if line.who in {"user", "note"} and (found := NAMED.findall(_MARKUP.sub(" ", line.text))):
            return capital(found[-1])
    return None


def gist(lines: Sequence[Line]) -> str:
    """Return what a summary needs: every statement once, no questions."""
    held = [text for line in lines for text in sentences_of(line.text)]
    kept = [text for text in held if not QUESTION.search(text) and not text.endswith("?")]
    return "\n".join(dict.fromkeys(kept)) or "Nothing to keep."


def capital(name: str) -> str:
    """Return a name with a capital letter."""
    return name[:1].upper() + name[1:]
