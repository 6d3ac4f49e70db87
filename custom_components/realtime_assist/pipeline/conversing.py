"""Which turn a conversation stage answers: the one that was spoken just now, or one of its own."""

import asyncio
from typing import TYPE_CHECKING

from homeassistant.components.conversation import ChatLog, ConversationInput, ConversationResult
from homeassistant.core import HomeAssistant
from homeassistant.helpers import intent

from ..memory.transcript import Source
from .book import async_book
from .context import current_turn
from .dismissal import is_dismissal
from .early import async_route
from .origin import resolve
from .replying import Replying
from .turn import Turn

if TYPE_CHECKING:
    from ..hub import Assistant


async def async_converse(
    hass: HomeAssistant,
    assistant: Assistant,
    agent_id: str,
    user_input: ConversationInput,
    chat_log: ChatLog,
) -> ConversationResult:
    """Answer in a chat log. Only a cancellation is raised."""
    extra = _extra_prompt(hass, user_input, chat_log.conversation_id)
    turn = current_turn.get()
    spoken = turn is not None and turn.claim_conversation(
        assistant.subentry_id, chat_log.conversation_id
    )
    if _dismissed(turn if spoken else None, user_input, extra):
        return _nothing(user_input, chat_log)
    if turn is None or not spoken:
        # Typed, heard by another engine, or asked by something that this or another turn started.
        turn = _own_turn(hass, assistant, user_input, chat_log.conversation_id)
        turn.projection.fix(turn, extra)
        turn.exchange.say(user_input.text)
    else:
        if extra:
            turn.projection.fix(turn, extra)
        turn.exchange.respond()
    replying = Replying(
        hass,
        turn,
        user_input,
        chat_log,
        spoken_by_us=turn.audio and not turn.route.speech_other,
    )
    try:
        result = await replying.run(agent_id)
    except BaseException:
        if not turn.audio:
            turn.interrupt()
        raise
    finally:
        turn.conclude(replying.answer.apology)
        if not turn.audio:
            turn.finish()
    if (failure := replying.answer.failure) is not None:
        assistant.hub.health.failed(assistant, failure)
    elif turn.exchange.record.said:
        assistant.hub.health.worked(assistant)
    return result


def _dismissed(turn: Turn | None, user_input: ConversationInput, extra: str | None) -> bool:
    """Return whether "never mind" is all that was said; the turn of it is over then."""
    if turn is not None:
        if turn.dismissed:
            turn.discard()
        return turn.dismissed
    # Another engine heard it. What is typed is an answer to what stands above it, and goes on.
    by_voice = user_input.satellite_id is not None
    return by_voice and is_dismissal(user_input.text, user_input.language, extra or "")


def _nothing(user_input: ConversationInput, chat_log: ChatLog) -> ConversationResult:
    """Return that nothing is said."""
    response = intent.IntentResponse(language=user_input.language)
    response.async_set_speech("")
    return ConversationResult(response=response, conversation_id=chat_log.conversation_id)


def _own_turn(
    hass: HomeAssistant, assistant: Assistant, user_input: ConversationInput, conversation_id: str
) -> Turn:
    """Return a turn for words that came as text; spoken only where our voice follows."""
    satellite = user_input.satellite_id
    origin = resolve(
        hass,
        satellite,
        user_input.context.user_id,
        device_id=user_input.device_id,
        language=user_input.language,
    )
    route = async_route(hass, origin, assistant.subentry_id, "conversation")
    audio = satellite is not None and route.speech_ours
    turn = Turn(
        hass,
        assistant=assistant,
        projection=assistant.projection(origin, conversation_id, text=not audio),
        origin=origin,
        conversation_id=conversation_id,
        source=Source.TEXT,
        route=route,
        audio=audio,
    )
    if audio:
        turn.watch(asyncio.current_task())
        current_turn.set(turn)
    return turn


def _extra_prompt(
    hass: HomeAssistant, user_input: ConversationInput, conversation_id: str
) -> str | None:
    """Return what this run was told besides the user's words, as by `start_conversation`."""
    started = async_book(hass).take_started(conversation_id)
    extra = user_input.extra_system_prompt
    parts = []
    if started:
        parts.append(f'You spoke first here and said: "{started}" The user answers that.')
    if extra and extra != started:
        parts.append(extra)
    return "\n".join(parts) or None
