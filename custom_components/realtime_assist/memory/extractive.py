"""The summary that needs no model and never fails: the sentences that tell most, word for word.

Deterministic. A sentence is worth the words in it that no chosen line has yet, the rarer the more;
names, numbers and dates count more, and so do preferences, corrections and what things are called.
What the recogniser was unsure of is not learned, nor is what nobody heard.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from .cues import DATE, REPLY_CUES, USER_CUES
from .sentences import sentences, whole, words
from .summarizer import HomeSummary, Line, SummaryTask, line_cost
from .transcript import COMMENTARY, LineKind, TurnRecord

_FIELDS: Final = {
    LineKind.GIST: "gist",
    LineKind.FACT: "facts",
    LineKind.PREFERENCE: "preferences",
    LineKind.REQUEST: "requests",
    LineKind.PROMISE: "promises",
    LineKind.NAME: "names",
    LineKind.CORRECTION: "corrections",
}
_WEIGHTS: Final = {
    LineKind.GIST: 1.0,
    LineKind.FACT: 1.3,
    LineKind.PREFERENCE: 1.6,
    LineKind.REQUEST: 1.1,
    LineKind.PROMISE: 1.3,
    LineKind.NAME: 1.6,
    LineKind.CORRECTION: 1.5,
}
_REPLY: Final = 0.5
"""What the assistant said is worth half of what the user said."""
_CALL: Final = 0.3
_QUESTION: Final = 0.5
_FRAME_TOKENS: Final = 6
"""What a line costs beside its words, so that many tiny lines do not win."""
_LEAST_GAIN: Final = 1.3
"""A sentence that tells less is not worth a line, however much room there is."""
_ASKS: Final = ("?", "\uff1f", "\u061f")
_CITED: Final = 5
"""Of the turns in which the same was said, the last ones."""
_LEAST_POOL: Final = 20
"""Among fewer sentences than this nothing can be called frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A sentence that could become a line."""

    kind: LineKind
    text: str
    turns: tuple[int, ...]
    words: dict[str, float]
    """Each word with what it is worth by its own form."""
    worth: float
    cost: int


class ExtractiveSummarizer:
    """The built-in way."""

    name: Final = "extractive"

    async def summarize(self, task: SummaryTask) -> HomeSummary:
        """Return the summary of a task."""
        return self.extract(task)

    def extract(self, task: SummaryTask) -> HomeSummary:
        """Return the summary of a task; takes some milliseconds for a hundred turns."""
        candidates, rarity = _distinct(_candidates(task))
        chosen: dict[str, list[Line]] = {}
        for found in sorted(
            _choose(candidates, rarity, task.tokens), key=lambda c: (c.turns, c.text)
        ):
            line = Line(text=found.text, turns=list(found.turns))
            chosen.setdefault(_FIELDS[found.kind], []).append(line)
        return HomeSummary.model_validate(chosen)


def _candidates(task: SummaryTask) -> Iterator[_Candidate]:
    """Yield what a summary could say, earlier lines first."""
    for line in task.previous:
        yield _candidate(line.kind, line.text, line.turns, _WEIGHTS[line.kind])
    for turn in task.turns:
        yield from _user(turn)
        yield from _replies(turn)
        for call in turn.calls:
            text = f"Assistant: used {call.name} {call.arguments}"
            yield _candidate(LineKind.GIST, text, (turn.number,), _CALL)


def _user(turn: TurnRecord) -> Iterator[_Candidate]:
    """Yield what the user said, if it is sure."""
    if turn.unclear:
        return
    for sentence in sentences(turn.heard_text or ""):
        kind = next((kind for kind, cue in USER_CUES if cue.search(sentence)), None)
        if kind is LineKind.REQUEST and turn.calls:
            kind = None  # it was done
        if kind is None:
            kind = LineKind.FACT if DATE.search(sentence) else LineKind.GIST
        asks = kind is not LineKind.REQUEST and sentence.rstrip().endswith(_ASKS)
        worth = _WEIGHTS[kind] * (_QUESTION if asks else 1.0)
        yield _candidate(kind, f"{turn.speaker or 'User'}: {sentence}", (turn.number,), worth)


def _replies(turn: TurnRecord) -> Iterator[_Candidate]:
    """Yield what was heard of the replies, in whole sentences."""
    for said in turn.said:
        if said.phase == COMMENTARY:
            continue
        spoken = list(sentences(said.heard_words))
        if said.cut and spoken and not whole(spoken[-1]):
            spoken.pop()
        for sentence in spoken:
            kind = next((kind for kind, cue in REPLY_CUES if cue.search(sentence)), None)
            if kind is None:
                kind = LineKind.FACT if DATE.search(sentence) else LineKind.GIST
            text = f"Assistant: {sentence}"
            yield _candidate(kind, text, (turn.number,), _WEIGHTS[kind] * _REPLY)


def _candidate(kind: LineKind, text: str, turns: tuple[int, ...], worth: float) -> _Candidate:
    flat = " ".join(text.split())
    _, _, said = flat.partition(": ")
    forms = {word: _form(word) for word in words(said or flat)}
    for word in _names(said or flat):
        forms[word] = 1.5
    return _Candidate(
        kind=kind, text=flat, turns=turns, words=forms, worth=worth, cost=line_cost(flat)
    )


def _form(word: str) -> float:
    """Return what a word is worth by its form: short ones are the glue of most languages."""
    if any(map(str.isdigit, word)):
        return 1.5
    if not word.isascii() and len(word) <= 2:  # noqa: PLR2004 - a pair of signs
        return 0.6
    return min(max(len(word) - 2, 0) / 4, 1.0)


def _names(text: str) -> Iterator[str]:
    """Yield words with a capital inside a sentence."""
    for word in text.split()[1:]:
        if word[:1].isupper():
            yield from words(word)


def _distinct(found: Iterable[_Candidate]) -> tuple[list[_Candidate], dict[str, float]]:
    """Return each sentence once, with all its turns, and for each word how rare it is."""
    alike: dict[tuple[LineKind, str], list[_Candidate]] = {}
    for candidate in found:
        alike.setdefault((candidate.kind, candidate.text.casefold()), []).append(candidate)
    counts: Counter[str] = Counter()
    for group in alike.values():
        # What is said every day is neither thirty things nor one.
        counts.update(dict.fromkeys(group[0].words, math.isqrt(len(group))))
    candidates = [
        replace(
            max(group, key=lambda candidate: candidate.worth),
            turns=tuple(
                sorted({turn for candidate in group for turn in candidate.turns})[-_CITED:]
            ),
        )
        for group in alike.values()
    ]
    pool = max(len(candidates), _LEAST_POOL)
    return candidates, {word: math.log(1 + pool / count) for word, count in counts.items()}


def _choose(
    candidates: list[_Candidate], rarity: dict[str, float], tokens: int
) -> Iterator[_Candidate]:
    """Yield the candidates that together tell most for their tokens, the best first."""
    told: set[str] = set()
    left = tokens
    pool = list(candidates)
    while pool:
        pool = [found for found in pool if found.cost <= left]
        best: _Candidate | None = None
        gain = 0.0
        for found in pool:
            new = sum(form * rarity[word] for word, form in found.words.items() if word not in told)
            score = found.worth * new
            if score < _LEAST_GAIN:
                continue
            score /= found.cost + _FRAME_TOKENS
            if best is None or score > gain:
                best, gain = found, score
        if best is None:
            return
        yield best
        pool.remove(best)
        told |= best.words.keys()
        left -= best.cost
