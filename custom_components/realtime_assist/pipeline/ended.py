"""How a turn ended, for whoever follows turns: told once each, without a word of what was said."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from homeassistant.util.signal_type import SignalType

from ..memory.transcript import TurnRecord
from ..realtime.errors import RealtimeError


class Ending(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """One turn that is over. What was no turn (no speech, an echo) is not told."""

    satellite: str
    """Registry id of its satellite."""
    ending: Ending
    seconds: float
    """From the wake to the end of its answer."""
    tools: int
    """How many calls it made."""
    failure: str | None
    """A code, where it failed."""


SIGNAL_TURN_ENDED: Final[SignalType[TurnEnded]] = SignalType("realtime_assist_turn_ended")


def turn_ended(
    record: TurnRecord, satellite: str, failure: RealtimeError | None, seconds: float
) -> TurnEnded:
    """Return how a turn ended."""
    if failure is not None:
        ending = Ending.FAILED
    else:
        ending = Ending.INTERRUPTED if record.interrupted else Ending.ANSWERED
    return TurnEnded(
        satellite=satellite,
        ending=ending,
        seconds=round(seconds, 1),
        tools=len(record.calls),
        failure=failure.code if failure is not None else None,
    )
