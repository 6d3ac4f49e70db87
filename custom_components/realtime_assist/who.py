"""Who speaks at a satellite, as far as that is proved.

    speaker_source (state, attributes) ─┐
    select on the satellite's device ───┼──> the latest wins, and expires ──> Standing
    action set_speaker ─────────────────┘

A proof is a statement about a moment. So the latest one counts even where it says that nobody is
known: what was said before is over for good, and a proof is never kept over a restart.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from .assistant import entity_id
from .memory.scopes import ScopeKey
from .satellites import SatelliteOptions, async_satellite_options
from .speakers import Speaker, async_speakers, find, names_of

DEFAULT_EXPIRY: Final = timedelta(hours=1)
"""How long a choice by hand counts, unless it says so itself."""

_CONFIDENCE: Final = "confidence"
_NAMING: Final = (
    "speaker",
    "speaker_id",
    "speaker_name",
    "person",
    "person_id",
    "person_name",
    "identity",
)
"""Attributes of a source that may name who speaks, where its state does not."""
_NOBODY: Final = (STATE_UNAVAILABLE, STATE_UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was said of who speaks."""

    at: datetime
    speaker: ScopeKey | None = None
    """None: nobody who is known."""
    guest: bool = False
    """Somebody is there of whom it is known that nobody knows them."""
    until: datetime
    """From then on it is not known who speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Who counts as speaking at this moment."""

    speaker: Speaker | None = None
    guest: bool = False
    until: datetime | None = None
    """When that ends by itself; None: it does not."""


UNKNOWN: Final = Standing()

_WHO: Final[HassKey[Who]] = HassKey("realtime_assist_who")


@callback
def async_who(hass: HomeAssistant) -> Who:
    """Return who speaks in this home; there is one for all accounts."""
    if _WHO not in hass.data:
        hass.data[_WHO] = Who(hass)
    return hass.data[_WHO]


class Who:
    """What is proved of who speaks at each satellite."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Know nothing."""
        self._hass: Final = hass
        self._chosen: Final[dict[str, Proof]] = {}
        self._subscribers: Final[list[Callable[[], None]]] = []

    @callback
    def choose(
        self,
        satellite: str,
        speaker: ScopeKey | None,
        *,
        guest: bool = False,
        expires_in: timedelta = DEFAULT_EXPIRY,
    ) -> datetime:
        """Take it that somebody speaks at a satellite (registry id) now; return until when."""
        now = dt_util.utcnow()
        until = now + expires_in
        self._chosen[satellite] = Proof(at=now, speaker=speaker, guest=guest, until=until)
        self.changed()
        return until

    @callback
    def standing(self, satellite: str) -> Standing:
        """Return who counts as speaking at a satellite (registry id) now."""
        speakers = async_speakers(self._hass)
        proof = self._latest(satellite, speakers)
        if proof is None or proof.until <= dt_util.utcnow():
            return UNKNOWN
        speaker = next((each for each in speakers if each.key == proof.speaker), None)
        return Standing(speaker=speaker, guest=proof.guest, until=proof.until if speaker else None)

    @callback
    def subscribe(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have `changed` called when somebody was chosen, or there are other speakers."""
        self._subscribers.append(changed)
        return lambda: self._subscribers.remove(changed)

    @callback
    def changed(self) -> None:
        """Tell those who show who speaks."""
        for subscriber in tuple(self._subscribers):
            subscriber()

    def _latest(self, satellite: str, speakers: tuple[Speaker, ...]) -> Proof | None:
        chosen = self._chosen.get(satellite)
        options = async_satellite_options(self._hass, satellite)
        source = self._hass.states.get(entity_id(self._hass, options.speaker_source) or "")
        if source is None:
            return chosen
        told = source_proof(source, options, speakers)
        if chosen is not None and chosen.at > told.at:
            return chosen
        # Over for good: it must not come back when the source is gone or says no more.
        self._chosen.pop(satellite, None)
        return told


def source_proof(source: State, options: SatelliteOptions, speakers: tuple[Speaker, ...]) -> Proof:
    """Return what a source says: somebody only if it is sure, and names nobody else as well.

    It counts from when it last said something else: one that only repeats itself, as a sensor that
    is polled does, has not heard anybody since.
    """
    speaker: Speaker | None = None
    if _sure(source.attributes, options.speaker_confidence):
        named = {find(speakers, text) for text in _naming(source, speakers)}
        speaker = named.pop() if len(named) == 1 else None
    return Proof(
        at=source.last_updated,
        speaker=speaker.key if speaker else None,
        until=source.last_updated + timedelta(seconds=options.speaker_seconds),
    )


def _naming(source: State, speakers: tuple[Speaker, ...]) -> Iterator[object]:
    """Yield what names a speaker: the state, else the attributes that are meant to."""
    if source.state in _NOBODY:
        return
    if any(names_of(source.state) & speaker.names for speaker in speakers):
        yield source.state
        return
    yield from (
        source.attributes[name] for name in _NAMING if names_of(source.attributes.get(name))
    )


def _sure(attributes: Mapping[str, Any], least: float) -> bool:
    """Whether a source is sure enough; one that never says how sure it is counts as sure."""
    if _CONFIDENCE not in attributes:
        return True
    try:
        confidence = float(attributes[_CONFIDENCE])
    except TypeError, ValueError:
        return False
    if 1 < confidence <= 100:  # noqa: PLR2004 - in percent
        confidence /= 100
    return math.isfinite(confidence) and least <= confidence <= 1
