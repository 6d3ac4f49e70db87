"""Does a search find what was said? The share of evidence among the first hits.

Beside it, in the same run, plain BM25 (`rank_bm25`) over the same turns with their speakers.
"""

import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.search import SearchIndex
from custom_components.realtime_assist.memory.searching import Document, Kind, Query

from .locomo import Conversation, Turn, conversations
from .report import Figure

AIMS: Final = {5: 0.65, 10: 0.75}
HELD_OUT: Final = frozenset({"30", "48"})
"""Nobody looked at these while the ranking was made: they tell whether it holds elsewhere."""

MANY: Final = 5000
"""Turns of the index whose speed is measured."""
QUESTIONS: Final = 300
LONGEST: Final = 10.0
"""Milliseconds for which nothing may hold up an event loop."""

type Finder = Callable[[str], list[str]]
"""A question -> ids of turns, best first."""


@dataclass(slots=True, kw_only=True)
class Found:
    """The shares of evidence that were found, question by question."""

    shares: dict[int, list[float]] = field(default_factory=lambda: {first: [] for first in AIMS})

    def ask(self, conversation: Conversation, finder: Finder) -> None:
        """Ask all questions of a conversation."""
        for asked in conversation.asked:
            found = finder(asked.question)
            for first, shares in self.shares.items():
                shares.append(asked.share(found[:first]))

    def mean(self, first: int) -> float:
        """Return the mean share among so many first hits."""
        return statistics.fmean(self.shares[first])


def ours(conversation: Conversation) -> Finder:
    """Return our search over a conversation."""
    index = SearchIndex()
    for number, turn in enumerate(conversation.turns):
        index.put(_document(turn, conversation.name, number, turn.id))

    def find(question: str) -> list[str]:
        hits = index.find(Query(words=question), (GLOBAL,), limit=max(AIMS))
        return [hit.document.id for hit in hits]

    return find


def plain(conversation: Conversation) -> Finder:
    """Return plain BM25 over a conversation."""
    # Typed nowhere, and only this part needs it.
    okapi = import_module("rank_bm25").BM25Okapi

    index = okapi([_words(f"{turn.speaker}: {turn.text}") for turn in conversation.turns])
    ids = [turn.id for turn in conversation.turns]

    def find(question: str) -> list[str]:
        found: list[str] = index.get_top_n(_words(question), ids, n=max(AIMS))
        return found

    return find


def figures() -> Iterator[Figure]:
    """Measure both ways on all conversations, and on those that were held out; then the speed."""
    known = conversations()
    groups = {
        "": known,
        ".held_out": tuple(item for item in known if item.name in HELD_OUT),
        ".others": tuple(item for item in known if item.name not in HELD_OUT),
    }
    for group, members in groups.items():
        for way, finder in (("ours", ours), ("plain_bm25", plain)):
            found = Found()
            for conversation in members:
                found.ask(conversation, finder(conversation))
            for first, aim in AIMS.items() if members else ():
                yield Figure(
                    name=f"recall.{way}{group}.first_{first}",
                    value=round(found.mean(first), 4),
                    unit="share of evidence",
                    aim=aim if way == "ours" and not group else None,
                )
    yield from _speed(known)


def _speed(known: tuple[Conversation, ...]) -> Iterator[Figure]:
    """Measure an index of thousands of turns: processor time, since others use it, too."""
    turns = [(item, turn) for item in known for turn in item.turns]
    index, steps = SearchIndex(), []
    begun = time.thread_time()
    for number in range(max(MANY, len(turns))):
        conversation, turn = turns[number % len(turns)]
        since = time.thread_time()
        name = f"{conversation.name}/{number // len(turns)}"
        index.put(_document(turn, name, number, document_id=str(number)))
        steps.append(1000 * (time.thread_time() - since))
    yield Figure(name="recall.index.documents", value=len(index), unit="turns")
    seconds = time.thread_time() - begun
    yield Figure(name="recall.index.build", value=round(seconds, 3), unit="s")
    yield _worst("recall.index.longest_put", steps)
    asked = [asked for item in known for asked in item.asked][:QUESTIONS]
    times = [_quickest(index, Query(words=item.question)) for item in asked]
    yield Figure(name="recall.find.median", value=round(statistics.median(times), 3), unit="ms")
    yield _worst("recall.find.longest", times)


def _quickest(index: SearchIndex, query: Query) -> float:
    """Return the milliseconds of a search, the best of three: the rest is the machine's."""
    times = []
    for _ in range(3):
        since = time.thread_time()
        index.find(query, (GLOBAL,))
        times.append(1000 * (time.thread_time() - since))
    return min(times)


def _worst(name: str, times: list[float]) -> Figure:
    """Return the longest time, which must not hold up an event loop."""
    return Figure(name=name, value=round(max(times), 3), unit="ms", aim=LONGEST, at_most=True)


def _document(turn: Turn, group: str, number: int, document_id: str) -> Document:
    return Document(
        id=document_id,
        kind=Kind.TURN,
        text=turn.text,
        at=turn.at,
        group=group,
        number=number,
        speaker=turn.speaker,
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
