"""Who speaks where: from a satellite or a user to device, area and speaker.

A satellite's run says nothing of who speaks, so its user proves a speaker only in a run *without* a
satellite, and only when linked to a person; at a satellite other proof is needed (`who.py`).
Everything is kept by registry id: names and entity ids change.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from homeassistant.const import ATTR_FRIENDLY_NAME
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)

from ..memory.scopes import Scope, ScopeKey, visible_keys
from ..satellites import async_satellite_options
from ..who import async_who

_ATTR_USER_ID: Final = "user_id"
_PERSON: Final = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a turn comes from. Fixed for the turn when its audio is committed."""

    satellite: str | None = None
    """Registry id of the `assist_satellite` entity; None for an app, a browser, an action."""
    satellite_entity_id: str | None = None
    """Its present entity id: for Home Assistant, never for a key."""
    platform: str | None = None
    """The integration of the satellite: some play only what is complete."""
    device_id: str | None = None
    area_id: str | None = None
    area_name: str | None = None
    user_id: str | None = None
    speaker: ScopeKey | None = None
    """Who speaks, when that is proved; None is nobody in particular."""
    speaker_name: str | None = None
    name: str = ""
    """For people: the satellite's, device's or person's name."""
    remember: bool = True
    """Whether what is said there may be written down."""
    leading_ms: int = 0
    """Silence that the satellite needs before an answer, in milliseconds."""
    trailing_ms: int = 0
    language: str | None = None
    """Language of the run, as its pipeline says."""

    @property
    def device_key(self) -> str | None:
        """Return what names the place: the device, else the satellite without one."""
        return self.device_id or self.satellite

    def visible(
        self,
        session: str | None = None,
        temporary: str | None = None,
        plugins: Iterable[str] = (),
    ) -> tuple[ScopeKey, ...]:
        """Return the scopes that a turn from here may see, narrowest first."""
        return visible_keys(
            session=session,
            temporary=temporary,
            device=self.device_key,
            area=self.area_id,
            speaker=self.speaker.id if self.speaker else None,
            plugins=tuple(plugins),
        )


@callback
def resolve(
    hass: HomeAssistant,
    satellite_entity_id: str | None,
    user_id: str | None,
    *,
    device_id: str | None = None,
    language: str | None = None,
) -> Origin:
    """Return where a run comes from. `device_id` counts only without a satellite."""
    if satellite_entity_id is None:
        return _without_satellite(hass, user_id, device_id, language)
    entry = er.async_get(hass).async_get(satellite_entity_id)
    area_id, area_name = _area(hass, entry, entry.device_id if entry else None)
    state = hass.states.get(satellite_entity_id)
    satellite = entry.id if entry else satellite_entity_id
    options = async_satellite_options(hass, satellite)
    origin = Origin(
        satellite=satellite,
        satellite_entity_id=satellite_entity_id,
        platform=entry.platform if entry else None,
        device_id=entry.device_id if entry else None,
        area_id=area_id,
        area_name=area_name,
        user_id=user_id,
        name=state.name if state else satellite_entity_id,
        language=language,
        remember=options.remember,
        leading_ms=options.leading_silence_ms,
        trailing_ms=options.trailing_silence_ms,
    )
    return with_speaker(hass, origin)


def now_note(at: datetime, origin: Origin, extra_prompt: str | None) -> str:
    """Return what holds for this turn only: time, place, speaker, and what the run was told."""
    lines = [
        f"Time: {at:%A, %d %B %Y, %H:%M} ({at.tzname()})",
        f"Room: {_line(origin.area_name) or 'unknown'}",
        f"Speaker: {_line(origin.speaker_name) if origin.speaker else 'unknown'}",
    ]
    if extra_prompt:
        lines.append(f"For this conversation: {extra_prompt}")
    return "\n".join(lines)


def _line(name: str | None) -> str:
    """Return a name on one line: it cannot pass for another line of the note."""
    return " ".join((name or "").split())


@callback
def with_speaker(hass: HomeAssistant, origin: Origin) -> Origin:
    """Return an origin with who speaks there by what is proved now; a user's is proved already."""
    if origin.satellite is None:
        return origin
    speaker = async_who(hass).standing(origin.satellite).speaker
    return replace(
        origin,
        speaker=speaker.key if speaker else None,
        speaker_name=speaker.name if speaker else None,
    )


def _without_satellite(
    hass: HomeAssistant, user_id: str | None, device_id: str | None, language: str | None
) -> Origin:
    speaker, name = _person(hass, user_id)
    person = name or None
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    if device is not None:
        name = device.name_by_user or device.name or name
    area_id, area_name = _area(hass, None, device.id if device else None)
    return Origin(
        device_id=device.id if device else None,
        area_id=area_id,
        area_name=area_name,
        user_id=user_id,
        speaker=speaker,
        speaker_name=person,
        name=name,
        language=language,
    )


def _area(
    hass: HomeAssistant, entry: er.RegistryEntry | None, device_id: str | None
) -> tuple[str | None, str | None]:
    """Return id and name: the entity's own area comes first, as in Home Assistant's sentences."""
    area_id = entry.area_id if entry else None
    if area_id is None and device_id is not None:
        device = dr.async_get(hass).async_get(device_id)
        area_id = dr.async_get_effective_area_id(hass, device) if device else None
    area = ar.async_get(hass).async_get_area(area_id) if area_id else None
    return (area.id, area.name) if area else (None, None)


def _person(hass: HomeAssistant, user_id: str | None) -> tuple[ScopeKey | None, str]:
    """Return the person that a user is linked to, by registry id, and the person's name.

    Users that Home Assistant made for its integrations are linked to nobody.
    """
    if user_id is None:
        return None, ""
    registry = er.async_get(hass)
    for state in hass.states.async_all(_PERSON):
        if state.attributes.get(_ATTR_USER_ID) != user_id:
            continue
        entry = registry.async_get(state.entity_id)
        name = str(state.attributes.get(ATTR_FRIENDLY_NAME) or state.name)
        return ScopeKey(Scope.SPEAKER, entry.id if entry else state.entity_id), name
    return None, ""
