"""Which rows fit a question best: BM25 over stems, and what a conversation adds to it.

An answer rarely repeats the words of its question, a question names who spoke and when, and what
is talked about stays the same for some turns. So a row also gets a share of what its neighbours
got, more if it was said by whom the question names, and more if it fits the date in it. Nothing
here knows a model, and the same rows give the same answer.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from .kinship import kin
from .question import Question
from .shard import Row, Shard

SATURATION: Final = 0.9
LENGTH_WEIGHT: Final = 0.4
"""k1 and b of BM25, as is usual for short passages."""
KIN_WEIGHT: Final = 0.4
"""What a word counts, at most, that is only like the one in the question."""
SPEAKER_WEIGHT: Final = 2.0
"""By what a row gains that was said by whom the question names."""
NAME_WEIGHT: Final = 0.3
"""What the name of somebody who spoke counts as a word: people rarely say their own."""
NEIGHBOURS: Final = 3
"""How far the meaning of a row reaches; it halves with each step."""
PAUSE: Final = timedelta(minutes=30)
"""Two turns that are further apart are not of one conversation."""
SPREADING: Final = 100
"""Best rows that give their neighbours a share."""
ENOUGH: Final = 500
"""With so many candidates, a common word adds to their scores and brings no further ones."""
WORK: Final = 15_000
"""Values after which, with enough candidates, the commonest words of a question are left out."""

type Scores = dict[int, float]
type Places = Mapping[str, Mapping[int, int]]
"""Group -> number in it -> slot."""


class Corpus:
    """What a reader may see, as one."""

    def __init__(
        self,
        shards: Sequence[Shard],
        *,
        rows: Mapping[int, Row],
        places: Places,
        enough: int = ENOUGH,
    ) -> None:
        """Join shards. `rows` and `places` know all slots, also of what may not be seen."""
        self.rows: Final = rows
        self.places: Final = places
        self.shards: Final = shards
        self._enough: Final = enough
        self._audiences: Final = frozenset(shard.audience for shard in shards)
        self._count: Final = sum(len(shard.slots) for shard in shards)
        length = sum(shard.length for shard in shards)
        self._mean: Final = max(length / self._count, 1.0) if self._count else 1.0

    def sees(self, row: Row) -> bool:
        """Whether a row may be seen."""
        return row.document.audience in self._audiences

    def named(self, terms: Iterable[str]) -> frozenset[str]:
        """Return those of some stems that are the name of somebody who spoke."""
        return frozenset(
            term for term in terms if any(term in shard.speakers for shard in self.shards)
        )

    def scores(self, terms: Mapping[str, float]) -> Scores:
        """Return how well the rows fit some weighted stems, the rarest first."""
        scores: Scores = {}
        work = 0
        for term in sorted(terms, key=lambda term: (self._found(term), term)):
            if work > WORK and len(scores) >= self._enough:
                break
            weight = terms[term]
            fitting = self._fitting(term, scores)
            work += len(fitting)
            for slot, value in fitting.items():
                scores[slot] = scores.get(slot, 0.0) + weight * value
        return scores

    def _found(self, term: str) -> int:
        """In how many rows a stem is."""
        return sum(len(shard.postings.get(term, ())) for shard in self.shards)

    def _rarity(self, term: str) -> float:
        """How much a stem tells: its inverse document frequency, never negative."""
        found = self._found(term)
        return math.log(1 + (self._count - found + 0.5) / (found + 0.5))

    def _fitting(self, term: str, scores: Scores) -> Scores:
        """Return what one stem of the question says of the rows: itself, else what is like it."""
        found, rarity = self._found(term), self._rarity(term)
        only = scores if len(scores) >= self._enough else None
        best = dict(self._values(term, rarity, only if found > self._enough else None))
        for other, likeness in kin(term, [shard.kinship for shard in self.shards]):
            worth = KIN_WEIGHT * likeness * (rarity if found else self._rarity(other))
            for slot, value in self._values(other, worth, only):
                best[slot] = max(best.get(slot, 0.0), value)
        return best

    def _values(self, term: str, worth: float, only: Scores | None) -> Iterator[tuple[int, float]]:
        """Yield the part of each row's score that is due to one stem."""
        rows = self.rows
        worth *= SATURATION + 1
        base = SATURATION * (1 - LENGTH_WEIGHT)
        slope = SATURATION * LENGTH_WEIGHT / self._mean
        for shard in self.shards:
            slots = shard.postings.get(term, {})
            for slot in slots if only is None else slots.keys() & only.keys():
                count = slots[slot]
                yield slot, worth * count / (count + base + slope * rows[slot].length)


def rank(question: Question, corpus: Corpus) -> Scores:
    """Return the scores of all rows that have to do with a question, by slot."""
    names = corpus.named(question.terms)
    scores = corpus.scores(
        {
            term: NAME_WEIGHT if term in names else float(count)
            for term, count in question.terms.items()
        }
    )
    _spread(corpus, scores)
    if question.has_date:
        for slot in scores:
            scores[slot] *= question.dated(corpus.rows[slot].document.at)
    if names:
        for slot in scores:
            if not names.isdisjoint(corpus.rows[slot].speaker):
                scores[slot] *= SPEAKER_WEIGHT
    return scores


def best(scores: Scores, corpus: Corpus, count: int) -> list[int]:
    """Return the best slots, best first; of equals the newest."""
    if len(scores) > count:
        least = sorted(scores.values(), reverse=True)[count - 1] - 1e-9
        slots = [slot for slot, score in scores.items() if score >= least]
    else:
        slots = list(scores)

    def place(slot: int) -> tuple[float, float, str]:
        document = corpus.rows[slot].document
        return (-round(scores[slot], 9), -document.at.timestamp(), document.id)

    return sorted(slots, key=place)[:count]


def _spread(corpus: Corpus, scores: Scores) -> None:
    """Give the neighbours of the best rows a share of their scores."""
    shares: dict[int, list[float]] = {}
    for slot in best(scores, corpus, SPREADING):
        document = corpus.rows[slot].document
        if document.number is None:
            continue
        places = corpus.places[document.group]
        for step in range(1, NEIGHBOURS + 1):
            share = scores[slot] / 2**step
            for number in (document.number - step, document.number + step):
                other = places.get(number)
                if other is None:
                    continue
                row = corpus.rows[other]
                if abs(row.document.at - document.at) <= PAUSE and corpus.sees(row):
                    shares.setdefault(other, []).append(share)
    for slot, got in shares.items():
        scores[slot] = scores.get(slot, 0.0) + math.fsum(got)
