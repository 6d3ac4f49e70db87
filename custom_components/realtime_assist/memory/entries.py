"""One thing that is remembered: a key, a JSON value, and how long it stays."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from operator import attrgetter
from sys import intern
from typing import Any, Final, NamedTuple, Self

import orjson
from pydantic import JsonValue

from .entry_json import MAX_KEY_LENGTH, checked, time_of
from .json_value import NotJson, json_text
from .retention import UNBOUNDED, UNSAVED, Retention
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

_TELLING: Final = 3


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
    size: int = field(init=False, repr=False, compare=False)
    """Bytes of its texts, earlier values included."""
    line: str | None = field(init=False, repr=False, compare=False)
    """As it was told last: most are told in every turn, as they were in the one before."""

    def __post_init__(self) -> None:
        """Measure it."""
        _PUT_SIZE(self, self._measured())
        _PUT_LINE(self, None)

    @property
    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """A copy of the value."""
        return orjson.loads(self.value_json)

    @property
    def metadata(self) -> dict[str, Any]:
        """A copy of the metadata."""
        found: dict[str, Any] = orjson.loads(self.metadata_json)
        return found

    @property
    def durable(self) -> bool:
        """Whether it may be written to the disk."""
        return self.scope.durable and self.retention not in UNSAVED

    @property
    def words(self) -> frozenset[str]:
        """Texts and numbers in its value, now and before: where they stand, it was told.

        Shorter than three characters they stand in too much else to tell it.
        """
        values = [self.value_json, *(old.value_json for old in self.previous)]
        leaves = (word for value in values for word in _leaves(orjson.loads(value)))
        return frozenset(word for word in leaves if len(word) >= _TELLING)

    @property
    def ends(self) -> bool:
        """Whether it ends by itself, by time or by turns."""
        return self.expires_at is not None or self.max_turns is not None

    @property
    def first_version(self) -> int:
        """The number of the oldest version that is kept; each change of the value counts one."""
        return self.version - len(self.previous)

    def value_at(self, version: int) -> Any:  # noqa: ANN401 - any JSON value
        """Return a copy of the value of a version. Raises UnknownVersion if it is not kept."""
        values = (*(old.value_json for old in self.previous), self.value_json)
        if not self.first_version <= version <= self.version:
            raise UnknownVersion(self.key, version)
        return orjson.loads(values[version - self.first_version])

    def expired(self, now: datetime) -> bool:
        """Whether its time or its turns are over."""
        if self.expires_at is not None and self.expires_at <= now:
            return True
        return self.max_turns is not None and self.turns >= self.max_turns

    def touch(self, now: datetime) -> None:
        """Note a use at `now`; no copy is made, since entries are looked up all the time."""
        _PUTS[_PLACES["accessed"]](self, now)

    def told_as(self, line: str) -> None:
        """Keep how it is told."""
        _PUT_LINE(self, line)

    def prolonged(self, now: datetime) -> Self:
        """Return it after a use at `now`, which may move its end."""
        if self.sliding is None:
            return self
        return self.replaced(expires_at=now + timedelta(seconds=self.sliding))

    def replaced(self, **changes: Any) -> Self:  # noqa: ANN401 - any field
        """Return it with other fields, as `dataclasses.replace`, which takes five times as long.

        Raises KeyError for a field that there is not.
        """
        values = list(_TAKE_ALL(self))
        for name, value in changes.items():
            values[_PLACES[name]] = value
        return self._made(values)

    @classmethod
    def _made(cls, values: Iterable[Any]) -> Self:
        """Return an entry of all its fields in their order: half the work of the frozen one's."""
        made = object.__new__(cls)
        for put, value in zip(_PUTS, values, strict=True):
            put(made, value)
        made.__post_init__()
        return made

    def _measured(self) -> int:
        size = _bytes(self.key) + _bytes(self.value_json) + _bytes(self.metadata_json)
        for old in self.previous:
            size += _bytes(old.value_json)
        return size

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, in its long form."""
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
            "previous": self._previous(),
            "source": self.source,
            "tags": list(self.tags),
            "priority": self.priority,
            "metadata": self.metadata,
            "pinned": self.pinned,
            "owner": self.owner,
        }

    def to_short_dict(self) -> dict[str, Any]:
        """Return it as JSON without what goes without saying: for the disk."""
        told = {"key": self.key, "value": self.value, "created": self.created.isoformat()}
        if self.updated != self.created:
            told["updated"] = self.updated.isoformat()
        if self.accessed != self.updated:
            told["accessed"] = self.accessed.isoformat()
        if self.retention is not Retention.MANUAL:
            told["retention"] = self.retention.value
        if self.expires_at is not None:
            told["expires_at"] = self.expires_at.isoformat()
        for name, plain in _PLAIN.items():
            if (value := getattr(self, name)) != plain:
                told[name] = value
        if self.tags:
            told["tags"] = list(self.tags)
        if self.previous:
            told["previous"] = self._previous()
        if self.metadata_json != "{}":
            told["metadata"] = self.metadata
        return told

    def _previous(self) -> list[dict[str, Any]]:
        return [
            {"value": orjson.loads(old.value_json), "at": old.at.isoformat()}
            for old in self.previous
        ]

    @classmethod
    def from_dict(cls, scope: ScopeKey, data: object) -> Self:
        """Read it, in its long form or the short one; raises ValueError if its shape is wrong."""
        found = checked(data)
        key = found["key"]
        created = time_of(found["created"])
        updated = time_of(found["updated"]) if "updated" in found else created
        metadata, expires_at = found.get("metadata"), found.get("expires_at")
        values = (  # in the order of the fields
            key,
            scope,
            json_text(found["value"], key),
            created,
            updated,
            time_of(found["accessed"]) if "accessed" in found else updated,
            found.get("retention", Retention.MANUAL),
            None if expires_at is None else time_of(expires_at),
            found.get("sliding"),
            found.get("max_turns"),
            found.get("turns", 0),
            found.get("version", 1),
            tuple(
                Version(json_text(old["value"], key), time_of(old["at"]))
                for old in found.get("previous", ())
            ),
            intern(found.get("source", "")),  # of these there are few, told often
            tuple(sorted(set(map(intern, found.get("tags", ()))))),
            found.get("priority", 0),
            json_text(metadata, key) if metadata else "{}",
            found.get("pinned", False),
            found.get("owner"),
        )
        return cls._made(values)


_PLAIN: Final = {
    each.name: each.default
    for each in fields(ContextEntry)
    if each.name
    in ("sliding", "max_turns", "turns", "version", "source", "priority", "pinned", "owner")
}
"""What goes without saying, among what stands in JSON as it is."""

_PLACES: Final = {
    each.name: place
    for place, each in enumerate(each for each in fields(ContextEntry) if each.init)
}
_PUTS, (_PUT_SIZE, _PUT_LINE) = (
    tuple(getattr(ContextEntry, name).__set__ for name in names)
    for names in (_PLACES, ("size", "line"))
)
"""Each fills a field of an entry that nobody has seen yet."""
_TAKE_ALL: Final = attrgetter(*_PLACES)


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
