"""What there is to remember when the memory is measured: the same in every run."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey, visible_keys
from custom_components.realtime_assist.memory.transcript import Said, Thread, ThreadKey, TurnRecord

THINGS: Final = (
    "bins",
    "cat",
    "kettle",
    "boiler",
    "window",
    "lamp",
    "heating",
    "door",
    "plants",
    "guests",
    "recipe",
    "radio",
)
PLACES: Final = ("kitchen", "hall", "cellar", "garden", "attic", "garage", "bathroom", "study")
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ACTS: Final = ("wants", "likes", "fears", "needs", "checks", "forgets")
PEOPLE: Final = ("Anna", "Ben", "Clara", "David", "Emma", "Finn")
TAGS: Final = tuple(f"tag{number}" for number in range(20))
TURNS: Final = 20
"""Turns that a session has behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much there is."""

    scopes: int = 1000
    each: int = 100
    """Entries of one scope."""
    rounds: int = 20_000
    """Times that something is done which takes microseconds."""
    tries: int = 200
    """Times that something is done which takes milliseconds."""

    @property
    def entries(self) -> int:
        """All entries."""
        return self.scopes * self.each


class Remembered:
    """Scopes, entries, and who asks for them."""

    def __init__(self, size: Size) -> None:
        """Make the keys: satellites, rooms, people, namespaces, and the home."""
        self.size: Final = size
        self._random: Final = random.Random(1)  # noqa: S311 - no secret
        tenth = max((size.scopes - 1) // 10, 1)
        counts = {Scope.AREA: tenth, Scope.SPEAKER: tenth, Scope.PLUGIN: 4 * tenth}
        counts[Scope.DEVICE] = max(size.scopes - 1 - sum(counts.values()), 1)
        self._counts: Final = counts
        self._keys: Final = {scope: self.keys(ScopeKey(scope, "any")) for scope in Scope}
        self.scopes: Final = (
            GLOBAL,
            *(ScopeKey(s, f"{s}{number}") for s, n in counts.items() for number in range(n)),
        )

    def keys(self, scope: ScopeKey) -> list[str]:
        """Return the names of the entries of a scope: they are others in each kind of scope."""
        return [f"{scope.scope} {THINGS[n % len(THINGS)]} {n}" for n in range(self.size.each)]

    def value(self) -> str | dict[str, Any]:
        """Return something to remember: a sentence of about a hundred characters, mostly."""
        pick = self._random.choice
        text = (
            f"{pick(PEOPLE)} {pick(ACTS)} the {pick(THINGS)} in the {pick(PLACES)} on {pick(DAYS)}"
            f" at {self._random.randrange(24)}:{self._random.randrange(10, 60)}, and the"
            f" {pick(THINGS)} too"
        )
        if self._random.random() < 0.1:
            return {"text": text, "count": self._random.randrange(100), "done": False}
        return text

    def tags(self) -> tuple[str, str]:
        """Return two tags."""
        return (self._random.choice(TAGS), self._random.choice(TAGS))

    def turns(self, count: int) -> Iterator[tuple[tuple[ScopeKey, ...], str]]:
        """Yield the keys that a turn may see, and the name of an entry that one of them has."""
        for _ in range(count):
            ids = {
                str(scope): f"{scope}{self._random.randrange(self._counts[scope])}"
                for scope in (Scope.DEVICE, Scope.AREA, Scope.SPEAKER)
            }
            visible = visible_keys(**ids)
            yield visible, self._random.choice(self._keys[self._random.choice(visible).scope])

    def writes(self, count: int) -> Iterator[tuple[ScopeKey, str, Any]]:
        """Yield changes of entries that there are."""
        for _ in range(count):
            scope = self._random.choice(self.scopes)
            yield scope, self._random.choice(self._keys[scope.scope]), self.value()

    def question(self) -> str:
        """Return what somebody might ask."""
        pick = self._random.choice
        return f"What is with the {pick(THINGS)} in the {pick(PLACES)} on {pick(DAYS)}?"

    def thread(self, scope: ScopeKey) -> Thread:
        """Return what was said in a place."""
        thread = Thread(key=ThreadKey("assistant", scope))
        at = datetime(2026, 11, 29, 19, 5, tzinfo=UTC)
        for number in range(TURNS):
            thread = thread.joined(
                TurnRecord(
                    id=f"turn{number}",
                    at=at + timedelta(minutes=number),
                    heard_text=self.question(),
                    said=(Said(index=0, text=str(self.value()), audio_ms=4000, heard_ms=None),),
                    audience=frozenset({str(scope)}),
                    place="Kitchen",
                )
            )
        return thread
