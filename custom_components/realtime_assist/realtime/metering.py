"""How a session tells what it used, and learns how near it is to its limits.

A meter measures; it neither sends nor decides. What it is told are the provider's own numbers, and
the items that they are about.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, override

from .events import Usage
from .operations import LedgerItem


class Purpose(StrEnum):
    """What something was spent on."""

    ANSWER = "answer"
    """A response in the conversation, that was asked for."""
    ASIDE = "aside"
    """A response out of band, or one that nobody asked for."""
    TRANSCRIPT = "transcript"
    """Writing down what the user said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one response, or one transcript, used."""

    purpose: Purpose
    usage: Usage
    whole: bool = False
    """It went to its end, and what the model read was all of the conversation."""
    read: tuple[LedgerItem, ...] = ()
    """What the model read, beside instructions and tools, as far as it is known."""
    made: tuple[LedgerItem, ...] = ()
    """What came of it."""


class Meter(Protocol):
    """Who measures a session. No method raises or waits."""

    @property
    def long(self) -> bool:
        """Whether a new session is welcome after a pause."""

    @property
    def full(self) -> bool:
        """Whether a new session is due at the next boundary, and a recap for it is ready."""

    def spent(self, spent: Spent) -> None:
        """Learn what something used."""

    def emptied(self) -> None:
        """Learn that the provider holds nothing any more: the session is over."""


class NoMeter(Meter):
    """Measures nothing."""

    long = False
    full = False

    @override
    def spent(self, spent: Spent) -> None:
        """Let it pass."""

    @override
    def emptied(self) -> None:
        """Let it pass."""
