"""The speaker subentry: a person who may be recognised, and what else that person is called."""

from collections.abc import Mapping
from typing import Any

import probatio as vol
from homeassistant.config_entries import ConfigSubentryFlow, SubentryFlowResult
from homeassistant.const import CONF_NAME
from homeassistant.core import callback
from homeassistant.helpers.selector import (
    EntitySelector,
    EntitySelectorConfig,
    TextSelector,
    TextSelectorConfig,
)

from .assistant import entity_id, registry_id
from .const import CONF_ALIASES, CONF_PERSON
from .speakers import PERSON, async_speakers, names_of

_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_NAME): TextSelector(),
        vol.Optional(CONF_PERSON): EntitySelector(EntitySelectorConfig(domain=PERSON)),
        vol.Optional(CONF_ALIASES): TextSelector(TextSelectorConfig(multiple=True)),
    }
)


class SpeakerFlow(ConfigSubentryFlow):
    """Name somebody who may be recognised."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for somebody new."""
        if user_input is None:
            return self._show("user", {}, {})
        data = self._data(user_input)
        if errors := self._errors(data, None):
            return self._show("user", user_input, errors)
        return self.async_create_entry(title=data[CONF_NAME], data=data)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask what is different now."""
        subentry = self._get_reconfigure_subentry()
        if user_input is None:
            shown = {
                CONF_NAME: subentry.title,
                **subentry.data,
                CONF_PERSON: entity_id(self.hass, subentry.data.get(CONF_PERSON)),
            }
            return self._show("reconfigure", shown, {})
        data = self._data(user_input)
        if errors := self._errors(data, subentry.subentry_id):
            return self._show("reconfigure", user_input, errors)
        return self.async_update_and_abort(
            self._get_entry(), subentry, title=data[CONF_NAME], data=data
        )

    @callback
    def _data(self, user_input: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a subentry: without blanks, the person by registry id."""
        aliases = [alias.strip() for alias in user_input.get(CONF_ALIASES, ())]
        data: dict[str, Any] = {
            CONF_NAME: user_input[CONF_NAME].strip(),
            CONF_ALIASES: [alias for alias in aliases if alias],
        }
        if person := registry_id(self.hass, user_input.get(CONF_PERSON)):
            data[CONF_PERSON] = person
        return data

    @callback
    def _errors(self, data: Mapping[str, Any], subentry_id: str | None) -> dict[str, str]:
        """Return what is wrong: a name that two have proves neither of them."""
        if not data[CONF_NAME]:
            return {CONF_NAME: "name_missing"}
        own = {data.get(CONF_PERSON), subentry_id}
        others = frozenset[str]().union(
            *(each.names for each in async_speakers(self.hass) if each.key.id not in own)
        )
        if names_of(data[CONF_NAME]) & others:
            return {CONF_NAME: "name_taken"}
        return {CONF_ALIASES: "name_taken"} if names_of(*data[CONF_ALIASES]) & others else {}

    def _show(
        self, step_id: str, shown: Mapping[str, Any], errors: dict[str, str]
    ) -> SubentryFlowResult:
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(_SCHEMA, shown),
            errors=errors,
        )
