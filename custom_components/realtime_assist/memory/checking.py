"""Whether what a model gave is a summary at all: else the next way is used.

The checks know no language, but for one list of how answers begin. A line that has no word of what
it cites is dropped; a draft with many of them is refused, as is one that answers somebody.
"""

import re
from typing import Final

from .compose import turn_cost
from .folding import words
from .stemming import stem
from .summarizer import HomeSummary, Line, SummaryFailed, SummaryTask, line_cost
from .word_forms import STOP_WORDS

_MANY: Final = 4
"""Of so many turns a summary tells more than the newest."""
_ENOUGH: Final = 0.5
"""At least this share of the lines must hold."""
_PARTICLES: Final = frozenset[str]().union(*STOP_WORDS.values())
_WHOLE: Final = 1_000_000
"""Tokens that no turn costs."""

_ANSWER: Final = re.compile(
    r"^\W*(?:sure|of course|certainly|okay|ok|alright|yes|no problem|here (?:is|are)|sorry"
    r"|i(?:'m|'ve|'ll| am| have| will| can| cannot| can't| do| don't)|how can i|let me"
    r"|klar|natürlich|gerne?|sicher|okay|hier (?:ist|sind)|ich (?:habe|kann|werde|bin)|tut mir leid"
    r"|bien sûr|d'accord|voici|je (?:peux|vais|suis|ne)|j'ai|désolée?"
    r"|claro|por supuesto|de acuerdo|aquí (?:está|tienes)|(?:yo )?puedo|lo siento|he \w+do"
    r"|natuurlijk|zeker|graag|hier (?:is|zijn)|ik (?:heb|kan|zal|ben)|sorry)(?!\w)",
    re.IGNORECASE,
)
"""How one begins who answers instead of telling what was said."""


def checked(draft: HomeSummary, task: SummaryTask) -> HomeSummary:
    """Return a draft that is a summary of a task; raises SummaryFailed for any other.

    Its codes: `empty`, `cites_nothing`, `too_long`, `answers`, `unfounded`.
    """
    lines = [line for line in draft.lines() if line.text.strip()]
    if not lines:
        raise SummaryFailed("empty")
    cost = sum(line_cost(line.text) for line in lines)
    if cost > _replaced(task):
        raise SummaryFailed("too_long")
    sources = _sources(task)
    citing = [line for line in lines if not sources.keys().isdisjoint(line.turns)]
    if not citing:
        raise SummaryFailed("cites_nothing")
    if _is_answer(lines, task):
        raise SummaryFailed("answers")
    unfounded = [line for line in citing if not _is_founded(line, sources)]
    if len(unfounded) > len(citing) * _ENOUGH:
        raise SummaryFailed("unfounded")
    return draft.without(unfounded)


def _replaced(task: SummaryTask) -> int:
    """Return about how many tokens the summary takes the place of."""
    turns = sum(turn_cost(turn, _WHOLE) for turn in task.turns)
    return turns + sum(line_cost(line.text) for line in task.previous)


def _sources(task: SummaryTask) -> dict[int, set[str]]:
    """Return the words of what may be cited, by number."""
    found: dict[int, set[str]] = {}
    for turn in task.turns:
        texts = [*turn.texts(), turn.speaker or "", turn.place or ""]
        found.setdefault(turn.number, set()).update(*map(_telling, texts))
    for line in task.previous:
        for number in line.turns:
            found.setdefault(number, set()).update(_telling(line.text))
    return found


def _telling(text: str) -> set[str]:
    """Return the stems of the words of a text that tell something."""
    return {stem(word) for word in words(text) if word not in _PARTICLES}


def _is_answer(lines: list[Line], task: SummaryTask) -> bool:
    """Whether lines speak to somebody, or tell of the newest thing alone as if it were asked."""
    speaking = sum(1 for line in lines if _ANSWER.search(line.text))
    if speaking > len(lines) * _ENOUGH:
        return True
    newest = max((turn.number for turn in task.turns), default=0)
    return len(task.turns) >= _MANY and all(set(line.turns) <= {newest} for line in lines)


def _is_founded(line: Line, sources: dict[int, set[str]]) -> bool:
    """Whether a line has at least a word of what it cites."""
    told = set[str]().union(*(sources.get(number, set()) for number in line.turns))
    telling = _telling(line.text)
    return not telling or not told.isdisjoint(telling)
