"""Debian's Python 3.14 with the libraries it needs, unpacked beside the system.

Nothing is installed: the packages are fetched with a private apt configuration and laid into
the cache, and the interpreter is told to use its own loader and libraries, which are newer
than those of the system it runs on.
"""

import hashlib
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import archive, cache, tools
from .shell import SetupError, run, say

SUITE = "forky"

PACKAGES = (
    "python3.14",
    "python3.14-minimal",
    "libpython3.14-minimal",
    "libpython3.14-stdlib",
    "libpython3.14",
    "python3.14-dev",
    "libpython3.14-dev",
    "libc6",
    "libssl3t64",
    "libsqlite3-0",
    "libffi8",
    "zlib1g",
    "libbz2-1.0",
    "liblzma5",
    "libexpat1",
    "libreadline8t64",
    "libtinfo6",
    "libncursesw6",
    "libuuid1",
    "libzstd1",
    "libdb5.3t64",
    "libgcc-s1",
    "libstdc++6",
    "libcrypt1",
)

# By the machine's name: the folder of its libraries, and the program that loads others.
_MACHINES = {
    "x86_64": ("x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    "aarch64": ("aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
}


@dataclass(frozen=True)
class Tree:
    """Unpacked packages of one kind of machine."""

    root: Path
    multiarch: str
    loader_name: str

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.root / "usr/bin/python3.14"

    @property
    def libraries(self) -> Path:
        """The folder of shared libraries."""
        return self.root / "usr/lib" / self.multiarch

    @property
    def loader(self) -> Path:
        """The ELF interpreter that belongs to these libraries."""
        return self.libraries / self.loader_name

    @property
    def includes(self) -> tuple[Path, ...]:
        """Where Python's headers look for each other."""
        headers = self.root / "usr/include"
        return headers, headers / self.multiarch


def tree(root: Path, machine: str) -> Tree:
    """Describe a tree for a machine, named as the kernel names it."""
    if machine not in _MACHINES:
        raise SetupError(f"Debian's Python is set up here for {' and '.join(_MACHINES)} only")
    return Tree(root, *_MACHINES[machine])


def prepare() -> Tree:
    """Fetch and unpack, once, and return the tree; raise SetupError if that cannot be done."""
    key = hashlib.sha256(" ".join((SUITE, *PACKAGES)).encode()).hexdigest()[:12]
    directory = cache.root() / "python" / f"debian-{SUITE}-{key}"
    made = tree(directory, platform.machine())
    cache.make_once(directory, lambda: _build(made), usable=made.python.is_file)
    return made


def _build(made: Tree) -> None:
    """Fill an empty tree."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SetupError("this system has no apt-get and dpkg-deb")
    say(f"Python 3.14: unpacking Debian's ({SUITE}) into {made.root}")
    private = made.root / "apt"
    for package in _download(private):
        run(["dpkg-deb", "-x", package, made.root])
    shutil.rmtree(private)
    run(
        [
            tools.patchelf(),
            *("--set-interpreter", made.loader),
            # Not the weaker runpath: the libraries of extension modules need it as well.
            *("--force-rpath", "--set-rpath", made.libraries),
            made.python,
        ]
    )


def _download(private: Path) -> list[Path]:
    """Download the packages into a folder and return their files."""
    keyring = archive.keyring()
    if keyring is None:
        raise SetupError("the keys of Debian's archive are not installed (debian-archive-keyring)")
    reasons = []
    for mirror in archive.mirrors():
        shutil.rmtree(private, ignore_errors=True)
        options = _private_apt(private, mirror, keyring)
        try:
            run(["apt-get", *options, "update"], timeout=300)
            run(["apt-get", *options, "download", *PACKAGES], cwd=private, timeout=600)
        except SetupError as error:
            reasons.append(f"{mirror}: {error}")
        else:
            return sorted(private.glob("*.deb"))
    raise SetupError("\n".join(reasons))


def _private_apt(directory: Path, mirror: str, keyring: Path) -> list[str]:
    """Make a configuration that knows one suite only, and return the options that choose it.

    The system's own lists, cache and sources stay as they are; its proxy settings hold.
    """
    for name in ("lists/partial", "cache/archives/partial"):
        (directory / name).mkdir(parents=True)
    sources = directory / "debian.sources"
    sources.write_text(
        f"Types: deb\nURIs: {mirror}\nSuites: {SUITE}\nComponents: main\nSigned-By: {keyring}\n",
        encoding="utf-8",
    )
    settings = {
        "Dir::State::lists": directory / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": directory / "cache",
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "-",
        # The cache may lie where apt's own user cannot write.
        "APT::Sandbox::User": "root",
        "APT::Update::Error-Mode": "any",
        "Acquire::Retries": "2",
        # The signature must hold; its age does not matter, as this Python guards nothing, and
        # many a mirror is weeks behind.
        "Acquire::Check-Valid-Until": "false",
    }
    return [f"-o{name}={value}" for name, value in settings.items()]
