"""What an action or a tool wants changed in the memory, as it says so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .memory.entries import NotJson, Retention
from .memory.scopes import ScopeKey
from .memory.writing import EntryOptions


@dataclass(frozen=True, slots=True)
class Earlier:
    """In place of a value: the one that an entry had as an earlier version of itself."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUpdate:
    """What an action or a tool wants changed."""

    scopes: tuple[ScopeKey, ...] = ()
    """Whose memory it is about; none: no change, every live session is brought up to date."""
    entries: Mapping[str, Any] = field(default_factory=dict)
    """Key -> value, or key -> a mapping of `value` and options (see `_OPTION_TYPES`)."""
    forget: tuple[str, ...] = ()
    summary: str | None = None
    full: bool = False
    """Open new sessions instead of changing the open ones."""
    source: str | None = None
    """What writes: kept with the entries. None: they keep the source that they have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What an update came to."""

    set: int = 0
    forgotten: int = 0


_OPTION_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "retention": str,
    "expires_in": (int, float),
    "sliding": bool,
    "max_turns": int,
    "tags": list,
    "priority": int,
    "metadata": dict,
    "pinned": bool,
}


def value_and_options(given: object, source: str | None) -> tuple[object, EntryOptions]:
    """Return what was given for a key: a value, or a mapping of a value and its options.

    A mapping counts as options only if it has `value` and nothing that is none. Raises NotJson for
    an option of a wrong type.
    """
    options: dict[str, Any] = {} if source is None else {"source": source}
    if (
        not isinstance(given, Mapping)
        or "value" not in given
        or given.keys() - _OPTION_TYPES.keys() - {"value"}
    ):
        return given, EntryOptions(**options)  # type: ignore[typeddict-item]  # `source` alone
    asked = {name: value for name, value in given.items() if name != "value"}
    for name, value in asked.items():
        if not isinstance(value, _OPTION_TYPES[name]):
            raise NotJson(name, type(value).__name__)
    if "retention" in asked:
        asked["retention"] = Retention(asked["retention"])
    return given["value"], EntryOptions(**options, **asked)  # type: ignore[typeddict-item]  # checked above by name
