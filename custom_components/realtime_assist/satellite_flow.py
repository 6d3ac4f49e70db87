"""The satellite subentry: what is special about one satellite. Without it the defaults hold."""

from collections.abc import Mapping
from typing import Any, Final

import probatio as vol
from homeassistant.components.assist_satellite import DOMAIN as SATELLITE
from homeassistant.config_entries import SOURCE_USER, ConfigSubentryFlow, SubentryFlowResult
from homeassistant.core import HomeAssistant, callback
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
)

from .assistant import entity_id, registry_id
from .const import (
    CONF_LEADING_SILENCE,
    CONF_REMEMBER,
    CONF_SATELLITE,
    CONF_SPEAKER_CONFIDENCE,
    CONF_SPEAKER_SECONDS,
    CONF_SPEAKER_SOURCE,
    CONF_TRAILING_SILENCE,
)
from .satellites import (
    MOST_SECONDS,
    MOST_SILENCE,
    SatelliteOptions,
    async_satellite_subentries,
)

# What the form shows together -> the fields in it. The data of a subentry is flat.
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "recognising": (CONF_SPEAKER_SOURCE, CONF_SPEAKER_CONFIDENCE, CONF_SPEAKER_SECONDS),
    "playing": (CONF_LEADING_SILENCE, CONF_TRAILING_SILENCE),
}


class SatelliteFlow(ConfigSubentryFlow):
    """Say what is special about a satellite."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask which satellite, and what is special about it."""
        errors: dict[str, str] = {}
        if user_input is not None:
            data = _flatten(self.hass, user_input)
            satellite = data[CONF_SATELLITE]
            if not any(async_satellite_subentries(self.hass, satellite)):
                state = self.hass.states.get(user_input[CONF_SATELLITE])
                return self.async_create_entry(
                    title=state.name if state else user_input[CONF_SATELLITE],
                    data=data,
                    unique_id=satellite,
                )
            errors = {CONF_SATELLITE: "satellite_taken"}
        return self._show("user", user_input or {}, errors)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask what should be different there."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            return self._show("reconfigure", _nest(self.hass, subentry.data), {})
        satellite = subentry.data.get(CONF_SATELLITE)
        data = {CONF_SATELLITE: satellite, **_flatten(self.hass, user_input)}
        return self.async_update_and_abort(self._get_entry(), subentry, data=data)

    def _show(
        self, step_id: str, shown: Mapping[str, Any], errors: dict[str, str]
    ) -> SubentryFlowResult:
        schema = _schema(new=self.source == SOURCE_USER)
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, shown),
            errors=errors,
        )


@callback
def _flatten(hass: HomeAssistant, user_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a subentry: flat, whole milliseconds, entities by registry id."""
    data = {key: value for key, value in user_input.items() if key not in SECTIONS}
    for key in SECTIONS:
        data |= user_input.get(key, {})
    for key in (CONF_SPEAKER_SECONDS, CONF_LEADING_SILENCE, CONF_TRAILING_SILENCE):
        if key in data:
            data[key] = int(data[key])
    for key in (CONF_SATELLITE, CONF_SPEAKER_SOURCE):
        if key in data:
            data[key] = registry_id(hass, data[key])
    return data


@callback
def _nest(hass: HomeAssistant, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form suggests for the data of a subentry."""
    shown = {**data, CONF_SPEAKER_SOURCE: entity_id(hass, data.get(CONF_SPEAKER_SOURCE))}
    nested: dict[str, Any] = {key: shown[key] for key in (CONF_REMEMBER,) if key in shown}
    for name, fields in SECTIONS.items():
        nested[name] = {key: shown[key] for key in fields if shown.get(key) is not None}
    return nested


def _schema(*, new: bool) -> vol.Schema:
    usual = SatelliteOptions()
    fields: dict[vol.Marker, Any] = {}
    if new:
        fields[vol.Required(CONF_SATELLITE)] = EntitySelector(
            EntitySelectorConfig(domain=SATELLITE)
        )
    fields[vol.Required(CONF_REMEMBER, default=usual.remember)] = BooleanSelector()
    recognising = {
        vol.Optional(CONF_SPEAKER_SOURCE): EntitySelector(),
        vol.Required(CONF_SPEAKER_CONFIDENCE, default=usual.speaker_confidence): NumberSelector(
            NumberSelectorConfig(min=0, max=1, step=0.05, mode=NumberSelectorMode.SLIDER)
        ),
        vol.Required(CONF_SPEAKER_SECONDS, default=usual.speaker_seconds): _whole(
            MOST_SECONDS, "s"
        ),
    }
    playing = {
        vol.Required(CONF_LEADING_SILENCE, default=0): _whole(MOST_SILENCE, "ms"),
        vol.Required(CONF_TRAILING_SILENCE, default=0): _whole(MOST_SILENCE, "ms"),
    }
    fields[vol.Optional("recognising")] = section(vol.Schema(recognising), {"collapsed": False})
    fields[vol.Optional("playing")] = section(vol.Schema(playing), {"collapsed": True})
    return vol.Schema(fields)


def _whole(most: int, unit: str) -> NumberSelector:
    return NumberSelector(
        NumberSelectorConfig(
            min=0, max=most, step=1, mode=NumberSelectorMode.BOX, unit_of_measurement=unit
        )
    )
