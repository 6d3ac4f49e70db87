"""What one assistant is: the options of its subentry, each with a default.

An assistant is one voice agent: it makes one speech-to-text, one conversation and one
text-to-speech entity. A subentry with no data at all is an assistant that works.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from homeassistant.config_entries import ConfigSubentryData
from homeassistant.const import CONF_LANGUAGE, CONF_LLM_HASS_API, CONF_MODEL, CONF_PROMPT
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.llm import LLM_API_ASSIST

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
    PROVIDER_OPENAI,
    SUBENTRY_ASSISTANT,
)
from .models import MODELS, model_facts

DEFAULT_NAME: Final = "Realtime Assist"
DEFAULT_MODEL: Final = "gpt-realtime-2.1"
DEFAULT_VOICE: Final = "marin"
DEFAULT_TRANSCRIPTION_MODEL: Final = "gpt-realtime-whisper"
# The name that compatible servers know or map to their own recogniser.
COMPATIBLE_TRANSCRIPTION_MODEL: Final = "whisper-1"
DEFAULT_PROMPT: Final = """You are the voice of this home.
Speak as people do: short sentences, no lists, no markup.
Say only what you know or were told, and say so when you do not know.
Answer in the language in which you were spoken to.
"""

LEAST_RESULT_TOKENS: Final = 300
"""A part of a long result says what it is a part of, and something of it."""


class TurnDetection(StrEnum):
    """Who decides that the user has finished speaking."""

    HOME_ASSISTANT = "home_assistant"
    SERVER_VAD = "server_vad"
    SEMANTIC_VAD = "semantic_vad"


class HistoryScope(StrEnum):
    """What the history belongs to: what was said there is what a new session knows."""

    DEVICE = "device"
    AREA = "area"
    SPEAKER = "speaker"
    GLOBAL = "global"


class SummarizerChoice(StrEnum):
    """Who writes the summaries."""

    AUTO = "auto"
    """The AI Task entity if one is chosen, else the model itself, else the built-in extract."""
    AI_TASK = "ai_task"
    MODEL = "model"
    EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantOptions:
    """The options of one assistant. The defaults are OpenAI's."""

    model: str = DEFAULT_MODEL
    voice: str | None = DEFAULT_VOICE
    """None: the provider's own default."""
    prompt: str = DEFAULT_PROMPT
    """A template."""
    llm_hass_api: tuple[str, ...] = (LLM_API_ASSIST,)
    """Ids of the LLM APIs whose tools the model gets; empty: it can only talk."""
    names_on_request: bool = False
    """Whether the model looks up the names of devices instead of being told all of them."""
    turn_detection: TurnDetection = TurnDetection.HOME_ASSISTANT
    history_scope: HistoryScope = HistoryScope.DEVICE
    conversation_timeout: int = 10
    """Minutes without a turn after which a conversation, and its `session` scope, is over."""
    resume_tokens: int = 1500
    """Tokens of earlier turns that a new session is told word for word."""
    context_tokens: int = 0
    """Tokens that a session may hold; 0: as many as the model can (see `context_limit`)."""
    tool_result_tokens: int = 4000
    """Tokens of one tool result that the model is told at once; it can read on from there."""
    summarizer: SummarizerChoice = SummarizerChoice.AUTO
    ai_task_entity: str | None = None
    """Entity id or entity registry id; see `entity_id`."""
    fallback_tts: str | None = None
    """Entity id or entity registry id of the engine that says exact texts; see `entity_id`."""
    transcription_model: str | None = DEFAULT_TRANSCRIPTION_MODEL
    language: str | None = None
    """ISO 639-1; None: the language of the pipeline."""

    @classmethod
    def from_subentry(
        cls, data: Mapping[str, Any], provider: str = PROVIDER_OPENAI
    ) -> AssistantOptions:
        """Return the options that a subentry's data means.

        What is missing, empty or not understood gets its default. An empty `llm_hass_api` is kept:
        it means no tools.
        """
        compatible = provider != PROVIDER_OPENAI
        transcription = (
            COMPATIBLE_TRANSCRIPTION_MODEL if compatible else DEFAULT_TRANSCRIPTION_MODEL
        )
        return cls(
            model=_text(data, CONF_MODEL) or DEFAULT_MODEL,
            voice=_text(data, CONF_VOICE) or (None if compatible else DEFAULT_VOICE),
            prompt=_text(data, CONF_PROMPT) or DEFAULT_PROMPT,
            llm_hass_api=_names(data.get(CONF_LLM_HASS_API)),
            names_on_request=data.get(CONF_NAMES_ON_REQUEST) is True,
            turn_detection=_choice(
                TurnDetection, data.get(CONF_TURN_DETECTION), TurnDetection.HOME_ASSISTANT
            ),
            history_scope=_choice(HistoryScope, data.get(CONF_HISTORY_SCOPE), HistoryScope.DEVICE),
            conversation_timeout=_number(data.get(CONF_CONVERSATION_TIMEOUT), 10, least=1),
            resume_tokens=_number(data.get(CONF_RESUME_TOKENS), 1500),
            context_tokens=_number(data.get(CONF_CONTEXT_TOKENS), 0),
            tool_result_tokens=_number(
                data.get(CONF_TOOL_RESULT_TOKENS), 4000, least=LEAST_RESULT_TOKENS
            ),
            summarizer=_choice(SummarizerChoice, data.get(CONF_SUMMARIZER), SummarizerChoice.AUTO),
            ai_task_entity=_text(data, CONF_AI_TASK_ENTITY),
            fallback_tts=_text(data, CONF_FALLBACK_TTS),
            transcription_model=_text(data, CONF_TRANSCRIPTION_MODEL) or transcription,
            language=_text(data, CONF_LANGUAGE),
        )

    @property
    def context_limit(self) -> int:
        """Tokens that a session can hold: as chosen, else as known of the model, else a guess.

        More than the model can hold is not held, whatever was chosen, if the model is known.
        """
        room = model_facts(self.model).room
        if not self.context_tokens:
            return room
        known = self.model in MODELS
        return min(self.context_tokens, room) if known else self.context_tokens


def default_assistant(model: str | None = None) -> ConfigSubentryData:
    """Return the subentry of an assistant with every default, for an entry that has none."""
    return ConfigSubentryData(
        subentry_type=SUBENTRY_ASSISTANT,
        title=DEFAULT_NAME,
        unique_id=None,
        data={CONF_MODEL: model} if model else {},
    )


@callback
def entity_id(hass: HomeAssistant, reference: str | None) -> str | None:
    """Return the present entity id of an entity id or registry id, None if it is gone."""
    return er.async_resolve_entity_id(er.async_get(hass), reference) if reference else None


@callback
def registry_id(hass: HomeAssistant, reference: str | None) -> str | None:
    """Return what survives a rename: the registry id, or the entity id if there is none."""
    if not reference:
        return None
    entry = er.async_get(hass).async_get(reference)
    return entry.id if entry else reference


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    return value.strip() or None if isinstance(value, str) else None


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        return tuple(name for name in value if isinstance(name, str))
    return (LLM_API_ASSIST,)


def _number(value: object, default: int, *, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
        return default
    return int(value)


def _choice[Choice: StrEnum](kind: type[Choice], value: object, default: Choice) -> Choice:
    return next((choice for choice in kind if choice == value), default)
