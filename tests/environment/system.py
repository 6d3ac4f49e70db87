"""Debian packages that an environment needs besides Python's."""

import ctypes.util
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import cache
from .shell import SetupError, run, say

_APT = {"DEBIAN_FRONTEND": "noninteractive"}
_WAIT_FOR_DPKG = "-oDPkg::Lock::Timeout=300"


@dataclass(frozen=True, kw_only=True)
class SystemPackage:
    """A Debian package, and what shows that it is there, by whatever way it came."""

    name: str
    command: str | None = None
    library: str | None = None
    file: str | None = None

    def is_there(self) -> bool:
        """Tell whether the command, the library or the file can be found."""
        if self.command is not None:
            return shutil.which(self.command) is not None
        if self.file is not None:
            return Path(self.file).exists()
        return self.library is not None and ctypes.util.find_library(self.library) is not None


def ensure(packages: Iterable[SystemPackage]) -> None:
    """Install what is missing; raise SetupError, saying what to install, if that cannot be."""
    wanted = tuple(packages)
    if not missing(wanted):
        return
    with cache.locked("apt"):
        names = missing(wanted)
        if not names:
            return
        apt = _apt_get()
        if apt is None:
            raise SetupError(
                f"These are missing, and only root can install them with apt-get: "
                f"{' '.join(names)}. Install them and run this again."
            )
        say(f"apt-get install {' '.join(names)}")
        _refresh(apt)
        run(
            [*apt, _WAIT_FOR_DPKG, "install", "-y", "-q", "--no-install-recommends", *names],
            env=_APT,
        )
    if names := missing(wanted):
        raise SetupError(f"Installed, but still not found: {' '.join(names)}")


def missing(packages: Iterable[SystemPackage]) -> tuple[str, ...]:
    """Return the names of those that are not there."""
    return tuple(package.name for package in packages if not package.is_there())


def _refresh(apt: list[str]) -> None:
    """Update apt's lists. One source that fails is no reason to give up: the rest may do."""
    try:
        run([*apt, "update", "-q"], env=_APT)
    except SetupError as error:
        say(f"apt-get update: {error}")


def _apt_get() -> list[str] | None:
    """Return how apt-get is called with the rights to install, or None."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    try:
        run(["sudo", "-n", "true"])
    except SetupError:
        return None
    return ["sudo", "-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
