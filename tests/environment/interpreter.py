"""A Python that Home Assistant accepts, in the order in which one would want it."""

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import cache, tools, unpacked
from .shell import SetupError, run, say

# What Home Assistant accepts, and what everything here was tried with.
OLDEST = (3, 14, 2)
BELOW = (3, 15)

# Seconds. Where downloads do not work, that must show at once.
_DOWNLOAD_TIMEOUT = 300
_DOWNLOAD_PATIENCE = {"UV_HTTP_TIMEOUT": "15", "UV_HTTP_RETRIES": "1"}

_QUESTION = """
import bz2, ctypes, json, lzma, sqlite3, ssl, sys, sysconfig
print(json.dumps([list(sys.version_info[:3]), sysconfig.get_path("include")]))
"""

_HELP = """No Python that Home Assistant accepts could be had (3.14.2 or newer, with its headers):
{reasons}
Install Python 3.14 with its development files yourself, put it on PATH as python3.14, and run
this again."""


@dataclass(frozen=True)
class Interpreter:
    """A Python to make environments with."""

    path: Path
    # Where the headers are that its own configuration does not name.
    includes: tuple[Path, ...] = ()

    def build_environment(self) -> dict[str, str]:
        """Return the variables with which extension modules compile against it."""
        return {"CPATH": ":".join(map(str, self.includes))} if self.includes else {}


def find() -> Interpreter:
    """Return the first usable Python; raise SetupError saying why there is none."""
    return first_of(
        {
            "python3.14 on PATH": _on_path,
            "uv's managed Python": _managed,
            "Debian's Python, unpacked": _unpacked,
        }
    )


def first_of(sources: Mapping[str, Callable[[], Interpreter]]) -> Interpreter:
    """Return what the first source that has one gives; raise SetupError with every reason."""
    reasons = []
    for name, source in sources.items():
        try:
            return source()
        except SetupError as error:
            say(f"{name}: not to be had")
            reasons.append(f"- {name}: {error}")
    raise SetupError(_HELP.format(reasons="\n".join(reasons)))


def problem(version: tuple[int, ...], has_headers: bool) -> str | None:  # noqa: FBT001
    """Return why a Python of this version would not do, or None if it does."""
    shown = ".".join(map(str, version))
    if not OLDEST <= version < BELOW:
        return f"it is {shown}"
    if not has_headers:
        return f"{shown} has no Python.h (Debian: apt-get install python3.14-dev)"
    return None


def _accept(path: Path, includes: tuple[Path, ...] = ()) -> Interpreter:
    """Return the Python at a path, if it is whole and new enough."""
    version, include = json.loads(run([path, "-c", _QUESTION], timeout=60))
    if reason := problem(tuple(version), (Path(include) / "Python.h").is_file()):
        raise SetupError(f"{path}: {reason}")
    say(f"{path}: Python {'.'.join(map(str, version))}")
    return Interpreter(path, includes)


def _on_path() -> Interpreter:
    """Return a Python that the person has; not one of ours, in an environment they are in."""
    path = Path(shutil.which("python3.14") or sys.executable)
    if path.resolve().is_relative_to(cache.root().resolve()):
        # Only its own source knows where its headers are.
        raise SetupError(f"{path}: it belongs to an environment made here")
    return _accept(path)


def _managed() -> Interpreter:
    """Return the Python that uv downloads."""
    directory = cache.root() / "python" / "managed"

    def build() -> None:
        say("Python 3.14: downloading uv's")
        run(
            [tools.uv(), "python", "install", "3.14", "--no-bin", "--install-dir", directory],
            env={**_DOWNLOAD_PATIENCE, **tools.uv_environment()},
            timeout=_DOWNLOAD_TIMEOUT,
        )

    cache.make_once(directory, build)
    for path in sorted(directory.glob("cpython-3.14*/bin/python3.14")):
        return _accept(path.resolve())
    raise SetupError("uv installed none")


def _unpacked() -> Interpreter:
    """Return Debian's Python, unpacked into the cache."""
    tree = unpacked.prepare()
    return _accept(tree.python, tree.includes)
