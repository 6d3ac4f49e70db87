"""Texts that no turn owns (announcements, local answers, alarms): said exactly, or not at all.

A realtime model paraphrases. So the provider's speech endpoint says them, else the engine that the
user chose as a fallback; only where there is neither does the model read them, compared with the
text before anything is heard.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Final

from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN
from ..realtime.errors import RealtimeError
from ..realtime.reading import SAID_OTHERWISE
from .apology import async_other_voice, fallback_engine

if TYPE_CHECKING:
    from ..hub import Assistant

_LOGGER = logging.getLogger(__name__)

TEXT_SECONDS: Final = 60.0
"""How long the next piece of a text may take: after a cancelled run it never comes."""
FALLBACK_RATE: Final = 24_000


async def async_say_exactly(
    hass: HomeAssistant,
    assistant: Assistant,
    first: str,
    rest: AsyncGenerator[str],
    language: str,
) -> tuple[AsyncGenerator[bytes], int]:
    """Return PCM16 mono that says a text, and its rate in Hz.

    Raises HomeAssistantError where nobody can say it; the generator does so where it is not said
    to its end, so that Home Assistant keeps no part of it.
    """
    text = (first + await _remaining(rest)).strip()
    if not text:
        raise HomeAssistantError(translation_domain=DOMAIN, translation_key="nothing_to_say")
    engine = fallback_engine(hass, assistant)
    spoken = await _provider(assistant, text)
    if spoken is not None:
        return spoken
    if engine is not None:
        other = async_other_voice(hass, engine, text, language, FALLBACK_RATE)
        return _whole(other, b""), FALLBACK_RATE
    if (read := assistant.read_aloud(text)) is not None:
        return await _read(assistant, *read)
    raise HomeAssistantError(translation_domain=DOMAIN, translation_key="no_voice_for_text")


async def _remaining(rest: AsyncGenerator[str]) -> str:
    parts = []
    try:
        while True:
            async with asyncio.timeout(TEXT_SECONDS):
                parts.append(await anext(rest))
    except StopAsyncIteration:
        return "".join(parts)
    except TimeoutError as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN, translation_key="text_incomplete"
        ) from err


async def _provider(assistant: Assistant, text: str) -> tuple[AsyncGenerator[bytes], int] | None:
    """Return the provider's own speech once its first audio is there, None if it has none."""
    try:
        spoken = await assistant.speak_verbatim(text)
        if spoken is None:
            return None
        audio, rate = spoken
        first = await anext(audio, b"")
    except RealtimeError as err:
        _LOGGER.warning("The provider's speech endpoint failed: %s", err.code)
        assistant.hub.health.failed(assistant, err)
        return None
    return (_whole(audio, first), rate) if first else None


async def _read(
    assistant: Assistant, audio: AsyncIterator[bytes], rate: int
) -> tuple[AsyncGenerator[bytes], int]:
    """Return the text as the model read it. Raises HomeAssistantError if it did not."""
    try:
        first = await anext(audio, b"")
    except RealtimeError as err:
        _LOGGER.warning("The model did not read a text as it stands: %s", err.code)
        assistant.hub.health.failed(assistant, err)
        otherwise = err.code == SAID_OTHERWISE
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="said_otherwise" if otherwise else "no_voice_for_text",
        ) from err
    return _whole(audio, first), rate


async def _whole(audio: AsyncIterator[bytes], first: bytes) -> AsyncGenerator[bytes]:
    """Yield audio to its end. Raises HomeAssistantError if it breaks off or is empty."""
    said = bool(first)
    if first:
        yield first
    try:
        async for pcm in audio:
            said = said or bool(pcm)
            yield pcm
    except (RealtimeError, TimeoutError) as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN, translation_key="speech_incomplete"
        ) from err
    if not said:
        raise HomeAssistantError(translation_domain=DOMAIN, translation_key="speech_incomplete")
