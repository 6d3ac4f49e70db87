"""The scoped context store: what is remembered for whom, as long as it should be.

One for the house, in memory; `storage.py` keeps its durable part. Every change is told to those
who subscribed, once for each scope. Nothing here waits, and time is given from outside.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Unpack

from .entries import ContextEntry, Retention
from .held import Held
from .kept import Kept
from .scopes import Scope, ScopeKey
from .writing import EntryOptions, written

MAX_ENDED: Final = 256
"""Sessions that are known to have ended."""


SESSION_ENDED: Final = "session_ended"


class ScopeRefused(Exception):
    """A scope takes no writes. The text is a code (`newer_file`, `session_ended`), no content."""

    def __init__(self, code: str) -> None:
        """Keep the code."""
        super().__init__(code)
        self.code: Final = code


class ContextStore:
    """Entries by scope. Whoever reads gives the keys that may be seen: there is no other way."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Start empty. `now` gives the time, with a time zone."""
        self._now: Final = now
        self._held: Final[dict[ScopeKey, Held]] = {}
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
            told = held.use(entry, now) or entry.sliding is not None
            if entry.sliding is not None:
                entry = entry.prolonged(now)
                held.put(entry)
            if told:
                self._changed(scope)
            return entry
        return None

    def visible(self, keys: Iterable[ScopeKey]) -> tuple[ContextEntry, ...]:
        """Return all entries of the scopes, in their order and then by key. This is not a use."""
        now = self._now()
        return tuple(
            entry
            for scope in dict.fromkeys(keys)
            if (held := self._held.get(scope))
            for entry in held.living(now)
        )

    def scopes(self) -> tuple[ScopeKey, ...]:
        """Return the scopes that hold anything, sorted."""
        return tuple(sorted((key for key, held in self._held.items() if held.entries), key=str))

    def forgotten(self, scope: ScopeKey, key: str) -> bool:
        """Whether a key was forgotten, and nobody has set it since."""
        held = self._held.get(scope)
        return held is not None and held.buried(key)

    # Writing

    def set(
        self, scope: ScopeKey, key: str, value: object, **options: Unpack[EntryOptions]
    ) -> ContextEntry:
        """Write an entry as somebody asked for; an earlier forgetting of its key is over.

        Raises NotJson or ValueError for what cannot be kept, ScopeRefused where nothing may be.
        """
        entry, old = self._written(scope, key, value, options)
        held, now = self._held[scope], entry.accessed
        lifted = held.unbury(key)
        held.put(entry)
        held.make_room(now, entry)
        changed = lifted or old is None or old.prolonged(now) != entry
        if changed or (old is not None and held.use(old, now)):
            self._changed(scope)
        return entry

    def check(
        self, scope: ScopeKey, key: str, value: object, **options: Unpack[EntryOptions]
    ) -> None:
        """Raise what `set` would raise, and write nothing."""
        self._written(scope, key, value, options)

    def restore(self, entry: ContextEntry) -> None:
        """Put an entry as an export holds it, over what is there; a forgetting of its key is over.

        Raises NotJson or ValueError for what cannot be kept, ScopeRefused where nothing may be.
        """
        self.check(entry.scope, entry.key, entry.value)
        held = self._writable(entry.scope)
        held.unbury(entry.key)
        held.put(entry)
        held.make_room(self._now(), entry)
        self._changed(entry.scope)

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

        One that was over already was not there any more.
        Raises ValueError if `keys` is one text or empty: that never means everything.
        """
        wanted = [] if isinstance(keys, str) else list(keys)
        if not wanted:
            msg = "forget needs a list of keys"
            raise ValueError(msg)
        held = self._writable(scope)
        at = self._now()
        there = (held.entries.get(key) for key in dict.fromkeys(wanted))
        found = [entry.key for entry in there if entry and not entry.expired(at)]
        for key in wanted:
            held.bury(key, at)
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
            if held and held.count_turn(turn):
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
            for key in gone:
                held.drop(key)
            if gone:
                self._changed(scope)

    def expire(self) -> None:
        """Remove what is over by now; to be called now and then. Reading never shows it anyway."""
        now = self._now()
        for scope, held in list(self._held.items()):
            if held.expire(now):
                self._changed(scope)

    def soonest(self, scope: ScopeKey | None = None) -> datetime | None:
        """Return before when nothing of a scope, or of all, ends by time; None: nothing does."""
        if scope is not None:
            held = self._held.get(scope)
            return held.soonest if held else None
        ends = (held.soonest for held in self._held.values())
        return min((end for end in ends if end is not None), default=None)

    # Keeping

    def subscribe(self, changed: Callable[[ScopeKey], None]) -> Callable[[], None]:
        """Have `changed` called after each change of a scope; the result ends that."""
        self._subscribers.append(changed)
        return lambda: self._subscribers.remove(changed)

    def guard(self, refusal: Callable[[ScopeKey], str | None]) -> None:
        """Ask before each write whether a scope takes none: a code is raised as ScopeRefused."""
        self._refusal = refusal

    def used(self) -> tuple[ScopeKey, ...]:
        """Return the scopes of which something was read since the disk was told of them."""
        return tuple(scope for scope, held in self._held.items() if held.used)

    def kept(self, scope: ScopeKey) -> Kept:
        """Return what the disk should keep of a scope, as it is now."""
        return self._held.get(scope, Held()).kept()

    def dump(self, scope: ScopeKey) -> dict[str, Any]:
        """Return what the disk should keep of a scope, as JSON."""
        return self.kept(scope).to_dict(scope)

    def load(self, scope: ScopeKey, found: Kept | Mapping[str, Any]) -> int:
        """Take what the disk kept of a scope; return how many entries of it could not be read.

        What was written or forgotten meanwhile is newer and stays.
        """
        read = found if isinstance(found, Kept) else Kept.read(scope, found)
        held = self._held.setdefault(scope, Held())
        held.load(read)
        held.make_room(self._now())
        return read.unread

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

    def _writable(self, scope: ScopeKey) -> Held:
        """Return what a scope holds; raises ScopeRefused if it takes no writes."""
        if not scope.durable and scope.id in self._ended:
            raise ScopeRefused(SESSION_ENDED)
        if code := self._refusal(scope):
            raise ScopeRefused(code)
        return self._held.setdefault(scope, Held())

    def _changed(self, scope: ScopeKey) -> None:
        for subscriber in tuple(self._subscribers):
            subscriber(scope)
