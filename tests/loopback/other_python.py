"""The Python of another environment of this repository, for tests that need other packages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_OFFLINE = re.compile(
    r"dns|resolve|resolution|connect|network|timed? ?out|unreachable|failed to fetch|offline",
    re.IGNORECASE,
)


def python_of(environment: str) -> str:
    """Return the Python of an environment, made if it is not there.

    Skips the test where packages cannot be fetched; fails it for any other reason.
    """
    command = [sys.executable, "-m", "tests.environment", environment]
    made = subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if made.returncode == 0:
        return made.stdout.split()[-1]
    reason = f"{environment} cannot be made: {made.stderr.strip()[-500:]}"
    if _OFFLINE.search(made.stderr):
        pytest.skip(reason)
    pytest.fail(reason)
