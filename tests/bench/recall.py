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

from .locomo import Conversation, conversations
from .report import Figure

AIMS: Final = {5: 0.65, 10: 0.75}
HELD_OUT: Final = frozenset({"30", "48"})
"""Nobody looked at these while the ranking was made: they tell whether it holds elsewhere."""

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


def ours(conversation: Conversation, times: list[float] | None = None) -> Finder:
    """Return our search over a conversation; `times` gets the seconds of each one."""
    index = SearchIndex()
    for number, turn in enumerate(conversation.turns):
        index.put(
            Document(
                id=turn.id,
                kind=Kind.TURN,
                text=turn.text,
                at=turn.at,
                group=conversation.name,
                number=number,
                speaker=turn.speaker,
            )
        )

    def find(question: str) -> list[str]:
        begun = time.perf_counter()
        hits = index.find(Query(words=question), (GLOBAL,), limit=max(AIMS))
        if times is not None:
            times.append(time.perf_counter() - begun)
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
    """Measure both ways on all conversations, and on those that were held out."""
    known = conversations()
    times: list[float] = []
    groups = {
        "": known,
        ".held_out": tuple(item for item in known if item.name in HELD_OUT),
        ".others": tuple(item for item in known if item.name not in HELD_OUT),
    }
    yield from (
        Figure(
            name=f"recall.{way}{group}.first_{first}",
            value=round(found.mean(first), 4),
            unit="share of evidence",
            aim=aim if way == "ours" and not group else None,
        )
        for group, members in groups.items()
        if members
        for way, found in _both(members, times)
        for first, aim in AIMS.items()
    )
    milliseconds = sorted(1000 * seconds for seconds in times)
    yield Figure(
        name="recall.ours.median", value=round(milliseconds[len(times) // 2], 3), unit="ms"
    )
    yield Figure(
        name="recall.ours.worst", value=round(milliseconds[-1], 3), unit="ms", aim=10, at_most=True
    )


def _both(members: tuple[Conversation, ...], times: list[float]) -> Iterator[tuple[str, Found]]:
    """Yield what our search and plain BM25 find, by name."""
    for way in ("ours", "plain_bm25"):
        found = Found()
        for conversation in members:
            finder = ours(conversation, times) if way == "ours" else plain(conversation)
            found.ask(conversation, finder)
        yield way, found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
