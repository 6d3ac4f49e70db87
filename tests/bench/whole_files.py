"""What our memory is compared with: a context that keeps each scope as one JSON file.

This is how Trixy's conversation context behaves, which gave this integration the idea of scopes,
written anew from a description of it: a locked dictionary per scope with the least recently used
entry going first, the last ten values of each, and with each `set` the whole file of the scope
read, changed and written again, in place and without waiting for the disk.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Any, Self

MAX_PREVIOUS = 10


@dataclass(slots=True)
class Entry:
    """One thing that is remembered."""

    key: str
    value: Any
    created: datetime
    updated: datetime
    accessed: datetime
    policy: str = "manual"
    expires_at: datetime | None = None
    max_turns: int | None = None
    turn_count: int = 0
    version: int = 1
    previous: list[dict[str, Any]] = field(default_factory=list)
    source: str = ""
    tags: set[str] = field(default_factory=set)
    priority: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def expired(self) -> bool:
        """Whether its time or its turns are over."""
        if self.expires_at is not None and datetime.now(UTC) > self.expires_at:
            return True
        return self.max_turns is not None and self.turn_count >= self.max_turns

    def change(self, value: object, tags: Iterable[str]) -> None:
        """Take another value, and keep the one before, be it another or the same."""
        self.previous.append(
            {"value": self.value, "version": self.version, "at": self.updated.isoformat()}
        )
        del self.previous[:-MAX_PREVIOUS]
        self.value = value
        self.version += 1
        self.updated = self.accessed = datetime.now(UTC)
        self.tags.update(tags)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "key": self.key,
            "value": self.value,
            "created": self.created.isoformat(),
            "updated": self.updated.isoformat(),
            "accessed": self.accessed.isoformat(),
            "policy": self.policy,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
            "max_turns": self.max_turns,
            "turn_count": self.turn_count,
            "version": self.version,
            "previous": self.previous,
            "source": self.source,
            "tags": list(self.tags),
            "priority": self.priority,
            "metadata": self.metadata,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read it."""
        read = {**data, "tags": set(data["tags"])}
        for name in ("created", "updated", "accessed", "expires_at"):
            read[name] = data[name] and datetime.fromisoformat(data[name])
        return cls(**read)


class WholeFiles:
    """Entries by scope; a scope is a name, and its file."""

    def __init__(self, folder: Path, capacity: int = 1000) -> None:
        """Start empty. `capacity`: entries of one scope."""
        self._folder = folder
        self._capacity = capacity
        self._scopes: dict[str, OrderedDict[str, Entry]] = {}
        self._lock = RLock()
        self.hits = self.misses = 0

    def path(self, scope: str) -> Path:
        """Return the file of a scope."""
        return self._folder / f"{scope}.json"

    def set(self, scope: str, key: str, value: object, tags: Iterable[str] = ()) -> Entry:
        """Write an entry, in memory and in the file of its scope."""
        with self._lock:
            held = self._scopes.setdefault(scope, OrderedDict())
            now = datetime.now(UTC)
            if entry := held.get(key):
                entry.change(value, tags)
            else:
                entry = held[key] = Entry(key, value, now, now, now, tags=set(tags))
            held.move_to_end(key)
            while len(held) > self._capacity:
                held.popitem(last=False)
            self._persist(scope, entry)
            return entry

    def get(self, scopes: Iterable[str], key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value that the first of the scopes has, and count it as a use."""
        for scope in scopes:
            with self._lock:
                held = self._scopes.get(scope, OrderedDict())
                entry = held.get(key)
                if entry is None or entry.expired:
                    held.pop(key, None)
                    self.misses += 1
                    continue
                entry.accessed = datetime.now(UTC)
                held.move_to_end(key)
                self.hits += 1
                return entry.value
        return None

    def search_tag(self, scopes: Iterable[str], tag: str) -> list[Entry]:
        """Return the entries with a tag: all of them are looked at."""
        with self._lock:
            return [
                entry
                for scope in scopes
                for entry in self._scopes.get(scope, OrderedDict()).values()
                if tag in entry.tags and not entry.expired
            ]

    def load(self) -> int:
        """Read all files, and return how many entries there are."""
        with self._lock:
            for path in sorted(self._folder.glob("*.json")):
                data = json.loads(path.read_text("utf-8"))
                entries = (Entry.from_dict(stored) for stored in data["entries"].values())
                self._scopes[path.stem] = OrderedDict((entry.key, entry) for entry in entries)
            return sum(map(len, self._scopes.values()))

    def prepare(self, scope: str, values: dict[str, tuple[object, Iterable[str]]]) -> None:
        """Hold many entries at once, with one write: to have something to measure."""
        now = datetime.now(UTC) - timedelta(days=1)
        held = self._scopes[scope] = OrderedDict(
            (key, Entry(key, value, now, now, now, tags=set(tags)))
            for key, (value, tags) in values.items()
        )
        stored = {key: entry.to_dict() for key, entry in held.items()}
        self.path(scope).write_text(json.dumps({"scope": scope, "entries": stored}), "utf-8")

    def _persist(self, scope: str, entry: Entry) -> None:
        """Read the whole file, change one entry of it, and write it again."""
        path = self.path(scope)
        data: dict[str, Any] = {"scope": scope, "entries": {}}
        if path.exists():
            data = json.loads(path.read_text("utf-8"))
        data["entries"][entry.key] = entry.to_dict()
        path.write_text(json.dumps(data), "utf-8")
