"""From sound to words: what a turn does while somebody speaks, and until its words are known."""

import asyncio
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components.stt import SpeechResult, SpeechResultState
from homeassistant.components.websocket_api import current_connection
from homeassistant.core import HomeAssistant
from homeassistant.helpers.chat_session import current_session

from ..assistant import TurnDetection
from ..memory.transcript import Source
from ..realtime.hearing import How
from .book import async_book
from .context import current_turn, noted_satellite
from .dismissal import is_dismissal
from .early import Route, async_route
from .echo import ECHO_SECONDS, is_echo
from .origin import resolve
from .turn import Turn

if TYPE_CHECKING:
    from ..hub import Assistant

MARKER: Final = "…"
"""Stands for words that nobody knows: Home Assistant goes on only with a text."""
OFFER_SECONDS: Final = 30.0
"""How long after a question its words may still be the answer to it."""


async def async_listen(
    hass: HomeAssistant, assistant: Assistant, stream: AsyncIterable[bytes], language: str
) -> SpeechResult:
    """Take the speech of a run and return its words. It always ends."""
    satellite = noted_satellite()
    user = None if satellite else _connected_user()
    origin = resolve(hass, satellite, user, language=language)
    session = current_session.get()
    conversation_id = session.conversation_id if session else None
    # Without a session there is no pipeline: somebody only wants to know what was said.
    route = async_route(hass, origin, assistant.subentry_id, "stt") if session else Route()
    turn = Turn(
        hass,
        assistant=assistant,
        projection=assistant.projection(origin, conversation_id),
        origin=origin,
        conversation_id=conversation_id,
        source=Source.VOICE,
        route=route,
    )
    try:
        if conversation_id is None:
            return await _words_of(turn, stream, respond=False)
        waits = async_book(hass).others_wait(satellite, conversation_id)
        turn.watch(asyncio.current_task())
        current_turn.set(turn)
        return await _words_of(turn, stream, respond=route.early and not waits)
    except BaseException:
        turn.discard()
        raise
    finally:
        if conversation_id is None:
            turn.discard()


async def _words_of(turn: Turn, stream: AsyncIterable[bytes], *, respond: bool) -> SpeechResult:
    await _hear(turn, stream)
    turn.commit()
    turn.exchange.end_of_speech(respond=respond)
    return await _result(turn)


async def _hear(turn: Turn, stream: AsyncIterable[bytes]) -> None:
    """Stream the speech until Home Assistant ends it, or the provider hears its end."""
    pump = asyncio.ensure_future(_pump(turn, stream))
    waits: list[asyncio.Future[Any]] = [pump, asyncio.ensure_future(turn.leaving.wait())]
    ours = turn.assistant.options.turn_detection is TurnDetection.HOME_ASSISTANT
    if not ours:
        waits.append(asyncio.ensure_future(turn.exchange.speech_ended()))
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if pump.done():
            pump.result()
        if pump.done() and not ours:
            # The satellite stopped by itself; the provider has its own time to notice.
            await asyncio.wait(waits[1:], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waits:
            task.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def _pump(turn: Turn, stream: AsyncIterable[bytes]) -> None:
    async for pcm in stream:
        turn.exchange.append(pcm)


async def _result(turn: Turn) -> SpeechResult:
    """Return the words, a marker where only our conversation stage reads it, else an error."""
    heard = await turn.exchange.heard()
    if heard.how is How.NO_SPEECH or _echo(turn, heard.text):
        turn.discard()
        return SpeechResult("", SpeechResultState.SUCCESS)
    if heard.text:
        if turn.route.agent_ours and is_dismissal(heard.text, turn.origin.language, _offered(turn)):
            turn.dismiss()
        return SpeechResult(heard.text, SpeechResultState.SUCCESS)
    if turn.route.agent_ours:
        return SpeechResult(MARKER, SpeechResultState.SUCCESS)
    if (failure := turn.exchange.record.failure) is not None:
        turn.assistant.hub.health.failed(turn.assistant, failure)
    turn.discard()
    return SpeechResult(None, SpeechResultState.ERROR)


def _echo(turn: Turn, heard: str | None) -> bool:
    """Return whether a satellite heard its own answer, which ended just before."""
    said = async_book(turn.hass).last_spoken(turn.origin.satellite, turn.began - ECHO_SECONDS)
    return heard is not None and is_echo(heard, said)


def _offered(turn: Turn) -> str:
    """Return what a user who answers was asked: here, or by who started the conversation."""
    book = async_book(turn.hass)
    said = book.last_spoken(turn.origin.satellite, turn.began - OFFER_SECONDS)
    return f"{said} {book.peek_started(turn.conversation_id)}"


def _connected_user() -> str | None:
    """Return the user of a run that an app or a browser started."""
    connection = current_connection.get()
    return connection.user.id if connection else None
