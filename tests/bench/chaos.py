"""What somebody in the room gets when something goes wrong in every turn, at a random event of it.

A thousand turns on ten satellites. It is the test `tests/chaos`, for longer and with other dice
each time, in the environment of the tests.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.environment import venvs
from tests.environment.catalogue import NEWEST_RELEASE
from tests.environment.shell import REPOSITORY

from .report import Figure

LONGER: Final = 25
"""By which factor: the test takes 40 turns."""
SECONDS: Final = 900
"""After so long it hangs, on whatever machine."""
_NONE: Final = ("silent", "wrong", "leaked")
_OUTCOMES: Final = ("answered", "apologised", "ended", *_NONE)


def figures(longer: int = LONGER) -> Iterator[Figure]:
    """Run it, and count. Raises OSError if it could not be run."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "counts.json")
        printed = _run(report, longer)
        if not report.exists():
            raise OSError(f"the turns could not be taken:\n{printed}")
        counts: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    if any(counts[name] for name in _NONE):
        sys.stderr.write(printed)
    for name in _OUTCOMES:
        yield Figure(
            name=f"chaos.{name}",
            value=counts[name],
            unit="turns" if name != "leaked" else "tasks and sockets",
            aim=0 if name in _NONE else None,
            at_most=True,
        )
    yield Figure(name="chaos.slowest_turn", value=round(counts["slowest"], 1), unit="s")


def _run(report: Path, longer: int) -> str:
    """Take the turns; return what was printed, of which the failures are the end."""
    python = venvs.ensure(venvs.named(f"ha-{NEWEST_RELEASE}"))
    environment = {"REALTIME_ASSIST_LONGER": str(longer), "REALTIME_ASSIST_CHAOS": str(report)}
    pytest = (str(python), "-m", "pytest", "-q", "--show-capture=no", "--tb=short", "tests/chaos")
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            pytest,
            cwd=REPOSITORY,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise OSError(f"the turns did not end within {SECONDS} s") from expired
    return done.stdout[-20_000:]
