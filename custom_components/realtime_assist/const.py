"""Names that the house, its entries and their screens share."""

from typing import Final

DOMAIN: Final = "realtime_assist"

PROVIDER_OPENAI: Final = "openai"
PROVIDER_COMPATIBLE: Final = "openai_compatible"
OPENAI_BASE_URL: Final = "https://api.openai.com/v1"

CONF_PROVIDER: Final = "provider"
CONF_BASE_URL: Final = "base_url"

SUBENTRY_ASSISTANT: Final = "assistant"
