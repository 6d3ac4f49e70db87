"""Where prepared things are kept, and how one is made exactly once.

A thing is a directory that counts only when it carries the marker written last. One that an
interrupted run left behind has none, and is made anew. Building under another name and moving
it into place would not do: virtual environments and the unpacked Python hold their own path.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .shell import say

_MARKER = ".complete"


def root() -> Path:
    """Return the directory that holds everything that is prepared; it can be deleted."""
    if chosen := os.environ.get("REALTIME_ASSIST_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "realtime-assist"


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Keep every other run out while `name` is worked on. The kernel frees it if we die."""
    path = root() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{name}: another run is at it, waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_complete(directory: Path) -> bool:
    """Tell whether a directory was made to its end."""
    return (directory / _MARKER).is_file()


def make_once(
    directory: Path,
    build: Callable[[], None],
    *,
    usable: Callable[[], bool] = lambda: True,
) -> None:
    """Have `build` fill a new, empty `directory`, unless that was done and is still `usable`.

    Whatever `build` raises goes through, and leaves no complete directory.
    """
    if is_complete(directory) and usable():
        return
    with locked(directory.name):
        if is_complete(directory) and usable():
            return
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        build()
        (directory / _MARKER).touch()
