"""The people of a home, their users, and how they call actions."""

from dataclasses import dataclass
from typing import Any

import pytest
from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er
from pytest_homeassistant_custom_component.common import MockUser

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from tests.satellite import Satellite


@dataclass(kw_only=True)
class People:
    """Two who live here, one who administers it, and a user that Home Assistant made itself."""

    anna: User
    tom: User
    admin: User
    system: User


@pytest.fixture
def people(hass: HomeAssistant) -> People:
    """Give people, each but the last two linked to a person."""
    made = People(
        anna=MockUser(id="anna", name="Anna", groups=[]).add_to_hass(hass),
        tom=MockUser(id="tom", name="Tom", groups=[]).add_to_hass(hass),
        admin=MockUser(id="admin", name="Admin", is_owner=True).add_to_hass(hass),
        system=MockUser(
            id="system", name="Supervisor", system_generated=True, is_owner=True
        ).add_to_hass(hass),
    )
    for user in (made.anna, made.tom):
        entry = er.async_get(hass).async_get_or_create(
            "person", "person", user.id, suggested_object_id=user.id
        )
        hass.states.async_set(
            entry.entity_id, "home", {"user_id": user.id, "friendly_name": user.name}
        )
    return made


def person_scope(hass: HomeAssistant, user: User) -> ScopeKey:
    """Return the scope of the person that a user is linked to."""
    entry = er.async_get(hass).async_get(f"person.{user.id}")
    assert entry is not None
    return ScopeKey(Scope.SPEAKER, entry.id)


def device_id(satellite: Satellite) -> str:
    """Return the device of a satellite."""
    assert satellite.registry_entry is not None
    assert satellite.registry_entry.device_id is not None
    return satellite.registry_entry.device_id


async def act(
    hass: HomeAssistant,
    action: str,
    *,
    user: User | None = None,
    **data: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Call an action as a user, or as an automation, and return its response."""
    response = await hass.services.async_call(
        DOMAIN,
        action,
        data,
        blocking=True,
        return_response=True,
        context=Context(user_id=user.id if user else None),
    )
    assert response is not None
    return dict(response)
