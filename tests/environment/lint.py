"""`scripts/lint [--fix]`: every lint rule, the format, and strict types."""

import argparse
import sys
from pathlib import Path

from . import venvs
from .catalogue import NEWEST_RELEASE
from .shell import SetupError, say
from .steps import Step, run

CHECKED = ("custom_components", "tests")


def step(python: Path) -> Step:
    """Return the check, for an environment's Python. Types are those of that Home Assistant."""
    ruff, mypy = python.with_name("ruff"), python.with_name("mypy")
    return Step(
        name="lint",
        commands=(
            (ruff, "check", "--quiet", *CHECKED),
            (ruff, "format", "--quiet", "--check", *CHECKED),
            (mypy, "--no-error-summary"),
        ),
    )


def mending(python: Path) -> Step:
    """Return what mends all that can be mended without thinking."""
    ruff = python.with_name("ruff")
    return Step(
        name="mend",
        commands=(
            (ruff, "check", "--quiet", "--fix-only", *CHECKED),
            (ruff, "format", "--quiet", *CHECKED),
        ),
    )


def main(arguments: list[str]) -> int:
    """Check, and mend first if asked to; return the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/lint", description=__doc__)
    parser.add_argument("--fix", action="store_true", help="first mend what can be mended")
    fix = parser.parse_args(arguments).fix
    try:
        python = venvs.ensure(venvs.named(f"ha-{NEWEST_RELEASE}"))
    except SetupError as error:
        say(str(error))
        return 1
    if fix:
        run(mending(python), keep=False)
    outcome = run(step(python), keep=False)
    say(outcome.line())
    return 0 if outcome.ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
