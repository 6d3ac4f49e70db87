"""`scripts/bench [NAME ...] [--json | --markdown]`: measure some things, or all; tell the figures.

Figures go to standard output, what is done meanwhile to standard error. The exit status is 0 if
everything could be measured. An aim that was missed is told as such.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from . import audio, chaos, cost, memory, recall, resume, retention, satellites, setup, turn
from .report import Figure, Form, Reporter
from .tables import tables


@dataclass(frozen=True, slots=True)
class Bench:
    """One thing that is measured. `seconds` is what it may take on two cores: see `TOGETHER`."""

    figures: Callable[[], Iterator[Figure]]
    seconds: int


TOGETHER: Final = 900
"""Seconds that all benches may take, one after another."""
BENCHES: Final[dict[str, Bench]] = {
    "audio": Bench(audio.figures, 20),
    "chaos": Bench(chaos.figures, 130),
    "cost": Bench(cost.figures, 30),
    "memory": Bench(memory.figures, 80),
    "recall": Bench(recall.figures, 30),
    "resume": Bench(resume.figures, 80),
    "retention": Bench(retention.figures, 50),
    "satellites": Bench(satellites.figures, 210),
    "setup": Bench(setup.figures, 30),
    "turn": Bench(turn.figures, 230),
}


def main(arguments: list[str]) -> int:
    """Run the benches; return the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all, if none is named"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    form.add_argument("--markdown", action="store_true", help="tables, as the README has them")
    chosen = parser.parse_args(arguments)
    if unknown := sorted(set(chosen.names) - BENCHES.keys()):
        parser.error(f"there is no bench {', '.join(unknown)}; known: {', '.join(BENCHES)}")
    reporter = Reporter(
        Form.JSON if chosen.json else Form.MARKDOWN if chosen.markdown else Form.LINES
    )
    well = True
    for name in chosen.names or BENCHES:
        well &= _run(name, reporter)
    if chosen.markdown:
        sys.stdout.write(tables(reporter.told))
    _say(reporter.summary())
    return 0 if well else 1


def _run(name: str, reporter: Reporter) -> bool:
    """Run one bench; return whether it could be measured."""
    bench = BENCHES[name]
    _say(f"{name}: about {bench.seconds} s at most")
    since, well = time.monotonic(), True
    try:
        for figure in bench.figures():
            reporter.figure(figure)
    except OSError as error:
        _say(f"{name}: {error}")
        well = False
    took = time.monotonic() - since
    late = "" if took <= bench.seconds else ", longer than it should: is the machine busy?"
    _say(f"{name}: took {took:.0f} s{late}")
    return well


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
