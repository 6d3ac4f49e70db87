"""How a turn ended, for whoever follows turns: told once each, without a word of what was said."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.util.signal_type import SignalType

from ..memory.transcript import TurnRecord
from ..realtime.exchange import ExchangeRecord
from .book import async_book


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


@callback
def async_tell(
    hass: HomeAssistant, record: TurnRecord, satellite: str, wire: ExchangeRecord, seconds: float
) -> None:
    """Let others know that a turn is over, and what its satellite said last."""
    words = " ".join(said.text for said in record.said)
    async_book(hass).spoke(satellite, words, hass.loop.time())
    if wire.failure is not None:
        ending = Ending.FAILED
    else:
        ending = Ending.INTERRUPTED if record.interrupted else Ending.ANSWERED
    ended = TurnEnded(
        satellite=satellite,
        ending=ending,
        seconds=round(seconds, 1),
        tools=len(record.calls),
        failure=wire.failure.code if wire.failure is not None else None,
    )
    async_dispatcher_send(hass, SIGNAL_TURN_ENDED, ended)
