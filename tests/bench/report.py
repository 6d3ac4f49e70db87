"""A figure, and how it is told."""

import json
import sys
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing that was measured."""

    name: str
    value: float
    unit: str
    aim: float | None = None
    at_most: bool = False
    """Whether the aim is a limit (a time) and not a goal (a share)."""

    @property
    def met(self) -> bool | None:
        """Whether the aim is reached; None if there is none."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.at_most else self.value >= self.aim

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON: what is not known is left out."""
        told = asdict(self) | {"met": self.met}
        del told["at_most"]
        return {name: value for name, value in told.items() if value is not None}


class Form(StrEnum):
    """How figures are told on standard output."""

    LINES = "lines"
    """For people, at once."""
    JSON = "json"
    """One JSON object a line, at once."""
    MARKDOWN = "markdown"
    """As tables (`tables`), at the end."""


class Reporter:
    """Tells figures on standard output, and keeps them."""

    def __init__(self, form: Form) -> None:
        """Choose how to tell."""
        self.told: list[Figure] = []
        self._form = form

    def figure(self, figure: Figure) -> None:
        """Take one figure; tell it at once, unless tables are wanted."""
        self.told.append(figure)
        if self._form is Form.MARKDOWN:
            return
        as_json = self._form is Form.JSON
        sys.stdout.write(f"{json.dumps(figure.to_dict()) if as_json else _line(figure)}\n")
        sys.stdout.flush()

    def summary(self) -> str:
        """Return how many aims are met, and which are not."""
        aimed = [figure for figure in self.told if figure.met is not None]
        missed = [figure.name for figure in aimed if not figure.met]
        met = f"{len(aimed) - len(missed)} of {len(aimed)} aims met"
        return f"{met}; missed: {', '.join(missed)}" if missed else met


def _line(figure: Figure) -> str:
    line = f"{figure.name:44} {figure.value:10.3f} {figure.unit}"
    if figure.aim is None:
        return line
    relation = "at most" if figure.at_most else "at least"
    return f"{line:64} {relation} {figure.aim}: {'met' if figure.met else 'MISSED'}"
