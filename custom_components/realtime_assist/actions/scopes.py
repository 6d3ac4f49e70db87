"""Whose memory an action is about, and whether its caller may touch it.

Every action takes the same fields, and there is no other way from an action to a scope.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import probatio as vol
from homeassistant.const import (
    ATTR_AREA_ID,
    ATTR_DEVICE_ID,
    ATTR_ENTITY_ID,
    ATTR_FLOOR_ID,
    ATTR_LABEL_ID,
)
from homeassistant.core import HomeAssistant, ServiceCall, split_entity_id
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import (
    area_registry as ar,
)
from homeassistant.helpers import (
    config_validation as cv,
)
from homeassistant.helpers import (
    device_registry as dr,
)
from homeassistant.helpers import (
    entity_registry as er,
)

from ..const import DOMAIN
from ..house import async_get_house
from ..memory.context import SESSION_ENDED, ScopeRefused
from ..memory.entries import NotJson, UnknownVersion
from ..memory.scopes import FLEETING, GLOBAL, Scope, ScopeKey
from ..pipeline.origin import resolve
from ..speakers import async_speakers, find

ATTR_SCOPE: Final = "scope"
ATTR_SCOPE_ID: Final = "scope_id"
PERSON_DOMAIN: Final = "person"

LASTING: Final = (Scope.DEVICE, Scope.AREA, Scope.SPEAKER, Scope.GLOBAL, Scope.PLUGIN)
"""A session and what is temporary have no name outside: they are those of the conversations that
go on at what is named or aimed at."""

NAMES: Final = vol.Any(str, [str])
"""Before Home Assistant's own validators of entities, which raise TypeError for anything else."""
_IDS: Final = vol.All(cv.ensure_list, [cv.string])

SCOPE_FIELDS: Final[dict[Any, Any]] = {
    vol.Optional(ATTR_SCOPE): vol.In([scope.value for scope in (*LASTING, *sorted(FLEETING))]),
    vol.Optional(ATTR_SCOPE_ID): vol.All(cv.string, vol.Length(min=1)),
    vol.Optional(ATTR_DEVICE_ID): _IDS,
    vol.Optional(ATTR_AREA_ID): _IDS,
    vol.Optional(ATTR_FLOOR_ID): _IDS,
    vol.Optional(ATTR_LABEL_ID): _IDS,
    vol.Optional(ATTR_ENTITY_ID): vol.All(NAMES, cv.entity_ids_or_uuids),
}
LASTING_FIELDS: Final[dict[Any, Any]] = {
    **SCOPE_FIELDS,
    vol.Optional(ATTR_SCOPE): vol.In([scope.value for scope in LASTING]),
}
"""Of actions on what outlives a conversation."""


def action_invalid(key: str, placeholders: dict[str, str] | None = None) -> ServiceValidationError:
    """Return the error that tells what was wrong, in the language of who reads it."""
    return ServiceValidationError(
        translation_domain=DOMAIN, translation_key=key, translation_placeholders=placeholders
    )


@contextmanager
def refusals_told() -> Iterator[None]:
    """Tell the caller of an action, in words, what the memory refuses to keep."""
    try:
        yield
    except NotJson as err:
        raise action_invalid("invalid_value", {"key": err.key, "type": err.kind}) from err
    except ValueError as err:
        raise action_invalid("invalid_options") from err
    except UnknownVersion as err:
        wrong = {"key": err.key, "version": str(err.version)}
        raise action_invalid("unknown_version", wrong) from err
    except ScopeRefused as err:
        ended = err.code == SESSION_ENDED
        raise action_invalid("no_conversation" if ended else "storage_read_only") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks. Nobody in particular may touch what belongs to no person."""

    admin: bool = False
    person: ScopeKey | None = None
    """The person that the user is linked to."""

    def may(self, key: ScopeKey) -> bool:
        """Whether the caller may read and write a scope."""
        return key.scope is not Scope.SPEAKER or self.admin or key == self.person

    def may_see(self, audience: Collection[str]) -> bool:
        """Whether the caller may read what was said before this audience."""
        return all(self.may(ScopeKey.parse(key)) for key in audience)


async def async_caller(hass: HomeAssistant, call: ServiceCall) -> Caller:
    """Return who asks. Users that Home Assistant made for its own parts are nobody."""
    return await async_caller_of(hass, call.context.user_id)


async def async_caller_of(hass: HomeAssistant, user_id: str | None) -> Caller:
    """Return who asks, from the user of a context."""
    user = await hass.auth.async_get_user(user_id) if user_id else None
    if user is None or user.system_generated or not user.is_active:
        return Caller()
    return Caller(admin=user.is_admin, person=resolve(hass, None, user.id).speaker)


async def async_scopes(
    hass: HomeAssistant, call: ServiceCall, *, required: bool = True
) -> tuple[ScopeKey, ...]:
    """Return the scopes that are named or aimed at.

    Raises ServiceValidationError where one does not exist or is not the caller's, where no
    conversation goes on whose own memory is meant, and where nothing was named: at all, or only if
    something was meant (`required` false).
    """
    data = call.data
    wanted = Scope(data[ATTR_SCOPE]) if ATTR_SCOPE in data else None
    found = [*_named(hass, wanted, data.get(ATTR_SCOPE_ID)), *_aimed_at(hass, data)]
    if wanted is not None and wanted not in FLEETING:
        found = [key for key in found if key.scope is wanted]
    meant = required or any(name in data for name in SCOPE_FIELDS)
    if not found and meant:
        raise action_invalid("no_target")
    caller = await async_caller(hass, call)
    if not all(caller.may(key) for key in found):
        raise action_invalid("not_your_memory")
    if wanted in FLEETING and found:
        found = _conversations(hass, wanted, found)
    return tuple(dict.fromkeys(found))


def _conversations(
    hass: HomeAssistant, wanted: Scope, seen: Collection[ScopeKey]
) -> list[ScopeKey]:
    """Return what belongs to the conversations alone that go on where these scopes are seen."""
    going_on = [each.conversation for each in async_get_house(hass).seeing(seen)]
    found = [ScopeKey(wanted, conversation) for conversation in going_on if conversation]
    if not found:
        raise action_invalid("no_conversation")
    return found


def _named(hass: HomeAssistant, scope: Scope | None, scope_id: str | None) -> Iterable[ScopeKey]:
    if scope is Scope.GLOBAL:
        return [GLOBAL]
    if scope is None or scope_id is None:
        return []
    match scope:
        case Scope.DEVICE | Scope.SESSION | Scope.TEMPORARY:
            return [_device_scope(hass, scope_id)]
        case Scope.AREA:
            return [_area_scope(hass, scope_id)]
        case Scope.SPEAKER:
            return [_speaker_scope(hass, scope_id)]
        case _:
            return [ScopeKey(scope, scope_id)]


def _aimed_at(hass: HomeAssistant, data: Mapping[str, Any]) -> Iterator[ScopeKey]:
    for device_id in data.get(ATTR_DEVICE_ID, ()):
        yield _device_scope(hass, device_id)
    for entity_id in data.get(ATTR_ENTITY_ID, ()):
        yield _entity_scope(hass, entity_id)
    for area_id in data.get(ATTR_AREA_ID, ()):
        yield _area_scope(hass, area_id)
    areas = ar.async_get(hass)
    for floor_id in data.get(ATTR_FLOOR_ID, ()):
        for area in ar.async_entries_for_floor(areas, floor_id):
            yield ScopeKey(Scope.AREA, area.id)
    for label_id in data.get(ATTR_LABEL_ID, ()):
        for area in ar.async_entries_for_label(areas, label_id):
            yield ScopeKey(Scope.AREA, area.id)
        for device in dr.async_entries_for_label(dr.async_get(hass), label_id):
            yield ScopeKey(Scope.DEVICE, device.id)
        for entry in er.async_entries_for_label(er.async_get(hass), label_id):
            yield _entity_scope(hass, entry.entity_id)


def _entity_scope(hass: HomeAssistant, name: str) -> ScopeKey:
    """Return the scope of a person, else of the device of an entity."""
    entry = er.async_get(hass).async_get(name)
    if (entry.domain if entry else split_entity_id(name)[0]) == PERSON_DOMAIN:
        return _speaker_scope(hass, name)
    return _device_scope(hass, name)


def _device_scope(hass: HomeAssistant, name: str) -> ScopeKey:
    """Return the scope of a device, or of the device of an entity, or of an entity without one."""
    if dr.async_get(hass).async_get(name):
        return ScopeKey(Scope.DEVICE, name)
    if entry := er.async_get(hass).async_get(name):
        return ScopeKey(Scope.DEVICE, entry.device_id or entry.id)
    raise action_invalid("not_found_scope")


def _area_scope(hass: HomeAssistant, area_id: str) -> ScopeKey:
    if ar.async_get(hass).async_get_area(area_id) is None:
        raise action_invalid("not_found_scope")
    return ScopeKey(Scope.AREA, area_id)


def _speaker_scope(hass: HomeAssistant, name: str) -> ScopeKey:
    """Return the scope of a person or speaker: by an id, a name or an alias."""
    entry = er.async_get(hass).async_get(name)
    if entry and entry.domain == PERSON_DOMAIN:
        return ScopeKey(Scope.SPEAKER, entry.id)
    if speaker := find(async_speakers(hass), name):
        return speaker.key
    raise action_invalid("not_found_scope")
