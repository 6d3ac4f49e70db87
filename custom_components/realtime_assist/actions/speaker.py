"""The action that says who speaks at a satellite."""

from datetime import timedelta
from typing import Any, Final

import probatio as vol
from homeassistant.components.assist_satellite import DOMAIN as SATELLITE
from homeassistant.const import ATTR_ENTITY_ID
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids

from ..house import House
from ..memory.scopes import ScopeKey
from ..speakers import Speaker, async_speakers, find, names_of
from ..who import DEFAULT_EXPIRY, async_who
from .scopes import NAMES, action_invalid, async_caller_of

ATTR_SPEAKER: Final = "speaker"
ATTR_EXPIRES_IN: Final = "expires_in"

_LONGEST: Final = timedelta(days=30)

SET_SPEAKER_SCHEMA: Final = vol.Schema(
    {
        **cv.TARGET_SERVICE_FIELDS,
        vol.Optional(ATTR_ENTITY_ID): vol.All(NAMES, cv.comp_entity_ids),
        vol.Optional(ATTR_SPEAKER, default=None): vol.Any(None, cv.string),
        vol.Optional(ATTR_EXPIRES_IN, default=DEFAULT_EXPIRY): vol.All(
            vol.Any(cv.time_period, vol.All(vol.Coerce(float), cv.time_period_seconds)),
            vol.Range(min=timedelta(seconds=1), max=_LONGEST),
        ),
    }
)


async def async_set_speaker(house: House, call: ServiceCall) -> dict[str, Any]:
    """Take it that somebody speaks at satellites now; without a name, nobody who is known."""
    satellites = _satellites(house.hass, call)
    if not satellites:
        raise action_invalid("no_satellite")
    speaker = _speaker(house.hass, call.data[ATTR_SPEAKER])
    await async_check_choice(house.hass, call.context.user_id, speaker.key if speaker else None)
    told = []
    for entity_id, satellite in satellites.items():
        until = async_who(house.hass).choose(
            satellite, speaker.key if speaker else None, expires_in=call.data[ATTR_EXPIRES_IN]
        )
        told.append(
            {
                "satellite": entity_id,
                "speaker": speaker.name if speaker else None,
                "until": until.isoformat() if speaker else None,
            }
        )
    return {"satellites": told}


async def async_check_choice(
    hass: HomeAssistant, user_id: str | None, speaker: ScopeKey | None
) -> None:
    """Raise ServiceValidationError where a user says that somebody else is speaking.

    Else everybody could hear what belongs to another person. An automation has no user.
    """
    if speaker is None or user_id is None:
        return
    if not (await async_caller_of(hass, user_id)).may(speaker):
        raise action_invalid("not_your_voice")


@callback
def _satellites(hass: HomeAssistant, call: ServiceCall) -> dict[str, str]:
    """Return the satellites that are aimed at: entity id -> what they are known by."""
    found = async_extract_referenced_entity_ids(hass, TargetSelection(call.data))
    registry = er.async_get(hass)
    satellites: dict[str, str] = {}
    for entity_id in sorted(found.referenced | found.indirectly_referenced):
        entry = registry.async_get(entity_id)
        if entry is not None and entry.domain == SATELLITE:
            satellites[entry.entity_id] = entry.id
        elif entity_id.startswith(f"{SATELLITE}.") and hass.states.get(entity_id):
            satellites[entity_id] = entity_id
    return satellites


@callback
def _speaker(hass: HomeAssistant, name: str | None) -> Speaker | None:
    """Return who is meant. Raises ServiceValidationError where that is nobody, or might be two."""
    wanted = names_of(name)
    if not wanted:
        return None
    speakers = async_speakers(hass)
    speaker = find(speakers, name)
    if speaker is None:
        several = any(wanted & each.names for each in speakers)
        raise action_invalid("ambiguous_speaker" if several else "unknown_speaker")
    return speaker
