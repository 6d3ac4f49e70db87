"""The words in which a turn on the wire is spoken of: its stages, its record, and who hosts it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ..items import DesiredItem
from .answer import SaidItem
from .errors import RealtimeError
from .events import Usage
from .replies import Call

if TYPE_CHECKING:
    from .exchange import Exchange


class Stage(StrEnum):
    """How far the user's part of a turn has come."""

    SPEAKING = "speaking"
    ENDED = "ended"
    COMMITTING = "committing"
    COMMITTED = "committed"
    OVER = "over"
    """The answer is complete, given up or not wanted."""


class Host(Protocol):
    """What an exchange needs of its session."""

    def advance(self) -> None:
        """Do what has become legal."""

    def stop(self, exchange: Exchange, heard_ms: int | None) -> None:
        """End the answer: `heard_ms` of it were heard; None: nothing of the turn is wanted."""

    def outcome(self, call: Call) -> DesiredItem:
        """Return the note that tells what became of a call that this session does not know."""

    def forget(self, exchange: Exchange) -> None:
        """Let go of a closed turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRecord:
    """What is known of an exchange at one moment."""

    turn_id: str
    heard_text: str | None
    confidence: float | None
    said: tuple[SaidItem, ...]
    calls: tuple[Call, ...]
    usage: tuple[Usage, ...]
    """One for each response that ended."""
    failure: RealtimeError | None
    interrupted: bool
