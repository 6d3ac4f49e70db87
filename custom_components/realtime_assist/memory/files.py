"""Which files the memory has, and whose they are. Nothing here reads or writes content."""

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

from .kept import Dump
from .problems import Kind
from .scopes import ScopeKey
from .segments import ArchiveKey
from .transcript import ThreadKey

ASIDE: Final = "aside"
"""How we name the copy of a broken file."""

_NAME: Final = re.compile(r"[0-9a-f]{32}")
_COPIES: Final = (ASIDE, "corrupt")
"""Ours, and Home Assistant's."""
_LISTED: Final = (Kind.ENTRIES, Kind.THREADS, Kind.ARCHIVE)


@lru_cache(maxsize=4096)
def file_name(key: ScopeKey | ThreadKey | ArchiveKey) -> str:
    """Return the name of the file of a key: 32 hexadecimal digits."""
    return _hash(str(key))


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()


def names_in(folder: Path) -> set[str]:
    """Return the files of ours in a folder, without copies of broken ones."""
    found = folder.iterdir() if folder.is_dir() else ()
    return {path.name for path in found if _NAME.fullmatch(path.name)}


def unlink_unfinished(folder: Path) -> None:
    """Remove what a write that was killed left: it may hold what was forgotten since.

    Home Assistant writes to a temporary file beside the real one first. None may be under way.
    """
    for part in folder.glob("tmp*"):
        part.unlink(missing_ok=True)


def sizes(paths: Iterable[Path]) -> list[int]:
    """Return how many bytes files have; 0 where there is none."""
    return [path.stat().st_size if path.is_file() else 0 for path in paths]


def unlink_copies(path: Path) -> None:
    """Remove the copies of a broken file."""
    for kind in _COPIES:
        for copy in path.parent.glob(f"{path.name}.{kind}.*"):
            copy.unlink(missing_ok=True)


def taken[T](
    paths: Iterable[Path], version: int, take: Callable[[str, dict[str, Any]], T]
) -> dict[str, T]:
    """Return, by name, what `take` makes of files that are just as we write them.

    Whatever else there is, and what `take` refuses by a TypeError, AttributeError, KeyError or
    ValueError, is left to who can tell what is wrong with it.
    """
    found: dict[str, T] = {}
    for path in paths:
        try:
            stored = orjson.loads(path.read_bytes())
            if (stored["version"], stored["minor_version"]) == (version, 1):
                found[path.name] = take(path.name, stored["data"])
        except AttributeError, KeyError, OSError, TypeError, ValueError:
            continue
    return found


class FileIndex:
    """The files that there are, which of them were read, and the true keys of those that are known.

    It may be lost: the folders tell which files there are, and each file tells its own key.
    """

    def __init__(self) -> None:
        """Start without files."""
        self._keys: Final[dict[Kind, dict[str, str]]] = {kind: {} for kind in _LISTED}
        self._unread: Final[dict[Kind, set[str]]] = {kind: set() for kind in _LISTED}

    def found(self, root: Path) -> None:
        """Learn which files there are; to be called once, before anything is noted or written."""
        unlink_unfinished(root)
        for kind, unread in self._unread.items():
            unlink_unfinished(root / kind)
            unread.update(names_in(root / kind))

    def load(self, data: dict[str, Any]) -> None:
        """Take the keys of files that are still there from the disk."""
        for kind, keys in self._keys.items():
            stored = data.get(kind)
            for name, key in stored.items() if isinstance(stored, dict) else ():
                if name in self._unread[kind] and isinstance(key, str) and _hash(key) == name:
                    keys[name] = key

    def dump(self) -> Dump:
        """Return what makes what `load` takes."""
        now = {str(kind): keys.copy() for kind, keys in self._keys.items()}
        return lambda: {kind: dict(sorted(keys.items())) for kind, keys in now.items()}

    def note(self, kind: Kind, name: str, key: str) -> bool:
        """Enter whose file it is; return whether that is new."""
        new = self._keys[kind].get(name) != key
        self._keys[kind][name] = key
        return new

    def drop(self, kind: Kind, name: str) -> bool:
        """Take a file out; return whether its key was known."""
        self._unread.get(kind, set()).discard(name)
        return self._keys.get(kind, {}).pop(name, None) is not None

    def key(self, kind: Kind, name: str) -> str:
        """Return the key of a file; raises KeyError if it is not known."""
        return self._keys[kind][name]

    def keys(self, kind: Kind) -> tuple[str, ...]:
        """Return the known keys of a kind, sorted."""
        return tuple(sorted(self._keys[kind].values()))

    def unread(self, kind: Kind) -> list[str]:
        """Return the names of files that were not read yet, sorted."""
        return sorted(self._unread[kind])

    def nameless(self, kind: Kind) -> list[str]:
        """Return the names of unread files whose key is not known, sorted."""
        return sorted(self._unread[kind] - self._keys[kind].keys())

    def is_unread(self, kind: Kind, name: str) -> bool:
        """Whether there is a file that was not read yet."""
        return name in self._unread[kind]

    def read(self, kind: Kind, name: str) -> None:
        """Note that a file was read."""
        self._unread[kind].discard(name)
