"""The other voice: a TTS engine of the user's choice for what the model cannot say, else a tone."""

import asyncio
import logging
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components import tts
from homeassistant.components.tts.helper import get_engine_instance
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er

from ..assistant import entity_id
from ..const import DOMAIN
from ..realtime.audio import failure_tone

if TYPE_CHECKING:
    from ..hub import Assistant

_LOGGER = logging.getLogger(__name__)

FIRST_SECONDS: Final = 2.0
"""How long an apology waits for its voice before it becomes a tone."""
NEXT_SECONDS: Final = 10.0
_HEADER_BYTES: Final = 4096
_CHUNK_BYTES: Final = 9600


async def async_apologise(
    hass: HomeAssistant, assistant: Assistant, text: str, language: str | None, rate: int
) -> AsyncGenerator[bytes]:
    """Yield PCM16 mono that says a sentence of ours, else a tone; never nothing, never an error."""
    engine = fallback_engine(hass, assistant)
    said = False
    if engine is not None:
        try:
            async for pcm in async_other_voice(hass, engine, text, language, rate, FIRST_SECONDS):
                said = True
                yield pcm
        except Exception as err:  # noqa: BLE001 - another integration speaks; this is the way out
            _LOGGER.warning("The fallback voice %s failed: %s", engine, type(err).__name__)
    if not said:
        yield failure_tone(rate)


def fallback_engine(hass: HomeAssistant, assistant: Assistant) -> str | None:
    """Return the chosen fallback engine, if it is there and not one of this integration."""
    chosen = assistant.options.fallback_tts
    engine = tts.async_resolve_engine(hass, entity_id(hass, chosen) or chosen) if chosen else None
    if engine is None:
        return None
    entry = er.async_get(hass).async_get(engine)
    # One of ours would come back here.
    return None if entry and entry.platform == DOMAIN else engine


async def async_other_voice(  # noqa: PLR0913, PLR0917 - what to say, and how
    hass: HomeAssistant,
    engine: str,
    text: str,
    language: str | None,
    rate: int,
    first_seconds: float = NEXT_SECONDS,
) -> AsyncIterator[bytes]:
    """Yield PCM16 mono in which another engine says a text.

    Raises HomeAssistantError if it says nothing, and TimeoutError if it is not in time.
    """
    stream = tts.async_create_stream(
        hass, engine, _language(hass, engine, language), _options(rate)
    )
    stream.async_set_message(text)
    wav = _pcm(aiter(stream.async_stream_result()))
    limit = first_seconds
    try:
        while True:
            async with asyncio.timeout(limit):
                pcm = await anext(wav, b"")
            if not pcm:
                break
            limit = NEXT_SECONDS
            yield pcm
    finally:
        await wav.aclose()


def _options(rate: int) -> dict[str, Any]:
    return {
        tts.ATTR_PREFERRED_FORMAT: "wav",
        tts.ATTR_PREFERRED_SAMPLE_RATE: rate,
        tts.ATTR_PREFERRED_SAMPLE_CHANNELS: 1,
        tts.ATTR_PREFERRED_SAMPLE_BYTES: 2,
    }


def _language(hass: HomeAssistant, engine: str, language: str | None) -> str | None:
    """Return the engine's language for ours, None for its default."""
    instance = get_engine_instance(hass, engine)
    known = list(instance.supported_languages or ()) if instance else []
    if language is None or language in known:
        return language
    short = language.partition("-")[0]
    return next((tag for tag in known if tag.partition("-")[0] == short), None)


async def _pcm(wav: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the samples of a WAV stream. Raises HomeAssistantError if it is none."""
    buffer = bytearray()
    async for chunk in wav:
        buffer += chunk
        if (start := _data_start(buffer)) is not None:
            break
        if len(buffer) > _HEADER_BYTES:
            raise HomeAssistantError("The fallback voice gave no WAV")
    else:
        raise HomeAssistantError("The fallback voice said nothing")
    odd = b""
    # The header may come alone, so an empty rest says nothing.
    piece = bytes(buffer[start:])
    while True:
        data = odd + piece
        whole = len(data) & ~1
        odd = data[whole:]
        for at in range(0, whole, _CHUNK_BYTES):
            yield data[at : min(at + _CHUNK_BYTES, whole)]
        piece = await anext(wav, b"")
        if not piece:
            return


def _data_start(wav: bytearray) -> int | None:
    """Return where the samples begin, None as long as that is not known."""
    at = 12
    while len(wav) >= at + 8:
        name, size = struct.unpack_from("<4sI", wav, at)
        if name == b"data":
            return at + 8
        at += 8 + size + size % 2
    return None
