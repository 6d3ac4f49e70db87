"""A simple account of who may see what in a home: what the whole of it is held against.

Each thing that is kept holds a word that is nowhere else, and the account says of each word whom
it is for, until when, and whether it is gone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey

type Keys = frozenset[str]

SECOND: Final = 1.0
"""What is younger may be undone by a kill, in seconds."""
MOMENT: Final = 5.0005
"""Seconds; between the steps of time, so that it is always clear whether they are over."""
_EDGE: Final = 0.05
"""Seconds around its end in which it is not said whether something is over."""


@dataclass(slots=True, kw_only=True)
class Told:
    """One thing that is kept, by the word that only it has."""

    needs: Keys
    """Who sees all of these may see it."""
    scope: ScopeKey | None = None
    """Of a fact: where it is held."""
    key: str = ""
    thread: ScopeKey | None = None
    """Of what was said: whose history it is in."""
    at: float = 0.0
    """When something happened to it last."""
    until: float | None = None
    """When its time is over."""
    turns: int | None = None
    """After how many more turns of its scope it is over."""
    most: int | None = None
    """After how many, when it is written anew."""
    talk: bool = False
    """It ends with the next conversation that ends where it is seen."""
    fleeting: bool = False
    """It is never on the disk."""
    gone: bool = False
    """Nobody may see it any more."""
    forgotten: bool = False
    """It is gone for good, after a kill, too."""
    unsure: bool = False
    """A kill may have undone what happened to it last."""


@dataclass(slots=True, kw_only=True)
class Place:
    """A satellite, as the account has it."""

    entity: str
    device: str
    room: int | None = None
    own_room: int | None = None
    """The entity's, which comes first."""
    speaker: str | None = None
    known_until: float = 0.0
    epoch: str = ""

    @property
    def in_room(self) -> int | None:
        """In which room it is."""
        return self.own_room if self.own_room is not None else self.room


@dataclass(slots=True)
class Account:
    """All that is kept: word -> what is said of it."""

    told: dict[str, Told] = field(default_factory=dict)

    def word(self, told: Told) -> str:
        """Enter something new; return its word."""
        word = f"zq{len(self.told) + 1}q"
        self.told[word] = told
        return word

    def facts(self, scope: ScopeKey, key: str | None = None) -> list[Told]:
        """Return the facts of a scope, or all that one of its keys ever was."""
        return [
            told
            for told in self.told.values()
            if told.scope == scope and (key is None or told.key == key)
        ]

    def end(self, which: Iterable[Told], now: float) -> None:
        """Let things be gone."""
        for told in which:
            if not told.gone:
                told.gone, told.at = True, now

    def turn(self, seen: Keys, now: float) -> None:
        """Count a turn of those who see these scopes."""
        for told in self.told.values():
            if told.scope and str(told.scope) in seen and told.turns and not told.gone:
                told.turns, told.at = told.turns - 1, now
                told.gone = not told.turns

    def kill(self, now: float) -> None:
        """Let no fact be sure that something happened to in the last second."""
        for told in self.told.values():
            recent = told.scope is not None and told.at >= now - SECOND
            told.unsure |= recent and not told.forgotten

    def given(self, old: ScopeKey, new: ScopeKey, held: dict[str, str], now: float) -> None:
        """Let all of one scope be another's, whose facts are `held` now, by key."""
        for word, told in self.told.items():
            if str(old) in told.needs:
                told.needs = told.needs - {str(old)} | {str(new)}
                told.at = now
            if told.thread == old:
                told.thread = new
            if told.scope in (old, new):
                # Of two with one key the newer stays.
                told.scope, told.at = new, now
                told.gone = told.gone or word not in held.get(told.key, "")

    def may(self, word: str, seen: Keys, now: float) -> None:
        """Raise AssertionError where those who see these scopes may not be told a word."""
        told = self.told[word]
        assert told.needs <= seen, f"{word} is for {told.needs}, not for {seen}"
        assert not told.gone or told.unsure, f"{word} is gone"
        assert told.until is None or now <= told.until + _EDGE, f"{word} is over"

    def must(self, word: str, seen: Keys, now: float) -> bool:
        """Whether those who see these scopes must be told a word: facts that are certain."""
        told = self.told[word]
        over = told.until is not None and now >= told.until - _EDGE
        return bool(told.scope) and told.needs <= seen and not (told.gone or told.unsure or over)

    def all_there(self, shown: set[str], seen: Keys, words: list[str], now: float) -> None:
        """Raise AssertionError where one of these words is not shown that must be."""
        for word in words:
            assert word in shown or not self.must(word, seen, now), f"{word} is lost"


def lasting(scope: ScopeKey, key: str, lasts: str, now: float) -> tuple[Told, dict[str, Any]]:
    """Return a fact that is written now, and the options that make it last as long."""
    told = Told(needs=frozenset({str(scope)}), scope=scope, key=key, at=now)
    options: dict[str, Any] = {"retention": "manual"}
    if lasts == "time" or scope.scope is Scope.TEMPORARY:
        seconds = MOMENT if lasts == "time" else 900
        told.until, options = now + seconds, {"expires_in": seconds}
    elif scope.scope is Scope.SESSION:
        options = {"retention": "session_end"}
    elif lasts == "turns":
        told.turns = told.most = 2
        options = {"max_turns": 2}
    elif lasts == "turn":
        told.turns = told.most = 1
        told.fleeting, options = True, {"retention": "immediate"}
    elif lasts == "talk":
        told.talk = told.fleeting = True
        options = {"retention": "session_end"}
    return told, options


def words_in(text: str) -> set[str]:
    """Return the words of the account that a text holds."""
    return set(re.findall(r"zq\d+q", text))
