"""Forgetting in two steps: what was shown is forgotten, and nothing else.

A proposal is kept for a few minutes under a word that only its reader has. It is good once, for
the place and user that it was made for, and only as long as all that it showed is as it was.
"""

import secrets
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from .memory.scopes import ScopeKey
from .memory.transcript import ThreadKey

LIFETIME: Final = timedelta(minutes=10)
MAX_PROPOSALS: Final = 64


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry as it was when it was shown."""

    scope: ScopeKey
    key: str
    version: int
    updated: datetime


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn that was shown; turns do not change."""

    thread: ThreadKey
    turn_id: str


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a summary that was shown."""

    thread: ThreadKey
    text: str = field(repr=False)


type Shown = ShownEntry | ShownTurn | ShownLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What was shown to whom."""

    asker: str
    """Place, user and speaker, as text."""
    shown: tuple[Shown, ...]
    until: datetime


class Proposals:
    """The proposals that wait for a yes."""

    def __init__(self) -> None:
        """Start with none."""
        self._waiting: Final[OrderedDict[str, Proposal]] = OrderedDict()

    def propose(self, asker: str, shown: Collection[Shown], now: datetime) -> str:
        """Keep a proposal and return the word that confirms it."""
        word = secrets.token_hex(4)
        self._waiting[word] = Proposal(asker=asker, shown=tuple(shown), until=now + LIFETIME)
        while len(self._waiting) > MAX_PROPOSALS:
            self._waiting.popitem(last=False)
        return word

    def take(self, word: str, asker: str, now: datetime) -> Proposal | None:
        """Return a proposal of this asker, once; None if there is none any more."""
        found = self._waiting.get(word)
        if found is None or found.asker != asker:
            return None
        del self._waiting[word]
        return found if found.until > now else None
