"""What the demonstration tells: steps on standard output, progress on standard error."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TextIO


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """One step of the demonstration, whether it ran well, and what shows it."""

    step: str
    ok: bool
    evidence: Mapping[str, object] = field(default_factory=dict)

    def line(self) -> str:
        """Return the step as one line of JSON; the evidence stands beside `step` and `ok`."""
        return json.dumps({"step": self.step, "ok": self.ok, **self.evidence}, ensure_ascii=False)


class Reporter:
    """Writes results where the reader wants them.

    With `as_json`, standard output carries the steps and nothing else. Without, it carries the
    same facts as text.
    """

    def __init__(
        self,
        *,
        as_json: bool,
        out: TextIO | None = None,
        err: TextIO | None = None,
    ) -> None:
        """Write to `out` and `err`, by default the process's own."""
        self._as_json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._results: list[StepResult] = []

    @property
    def results(self) -> tuple[StepResult, ...]:
        """The steps told so far, in order."""
        return tuple(self._results)

    @property
    def all_well(self) -> bool:
        """Whether at least one step was told, and all went well."""
        return bool(self._results) and all(result.ok for result in self._results)

    def progress(self, text: str) -> None:
        """Say on standard error what is being done."""
        print(f"  {text}", file=self._err, flush=True)

    def step(self, result: StepResult) -> None:
        """Tell a finished step."""
        self._results.append(result)
        if self._as_json:
            print(result.line(), file=self._out, flush=True)
            return
        print(f"{'ok  ' if result.ok else 'FAIL'} {result.step}", file=self._out)
        for name, value in result.evidence.items():
            print(f"       {name}: {_plain(value)}", file=self._out)
        self._out.flush()


def _plain(value: object) -> str:
    """Return evidence as a person reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
