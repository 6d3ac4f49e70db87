"""The steps of a check: commands whose output belongs together, and how they ended."""

import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from .shell import REPOSITORY


@dataclass(frozen=True, kw_only=True)
class Step:
    """Commands that run one after another; the later ones also when one has failed."""

    name: str
    commands: Sequence[Sequence[str | Path]]
    # Added to the environment.
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a step ended."""

    name: str
    ok: bool
    # Wall time.
    seconds: float = 0.0
    # What was printed, on both outputs together; empty if it was not kept.
    output: str = ""

    def line(self) -> str:
        """Return it in one line."""
        return f"{'ok  ' if self.ok else 'FAIL'} {self.name} ({self.seconds:.0f} s)"


def run_all(steps: Iterable[Step], *, at_once: int) -> Iterator[Outcome]:
    """Run steps, some at the same time, and yield each outcome as it comes.

    What they print is kept, so that it does not mix.
    """
    with ThreadPoolExecutor(at_once) as pool:
        for done in as_completed([pool.submit(run, step, keep=True) for step in steps]):
            yield done.result()


def run(step: Step, *, keep: bool) -> Outcome:
    """Run one step, and keep what it prints, or let it use this program's input and outputs."""
    begun = time.monotonic()
    done = [
        subprocess.run(
            [str(word) for word in command],
            cwd=REPOSITORY,
            env={**os.environ, **step.env},
            stdin=subprocess.DEVNULL if keep else None,
            stdout=subprocess.PIPE if keep else None,
            stderr=subprocess.STDOUT if keep else None,
            text=True,
            errors="replace",
            check=False,
        )
        for command in step.commands
    ]
    return Outcome(
        name=step.name,
        ok=all(one.returncode == 0 for one in done),
        seconds=time.monotonic() - begun,
        output="".join(one.stdout or "" for one in done),
    )
