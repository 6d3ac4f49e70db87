"""The repair for memory whose satellite, room or person is gone: move it, or delete it."""

from typing import TYPE_CHECKING, Any, Final

import probatio as vol
from homeassistant.components.assist_satellite import DOMAIN as SATELLITE
from homeassistant.components.repairs import RepairsFlow, RepairsFlowResult
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.selector import (
    AreaSelector,
    DeviceSelector,
    DeviceSelectorConfig,
    EntityFilterSelectorConfig,
    SelectOptionDict,
    Selector,
    SelectSelector,
    SelectSelectorConfig,
)
from homeassistant.util.hass_dict import HassKey

from .memory.context import ScopeRefused
from .memory.scopes import Scope, ScopeKey
from .speakers import async_speakers, labels

if TYPE_CHECKING:
    from .leftovers import Leftovers

DATA_LEFTOVERS: Final[HassKey[Leftovers]] = HassKey("realtime_assist_leftovers")

_TARGET: Final = "target"


class LeftoverFlow(RepairsFlow):
    """Ask what should become of the memory of one scope, and do it."""

    def __init__(self, scope: ScopeKey, name: str) -> None:
        """Keep whose memory it is; `name` is for people."""
        self._scope = scope
        self._name = name

    async def async_step_init(
        self,
        user_input: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> RepairsFlowResult:
        """Ask which of the two."""
        return self.async_show_menu(
            step_id="init",
            menu_options=["move", "delete"],
            description_placeholders={"name": self._name},
        )

    async def async_step_move(self, user_input: dict[str, Any] | None = None) -> RepairsFlowResult:
        """Ask to whom or what it should belong from now on."""
        if user_input is None:
            return self.async_show_form(
                step_id="move",
                data_schema=vol.Schema({vol.Required(_TARGET): _selector(self.hass, self._scope)}),
                description_placeholders={"name": self._name},
            )
        target = ScopeKey(self._scope.scope, user_input[_TARGET])
        leftovers = self.hass.data[DATA_LEFTOVERS]
        if not leftovers.exists(target):
            return self.async_abort(reason="target_gone")
        try:
            await leftovers.async_move(self._scope, target)
        except ScopeRefused:
            return self.async_abort(reason="read_only")
        return self.async_create_entry(data={})

    async def async_step_delete(
        self, user_input: dict[str, Any] | None = None
    ) -> RepairsFlowResult:
        """Delete it once the person agrees."""
        if user_input is None:
            return self.async_show_form(
                step_id="delete",
                data_schema=vol.Schema({}),
                description_placeholders={"name": self._name},
            )
        try:
            await self.hass.data[DATA_LEFTOVERS].async_delete(self._scope)
        except ScopeRefused:
            return self.async_abort(reason="read_only")
        return self.async_create_entry(data={})


@callback
def _selector(hass: HomeAssistant, scope: ScopeKey) -> Selector[Any]:
    if scope.scope is Scope.AREA:
        return AreaSelector()
    if scope.scope is Scope.DEVICE:
        return DeviceSelector(
            DeviceSelectorConfig(entity=EntityFilterSelectorConfig(domain=SATELLITE))
        )
    people = labels(async_speakers(hass))
    return SelectSelector(
        SelectSelectorConfig(
            options=[SelectOptionDict(value=key.id, label=name) for name, key in people.items()]
        )
    )
