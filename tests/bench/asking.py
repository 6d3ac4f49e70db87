"""Speaking to an assistant where nobody plays what it answers."""

import asyncio
from dataclasses import replace
from typing import Final

from custom_components.realtime_assist.hub import Assistant
from custom_components.realtime_assist.pipeline.origin import Origin
from custom_components.realtime_assist.realtime.replies import FirstAudio

SPEECH: Final = b"\x00\x40\x00\xc0" * 4_800
"""600 ms of something loud, PCM16 at 16 kHz."""


async def ask(assistant: Assistant, origin: Origin) -> None:
    """Say something, and return when the answer begins to be heard."""
    exchange = assistant.projection(origin, None).session.begin("turn", voice=True)
    exchange.append(SPEECH)
    exchange.end_of_speech(respond=True)
    async with asyncio.timeout(30):
        async for reply in exchange.replies():
            if isinstance(reply, FirstAudio):
                break
    if exchange.record.failure is not None:
        raise OSError(f"no answer: {exchange.record.failure.code}")


def at(origin: Origin, device: str) -> Origin:
    """Return another satellite in the same room."""
    return replace(origin, satellite=device, device_id=device)
