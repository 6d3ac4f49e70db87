"""To whom a memory belongs, and the ordered set of keys that a turn may see.

There is no other way to read than with such a set: lookup, prompt, search and summary all take it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, Self, override

from ..items import Audience


class Scope(StrEnum):
    """What a memory belongs to."""

    __hash__ = str.__hash__  # an Enum's own is ten times as slow

    SESSION = "session"
    """One session of ours; it ends after the conversation timeout."""
    TEMPORARY = "temporary"
    """As `session`, and each entry has a lifetime."""
    DEVICE = "device"
    AREA = "area"
    SPEAKER = "speaker"
    """A person, known by proof: without it there is no such key, and nothing personal is seen."""
    GLOBAL = "global"
    PLUGIN = "plugin"
    """A namespace that an automation or an integration chooses."""


FLEETING: Final = frozenset({Scope.SESSION, Scope.TEMPORARY})
"""Scopes that never reach the disk."""


@dataclass(frozen=True, slots=True)
class ScopeKey:
    """One scope of the house, as `device:<registry id>`. Raises ValueError if the id is empty."""

    scope: Scope
    id: str

    def __post_init__(self) -> None:
        """Refuse a key that would mean everything."""
        if not self.id:
            msg = f"a {self.scope} scope needs an id"
            raise ValueError(msg)

    @override
    def __hash__(self) -> int:
        """Return the hash of the id, which a text knows by heart: keys are looked up all the time.

        No two kinds of scope have ids in common, but for a session's.
        """
        return hash(self.id)

    @override
    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.scope}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a key from its text; raises ValueError if it is none."""
        scope, _, name = text.partition(":")
        return cls(Scope(scope), name)

    @property
    def durable(self) -> bool:
        """Whether what it holds may be written to the disk."""
        return self.scope not in FLEETING


GLOBAL: Final = ScopeKey(Scope.GLOBAL, "home")
"""The home itself: everybody in the house sees it."""


def visible_keys(  # noqa: PLR0913 - one argument for each scope, all by name
    *,
    session: str | None = None,
    temporary: str | None = None,
    device: str | None = None,
    area: str | None = None,
    speaker: str | None = None,
    plugins: Iterable[str] = (),
) -> tuple[ScopeKey, ...]:
    """Return the keys that a turn may see, narrowest first, from the ids of each scope.

    The home is always among them, before the plugin namespaces; those come sorted.
    """
    ids = (
        (Scope.SESSION, session),
        (Scope.TEMPORARY, temporary),
        (Scope.DEVICE, device),
        (Scope.AREA, area),
        (Scope.SPEAKER, speaker),
    )
    narrow = (ScopeKey(scope, name) for scope, name in ids if name)
    namespaces = (ScopeKey(Scope.PLUGIN, name) for name in sorted(set(plugins)))
    return (*narrow, GLOBAL, *namespaces)


@lru_cache(maxsize=1024)
def audience(*keys: ScopeKey) -> Audience:
    """Return the audience that must be allowed to see all of `keys`."""
    return frozenset(map(str, keys))
