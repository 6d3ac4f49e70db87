"""What of a long conversation does a resumed session still know? The share of evidence in it.

`ours` summarises a whole public conversation by the built-in way, which needs no model, into what a
resumed session may be told. `ours_as_lived` lets its turns join a thread one by one, where they are
summarised over and over and the last ones stay, as in a home; and reads the recap.

Evidence survives where one line of at most 40 words cites its turn and holds 60 % of the turn's
content words, each weighed by how rare it is. A question counts with the share of its evidence.

Beside it, in the same run: the newest turns that fit into as many tokens; the newest that fit into
32,000 characters, of which the first that does not fit ends it; the most frequent words, which tell
nothing and must score so; and an oracle that knows the questions and picks the best lines. Then all
of it once more where a search (5 hits) is allowed before the answer.
"""

import math
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from custom_components.realtime_assist.items import RECAP, View
from custom_components.realtime_assist.memory.compose import compose
from custom_components.realtime_assist.memory.compression import checkpoint, committed
from custom_components.realtime_assist.memory.extractive import ExtractiveSummarizer
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.sentences import sentences
from custom_components.realtime_assist.memory.summarizer import SummaryTask, lines_of
from custom_components.realtime_assist.memory.transcript import (
    SummaryLine,
    Thread,
    ThreadKey,
    TurnRecord,
)
from custom_components.realtime_assist.memory.usage import estimate_tokens

from .locomo import Conversation, Turn, conversations
from .recall import ours
from .report import Figure

KEY: Final = ThreadKey("bench", GLOBAL)
TOKENS: Final = 1500
CHARACTERS: Final = 32_000
"""What AgentScope 2.0.11 replays at a reconnection."""
LINE_WORDS: Final = 40
SHARE: Final = 0.6
HITS: Final = 5
COMMON: Final = 0.1
"""A word that stands in more than this share of the turns is no content word."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of what a session is told, and the ids of the turns that it cites."""

    text: str
    cites: frozenset[str]

    @property
    def cost(self) -> int:
        """Estimated tokens."""
        return estimate_tokens(f"{self.text}\n")


@dataclass(frozen=True, slots=True)
class Aim:
    """What a share should be: at least this, or at most."""

    value: float
    at_most: bool = False


type Way = Callable[[Conversation], list[Line]]


class Measure:
    """Tells which turns of a conversation survive in lines."""

    def __init__(self, conversation: Conversation) -> None:
        """Weigh the words of a conversation by how rare they are in it."""
        self.conversation: Final = conversation
        said = {turn.id: _words(turn.text) for turn in conversation.turns}
        counts = Counter(word for words in said.values() for word in words)
        many = len(said)
        self._idf: Final = {
            word: math.log(many / count) for word, count in counts.items() if count <= COMMON * many
        }
        self._content: Final = {
            turn: {word for word in words if word in self._idf} for turn, words in said.items()
        }

    def held(self, text: str, turn: str) -> bool:
        """Whether a line holds enough of what was said in a turn."""
        if len(text.split()) > LINE_WORDS:
            return False
        content = self._content[turn]
        whole = sum(self._idf[word] for word in content)
        found = sum(self._idf[word] for word in content & _words(text))
        return whole > 0 and found >= SHARE * whole

    def survivors(self, lines: Iterable[Line]) -> set[str]:
        """Return the turns that survive in these lines."""
        return {
            turn
            for line in lines
            for turn in line.cites & self._content.keys()
            if self.held(line.text, turn)
        }

    def shares(self, lines: Iterable[Line]) -> list[float]:
        """Return the share of evidence that survives, question by question."""
        left = sorted(self.survivors(lines))
        return [asked.share(left) for asked in self.conversation.asked]


def summarised(conversation: Conversation) -> list[Line]:
    """Return the summary of everything."""
    thread = Thread(key=KEY)
    for record in _records(conversation):
        thread = thread.joined(record)
    task = SummaryTask(turns=thread.turns, tokens=TOKENS)
    return _lines(conversation, lines_of(ExtractiveSummarizer().extract(task), task))


def lived(conversation: Conversation) -> list[Line]:
    """Return what a session is told after all turns came one by one: summary and last turns."""
    thread = Thread(key=KEY)
    for record in _records(conversation):
        thread = thread.joined(record)
        if (made := checkpoint(thread, TOKENS, record.at)) is not None:
            thread = committed(thread, made)
    body = _recap(thread)
    lines = _lines(conversation, thread.summary.lines if thread.summary else ())
    verbatim = {turn.id for turn in thread.turns}
    lines += [_told(turn) for turn in conversation.turns if turn.id in verbatim]
    return [line for line in lines if line.text in body]


def newest(conversation: Conversation) -> list[Line]:
    """Return the newest turns that fit into as many tokens."""
    kept: list[Line] = []
    left = TOKENS
    for line in map(_told, reversed(conversation.turns)):
        left -= line.cost
        if left < 0:
            break
        kept.append(line)
    return kept


def newest_characters(conversation: Conversation) -> list[Line]:
    """Return the newest turns that fit into 32,000 characters: more than five times as much."""
    kept: list[Line] = []
    left = CHARACTERS
    for line in map(_told, reversed(conversation.turns)):
        left -= len(line.text) + 1
        if left < 0:
            break
        kept.append(line)
    return kept


def frequent_words(conversation: Conversation) -> list[Line]:
    """Return the most frequent words in lines that claim to be about everything."""
    counts = Counter(word for turn in conversation.turns for word in _words(turn.text))
    everything = frozenset(turn.id for turn in conversation.turns)
    lines: list[Line] = []
    left = TOKENS
    words = [word for word, _ in counts.most_common()]
    for start in range(0, len(words), LINE_WORDS):
        line = Line(text=" ".join(words[start : start + LINE_WORDS]), cites=everything)
        left -= line.cost
        if left < 0:
            break
        lines.append(line)
    return lines


def oracle(conversation: Conversation) -> list[Line]:
    """Return the lines that hold the most evidence for their tokens, knowing all questions.

    A line is a sentence, or as many that stand together as 40 words allow, with its speaker.
    """
    measure = Measure(conversation)
    worth: dict[str, float] = {}
    for asked in conversation.asked:
        for evidence in asked.evidence:
            worth[evidence] = worth.get(evidence, 0.0) + 1 / len(asked.evidence)
    best: list[tuple[float, Line]] = []
    for turn in conversation.turns:
        if turn.id not in worth:
            continue
        holding = [line for line in _excerpts(turn) if measure.held(line.text, turn.id)]
        if holding:
            line = min(holding, key=lambda line: line.cost)
            best.append((worth[turn.id] / line.cost, line))
    lines: list[Line] = []
    left = TOKENS
    for _, line in sorted(best, key=lambda found: found[0], reverse=True):
        if line.cost <= left:
            left -= line.cost
            lines.append(line)
    return lines


WAYS: Final[dict[str, Way]] = {
    "ours": summarised,
    "ours_as_lived": lived,
    "newest_first": newest,
    "newest_32000_characters": newest_characters,
    "frequent_words": frequent_words,
    "oracle": oracle,
}
AIMS: Final = {
    "ours": Aim(0.14),
    "ours_as_lived": Aim(0.06),
    "frequent_words": Aim(0.02, at_most=True),
}
"""What the first figures were, less a little: 0.152 and 0.069."""


def figures() -> Iterator[Figure]:
    """Measure all ways on all conversations."""
    known = conversations()
    finders = {conversation.name: ours(conversation) for conversation in known}
    for name, way in WAYS.items():
        alone: list[float] = []
        helped: list[float] = []
        tokens = 0
        for conversation in known:
            lines = way(conversation)
            measure, find = Measure(conversation), finders[conversation.name]
            alone += measure.shares(lines)
            left = sorted(measure.survivors(lines))
            helped += [
                asked.share([*left, *find(asked.question)[:HITS]]) for asked in conversation.asked
            ]
            tokens = max(tokens, sum(line.cost for line in lines))
        aim = AIMS.get(name)
        yield Figure(
            name=f"retention.{name}",
            value=round(statistics.fmean(alone), 4),
            unit="share of evidence",
            aim=None if aim is None else aim.value,
            at_most=bool(aim and aim.at_most),
        )
        yield Figure(
            name=f"retention.{name}.with_recall",
            value=round(statistics.fmean(helped), 4),
            unit="share of evidence",
        )
        yield Figure(name=f"retention.{name}.told", value=tokens, unit="tokens at most")


def _records(conversation: Conversation) -> Iterator[TurnRecord]:
    for turn in conversation.turns:
        yield TurnRecord(id=turn.id, at=turn.at, heard_text=turn.text, speaker=turn.speaker)


def _lines(conversation: Conversation, lines: Iterable[SummaryLine]) -> list[Line]:
    ids = {number: turn.id for number, turn in enumerate(conversation.turns, 1)}
    return [
        Line(text=line.text, cites=frozenset(ids[number] for number in line.turns))
        for line in lines
    ]


def _recap(thread: Thread) -> str:
    composed = compose(
        thread=thread,
        entries=(),
        now=None,
        visible=(GLOBAL,),
        view=View(recap_upto=thread.next_number - 1),
        resume_tokens=TOKENS,
    )
    return next(item.body for item in composed.desired if item.key == RECAP)


def _told(turn: Turn) -> Line:
    return Line(text=f"{turn.speaker}: {turn.text}", cites=frozenset({turn.id}))


def _excerpts(turn: Turn) -> Iterator[Line]:
    """Yield what could be said of a turn: runs of its sentences."""
    parts = list(sentences(turn.text))
    for start in range(len(parts)):
        for end in range(start + 1, len(parts) + 1):
            text = f"{turn.speaker}: {' '.join(parts[start:end])}"
            if len(text.split()) > LINE_WORDS:
                break
            yield Line(text=text, cites=frozenset({turn.id}))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
