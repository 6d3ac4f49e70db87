"""Say exactly a given text, by a provider's speech endpoint, outside every session.

A realtime model paraphrases; an announcement or an alarm must not be. The audio is streamed as it
comes.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import aiohttp

from .errors import CannotConnect, ConnectionLost
from .failures import refused_handshake
from .model import SpeechRequest

_ANSWER_SECONDS: Final = 8.0
"""Until the first byte: longer, and the satellite gives up first."""
_CHUNK_SECONDS: Final = 8.0
_CHUNK_BYTES: Final = 9_600
"""200 ms at 24 kHz."""
_MOST_BYTES: Final = 10 * 60 * 24_000 * 2
"""Ten minutes of speech: no text that a house says is longer."""


async def speech_audio(http: aiohttp.ClientSession, request: SpeechRequest) -> AsyncIterator[bytes]:
    """Yield PCM16 mono audio of the requested text.

    Raises CannotConnect if nothing answers in time, ConnectionLost if the answer stops or does not
    end, and what the status means (AuthenticationFailed, QuotaExceeded, ...) if it is refused.
    """
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            response = await http.post(
                request.url, headers=request.headers, json=request.body, allow_redirects=False
            )
    except (aiohttp.ClientError, TimeoutError) as err:
        raise CannotConnect("speech_unreachable") from err
    async with response:
        if response.status != 200:  # noqa: PLR2004
            raise refused_handshake(response.status, None)
        received = 0
        while received < _MOST_BYTES:
            try:
                async with asyncio.timeout(_CHUNK_SECONDS):
                    chunk = await response.content.read(_CHUNK_BYTES)
            except (aiohttp.ClientError, TimeoutError) as err:
                raise ConnectionLost("speech_lost") from err
            if not chunk:
                return
            received += len(chunk)
            yield chunk
    raise ConnectionLost("speech_endless")
