"""A figure, and how it is told."""

import json
import sys
from dataclasses import asdict, dataclass
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


class Reporter:
    """Tells figures on standard output: for people, or one JSON object a line."""

    def __init__(self, *, as_json: bool) -> None:
        """Choose how to tell."""
        self._as_json = as_json

    def figure(self, figure: Figure) -> None:
        """Tell one figure, at once."""
        sys.stdout.write(f"{json.dumps(figure.to_dict()) if self._as_json else _line(figure)}\n")
        sys.stdout.flush()


def _line(figure: Figure) -> str:
    line = f"{figure.name:44} {figure.value:10.3f} {figure.unit}"
    if figure.aim is None:
        return line
    relation = "at most" if figure.at_most else "at least"
    return f"{line:64} {relation} {figure.aim}: {'met' if figure.met else 'MISSED'}"
