"""What the disk keeps of a scope: read and checked, or ready to be written.

Nothing here needs the event loop: a thread may do it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from .entries import ContextEntry
from .scopes import ScopeKey

type Dump = Callable[[], dict[str, Any]]
"""Makes JSON of something as it was when this was made; in any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Entries and tombstones, as they are at one moment."""

    entries: tuple[ContextEntry, ...]
    tombstones: dict[str, str]
    unread: int = 0
    """Entries that could not be read."""

    @classmethod
    def read(cls, scope: ScopeKey, data: Mapping[str, Any]) -> Self:
        """Read what the disk kept of a scope.

        Raises AttributeError, TypeError or ValueError if that is no such thing at all.
        """
        entries: list[ContextEntry] = []
        unread = 0
        for stored in data.get("entries", ()):
            try:
                entries.append(ContextEntry.from_dict(scope, stored))
            except ValueError:
                unread += 1
        stones = data.get("tombstones", {}).items()
        return cls(
            entries=tuple(entries),
            tombstones={str(stone): str(at) for stone, at in stones},
            unread=unread,
        )

    def to_dict(self, scope: ScopeKey) -> dict[str, Any]:
        """Return what the disk should keep, as JSON."""
        durable = [entry for entry in self.entries if entry.durable]
        return {
            "scope": str(scope),
            "entries": [entry.to_short_dict() for entry in sorted(durable, key=lambda e: e.key)],
            "tombstones": self.tombstones,
        }


def kept_shortly(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the disk kept of a scope, each entry that can be read in its short form.

    Raises AttributeError, KeyError, TypeError or ValueError if that is no such thing at all.
    """
    scope = ScopeKey.parse(data["scope"])
    return {**data, "entries": [_shortly(scope, stored) for stored in data["entries"]]}


def _shortly(scope: ScopeKey, stored: object) -> object:
    try:
        return ContextEntry.from_dict(scope, stored).to_short_dict()
    except ValueError:
        return stored
