"""An account at a provider: where it is, whether it answers, and what it has to offer."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from pydantic import BaseModel, ValidationError
from yarl import URL

from .address import is_secure
from .assistant import AssistantOptions
from .const import CONF_BASE_URL, CONF_PROVIDER, OPENAI_BASE_URL, PROVIDER_OPENAI
from .realtime.check import check
from .realtime.config import SessionConfig
from .realtime.errors import (
    AuthenticationFailed,
    CannotConnect,
    ConnectionLost,
    ModelNotFound,
    NotRealtime,
    QuotaExceeded,
    RateLimited,
    RealtimeError,
)
from .realtime.providers.openai import OpenAIModel

_CHECK_SECONDS: Final = 10.0
_MODELS_SECONDS: Final = 5.0
_MODELS_BYTES: Final = 1_000_000
_MODELS_SHOWN: Final = 200

# What went wrong -> the key of its translated words.
PROBLEMS: Final[Mapping[type[RealtimeError], str]] = {
    AuthenticationFailed: "invalid_auth",
    ModelNotFound: "model_not_found",
    QuotaExceeded: "no_quota",
    RateLimited: "rate_limited",
    CannotConnect: "cannot_connect",
    ConnectionLost: "cannot_connect",
    NotRealtime: "not_realtime",
}
REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What an entry's data means. A missing key is OpenAI's, or none."""

    provider: str = PROVIDER_OPENAI
    base_url: str = OPENAI_BASE_URL
    api_key: str = field(default="", repr=False)
    """Empty: the server asks for none."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Account:
        """Return the account of an entry's data."""
        return cls(
            provider=data.get(CONF_PROVIDER) or PROVIDER_OPENAI,
            base_url=data.get(CONF_BASE_URL) or OPENAI_BASE_URL,
            api_key=data.get(CONF_API_KEY) or "",
        )

    @property
    def title(self) -> str:
        """The name under which the account is shown."""
        own = self.provider == PROVIDER_OPENAI and self.base_url == OPENAI_BASE_URL
        return "OpenAI" if own else URL(self.base_url).authority

    @property
    def unique_id(self) -> str:
        """What makes an account this account: provider, address and key, beyond recognition."""
        parts = (self.provider, self.base_url, self.api_key)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    def adapter(self) -> OpenAIModel:
        """Return the codec of this provider."""
        return OpenAIModel(
            base_url=self.base_url,
            api_key=self.api_key,
            compatible=self.provider != PROVIDER_OPENAI,
        )


async def problem_with_address(base_url: str) -> str | None:
    """Return the key of what speaks against a normalised address, None if nothing does."""
    try:
        return None if await is_secure(base_url) else "insecure_address"
    except OSError:
        return "cannot_connect"


async def problem_with_session(
    hass: HomeAssistant, account: Account, options: AssistantOptions
) -> str | None:
    """Open a real session as an assistant with these options would.

    Returns the key of what went wrong, None if nothing did.
    """
    config = SessionConfig(
        model=options.model,
        instructions="",
        voice=options.voice,
        transcription_model=options.transcription_model,
    )
    try:
        await check(async_get_clientsession(hass), account.adapter(), config, _CHECK_SECONDS)
    except RealtimeError as err:
        return PROBLEMS.get(type(err), REFUSED)
    return None


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    """The part of `GET /models` that we read."""

    data: list[_Model]


async def list_models(hass: HomeAssistant, account: Account) -> list[str]:
    """Return the ids of the models that a server lists; none if it does not say.

    Raises CannotConnect if nothing answers at all.
    """
    headers = {"Authorization": f"Bearer {account.api_key}"} if account.api_key else {}
    try:
        async with (
            asyncio.timeout(_MODELS_SECONDS),
            async_get_clientsession(hass).get(
                f"{account.base_url}/models", headers=headers, allow_redirects=False
            ) as response,
        ):
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MODELS_BYTES:
                    return []
    except aiohttp.ClientConnectorError as err:
        raise CannotConnect("models_unreachable") from err
    except aiohttp.ClientError, TimeoutError:
        return []
    try:
        models = _Models.model_validate_json(bytes(body)).data
    except ValidationError:
        return []
    return sorted({model.id for model in models})[:_MODELS_SHOWN]
