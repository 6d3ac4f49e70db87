"""The audio of a claimed turn: the model's own speech, an apology, silence where it is needed.

Home Assistant takes everything at once, so nothing is paced, except silence: in a long gap (a tool
runs) it flows in real time, or a satellite would give up. The stream ends by the Turn: the text
that Home Assistant hands over may never end after a cancel.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from homeassistant.exceptions import HomeAssistantError

from ..const import DOMAIN
from ..realtime.audio import duration_ms, silence
from .apology import async_apologise

if TYPE_CHECKING:
    from .playout import Playout
    from .turn import Turn

FRAME_MS: Final = 100
GAP_SECONDS: Final = 0.5
"""How long a stream may be silent before silence is put into it."""
_MARGIN_SECONDS: Final = 0.3


async def async_speak(turn: Turn, *, streams: bool = True) -> AsyncGenerator[bytes]:
    """Yield the PCM16 mono of a turn's answer, at the rate of `turn.exchange.speech`.

    Raises HomeAssistantError if the answer was cut: Home Assistant must not keep a part of it.
    """
    rate = turn.exchange.speech.rate
    playout = turn.plays(streams=streams)
    loop = turn.hass.loop
    async with (
        aclosing(_pieces(turn, rate)) as pieces,
        aclosing(_without_gaps(turn, pieces, playout, rate)) as steady,
    ):
        async for pcm, speech in steady:
            playout.hand_over(duration_ms(len(pcm), rate), loop.time(), speech=speech)
            yield pcm
    if turn.stopped.is_set() and not playout.complete:
        raise HomeAssistantError(translation_domain=DOMAIN, translation_key="answer_interrupted")
    turn.played_out()


async def _pieces(turn: Turn, rate: int) -> AsyncGenerator[tuple[bytes, bool]]:
    """Yield audio and whether it is the model's speech."""
    said = False
    async for pcm in turn.exchange.speech:
        if not said and turn.origin.leading_ms:
            yield silence(turn.origin.leading_ms, rate), False
        said = True
        yield pcm, True
    if (apology := await turn.apology()) and not turn.stopped.is_set():
        async with aclosing(
            async_apologise(turn.hass, turn.assistant, apology, turn.origin.language, rate)
        ) as voice:
            async for pcm in voice:
                said = True
                yield pcm, False
    if not said:
        yield silence(FRAME_MS, rate), False
    elif turn.origin.trailing_ms:
        yield silence(turn.origin.trailing_ms, rate), False


async def _without_gaps(
    turn: Turn, pieces: AsyncGenerator[tuple[bytes, bool]], playout: Playout, rate: int
) -> AsyncGenerator[tuple[bytes, bool]]:
    """Yield the pieces, and silence in real time while they are late; end when stopped."""
    loop = turn.hass.loop
    stopped = asyncio.ensure_future(turn.stopped.wait())
    piece: asyncio.Future[tuple[bytes, bool] | None] | None = None
    began = loop.time()
    try:
        while not turn.stopped.is_set():
            if piece is None:
                piece = asyncio.ensure_future(anext(pieces, None))
            dry = playout.end or began + GAP_SECONDS
            wait = max(dry - _MARGIN_SECONDS - loop.time(), 0.0) if playout.streams else None
            await asyncio.wait((piece, stopped), timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            if turn.stopped.is_set():
                return
            if not piece.done():
                yield silence(FRAME_MS, rate), False
                await asyncio.sleep(0)
                continue
            got = piece.result()
            piece = None
            if got is None:
                return
            yield got
    finally:
        stopped.cancel()
        if piece is not None:
            piece.cancel()
            await asyncio.gather(piece, return_exceptions=True)
