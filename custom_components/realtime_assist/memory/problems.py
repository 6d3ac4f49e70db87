"""What may be wrong with a file of the memory: codes and counts, never content."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a file holds."""

    __hash__ = str.__hash__  # an Enum's own is ten times as slow

    INDEX = "index"
    ENTRIES = "entries"
    THREADS = "threads"
    ARCHIVE = "archive"
    FORGETTING = "forgetting"


class Trouble(StrEnum):
    """What is wrong with a file."""

    __hash__ = str.__hash__  # an Enum's own is ten times as slow

    CORRUPT = "corrupt"
    """No JSON. Home Assistant renamed it and made a repair of its own."""
    SHAPE = "shape"
    """JSON, but not ours. A copy was kept beside it, and what could be read was."""
    NEWER = "newer_file"
    """Written by a newer version: neither read nor overwritten."""
    UNREADABLE = "unreadable_file"
    """The disk does not give it: not overwritten."""
    NOT_WRITTEN = "not_written"
    """The disk does not take it; it is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageProblem:
    """Something that a person should know of a file."""

    trouble: Trouble
    kind: Kind
    name: str
    """The file's name in its folder."""
    lost: int = 0
    """Entries, turns or lines in it that could not be read."""
