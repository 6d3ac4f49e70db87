"""Names that the house, its entries and their screens share."""

from typing import Final

DOMAIN: Final = "realtime_assist"

PROVIDER_OPENAI: Final = "openai"
PROVIDER_COMPATIBLE: Final = "openai_compatible"
OPENAI_BASE_URL: Final = "https://api.openai.com/v1"

CONF_PROVIDER: Final = "provider"
CONF_BASE_URL: Final = "base_url"

SUBENTRY_ASSISTANT: Final = "assistant"
SUBENTRY_SATELLITE: Final = "satellite"
SUBENTRY_SPEAKER: Final = "speaker"

# Keys of an assistant's subentry. Home Assistant's `const` has the others: model, prompt,
# llm_hass_api and language.
CONF_VOICE: Final = "voice"
CONF_NAMES_ON_REQUEST: Final = "names_on_request"
CONF_TURN_DETECTION: Final = "turn_detection"
CONF_HISTORY_SCOPE: Final = "history_scope"
CONF_CONVERSATION_TIMEOUT: Final = "conversation_timeout"
CONF_RESUME_TOKENS: Final = "resume_tokens"
CONF_CONTEXT_TOKENS: Final = "context_tokens"
CONF_TOOL_RESULT_TOKENS: Final = "tool_result_tokens"
CONF_SUMMARIZER: Final = "summarizer"
CONF_AI_TASK_ENTITY: Final = "ai_task_entity"
CONF_FALLBACK_TTS: Final = "fallback_tts"
CONF_TRANSCRIPTION_MODEL: Final = "transcription_model"

# Keys of a satellite's subentry.
CONF_SATELLITE: Final = "satellite"
CONF_SPEAKER_SOURCE: Final = "speaker_source"
CONF_SPEAKER_CONFIDENCE: Final = "speaker_confidence"
CONF_SPEAKER_SECONDS: Final = "speaker_seconds"
CONF_REMEMBER: Final = "remember"
CONF_LEADING_SILENCE: Final = "leading_silence_ms"
CONF_TRAILING_SILENCE: Final = "trailing_silence_ms"

# Keys of a speaker's subentry; its name is there as well.
CONF_PERSON: Final = "person"
CONF_ALIASES: Final = "aliases"

CONF_CREATE_PIPELINE: Final = "create_pipeline"

# Option of an entry: it had its first assistant, which must not come back when it is deleted.
CONF_ASSISTANT_MADE: Final = "assistant_made"
