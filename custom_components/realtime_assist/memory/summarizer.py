"""The ways to make a summary, and what they all have to give.

A way gets the turns of one audience and the lines that the previous summary had for it, and gives a
`HomeSummary`: lines by kind, each with the turns it came from. Whose eyes a line is for is never
its business: `lines_of` sets that, and drops what cites no turn, or was not understood.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import BaseModel, Field, field_validator, model_validator

from ..items import EVERYBODY, Audience
from .transcript import LineKind, SummaryLine, TurnRecord
from .usage import estimate_tokens
from .words import shorten

LINE_TOKENS: Final = 80
"""A longer line is cut: a summary has room for many things, not for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTask:
    """What to summarise: everything in it may be seen by one audience, and by no other."""

    turns: tuple[TurnRecord, ...]
    """Settled, in their order."""
    previous: tuple[SummaryLine, ...] = ()
    """Lines to fold in."""
    tokens: int
    """What the new lines may cost together, estimated."""
    audience: Audience = EVERYBODY


_CITATION: Final = re.compile(r"(?:\s*\[[^\[\]]*\d[^\[\]]*\][.\s]*)+$")
_NUMBER: Final = re.compile(r"\d{1,9}")
_MOST: Final = 4000
"""Characters of a line that are read."""


class Line(BaseModel):
    """One line of a summary.

    It may also be written as one text that ends with its turns: `Anna hates fish. [3, 7]`. So
    models are asked for it: a list of texts is what every structured output can do.
    """

    text: str = Field(min_length=1)
    turns: list[int] = Field(default=[], description="Numbers of the turns that it came from")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:  # noqa: ANN401 - whatever a model wrote
        if not isinstance(given, str):
            return given
        text = " ".join(given[:_MOST].split())
        found = _CITATION.search(text)
        if found is None:
            return {"text": text}
        return {"text": text[: found.start()].strip(), "turns": _NUMBER.findall(found[0])}


class HomeSummary(BaseModel):
    """A summary of what was said in a home, by kind; also the schema that a model is asked for."""

    gist: list[Line] = Field(default=[], description="What was talked about, in whole sentences")
    facts: list[Line] = Field(default=[], description="What is so: numbers, dates, places, people")
    preferences: list[Line] = Field(default=[], description="What somebody likes, wants or avoids")
    requests: list[Line] = Field(default=[], description="What was asked for and is still open")
    promises: list[Line] = Field(default=[], description="What the assistant said it would do")
    names: list[Line] = Field(default=[], description="What things and people are called here")
    corrections: list[Line] = Field(default=[], description="What was corrected, and to what")

    @field_validator("*", mode="before")
    @classmethod
    def _nothing_is_no_line(cls, given: Any) -> Any:  # noqa: ANN401 - whatever a model wrote
        if isinstance(given, list):
            return [line for line in given if line is not None and str(line).strip()]
        return [] if given is None else given

    def lines(self) -> list[Line]:
        """Return all lines."""
        return [line for field in _KINDS for line in getattr(self, field)]

    def without(self, lines: Sequence[Line]) -> HomeSummary:
        """Return it without these lines."""
        gone = set(map(id, lines))
        return HomeSummary.model_validate(
            {f: [line for line in getattr(self, f) if id(line) not in gone] for f in _KINDS}
        )


class SummaryFailed(Exception):
    """A way could not make a summary; another may. Its text is a code, never content."""

    def __init__(self, code: str) -> None:
        """Keep the code."""
        super().__init__(code)
        self.code: Final = code


class SummaryPutOff(SummaryFailed):
    """A way was interrupted by something that goes first; it may do it after that."""


class SummaryWay(Protocol):
    """One way to make a summary."""

    @property
    def name(self) -> str:
        """What `Summary.made_by` says."""

    async def summarize(self, task: SummaryTask) -> HomeSummary:
        """Return the summary of a task; raises SummaryFailed."""


_KINDS: Final = {
    "preferences": LineKind.PREFERENCE,
    "facts": LineKind.FACT,
    "names": LineKind.NAME,
    "corrections": LineKind.CORRECTION,
    "requests": LineKind.REQUEST,
    "promises": LineKind.PROMISE,
    "gist": LineKind.GIST,
}


def unchanged(task: SummaryTask) -> HomeSummary:
    """Return the lines that there were."""
    fields = {kind: field for field, kind in _KINDS.items()}
    lines: dict[str, list[Line]] = {}
    for old in task.previous:
        line = Line(text=old.text, turns=list(old.turns))
        lines.setdefault(fields[old.kind], []).append(line)
    return HomeSummary.model_validate(lines)


_LEARNED: Final = {LineKind.PREFERENCE, LineKind.FACT, LineKind.NAME, LineKind.CORRECTION}
"""Kinds that are taken for true later."""


def lines_of(summary: HomeSummary, task: SummaryTask) -> tuple[SummaryLine, ...]:
    """Return the lines of a summary that hold: they cite turns of the task and fit its tokens.

    What comes only from turns that the recogniser was unsure of is not learned.
    """
    dates = {turn.number: turn.at for turn in task.turns}
    unclear = {turn.number for turn in task.turns if turn.unclear}
    for old in task.previous:
        dates.update(dict.fromkeys(old.turns, old.at) if old.at else {})
    cited = dates.keys() | {number for old in task.previous for number in old.turns}
    kept: list[SummaryLine] = []
    left = task.tokens
    for field, kind in _KINDS.items():
        lines: Sequence[Line] = getattr(summary, field)
        for line in lines:
            turns = tuple(sorted(cited & set(line.turns)))
            text = shorten(" ".join(line.text.split()), LINE_TOKENS)
            cost = line_cost(text)
            if not turns or not text or cost > left:
                continue
            if kind in _LEARNED and unclear.issuperset(turns):
                continue
            left -= cost
            at = dates.get(turns[-1])
            kept.append(
                SummaryLine(kind=kind, text=text, turns=turns, audience=task.audience, at=at)
            )
    return tuple(kept)


def line_cost(text: str) -> int:
    """Return about how many tokens a line costs where it is told, with its kind and its date."""
    return estimate_tokens(f"- correction: {text} (2026-01-01)\n")
