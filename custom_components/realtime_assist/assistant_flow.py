"""The assistant subentry: how one voice agent of an account listens, speaks and remembers."""

from collections.abc import Mapping
from typing import Any, Final

import probatio as vol
from homeassistant.components import tts
from homeassistant.config_entries import (
    SOURCE_USER,
    ConfigEntryState,
    ConfigSubentryFlow,
    SubentryFlowResult,
)
from homeassistant.const import (
    CONF_LANGUAGE,
    CONF_LLM_HASS_API,
    CONF_MODEL,
    CONF_NAME,
    CONF_PROMPT,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.data_entry_flow import section
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import llm
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
    LanguageSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TemplateSelector,
    TextSelector,
)

from .account import REFUSED, Account, problem_with_session
from .assistant import (
    DEFAULT_MODEL,
    DEFAULT_NAME,
    DEFAULT_PROMPT,
    LEAST_RESULT_TOKENS,
    AssistantOptions,
    HistoryScope,
    SummarizerChoice,
    TurnDetection,
    entity_id,
    registry_id,
)
from .const import (
    CONF_AI_TASK_ENTITY,
    CONF_CONTEXT_TOKENS,
    CONF_CONVERSATION_TIMEOUT,
    CONF_FALLBACK_TTS,
    CONF_HISTORY_SCOPE,
    CONF_NAMES_ON_REQUEST,
    CONF_RESUME_TOKENS,
    CONF_SUMMARIZER,
    CONF_TOOL_RESULT_TOKENS,
    CONF_TRANSCRIPTION_MODEL,
    CONF_TURN_DETECTION,
    CONF_VOICE,
    DOMAIN,
)

MODELS: Final = (DEFAULT_MODEL, "gpt-realtime-2.1-mini", "gpt-realtime-2", "gpt-realtime-1.5")
_VOICES: Final = (
    "marin",
    "cedar",
    "alloy",
    "ash",
    "ballad",
    "coral",
    "echo",
    "sage",
    "shimmer",
    "verse",
)
_TRANSCRIBERS: Final = ("gpt-realtime-whisper", "gpt-live-transcribe", "gpt-transcribe")

# What the form shows together -> the fields in it. The data of a subentry is flat.
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "speaking": (CONF_VOICE, CONF_FALLBACK_TTS),
    "listening": (CONF_TURN_DETECTION, CONF_TRANSCRIPTION_MODEL, CONF_LANGUAGE),
    "remembering": (
        CONF_HISTORY_SCOPE,
        CONF_CONVERSATION_TIMEOUT,
        CONF_RESUME_TOKENS,
        CONF_CONTEXT_TOKENS,
        CONF_SUMMARIZER,
        CONF_AI_TASK_ENTITY,
        CONF_TOOL_RESULT_TOKENS,
    ),
}
_REFERENCES: Final = (CONF_FALLBACK_TTS, CONF_AI_TASK_ENTITY)


class AssistantFlow(ConfigSubentryFlow):
    """Add an assistant, or change one."""

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> SubentryFlowResult:
        """Ask for a new assistant."""
        return await self._async_step_assistant("user", user_input, {})

    async def async_step_reconfigure(
        self, user_input: dict[str, Any] | None = None
    ) -> SubentryFlowResult:
        """Ask what an assistant should do differently."""
        return await self._async_step_assistant(
            "reconfigure", user_input, self._get_reconfigure_subentry().data
        )

    async def _async_step_assistant(
        self, step_id: str, user_input: dict[str, Any] | None, before: Mapping[str, Any]
    ) -> SubentryFlowResult:
        if self._get_entry().state is not ConfigEntryState.LOADED:
            return self.async_abort(reason="entry_not_loaded")
        errors: dict[str, str] = {}
        data = before
        if user_input is not None:
            name, data = _flatten(self.hass, user_input)
            errors = await self._async_check(data, before)
            if not errors:
                return self._save(name, data)
        schema = _schema(self.hass, new=self.source == SOURCE_USER)
        return self.async_show_form(
            step_id=step_id,
            data_schema=self.add_suggested_values_to_schema(schema, _nest(self.hass, data)),
            errors=errors,
        )

    async def _async_check(
        self, data: Mapping[str, Any], before: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return what is wrong; a model or voice that is new is tried.

        A server that is down now is no reason not to change a setting.
        """
        account = Account.from_data(self._get_entry().data)
        new = AssistantOptions.from_subentry(data, account.provider)
        if new.summarizer is SummarizerChoice.AI_TASK and new.ai_task_entity is None:
            return {"base": "no_ai_task"}
        old = AssistantOptions.from_subentry(before, account.provider)
        tried = (CONF_MODEL, CONF_VOICE, CONF_TRANSCRIPTION_MODEL)
        known = self.source != SOURCE_USER
        if known and all(getattr(new, key) == getattr(old, key) for key in tried):
            return {}
        problem = await problem_with_session(self.hass, account, new)
        if problem == "model_not_found":
            return {CONF_MODEL: problem}
        return {"base": problem} if problem == REFUSED else {}

    def _save(self, name: str, data: dict[str, Any]) -> SubentryFlowResult:
        if self.source == SOURCE_USER:
            return self.async_create_entry(title=name, data=data)
        entry, subentry = self._get_entry(), self._get_reconfigure_subentry()
        # The entry is loaded, so it is listening and reloads itself.
        return self.async_update_and_abort(entry, subentry, data=data)


@callback
def _flatten(hass: HomeAssistant, user_input: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the data of a subentry: flat, without blanks, entities by registry id."""
    data = {key: value for key, value in user_input.items() if key not in SECTIONS}
    for key in SECTIONS:
        data |= user_input.get(key, {})
    name = data.pop(CONF_NAME, DEFAULT_NAME).strip() or DEFAULT_NAME
    data = {key: _tidy(value) for key, value in data.items() if value not in (None, "")}
    if data.get(CONF_PROMPT, "").strip() == DEFAULT_PROMPT.strip():
        del data[CONF_PROMPT]
    for key in _REFERENCES:
        if key in data:
            data[key] = registry_id(hass, data[key])
    return name, data


def _tidy(value: object) -> object:
    # Number fields deliver floats.
    return int(value) if isinstance(value, float) else value


@callback
def _nest(hass: HomeAssistant, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form suggests for the data of a subentry."""
    apis = {api.id for api in llm.async_get_apis(hass)}
    chosen = AssistantOptions.from_subentry(data)
    shown = {
        CONF_PROMPT: DEFAULT_PROMPT,
        CONF_MODEL: DEFAULT_MODEL,
        **data,
        CONF_LLM_HASS_API: [api for api in chosen.llm_hass_api if api in apis],
    }
    for key in _REFERENCES:
        shown[key] = entity_id(hass, data.get(key))
    shown = {key: value for key, value in shown.items() if value is not None}
    nested = {key: value for key, value in shown.items() if not _in_section(key)}
    for name, fields in SECTIONS.items():
        nested[name] = {key: shown[key] for key in fields if key in shown}
    return nested


def _in_section(key: str) -> bool:
    return any(key in fields for fields in SECTIONS.values())


@callback
def _schema(hass: HomeAssistant, *, new: bool) -> vol.Schema:
    """Return the form; what is closed has a default that suits most homes."""
    fields: dict[vol.Marker, Any] = {}
    if new:
        fields[vol.Required(CONF_NAME, default=DEFAULT_NAME)] = TextSelector()
    fields |= {
        vol.Required(CONF_MODEL): _suggest(MODELS),
        vol.Optional(CONF_PROMPT): TemplateSelector(),
        vol.Optional(CONF_LLM_HASS_API): SelectSelector(
            SelectSelectorConfig(
                options=[
                    SelectOptionDict(value=api.id, label=api.name)
                    for api in llm.async_get_apis(hass)
                ],
                multiple=True,
            )
        ),
        vol.Optional(CONF_NAMES_ON_REQUEST, default=False): BooleanSelector(),
    }
    for name, part in (
        ("speaking", _speaking(hass)),
        ("listening", _listening()),
        ("remembering", _remembering()),
    ):
        fields[vol.Optional(name)] = section(vol.Schema(part), {"collapsed": True})
    return vol.Schema(fields)


def _speaking(hass: HomeAssistant) -> dict[vol.Marker, Any]:
    # An engine of ours speaks with the model's voice; what must be said exactly needs another one.
    ours = [
        entity.entity_id
        for entity in er.async_get(hass).entities.values()
        if entity.platform == DOMAIN and entity.domain == tts.DOMAIN
    ]
    return {
        vol.Optional(CONF_VOICE): _suggest(_VOICES),
        vol.Optional(CONF_FALLBACK_TTS): EntitySelector(
            EntitySelectorConfig(domain=tts.DOMAIN, exclude_entities=ours)
        ),
    }


def _listening() -> dict[vol.Marker, Any]:
    return {
        vol.Required(CONF_TURN_DETECTION, default=TurnDetection.HOME_ASSISTANT.value): _choose(
            CONF_TURN_DETECTION, TurnDetection
        ),
        vol.Optional(CONF_TRANSCRIPTION_MODEL): _suggest(_TRANSCRIBERS),
        vol.Optional(CONF_LANGUAGE): LanguageSelector(),
    }


def _remembering() -> dict[vol.Marker, Any]:
    defaults = AssistantOptions()
    return {
        vol.Required(CONF_HISTORY_SCOPE, default=defaults.history_scope.value): _choose(
            CONF_HISTORY_SCOPE, HistoryScope
        ),
        vol.Required(CONF_CONVERSATION_TIMEOUT, default=defaults.conversation_timeout): _number(
            1, 1440, "min"
        ),
        vol.Required(CONF_RESUME_TOKENS, default=defaults.resume_tokens): _number(0, 16_000),
        vol.Required(CONF_CONTEXT_TOKENS, default=defaults.context_tokens): _number(0, 1_000_000),
        vol.Required(CONF_SUMMARIZER, default=defaults.summarizer.value): _choose(
            CONF_SUMMARIZER, SummarizerChoice
        ),
        vol.Optional(CONF_AI_TASK_ENTITY): EntitySelector(EntitySelectorConfig(domain="ai_task")),
        vol.Required(CONF_TOOL_RESULT_TOKENS, default=defaults.tool_result_tokens): _number(
            LEAST_RESULT_TOKENS, 32_000
        ),
    }


def _suggest(values: tuple[str, ...]) -> SelectSelector:
    return SelectSelector(
        SelectSelectorConfig(
            options=list(values), custom_value=True, mode=SelectSelectorMode.DROPDOWN
        )
    )


def _choose(
    key: str, values: type[TurnDetection | HistoryScope | SummarizerChoice]
) -> SelectSelector:
    return SelectSelector(
        SelectSelectorConfig(options=[each.value for each in values], translation_key=key)
    )


def _number(least: int, most: int, unit: str | None = None) -> NumberSelector:
    config = NumberSelectorConfig(min=least, max=most, step=1, mode=NumberSelectorMode.BOX)
    if unit:
        config["unit_of_measurement"] = unit
    return NumberSelector(config)
