"""What the context store should do, said as simply as possible: a dictionary for each scope."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from custom_components.realtime_assist.memory.entries import ContextEntry, Retention
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.memory.writing import EntryOptions

MAX_ENTRIES: Final = 3
MAX_BYTES: Final = 700
MAX_PREVIOUS: Final = 3
"""Small enough that chance comes to them; the store is given the same."""
ENDLESS: Final = (Retention.MANUAL, Retention.PERSISTENT)
FLEETING: Final = (Scope.SESSION, Scope.TEMPORARY)


class Refused(Exception):
    """What is asked for contradicts itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One entry."""

    key: str
    value: str
    version: int = 1
    previous: tuple[str, ...] = ()
    created: datetime
    updated: datetime
    accessed: datetime
    retention: Retention
    expires_at: datetime | None = None
    sliding: float | None = None
    max_turns: int | None = None
    turns: int = 0
    tags: tuple[str, ...] = ()
    priority: int = 0
    metadata: str = "{}"
    pinned: bool = False
    source: str = ""
    owner: str | None = None

    def over(self, now: datetime) -> bool:
        """Whether it is not there any more."""
        if self.expires_at is not None and now >= self.expires_at:
            return True
        return self.max_turns is not None and self.turns >= self.max_turns

    @property
    def size(self) -> int:
        """Bytes of its texts."""
        texts = (self.key, self.value, self.metadata, *self.previous)
        return sum(len(text.encode()) for text in texts)


def known(entry: ContextEntry) -> Known:
    """Return an entry of the store as the model has it."""
    return Known(
        key=entry.key,
        value=text(entry.value),
        version=entry.version,
        previous=tuple(old.value_json for old in entry.previous),
        created=entry.created,
        updated=entry.updated,
        accessed=entry.accessed,
        retention=entry.retention,
        expires_at=entry.expires_at,
        sliding=entry.sliding,
        max_turns=entry.max_turns,
        turns=entry.turns,
        tags=entry.tags,
        priority=entry.priority,
        metadata=text(entry.metadata),
        pinned=entry.pinned,
        source=entry.source,
        owner=entry.owner,
    )


def text(value: object) -> str:
    """Return a value as text that is equal where values are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@dataclass(slots=True)
class Held:
    """What one scope holds."""

    entries: dict[str, Known] = field(default_factory=dict)
    stones: set[str] = field(default_factory=set)

    def saved(self) -> Held:
        """Return what of it outlives a restart; when it was used last does not count."""
        kept = {
            key: replace(entry, accessed=entry.created)
            for key, entry in self.entries.items()
            if entry.retention not in (Retention.IMMEDIATE, Retention.SESSION_END)
        }
        return Held(kept, set(self.stones))

    def purged(self, now: datetime) -> Held:
        """Return it without what is over."""
        left = {key: entry for key, entry in self.entries.items() if not entry.over(now)}
        return Held(left, set(self.stones))


class Model:
    """All scopes."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Begin empty."""
        self._now = now
        self.held: dict[ScopeKey, Held] = {}
        self.ended: set[str] = set()

    def of(self, scope: ScopeKey) -> Held:
        """Return what a scope holds now."""
        self.held[scope] = self.held.get(scope, Held()).purged(self._now())
        return self.held[scope]

    # Writing

    def write(self, scope: ScopeKey, key: str, value: object, options: EntryOptions) -> Known:
        """Write; raises Refused."""
        if scope.scope in FLEETING and scope.id in self.ended:
            raise Refused
        held = self.of(scope)
        made = self._made(scope, held.entries.get(key), key, text(value), options)
        held.stones.discard(key)
        held.entries[key] = made
        self.make_room(scope, but=key)
        return made

    def _made(
        self,
        scope: ScopeKey,
        old: Known | None,
        key: str,
        value: str,
        options: EntryOptions,
    ) -> Known:
        now = self._now()
        life = _life(old, scope.scope, options, now)
        made = old or Known(
            key=key, value=value, created=now, updated=now, accessed=now, retention=Retention.MANUAL
        )
        if made.value != value:
            past = (*made.previous, made.value)[-MAX_PREVIOUS:]
            made = replace(made, value=value, version=made.version + 1, updated=now, previous=past)
        plain: dict[str, Any] = {
            name: options[name]
            for name in ("priority", "pinned", "source", "owner")
            if name in options
        }
        if "tags" in options:
            plain["tags"] = tuple(sorted(set(options["tags"])))
        if "metadata" in options:
            plain["metadata"] = text(options["metadata"])
        return replace(made, accessed=now, turns=0, **plain, **life)

    def make_room(self, scope: ScopeKey, but: str | None = None) -> None:
        """Take out what is too much, the least worth first."""
        entries = self.held[scope].entries
        while len(entries) > MAX_ENTRIES or sum(e.size for e in entries.values()) > MAX_BYTES:
            others = [entry for entry in entries.values() if entry.key != but]
            if not others:
                return
            least = min(
                others,
                key=lambda entry: (
                    entry.pinned or entry.retention is Retention.PERSISTENT,
                    entry.priority,
                    entry.accessed,
                    entry.key,
                ),
            )
            del entries[least.key]

    def forget(self, scope: ScopeKey, keys: Iterable[str]) -> set[str]:
        """Forget; return what was there."""
        held = self.of(scope)
        wanted = set(keys)
        there = wanted & held.entries.keys()
        for key in there:
            del held.entries[key]
        held.stones |= wanted
        return there

    # Using

    def get(self, scopes: Iterable[ScopeKey], key: str) -> Known | None:
        """Read the first one that is there, which is a use."""
        now = self._now()
        for scope in scopes:
            entry = self.of(scope).entries.get(key)
            if entry is None:
                continue
            used = replace(entry, accessed=now)
            if used.sliding is not None:
                used = replace(used, expires_at=now + timedelta(seconds=used.sliding))
            self.held[scope].entries[key] = used
            return used
        return None

    def new_turn(self, scopes: Iterable[ScopeKey], turn: str | None) -> None:
        """End a turn."""
        for scope in dict.fromkeys(scopes):
            entries = self.of(scope).entries
            for key, entry in list(entries.items()):
                own = turn is not None and entry.owner == turn
                foreign = entry.owner is not None and turn is not None and not own
                if entry.retention is Retention.IMMEDIATE and not foreign:
                    del entries[key]
                elif entry.max_turns is not None and not own:
                    entries[key] = replace(entry, turns=entry.turns + 1)
            self.of(scope)

    def end_session(self, session: ScopeKey, seen: Iterable[ScopeKey]) -> None:
        """End a session."""
        self.ended.add(session.id)
        self.held.pop(session, None)
        self.held.pop(ScopeKey(Scope.TEMPORARY, session.id), None)
        seen = set(seen)
        for scope, held in self.held.items():
            for key, entry in list(held.entries.items()):
                own = entry.owner == str(session) or (entry.owner is None and scope in seen)
                if entry.retention is Retention.SESSION_END and own:
                    del held.entries[key]

    def restart(self, saved: dict[ScopeKey, Held]) -> None:
        """Begin anew with what was saved."""
        self.held = saved
        self.ended = set()


def _life(  # noqa: C901 - one rule after another
    old: Known | None, scope: Scope, options: EntryOptions, now: datetime
) -> dict[str, Any]:
    """Return how long an entry stays: what is not said stays as it was, None ends it."""
    retention = _retention(old, scope, options)
    seconds, turns = options.get("expires_in"), options.get("max_turns")
    if retention in ENDLESS:
        if scope in FLEETING or seconds is not None or turns is not None:
            raise Refused
        return {"retention": retention, "expires_at": None, "sliding": None, "max_turns": None}
    same = old if old is not None and old.retention is retention else None
    if "max_turns" not in options and same:
        turns = same.max_turns
    slides = options.get("sliding", same is not None and same.sliding is not None)
    expires_at = None
    if same and "expires_in" not in options:
        expires_at = same.expires_at
        if expires_at is not None and slides:
            seconds = same.sliding or (expires_at - now).total_seconds()
    if seconds is None and expires_at is None and scope is Scope.TEMPORARY:
        seconds = 900.0
    if (seconds is not None and seconds < 0) or (turns is not None and turns < 0):
        raise Refused
    if seconds is not None:
        expires_at = now + timedelta(seconds=seconds)
    if retention is Retention.TIME_BASED and expires_at is None:
        raise Refused
    if retention is Retention.TURN_BASED and turns is None:
        raise Refused
    sliding = seconds if slides else None
    return {
        "retention": retention,
        "expires_at": expires_at,
        "sliding": sliding,
        "max_turns": turns,
    }


def _retention(old: Known | None, scope: Scope, options: EntryOptions) -> Retention:
    if "retention" in options:
        return options["retention"]
    if options.get("expires_in") is not None:
        return Retention.TIME_BASED
    if options.get("max_turns") is not None:
        return Retention.TURN_BASED
    if old is not None:
        return old.retention
    fleeting = {Scope.SESSION: Retention.SESSION_END, Scope.TEMPORARY: Retention.TIME_BASED}
    return fleeting.get(scope, Retention.MANUAL)
