"""`scripts/bench [NAME] [--json]`: measure one thing, or all, and tell the figures.

The exit status is 0 if everything could be measured. An aim that was missed is told as such.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Final

from . import chaos, cost, memory, recall, resume, retention, satellites, turn
from .report import Figure, Reporter

type Bench = Callable[[], Iterator[Figure]]

BENCHES: Final[dict[str, Bench]] = {
    "chaos": chaos.figures,
    "cost": cost.figures,
    "memory": memory.figures,
    "recall": recall.figures,
    "resume": resume.figures,
    "retention": retention.figures,
    "satellites": satellites.figures,
    "turn": turn.figures,
}


def main(arguments: list[str]) -> int:
    """Run the benches; return the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=sorted(BENCHES), help="all, if none is named")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    chosen = parser.parse_args(arguments)
    reporter = Reporter(as_json=chosen.json)
    well = True
    for name in [chosen.name] if chosen.name else BENCHES:
        try:
            for figure in BENCHES[name]():
                reporter.figure(figure)
        except OSError as error:
            sys.stderr.write(f"{name}: {error}\n")
            well = False
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
