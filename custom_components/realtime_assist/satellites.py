"""What is special about one satellite: the options of its subentry, each with a default.

A satellite without a subentry has all defaults. The subentries of all accounts are read together,
since a satellite stands in the home and not in an account.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback

from .assistant import registry_id
from .const import (
    CONF_LEADING_SILENCE,
    CONF_REMEMBER,
    CONF_SATELLITE,
    CONF_SPEAKER_CONFIDENCE,
    CONF_SPEAKER_SECONDS,
    CONF_SPEAKER_SOURCE,
    CONF_TRAILING_SILENCE,
    DOMAIN,
    SUBENTRY_SATELLITE,
)

MOST_SILENCE: Final = 5000
"""Milliseconds."""
MOST_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class SatelliteOptions:
    """The options of one satellite."""

    speaker_source: str | None = None
    """Entity id or entity registry id of what tells who speaks; see `assistant.entity_id`."""
    speaker_confidence: float = 0.8
    """Below this the source does not know, where it says how sure it is; 0 to 1."""
    speaker_seconds: int = 60
    """How long what the source said counts."""
    remember: bool = True
    """False: nothing that is said there is written down or told to a later session."""
    leading_silence_ms: int = 0
    trailing_silence_ms: int = 0

    @classmethod
    def from_subentry(cls, data: Mapping[str, Any]) -> Self:
        """Return the options that a subentry's data means; what is not understood is default."""
        source = data.get(CONF_SPEAKER_SOURCE)
        return cls(
            speaker_source=source if isinstance(source, str) and source else None,
            speaker_confidence=_number(data.get(CONF_SPEAKER_CONFIDENCE), 0.8, most=1),
            speaker_seconds=int(_number(data.get(CONF_SPEAKER_SECONDS), 60, most=MOST_SECONDS)),
            # Whatever else stands there was meant to switch it off.
            remember=data.get(CONF_REMEMBER, True) is True,
            leading_silence_ms=int(_number(data.get(CONF_LEADING_SILENCE), 0, most=MOST_SILENCE)),
            trailing_silence_ms=int(_number(data.get(CONF_TRAILING_SILENCE), 0, most=MOST_SILENCE)),
        )


@callback
def async_satellite_subentries(
    hass: HomeAssistant, satellite: str
) -> Iterator[tuple[str, ConfigSubentry]]:
    """Yield the subentries about a satellite (registry id), with the ids of their accounts."""
    for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False):
        for subentry in entry.get_subentries_of_type(SUBENTRY_SATELLITE):
            if registry_id(hass, subentry.data.get(CONF_SATELLITE)) == satellite:
                yield entry.entry_id, subentry


@callback
def async_satellite_options(hass: HomeAssistant, satellite: str) -> SatelliteOptions:
    """Return the options of a satellite (registry id); of two subentries the first counts.

    Not so for remembering: who switched that off anywhere means it.
    """
    found = [
        SatelliteOptions.from_subentry(subentry.data)
        for _, subentry in async_satellite_subentries(hass, satellite)
    ]
    for options in found:
        if not options.remember:
            return options
    return found[0] if found else SatelliteOptions()


def _number(value: object, default: float, *, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return value if math.isfinite(value) and 0 <= value <= most else default
