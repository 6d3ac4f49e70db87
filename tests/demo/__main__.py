"""`python3 -m tests.demo`: bring what is missing, then show everything.

Runs on the system's Python 3.11 or newer; the rest runs on the Python that Home Assistant needs.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.environment import cache, venvs
from tests.environment.shell import SetupError

from .report import Reporter, StepResult

_HOME_ASSISTANT = "ha-2026.11.0"
_SPEECH = "speech"


def main(arguments: list[str]) -> int:
    """Install, then become the demonstration; return the exit status if that is not reached."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    parser.add_argument(
        "--keep", type=Path, help="where the recordings of the answers are put (the cache)"
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="with OPENAI_API_KEY: write the frames of one fixed script instead",
    )
    chosen = parser.parse_args(arguments)
    reporter = Reporter(as_json=chosen.json)
    begun = time.monotonic()
    try:
        with _patience(reporter):
            home_assistant, speech = _installed(_HOME_ASSISTANT, _SPEECH)
    except SetupError as error:
        reporter.step(StepResult(step="install", ok=False, evidence={"error": str(error)}))
        return 1
    except KeyboardInterrupt:
        reporter.progress("ended while it was installing; what is there is kept")
        return 130
    evidence = {
        "seconds": round(time.monotonic() - begun, 1),
        "home_assistant": str(home_assistant),
        "speech": str(speech),
    }
    reporter.step(StepResult(step="install", ok=True, evidence=evidence))
    options = ["--json"] if chosen.json else []
    if chosen.record:
        return _become(home_assistant, "tests.demo.record", str(chosen.record.absolute()), *options)
    keep = (chosen.keep or cache.root() / "demo").absolute()
    options += ["--keep", str(keep), "--speech", str(speech)]
    return _become(home_assistant, "tests.demo.run", *options)


def _installed(*names: str) -> tuple[Path, ...]:
    """Make environments, at the same time, and return their Pythons."""
    with ThreadPoolExecutor() as pool:
        return tuple(pool.map(lambda name: venvs.ensure(venvs.named(name)), names))


def _become(python: Path, module: str, *options: str) -> int:
    """Go on as another program, in this very process: signals and the exit status stay right."""
    os.execv(python, [str(python), "-m", module, *options])  # noqa: S606 - our own module


@contextmanager
def _patience(reporter: Reporter) -> Iterator[None]:
    """Tell every ten seconds that an installation goes on."""
    done = threading.Event()
    begun = time.monotonic()

    def tell() -> None:
        while not done.wait(10):
            reporter.progress(f"still installing after {time.monotonic() - begun:.0f} s")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
