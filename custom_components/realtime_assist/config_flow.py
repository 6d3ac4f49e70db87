"""The account entry: provider, address and key. Nothing is saved that was not tried."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, override

import probatio as vol
from homeassistant.config_entries import (
    SOURCE_REAUTH,
    SOURCE_RECONFIGURE,
    ConfigEntry,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryFlow,
)
from homeassistant.const import CONF_API_KEY, CONF_MODEL
from homeassistant.core import callback
from homeassistant.helpers.selector import (
    BooleanSelector,
    SelectSelector,
    SelectSelectorConfig,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)

from .account import Account, list_models, problem_with_address, problem_with_session
from .address import InvalidAddress, normalise
from .assistant import AssistantOptions, default_assistant
from .assistant_flow import MODELS, AssistantFlow
from .const import (
    CONF_BASE_URL,
    CONF_CREATE_PIPELINE,
    CONF_PROVIDER,
    DOMAIN,
    OPENAI_BASE_URL,
    PROVIDER_COMPATIBLE,
    PROVIDER_OPENAI,
    SUBENTRY_ASSISTANT,
    SUBENTRY_SATELLITE,
    SUBENTRY_SPEAKER,
)
from .first_pipeline import async_create_pipeline
from .realtime.errors import CannotConnect
from .satellite_flow import SatelliteFlow
from .speaker_flow import SpeakerFlow

_KEY = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD, autocomplete="off"))
_PROVIDER = SelectSelector(
    SelectSelectorConfig(
        options=[PROVIDER_OPENAI, PROVIDER_COMPATIBLE], translation_key=CONF_PROVIDER
    )
)
_ADDRESS = TextSelector(TextSelectorConfig(type=TextSelectorType.URL))

_SCHEMAS = {
    "user": vol.Schema(
        {
            vol.Required(CONF_PROVIDER, default=PROVIDER_OPENAI): _PROVIDER,
            vol.Required(CONF_BASE_URL, default=OPENAI_BASE_URL): _ADDRESS,
            vol.Optional(CONF_API_KEY): _KEY,
            vol.Required(CONF_CREATE_PIPELINE, default=True): BooleanSelector(),
        }
    ),
    "reconfigure": vol.Schema(
        {
            vol.Required(CONF_PROVIDER): _PROVIDER,
            vol.Required(CONF_BASE_URL): _ADDRESS,
            vol.Optional(CONF_API_KEY): _KEY,
        }
    ),
    "reauth_confirm": vol.Schema({vol.Required(CONF_API_KEY): _KEY}),
}


class RealtimeAssistConfigFlow(ConfigFlow, domain=DOMAIN):
    """Add an account, or change its key or address."""

    VERSION = 1
    MINOR_VERSION = 1

    def __init__(self) -> None:
        """Begin with nothing."""
        self._account = Account()
        self._typed: dict[str, Any] = {}
        self._create_pipeline = False
        self._models: list[str] = []

    @classmethod
    @callback
    @override
    def async_get_supported_subentry_types(
        cls, config_entry: ConfigEntry
    ) -> dict[str, type[ConfigSubentryFlow]]:
        """Return what can be added to an account."""
        return {
            SUBENTRY_ASSISTANT: AssistantFlow,
            SUBENTRY_SATELLITE: SatelliteFlow,
            SUBENTRY_SPEAKER: SpeakerFlow,
        }

    @override
    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for provider, address and key."""
        return await self._async_step_account("user", user_input)

    async def async_step_reauth(
        self,
        entry_data: Mapping[str, Any],  # noqa: ARG002
    ) -> ConfigFlowResult:
        """Begin to replace a key that is refused."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for a key that works."""
        return await self._async_step_account("reauth_confirm", user_input)

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for another address or key of an account that is there."""
        return await self._async_step_account("reconfigure", user_input)

    async def _async_step_account(
        self, step_id: str, user_input: dict[str, Any] | None
    ) -> ConfigFlowResult:
        """Ask for an account and try it: the one step of adding, reauthentication and change."""
        before = self._entry.data if self._entry else {}
        if user_input is None:
            self._account = Account.from_data(before)
            return self._show_account(step_id, {})
        self._typed = user_input
        given = dict(user_input)
        self._create_pipeline = given.pop(CONF_CREATE_PIPELINE, False)
        self._account = Account.from_data({**before, **_without_blanks(given)})
        if errors := await self._async_check_account():
            return self._show_account(step_id, errors)
        if any(
            entry is not self._entry and Account.from_data(entry.data) == self._account
            for entry in self._async_current_entries()
        ):
            return self.async_abort(reason="already_configured")
        if self._entry is None and self._account.provider != PROVIDER_OPENAI:
            return await self._async_ask_model()
        return await self._async_try(step_id)

    async def async_step_model(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask which model of this server to talk to."""
        if user_input is None:
            return self._show_model({})
        return await self._async_try("user", user_input[CONF_MODEL].strip())

    async def _async_check_account(self) -> dict[str, str]:
        """Bring the address into its one spelling; return what is wrong with what was typed."""
        if self._account.provider == PROVIDER_OPENAI and not self._account.api_key:
            return {CONF_API_KEY: "key_missing"}
        try:
            base_url = normalise(self._account.base_url)
        except InvalidAddress:
            return {CONF_BASE_URL: "invalid_address"}
        self._account = replace(self._account, base_url=base_url)
        problem = await problem_with_address(base_url)
        return {CONF_BASE_URL: problem} if problem else {}

    async def _async_ask_model(self) -> ConfigFlowResult:
        """Ask for the model, with those that the server lists as suggestions."""
        try:
            self._models = await list_models(self.hass, self._account)
        except CannotConnect:
            return self._show_account("user", {"base": "cannot_connect"})
        return self._show_model({})

    async def _async_try(self, step_id: str, model: str | None = None) -> ConfigFlowResult:
        """Open a session with this account; save it if that works, else say what did not."""
        options = AssistantOptions.from_subentry(
            self._assistant_data(model), self._account.provider
        )
        problem = await problem_with_session(self.hass, self._account, options)
        if problem is None:
            return await self._async_save(model)
        if problem == "model_not_found" and self._entry is None:
            return self._show_model({CONF_MODEL: problem} if model else {"base": problem})
        field = CONF_API_KEY if problem == "invalid_auth" else "base"
        return self._show_account(step_id, {field: problem})

    def _assistant_data(self, model: str | None) -> Mapping[str, Any]:
        """Return the data of the assistant that the account is tried with."""
        assistants = self._entry.get_subentries_of_type(SUBENTRY_ASSISTANT) if self._entry else ()
        return next((each.data for each in assistants), default_assistant(model)["data"])

    async def _async_save(self, model: str | None) -> ConfigFlowResult:
        await self.async_set_unique_id(self._account.unique_id, raise_on_progress=False)
        data = asdict(self._account)
        entry = self._entry
        if entry is None:
            return self.async_create_entry(
                title=self._account.title, data=data, subentries=[default_assistant(model)]
            )
        if entry.update_listeners:
            return self.async_update_and_abort(entry, unique_id=self.unique_id, data=data)
        return self.async_update_reload_and_abort(entry, unique_id=self.unique_id, data=data)

    @override
    async def async_on_create_entry(self, result: ConfigFlowResult) -> ConfigFlowResult:
        """Make the pipeline that was asked for: only now are there engines to put into it."""
        if self._create_pipeline:
            await async_create_pipeline(self.hass, result["result"])
        return result

    def _show_account(self, step_id: str, errors: dict[str, str]) -> ConfigFlowResult:
        """Show what there is, and what was just typed; never a key that was saved before."""
        shown = {
            CONF_PROVIDER: self._account.provider,
            CONF_BASE_URL: self._account.base_url,
            **self._typed,
        }
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(_SCHEMAS[step_id], shown),
            errors=errors,
        )

    def _show_model(self, errors: dict[str, str]) -> ConfigFlowResult:
        openai = self._account.provider == PROVIDER_OPENAI
        options = list(MODELS) if openai else self._models
        models = SelectSelector(SelectSelectorConfig(options=options, custom_value=True))
        return self.async_show_form(
            step_id="model",
            data_schema=vol.Schema({vol.Required(CONF_MODEL): models}),
            description_placeholders={"address": self._account.base_url},
            errors=errors,
        )

    @property
    def _entry(self) -> ConfigEntry | None:
        """The account that is being changed, None while a new one is added."""
        if self.source == SOURCE_REAUTH:
            return self._get_reauth_entry()
        if self.source == SOURCE_RECONFIGURE:
            return self._get_reconfigure_entry()
        return None


def _without_blanks(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.strip() for key, value in given.items() if value.strip()}
