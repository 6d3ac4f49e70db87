"""One thing that is remembered: a key, a JSON value, and how long it stays."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from operator import attrgetter
from typing import Annotated, Any, Final, NamedTuple, NotRequired, Self, TypedDict

import orjson
from pydantic import AwareDatetime, Field, JsonValue, TypeAdapter

from .json_value import NotJson, json_text
from .scopes import ScopeKey

__all__ = [
    "MAX_KEY_LENGTH",
    "UNBOUNDED",
    "UNSAVED",
    "ContextEntry",
    "NotJson",
    "Retention",
    "UnknownVersion",
    "Version",
    "json_text",
]

MAX_KEY_LENGTH: Final = 200


_TELLING: Final = 3


class Retention(StrEnum):
    """How long an entry stays."""

    IMMEDIATE = "immediate"
    """Until the turn that set it ends."""
    SESSION_END = "session_end"
    """Until the session that set it ends."""
    TIME_BASED = "time_based"
    TURN_BASED = "turn_based"
    """For a number of turns of its scope."""
    MANUAL = "manual"
    """Until it is removed, or its scope is full."""
    PERSISTENT = "persistent"
    """As `manual`, and among the last to go when its scope is full."""


UNBOUNDED: Final = frozenset({Retention.MANUAL, Retention.PERSISTENT})
UNSAVED: Final = frozenset({Retention.IMMEDIATE, Retention.SESSION_END})
"""Retentions that never reach the disk: no turn and no session outlives a restart."""


class Version(NamedTuple):
    """A value that an entry had before, until `at`."""

    value_json: str
    at: datetime


class UnknownVersion(LookupError):
    """An entry never had such a version, or it is too long ago. No content is in the text."""

    def __init__(self, key: str, version: int) -> None:
        """Keep what was asked for."""
        super().__init__(version)
        self.key: Final = key
        self.version: Final = version


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEntry:
    """One thing that is remembered.

    Values are held as canonical JSON text: nobody can change one in place, equal values are equal
    texts, and its size is known. `value` gives a copy.
    """

    key: str
    scope: ScopeKey
    value_json: str = field(repr=False)
    created: datetime
    updated: datetime
    accessed: datetime = field(compare=False)
    """The last use. This alone changes in place, by `touch`."""
    retention: Retention
    expires_at: datetime | None = None
    sliding: float | None = None
    """Seconds by which each use moves `expires_at`."""
    max_turns: int | None = None
    turns: int = 0
    version: int = 1
    previous: tuple[Version, ...] = field(default=(), repr=False)
    """Earlier values, oldest first."""
    source: str = ""
    tags: tuple[str, ...] = ()
    priority: int = 0
    metadata_json: str = field(default="{}", repr=False)
    pinned: bool = False
    owner: str | None = None

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """A copy of the value."""
        return orjson.loads(self.value_json)

    @property
    def metadata(self) -> dict[str, Any]:
        """A copy of the metadata."""
        found: dict[str, Any] = json.loads(self.metadata_json)
        return found

    @property
    def durable(self) -> bool:
        """Whether it may be written to the disk."""
        return self.scope.durable and self.retention not in UNSAVED

    @property
    def size(self) -> int:
        """Bytes of its texts, earlier values included."""
        size = _bytes(self.key) + _bytes(self.value_json) + _bytes(self.metadata_json)
        for old in self.previous:
            size += _bytes(old.value_json)
        return size

    @property
    def words(self) -> frozenset[str]:
        """Texts and numbers in its value, now and before: where they stand, it was told.

        Shorter than three characters they stand in too much else to tell it.
        """
        values = [self.value_json, *(old.value_json for old in self.previous)]
        return frozenset(
            word for value in values for word in _leaves(json.loads(value)) if len(word) >= _TELLING
        )

    @property
    def first_version(self) -> int:
        """The number of the oldest version that is kept; each change of the value counts one."""
        return self.version - len(self.previous)

    def value_at(self, version: int) -> Any:  # noqa: ANN401 - any JSON value
        """Return a copy of the value of a version. Raises UnknownVersion if it is not kept."""
        values = (*(old.value_json for old in self.previous), self.value_json)
        if not self.first_version <= version <= self.version:
            raise UnknownVersion(self.key, version)
        return json.loads(values[version - self.first_version])

    def expired(self, now: datetime) -> bool:
        """Whether its time or its turns are over."""
        if self.expires_at is not None and self.expires_at <= now:
            return True
        return self.max_turns is not None and self.turns >= self.max_turns

    def touch(self, now: datetime) -> None:
        """Note a use at `now`; no copy is made, since entries are looked up all the time."""
        _PUT["accessed"](self, now)

    def prolonged(self, now: datetime) -> Self:
        """Return it after a use at `now`, which may move its end."""
        if self.sliding is None:
            return self
        return self.replaced(expires_at=now + timedelta(seconds=self.sliding))

    def replaced(self, **changes: Any) -> Self:  # noqa: ANN401 - any field
        """Return it with other fields, as `dataclasses.replace`, which takes five times as long.

        Raises KeyError for a field that there is not.
        """
        made = object.__new__(type(self))
        for put, value in zip(_PUT.values(), _TAKE_ALL(self), strict=True):
            put(made, value)
        for name, value in changes.items():
            _PUT[name](made, value)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON for the disk."""
        return {
            "key": self.key,
            "value": self.value,
            "created": self.created.isoformat(),
            "updated": self.updated.isoformat(),
            "accessed": self.accessed.isoformat(),
            "retention": self.retention.value,
            "expires_at": self.expires_at and self.expires_at.isoformat(),
            "sliding": self.sliding,
            "max_turns": self.max_turns,
            "turns": self.turns,
            "version": self.version,
            "previous": [
                {"value": json.loads(old.value_json), "at": old.at.isoformat()}
                for old in self.previous
            ],
            "source": self.source,
            "tags": list(self.tags),
            "priority": self.priority,
            "metadata": self.metadata,
            "pinned": self.pinned,
            "owner": self.owner,
        }

    @classmethod
    def from_dict(cls, scope: ScopeKey, data: object) -> Self:
        """Read it from the disk; raises ValueError if its shape is wrong."""
        found: dict[str, Any] = {**_STORED.validate_python(data)}
        key = found["key"]
        value, metadata = found.pop("value"), found.pop("metadata", {})
        previous, tags = found.pop("previous", ()), found.pop("tags", ())
        return cls(
            scope=scope,
            value_json=json_text(value, key),
            metadata_json=json_text(metadata, key) if metadata else "{}",
            previous=tuple(Version(json_text(old["value"], key), old["at"]) for old in previous),
            tags=tuple(sorted(set(tags))),
            **found,
        )


_PUT: Final[dict[str, Callable[[ContextEntry, Any], None]]] = {
    each.name: getattr(ContextEntry, each.name).__set__ for each in fields(ContextEntry)
}
"""Fills a field of an entry that nobody has seen yet."""
_TAKE_ALL: Final = attrgetter(*_PUT)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _leaves(value: JsonValue) -> Iterator[str]:
    """Yield the texts and numbers of a JSON value as a person would say them."""
    match value:
        case str():
            yield value.strip()
        case bool() | None:
            return
        case int() | float():
            yield str(value)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case dict():
            for inner in value.values():
                yield from _leaves(inner)


class _StoredVersion(TypedDict):
    value: Any
    at: AwareDatetime


class _Stored(TypedDict):
    """An entry on the disk. Fields that a newer version added are ignored.

    Whether values are JSON is seen where they are made text.
    """

    key: Annotated[str, Field(min_length=1, max_length=MAX_KEY_LENGTH)]
    value: Any
    created: AwareDatetime
    updated: AwareDatetime
    accessed: AwareDatetime
    retention: Retention
    expires_at: NotRequired[AwareDatetime | None]
    sliding: NotRequired[float | None]
    max_turns: NotRequired[int | None]
    turns: NotRequired[int]
    version: NotRequired[int]
    previous: NotRequired[list[_StoredVersion]]
    source: NotRequired[str]
    tags: NotRequired[list[str]]
    priority: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]
    pinned: NotRequired[bool]
    owner: NotRequired[str | None]


# Thousands are read at a start, and a dictionary is made in a third of the time of a model.
_STORED: Final = TypeAdapter(_Stored)
