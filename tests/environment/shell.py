"""Telling what happens, and running other programs."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

_SHOWN_LINES = 40


class SetupError(Exception):
    """Something that is needed cannot be had; the message tells a person what to do."""


def say(message: str) -> None:
    """Report progress, on standard error: standard output carries results only."""
    sys.stderr.write(f"[environment] {message}\n")
    sys.stderr.flush()


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> str:
    """Run a program without input and return its standard output.

    `env` is added to the environment; `timeout` is in seconds. Raises SetupError with the last
    lines that the program printed, if it fails, is missing, or takes longer.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as error:
        raise SetupError(f"{words[0]} was not found") from error
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"{' '.join(words[:3])} took longer than {timeout:.0f} s") from error
    if done.returncode:
        lines = f"{done.stdout}\n{done.stderr}".strip().splitlines()[-_SHOWN_LINES:]
        shown = "\n    ".join(lines)
        raise SetupError(f"{' '.join(words)}\n  ended with {done.returncode}:\n    {shown}")
    return done.stdout
