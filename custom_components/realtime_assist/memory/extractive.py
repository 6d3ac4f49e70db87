"""The summary that needs no model and never fails: the sentences that tell most, word for word.

Deterministic. A sentence is worth the words in it that no chosen line has yet, the rarer the more;
names, numbers and dates count more, and so do preferences, corrections and what things are called.
Sentences that were said in one breath may be one line: alone they often tell little, and the frame
of a line has its price. What the recogniser was unsure of is not learned, nor is what nobody heard.
"""

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final

from .cues import DATE, REPLY_CUES, USER_CUES
from .sentences import MAX_TOKENS, MAX_WORDS, sentences, whole, words
from .summarizer import HomeSummary, Line, SummaryTask, line_cost
from .transcript import COMMENTARY, LineKind, TurnRecord
from .usage import estimate_tokens

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

    def judge(sentence: str) -> tuple[LineKind, float]:
        kind = next((kind for kind, cue in USER_CUES if cue.search(sentence)), None)
        if kind is LineKind.REQUEST and turn.calls:
            kind = None  # it was done
        kind = kind or _plain(sentence)
        asks = kind is not LineKind.REQUEST and sentence.rstrip().endswith(_ASKS)
        return kind, _WEIGHTS[kind] * (_QUESTION if asks else 1.0)

    spoken = list(sentences(turn.heard_text or ""))
    yield from _lines(turn.speaker or "User", spoken, turn.number, judge)


def _replies(turn: TurnRecord) -> Iterator[_Candidate]:
    """Yield what was heard of the replies, in whole sentences."""

    def judge(sentence: str) -> tuple[LineKind, float]:
        kind = next((kind for kind, cue in REPLY_CUES if cue.search(sentence)), None)
        kind = kind or _plain(sentence)
        return kind, _WEIGHTS[kind] * _REPLY

    for said in turn.said:
        if said.phase == COMMENTARY:
            continue
        spoken = list(sentences(said.heard_words))
        if (said.cut or turn.interrupted) and spoken and not whole(spoken[-1]):
            spoken.pop()
        yield from _lines("Assistant", spoken, turn.number, judge)


def _plain(sentence: str) -> LineKind:
    """Return what a sentence without any cue is."""
    return LineKind.FACT if DATE.search(sentence) else LineKind.GIST


def _lines(
    who: str,
    spoken: Sequence[str],
    number: int,
    judge: Callable[[str], tuple[LineKind, float]],
) -> Iterator[_Candidate]:
    """Yield each sentence, and those that stand together as far as a line reaches.

    Together they are what the best of them is: the others are what makes it understood.
    """
    judged = [judge(sentence) for sentence in spoken]
    for start in range(len(spoken)):
        for end in range(start + 1, len(spoken) + 1):
            text = f"{who}: {' '.join(spoken[start:end])}"
            if end > start + 1 and not _is_line(text):
                break
            kind, worth = max(judged[start:end], key=itemgetter(1))
            yield _candidate(kind, text, (number,), worth)


def _is_line(text: str) -> bool:
    return len(text.split()) <= MAX_WORDS and estimate_tokens(text) <= MAX_TOKENS


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
    """Yield the candidates that together tell most for their tokens, the best first.

    What a line tells beside the others never grows while lines are chosen: so one that is best by
    what it told before, and still is, is the best of all.
    """
    told: set[str] = set()
    texts: dict[int, list[str]] = {}
    left = tokens

    def gain(found: _Candidate) -> float:
        new = sum(form * rarity[word] for word, form in found.words.items() if word not in told)
        score = found.worth * new
        return 0.0 if score < _LEAST_GAIN else score / (found.cost + _FRAME_TOKENS)

    best = [(-gain(found), place) for place, found in enumerate(candidates)]
    heapq.heapify(best)
    while best:
        before, place = heapq.heappop(best)
        found = candidates[place]
        if before == 0.0:
            return
        if found.cost > left or _repeats(found, texts):
            continue
        now = -gain(found)
        if now > before:
            heapq.heappush(best, (now, place))
            continue
        yield found
        told |= found.words.keys()
        left -= found.cost
        for turn in found.turns:
            texts.setdefault(turn, []).append(found.text.partition(": ")[2])


def _repeats(found: _Candidate, texts: dict[int, list[str]]) -> bool:
    """Whether a line says again what one of the same turn says, or the reverse."""
    said = found.text.partition(": ")[2]
    return any(
        said and other and (said in other or other in said)
        for turn in found.turns
        for other in texts.get(turn, ())
    )
