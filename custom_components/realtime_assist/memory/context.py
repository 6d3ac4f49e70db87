"""The scoped context store: what is remembered for whom, as long as it should be.

One for the house, in memory; `storage.py` keeps its durable part. Every change is told to those
who subscribed, once for each scope. Nothing here waits, and time is given from outside.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Unpack

from .entries import ContextEntry, Retention
from .scopes import Scope, ScopeKey
from .writing import EntryOptions, written

MAX_ENTRIES: Final = 500
"""Entries of one scope."""
MAX_BYTES: Final = 256 * 1024
"""Bytes of one scope, earlier values included."""
MAX_TOMBSTONES: Final = 1000
"""Of one scope; the oldest go first."""
MAX_ENDED: Final = 256
"""Sessions that are known to have ended."""
ACCESS_GRAIN: Final = timedelta(hours=1)
"""Reading alone is written to the disk at most this often."""


class ScopeRefused(Exception):
    """A scope takes no writes. The text is a code (`newer_file`, `session_ended`), no content."""

    def __init__(self, code: str) -> None:
        """Keep the code."""
        super().__init__(code)
        self.code: Final = code


@dataclass(slots=True)
class _Held:
    """What one scope holds."""

    entries: dict[str, ContextEntry] = field(default_factory=dict)
    tombstones: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Hash of a forgotten key (the key itself may be what was to be forgotten) -> when."""
    size: int = 0
    soonest: datetime | None = None
    """No entry expires before; None: none expires."""

    def put(self, entry: ContextEntry) -> None:
        self.drop(entry.key)
        self.entries[entry.key] = entry
        self.size += entry.size
        if entry.expires_at and (self.soonest is None or entry.expires_at < self.soonest):
            self.soonest = entry.expires_at

    def drop(self, key: str) -> None:
        if entry := self.entries.pop(key, None):
            self.size -= entry.size


class ContextStore:
    """Entries by scope. Whoever reads gives the keys that may be seen: there is no other way."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Start empty. `now` gives the time, with a time zone."""
        self._now: Final = now
        self._held: Final[dict[ScopeKey, _Held]] = {}
        self._subscribers: Final[list[Callable[[ScopeKey], None]]] = []
        self._ended: Final[OrderedDict[str, None]] = OrderedDict()
        self._refusal: Callable[[ScopeKey], str | None] = lambda _scope: None

    # Reading

    def get(self, keys: Iterable[ScopeKey], key: str) -> ContextEntry | None:
        """Return the entry that the first of the scopes has, and count it as a use."""
        now = self._now()
        for scope in keys:
            held = self._held.get(scope)
            entry = held.entries.get(key) if held else None
            if held is None or entry is None or entry.expired(now):
                continue
            used = entry.used(now)
            held.put(used)
            if entry.sliding is not None or now - entry.accessed >= ACCESS_GRAIN:
                self._changed(scope)
            return used
        return None

    def visible(self, keys: Iterable[ScopeKey]) -> tuple[ContextEntry, ...]:
        """Return all entries of the scopes, in their order and then by key. This is not a use."""
        now = self._now()
        return tuple(
            entry
            for scope in dict.fromkeys(keys)
            if (held := self._held.get(scope))
            for _, entry in sorted(held.entries.items())
            if not entry.expired(now)
        )

    def scopes(self) -> tuple[ScopeKey, ...]:
        """Return the scopes that hold anything, sorted."""
        return tuple(sorted((key for key, held in self._held.items() if held.entries), key=str))

    def forgotten(self, scope: ScopeKey, key: str) -> bool:
        """Whether a key was forgotten, and nobody has set it since."""
        held = self._held.get(scope)
        return held is not None and _tombstone(key) in held.tombstones

    # Writing

    def set(
        self, scope: ScopeKey, key: str, value: object, **options: Unpack[EntryOptions]
    ) -> ContextEntry:
        """Write an entry as somebody asked for; an earlier forgetting of its key is over.

        Raises NotJson or ValueError for what cannot be kept, ScopeRefused where nothing may be.
        """
        entry, old = self._written(scope, key, value, options)
        held, now = self._held[scope], entry.accessed
        lifted = held.tombstones.pop(_tombstone(key), None)
        held.put(entry)
        self._evict(held, entry, now)
        if lifted or old is None or old.used(now) != entry:
            self._changed(scope)
        return entry

    def check(
        self, scope: ScopeKey, key: str, value: object, **options: Unpack[EntryOptions]
    ) -> None:
        """Raise what `set` would raise, and write nothing."""
        self._written(scope, key, value, options)

    def learn(
        self, scope: ScopeKey, key: str, value: object, **options: Unpack[EntryOptions]
    ) -> ContextEntry | None:
        """Write an entry that nobody asked for, as a summary finds it; None if it was forgotten."""
        if self.forgotten(scope, key):
            return None
        return self.set(scope, key, value, **options)

    def roll_back(self, scope: ScopeKey, key: str) -> ContextEntry | None:
        """Give an entry its last earlier value again, as a new version; None if it has none."""
        held = self._writable(scope)
        entry = held.entries.get(key)
        if entry is None or entry.expired(self._now()) or not entry.previous:
            return None
        return self.set(scope, key, json.loads(entry.previous[-1].value_json))

    def forget(self, scope: ScopeKey, keys: Iterable[str]) -> list[str]:
        """Remove entries so that no summary brings them back; return those that were there.

        Raises ValueError if `keys` is one text or empty: that never means everything.
        """
        wanted = [] if isinstance(keys, str) else list(keys)
        if not wanted:
            msg = "forget needs a list of keys"
            raise ValueError(msg)
        held = self._writable(scope)
        found = [key for key in dict.fromkeys(wanted) if key in held.entries]
        at = self._now().isoformat()
        for key in wanted:
            held.drop(key)
            _bury(held, _tombstone(key), at)
        self._changed(scope)
        return found

    def clear(self, scope: ScopeKey) -> list[str]:
        """Forget all that one scope holds, and only that; return the keys that were there."""
        held = self._writable(scope)
        keys = sorted(held.entries)
        return self.forget(scope, keys) if keys else []

    # Time, turns and sessions

    def new_turn(self, keys: Iterable[ScopeKey], turn: str | None = None) -> None:
        """Count a turn that is over in the scopes that it could see.

        `turn` is its id. What it set itself is not counted, and `immediate` entries of another
        turn stay; an entry without an owner belongs to every turn.
        """
        for scope in dict.fromkeys(keys):
            held = self._held.get(scope)
            if held and _count_turn(held, turn):
                self._changed(scope)

    def end_session(self, session: ScopeKey, keys: Iterable[ScopeKey] = ()) -> None:
        """End a session: what belongs to it goes, and nothing can be written to it again.

        `keys`: the scopes that it could see; `session_end` entries of theirs without an owner go.
        """
        owner = str(session)
        self._ended[session.id] = None
        while len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)
        for scope in (session, ScopeKey(Scope.TEMPORARY, session.id)):
            if self._held.pop(scope, None):
                self._changed(scope)
        seen = set(keys)
        for scope, held in list(self._held.items()):
            gone = [
                entry.key
                for entry in held.entries.values()
                if entry.retention is Retention.SESSION_END
                and (entry.owner == owner or (entry.owner is None and scope in seen))
            ]
            self._drop(scope, held, gone)

    def expire(self) -> None:
        """Remove what is over by now; to be called now and then. Reading never shows it anyway."""
        now = self._now()
        for scope, held in list(self._held.items()):
            if held.soonest is None or held.soonest > now:
                continue
            self._drop(scope, held, [e.key for e in held.entries.values() if e.expired(now)])
            ends = [e.expires_at for e in held.entries.values() if e.expires_at]
            held.soonest = min(ends, default=None)

    # Keeping

    def subscribe(self, changed: Callable[[ScopeKey], None]) -> Callable[[], None]:
        """Have `changed` called after each change of a scope; the result ends that."""
        self._subscribers.append(changed)
        return lambda: self._subscribers.remove(changed)

    def guard(self, refusal: Callable[[ScopeKey], str | None]) -> None:
        """Ask before each write whether a scope takes none: a code is raised as ScopeRefused."""
        self._refusal = refusal

    def dump(self, scope: ScopeKey) -> dict[str, Any]:
        """Return what the disk should keep of a scope, as JSON."""
        held = self._held.get(scope, _Held())
        return {
            "scope": str(scope),
            "entries": [
                entry.to_dict() for _, entry in sorted(held.entries.items()) if entry.durable
            ],
            "tombstones": dict(held.tombstones),
        }

    def load(self, scope: ScopeKey, data: Mapping[str, Any]) -> int:
        """Take what the disk kept of a scope; return how many entries of it could not be read.

        What was written or forgotten meanwhile is newer and stays.
        """
        held = self._held.setdefault(scope, _Held())
        unread = 0
        fresh = dict(held.tombstones)
        for data_entry in data.get("entries", ()):
            try:
                entry = ContextEntry.from_dict(scope, data_entry)
            except ValueError:
                unread += 1
                continue
            if entry.key not in held.entries and _tombstone(entry.key) not in fresh:
                held.put(entry)
        alive = {_tombstone(key) for key in held.entries}
        for stone, at in data.get("tombstones", {}).items():
            if stone not in fresh and stone not in alive:
                _bury(held, str(stone), str(at))
        self._evict(held, None, self._now())
        return unread

    # Inside

    def _written(
        self, scope: ScopeKey, key: str, value: object, options: EntryOptions
    ) -> tuple[ContextEntry, ContextEntry | None]:
        """Return what a write would make, and the entry that is there: an expired one is not."""
        held = self._writable(scope)
        now = self._now()
        old = held.entries.get(key)
        if old is not None and old.expired(now):
            old = None
        made = written(old, scope=scope, key=key, value=value, options=options, now=now)
        return made, old

    def _writable(self, scope: ScopeKey) -> _Held:
        """Return what a scope holds; raises ScopeRefused if it takes no writes."""
        if not scope.durable and scope.id in self._ended:
            raise ScopeRefused("session_ended")
        if code := self._refusal(scope):
            raise ScopeRefused(code)
        return self._held.setdefault(scope, _Held())

    def _evict(self, held: _Held, written_now: ContextEntry | None, now: datetime) -> None:
        """Make room: expired entries, then the least important, then the least recently used."""
        if len(held.entries) <= MAX_ENTRIES and held.size <= MAX_BYTES:
            return
        order = sorted(
            (entry for entry in held.entries.values() if entry is not written_now),
            key=lambda e: (
                not e.expired(now),
                e.pinned or e.retention is Retention.PERSISTENT,
                e.priority,
                e.accessed,
                e.key,
            ),
        )
        for entry in order:
            if len(held.entries) <= MAX_ENTRIES and held.size <= MAX_BYTES:
                return
            held.drop(entry.key)

    def _drop(self, scope: ScopeKey, held: _Held, keys: list[str]) -> None:
        """Remove entries that ended by themselves: they may come back."""
        for key in keys:
            held.drop(key)
        if keys:
            self._changed(scope)

    def _changed(self, scope: ScopeKey) -> None:
        for subscriber in tuple(self._subscribers):
            subscriber(scope)


def _tombstone(key: str) -> str:
    """Return what stands for a forgotten key."""
    return hashlib.blake2b(key.encode(errors="replace"), digest_size=16).hexdigest()


def _bury(held: _Held, stone: str, at: str) -> None:
    """Remember that a key was forgotten."""
    held.tombstones[stone] = at
    held.tombstones.move_to_end(stone)
    while len(held.tombstones) > MAX_TOMBSTONES:
        held.tombstones.popitem(last=False)


def _count_turn(held: _Held, turn: str | None) -> bool:
    """Count a turn in one scope; whether anything changed."""
    changed = False
    for entry in list(held.entries.values()):
        own = entry.owner is not None and entry.owner == turn
        if entry.retention is Retention.IMMEDIATE and (own or entry.owner is None or turn is None):
            held.drop(entry.key)
        elif entry.max_turns is not None and not own:
            counted = replace(entry, turns=entry.turns + 1)
            if counted.turns >= entry.max_turns:
                held.drop(entry.key)
            else:
                held.put(counted)
        else:
            continue
        changed = True
    return changed
