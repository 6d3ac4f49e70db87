"""What a write makes of an entry."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypedDict

from .entries import MAX_KEY_LENGTH, UNBOUNDED, ContextEntry, Retention, Version
from .json_value import json_text
from .scopes import FLEETING, Scope, ScopeKey
from .words import is_text

MAX_VALUE_BYTES: Final = 16 * 1024
"""A larger value is refused, not cut."""
MAX_PREVIOUS: Final = 10
MAX_SECONDS: Final = 1e9
TEMPORARY_SECONDS: Final = 900.0
"""Lifetime of an entry of the temporary scope that states none."""


class EntryOptions(TypedDict, total=False):
    """What may be said of an entry beside its value.

    On an entry that exists, what is left out stays as it is; None clears what can be cleared.
    """

    retention: Retention
    expires_in: float | None
    """Seconds, 0 is at once. Implies `time_based` if no retention is given."""
    sliding: bool
    """The lifetime starts again with each use."""
    max_turns: int | None
    """Turns of its scope, 0 is at once. Implies `turn_based` if no retention is given."""
    tags: Iterable[str]
    priority: int
    metadata: Mapping[str, Any]
    pinned: bool
    source: str
    owner: str | None
    """What set it: the id of a turn (`immediate`, `turn_based`) or the text of a session's key."""


def written(  # noqa: PLR0913 - all that makes an entry, by name
    entry: ContextEntry | None,
    *,
    scope: ScopeKey,
    key: str,
    value: object,
    options: EntryOptions,
    now: datetime,
) -> ContextEntry:
    """Return what a write makes of an entry; None: there was none, or it had expired.

    Raises NotJson, or ValueError if the options contradict each other.
    """
    if not 0 < len(key) <= MAX_KEY_LENGTH or not is_text(key):
        msg = f"a key has 1 to {MAX_KEY_LENGTH} characters"
        raise ValueError(msg)
    text = json_text(value, key)
    if len(text.encode()) > MAX_VALUE_BYTES:
        msg = f"{key}: the value is larger than {MAX_VALUE_BYTES} bytes"
        raise ValueError(msg)
    lifetime = _lifetime(entry, scope, options, now)
    made = entry or ContextEntry(
        key=key,
        scope=scope,
        value_json=text,
        created=now,
        updated=now,
        accessed=now,
        retention=lifetime.retention,
    )
    changes: dict[str, Any] = {
        "accessed": now,
        "turns": 0,
        "retention": lifetime.retention,
        "expires_at": lifetime.expires_at,
        "sliding": lifetime.sliding,
        "max_turns": lifetime.max_turns,
    }
    if text != made.value_json:
        changes["value_json"] = text
        changes["version"] = made.version + 1
        changes["previous"] = _past(made)
        changes["updated"] = now
    if "metadata" in options:
        changes["metadata_json"] = json_text(options["metadata"], key)
    if "tags" in options:
        changes["tags"] = tuple(sorted(set(options["tags"])))
    for name in ("priority", "pinned", "source", "owner"):
        if name in options:
            changes[name] = options[name]
    return made.replaced(**changes)


def _past(entry: ContextEntry) -> tuple[Version, ...]:
    """Return the newest earlier values once its own is one, too: as many as may be kept."""
    past = (*entry.previous, Version(entry.value_json, entry.updated))[-MAX_PREVIOUS:]
    if entry.size <= MAX_VALUE_BYTES:  # with all else that it holds
        return past
    size = 0
    for count, old in enumerate(reversed(past)):
        size += len(old.value_json.encode())
        if size > MAX_VALUE_BYTES:
            return past[len(past) - count :]
    return past


class _Lifetime(NamedTuple):
    retention: Retention
    expires_at: datetime | None
    sliding: float | None
    max_turns: int | None


DEFAULT_RETENTION: Final = {
    Scope.SESSION: Retention.SESSION_END,
    Scope.TEMPORARY: Retention.TIME_BASED,
}
"""Of the scopes that end by themselves; elsewhere an entry stays until it is removed."""


def _retention(entry: ContextEntry | None, scope: ScopeKey, options: EntryOptions) -> Retention:
    """Return the retention that a write asks for, or implies, or leaves."""
    if "retention" in options:
        return Retention(options["retention"])
    if options.get("expires_in") is not None:
        return Retention.TIME_BASED
    if options.get("max_turns") is not None:
        return Retention.TURN_BASED
    if entry is not None:
        return entry.retention
    return DEFAULT_RETENTION.get(scope.scope, Retention.MANUAL)


def _lifetime(
    entry: ContextEntry | None, scope: ScopeKey, options: EntryOptions, now: datetime
) -> _Lifetime:
    """Return how long an entry stays after a write; raises ValueError on contradictions."""
    retention = _retention(entry, scope, options)
    if retention in UNBOUNDED:
        _refuse(scope.scope in FLEETING, f"a {scope.scope} scope keeps nothing {retention}")
        given = (options.get("expires_in"), options.get("max_turns"))
        _refuse(given != (None, None), f"{retention} has no end of its own")
        return _Lifetime(retention, None, None, None)
    held = entry if entry is not None and entry.retention is retention else None
    seconds = options.get("expires_in")
    turns = options.get("max_turns", held.max_turns if held else None)
    _refuse(seconds is not None and not 0 <= seconds < MAX_SECONDS, "expires_in is out of range")
    _refuse(turns is not None and turns < 0, "max_turns is negative")
    expires_at = held.expires_at if held and "expires_in" not in options else None
    slides = options.get("sliding", held is not None and held.sliding is not None)
    if seconds is None and expires_at is not None and slides:
        seconds = (held.sliding if held else None) or (expires_at - now).total_seconds()
    if seconds is None and expires_at is None and scope.scope is Scope.TEMPORARY:
        seconds = TEMPORARY_SECONDS
    if seconds is not None:
        expires_at = now + timedelta(seconds=seconds)
    _refuse(retention is Retention.TIME_BASED and expires_at is None, "time_based needs expires_in")
    _refuse(retention is Retention.TURN_BASED and turns is None, "turn_based needs max_turns")
    return _Lifetime(retention, expires_at, seconds if slides else None, turns)


def _refuse(wrong: bool, message: str) -> None:  # noqa: FBT001 - a condition, not a flag
    """Raise ValueError with a message that holds no content."""
    if wrong:
        raise ValueError(message)
