"""What one scope holds: its entries, what was forgotten, and how much may be there."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from .entries import ContextEntry, Retention
from .kept import Kept

MAX_ENTRIES: Final = 500
"""Entries of one scope."""
MAX_BYTES: Final = 256 * 1024
"""Bytes of one scope, earlier values included."""
USE_GRAIN: Final = timedelta(hours=1)
"""Reading alone is written to the disk at most this often."""
MAX_TOMBSTONES: Final = 1000
"""Of one scope; the oldest go first."""


@dataclass(slots=True)
class Held:
    """The entries of one scope by key, and its tombstones."""

    entries: dict[str, ContextEntry] = field(default_factory=dict)
    tombstones: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Hash of a forgotten key (the key itself may be what was to be forgotten) -> when."""
    size: int = 0
    """Bytes of all entries."""
    soonest: datetime | None = None
    """No entry expires before; None: none expires."""
    ending: int = 0
    """How many entries end by themselves, by time or by turns."""
    used: bool = False
    """Whether anything was read since `kept`: the disk does not know when."""
    _use_told: datetime | None = None
    """When reading alone was told last."""
    _ordered: tuple[ContextEntry, ...] | None = None

    def living(self, now: datetime) -> Iterable[ContextEntry]:
        """Return the entries that are not over, by key."""
        if self._ordered is None:
            self._ordered = tuple(self.entries[key] for key in sorted(self.entries))
        if not self.ending:
            return self._ordered
        return (entry for entry in self._ordered if not entry.expired(now))

    def use(self, entry: ContextEntry, now: datetime) -> bool:
        """Note that an entry was read; return whether the disk should learn of that now.

        It learns when with whatever else is written, else once in a while: how often something
        is read is no matter.
        """
        since = self._use_told or entry.accessed
        entry.touch(now)
        self.used = True
        if now - since < USE_GRAIN:
            self._use_told = since
            return False
        self._use_told = now
        return True

    def put(self, entry: ContextEntry) -> None:
        """Enter an entry in place of the one with its key."""
        self.drop(entry.key)
        self.entries[entry.key] = entry
        self.size += entry.size
        self.ending += entry.ends
        self._ordered = None
        if entry.expires_at and (self.soonest is None or entry.expires_at < self.soonest):
            self.soonest = entry.expires_at

    def drop(self, key: str) -> None:
        """Take an entry out, if it is there."""
        if entry := self.entries.pop(key, None):
            self.size -= entry.size
            self.ending -= entry.ends
            self._ordered = None

    def bury(self, key: str, at: datetime) -> None:
        """Take an entry out, and remember that its key was forgotten."""
        self.drop(key)
        self._bury(_tombstone(key), at.isoformat())

    def unbury(self, key: str) -> bool:
        """Forget that a key was forgotten; return whether it was."""
        return bool(self.tombstones) and self.tombstones.pop(_tombstone(key), None) is not None

    def buried(self, key: str) -> bool:
        """Whether a key was forgotten."""
        return _tombstone(key) in self.tombstones

    def make_room(self, now: datetime, but: ContextEntry | None = None) -> None:
        """Take out what is too much, but never the entry that was just written.

        Expired entries go first, then the least important, then the least recently used; pinned
        and persistent ones go last.
        """
        if not self._full():
            return
        order = sorted(
            (entry for entry in self.entries.values() if entry is not but),
            key=lambda e: (
                not e.expired(now),
                e.pinned or e.retention is Retention.PERSISTENT,
                e.priority,
                e.accessed,
                e.key,
            ),
        )
        for entry in order:
            if not self._full():
                return
            self.drop(entry.key)

    def expire(self, now: datetime) -> bool:
        """Take out what is over; return whether there was any."""
        if self.soonest is None or self.soonest > now:
            return False
        over = [entry.key for entry in self.entries.values() if entry.expired(now)]
        for key in over:
            self.drop(key)
        ends = [entry.expires_at for entry in self.entries.values() if entry.expires_at]
        self.soonest = min(ends, default=None)
        return bool(over)

    def count_turn(self, turn: str | None) -> bool:
        """Count a turn that is over; return whether that changed anything."""
        changed = False
        for entry in list(self.entries.values()):
            own = entry.owner is not None and entry.owner == turn
            anybodys = entry.owner is None or turn is None
            if entry.retention is Retention.IMMEDIATE and (own or anybodys):
                self.drop(entry.key)
            elif entry.max_turns is not None and not own:
                counted = entry.replaced(turns=entry.turns + 1)
                if counted.turns >= entry.max_turns:
                    self.drop(entry.key)
                else:
                    self.put(counted)
            else:
                continue
            changed = True
        return changed

    def kept(self) -> Kept:
        """Return what the disk should keep, as it is now."""
        self.used = False
        return Kept(entries=tuple(self.entries.values()), tombstones=dict(self.tombstones))

    def load(self, found: Kept) -> None:
        """Take what the disk kept; what is here already is newer and stays."""
        fresh = set(self.tombstones)
        for entry in found.entries:
            if entry.key not in self.entries and not (fresh and _tombstone(entry.key) in fresh):
                self.put(entry)
        if not found.tombstones:
            return
        alive = {_tombstone(key) for key in self.entries}
        for stone, at in found.tombstones.items():
            if stone not in fresh and stone not in alive:
                self._bury(stone, at)

    def _full(self) -> bool:
        return len(self.entries) > MAX_ENTRIES or self.size > MAX_BYTES

    def _bury(self, stone: str, at: str) -> None:
        self.tombstones[stone] = at
        self.tombstones.move_to_end(stone)
        while len(self.tombstones) > MAX_TOMBSTONES:
            self.tombstones.popitem(last=False)


def _tombstone(key: str) -> str:
    """Return what stands for a forgotten key."""
    return hashlib.blake2b(key.encode(errors="replace"), digest_size=16).hexdigest()
