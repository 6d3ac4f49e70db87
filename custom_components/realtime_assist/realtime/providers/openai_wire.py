"""What servers of OpenAI's kind say, in our words.

GA and beta names are understood, and nothing that comes over the wire raises an exception here.

Recorded deviations that this module knows: `status_details` may be a string and `usage` may stand
beside the response (xAI); a transcript may be told several times, each replacing the one before
(xAI); the name of a call may be missing until its item is done (Inworld); the code of an error may
stand in its `type` (Hugging Face, xAI).
"""

import binascii
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from ..events import (
    AudioDelta,
    CallDone,
    Cleared,
    Committed,
    ErrorEvent,
    Event,
    ItemAdded,
    ItemCut,
    ItemDeleted,
    ItemKind,
    LimitReached,
    OtherEvent,
    ReplyItem,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    SessionConfigured,
    SessionOpened,
    SpeechStarted,
    SpeechStopped,
    TextDelta,
    TranscriptDelta,
    TranscriptDone,
    Usage,
)
from .openai_frames import UNKNOWN_CODE, Frame, StatusDetails, UsageReport, sane_name

TURN: Final = "turn"
"""Key of a response's metadata: the turn that asked for it."""
ISOLATED: Final = "isolated"
"""Key of a response's metadata: it is not part of the conversation."""
GARBAGE: Final = "garbage"
"""Type of the event that a frame becomes which is no event at all."""


def decode(frame: str, *, null_is_isolated: bool) -> tuple[Event, ...]:
    """Return what a frame says, in order.

    `null_is_isolated`: a response whose conversation is explicitly null is out-of-band. Servers
    that fill everything with nulls say so of every response.
    """
    try:
        data = orjson.loads(frame)
    except ValueError:
        return (OtherEvent(GARBAGE),)
    if not isinstance(data, dict) or not isinstance(kind := data.get("type"), str):
        return (OtherEvent(GARBAGE),)
    if kind in _AUDIO:
        return (_audio(data),)
    if kind == "response.created":
        return (_started(data, null_is_isolated=null_is_isolated),)
    read = _READERS.get(kind)
    if read is None:
        return (OtherEvent(sane_name(kind) or GARBAGE),)
    return read(Frame.model_validate(data))


def _audio(data: Mapping[str, Any]) -> Event:
    """Read a piece of audio, by far the most frequent and the largest frame, without a model."""
    delta, response_id, item_id = data.get("delta"), data.get("response_id"), data.get("item_id")
    index = data.get("output_index")
    try:
        pcm = binascii.a2b_base64(delta) if isinstance(delta, str) else b""
    except ValueError:
        pcm = b""
    return AudioDelta(
        response_id=response_id if isinstance(response_id, str) else "",
        item_id=item_id if isinstance(item_id, str) else "",
        output_index=index if isinstance(index, int) else 0,
        pcm=pcm,
    )


def _opened(frame: Frame) -> tuple[Event, ...]:
    expires = frame.session.expires_at
    known = expires is not None and math.isfinite(expires) and expires > 0
    return (SessionOpened(session_id=frame.session.id, expires_at=expires if known else None),)


def _added(frame: Frame) -> tuple[Event, ...]:
    item = frame.item
    return (ItemAdded(item_id=item.id, kind=item.kind, call_id=item.call_id),)


def _transcript_delta(frame: Frame) -> tuple[Event, ...]:
    return (TranscriptDelta(item_id=frame.item_id, text=frame.delta),)


def _transcript_so_far(frame: Frame) -> tuple[Event, ...]:
    text = frame.transcript or ""
    return (TranscriptDelta(item_id=frame.item_id, text=text, replaces=True),)


def _transcript_done(frame: Frame) -> tuple[Event, ...]:
    if frame.status == "in_progress":
        return _transcript_so_far(frame)
    known = [p.logprob for p in frame.logprobs or () if p.logprob is not None and p.logprob <= 0]
    return (
        TranscriptDone(
            item_id=frame.item_id,
            text=frame.transcript,
            confidence=sum(map(math.exp, known)) / len(known) if known else None,
            usage=_tokens(frame.usage) if frame.usage is not None else None,
        ),
    )


def _started(data: Mapping[str, Any], *, null_is_isolated: bool) -> Event:
    response = Frame.model_validate(data).response
    metadata = response.metadata or {}
    turn = metadata.get(TURN)
    nowhere = "conversation_id" in response.model_fields_set and response.conversation_id is None
    return ResponseStarted(
        response_id=response.id,
        turn_id=turn if isinstance(turn, str) else None,
        isolated=bool(metadata.get(ISOLATED)) or (null_is_isolated and nowhere),
    )


def _reply_item(frame: Frame) -> tuple[Event, ...]:
    item = frame.item
    return (
        ReplyItem(
            response_id=frame.response_id,
            item_id=item.id,
            output_index=frame.output_index,
            kind=item.kind,
            call_id=item.call_id,
            phase=item.phase,
        ),
    )


def _reply_item_done(frame: Frame) -> tuple[Event, ...]:
    item = frame.item
    if item.kind is not ItemKind.CALL or not item.call_id or not item.name:
        return _reply_item(frame)
    call = CallDone(
        response_id=frame.response_id,
        item_id=item.id,
        output_index=frame.output_index,
        call_id=item.call_id,
        name=item.name,
        arguments=item.arguments or "",
    )
    return (*_reply_item(frame), call)


def _call_done(frame: Frame) -> tuple[Event, ...]:
    if not frame.name or not frame.call_id:
        return (OtherEvent("response.function_call_arguments.done"),)
    return (
        CallDone(
            response_id=frame.response_id,
            item_id=frame.item_id,
            output_index=frame.output_index,
            call_id=frame.call_id,
            name=frame.name,
            arguments=frame.arguments or "",
        ),
    )


def _text(*, spoken: bool) -> Callable[[Frame], tuple[Event, ...]]:
    def read(frame: Frame) -> tuple[Event, ...]:
        return (
            TextDelta(
                response_id=frame.response_id,
                item_id=frame.item_id,
                output_index=frame.output_index,
                text=frame.delta,
                spoken=spoken,
            ),
        )

    return read


def _response_done(frame: Frame) -> tuple[Event, ...]:
    response = frame.response
    details = response.status_details or StatusDetails()
    status, code = ResponseStatus.COMPLETED, None
    if response.status in set(ResponseStatus):
        status = ResponseStatus(response.status)
    elif response.status is not None:
        status, code = ResponseStatus.FAILED, "unknown_status"
    if status is ResponseStatus.FAILED and code is None:
        code = details.error.name if details.error else sane_name(details.reason) or UNKNOWN_CODE
    elif status is ResponseStatus.INCOMPLETE:
        code = sane_name(details.reason) or "incomplete"
    return (
        ResponseDone(
            response_id=response.id or frame.response_id,
            status=status,
            usage=_tokens(response.usage, frame.usage),
            error_code=code,
            retry_after=details.error.retry_after if details.error else None,
        ),
    )


def _tokens(*reports: UsageReport | None) -> Usage:
    """Return the first report that says anything."""
    for usage in reports:
        if usage is not None and usage.model_fields_set:
            read, made = usage.input_token_details, usage.output_token_details
            cached = read.cached_tokens_details
            return Usage(
                input_tokens=_count(usage.input_tokens),
                output_tokens=_count(usage.output_tokens),
                cached_tokens=_count(read.cached_tokens),
                input_text_tokens=_count(read.text_tokens),
                input_audio_tokens=_count(read.audio_tokens),
                input_image_tokens=_count(read.image_tokens),
                cached_text_tokens=_count(cached.text_tokens),
                cached_audio_tokens=_count(cached.audio_tokens),
                cached_image_tokens=_count(cached.image_tokens),
                output_text_tokens=_count(made.text_tokens),
                output_audio_tokens=_count(made.audio_tokens),
                seconds=_duration(usage.seconds),
            )
    return Usage()


def _error(frame: Frame) -> tuple[Event, ...]:
    error = frame.error
    return (
        ErrorEvent(
            code=error.name,
            event_id=error.event_id,
            param=sane_name(error.param),
            retry_after=error.retry_after,
        ),
    )


def _limits(frame: Frame) -> tuple[Event, ...]:
    """Return when there is more of what is used up; the slowest of them counts."""
    used_up = [
        limit.reset_seconds
        for limit in frame.rate_limits or ()
        if limit.remaining is not None and limit.remaining <= 0
        if limit.reset_seconds is not None and math.isfinite(limit.reset_seconds)
    ]
    if not used_up:
        return (OtherEvent("rate_limits.updated"),)
    return (LimitReached(max(used_up)),)


def _count(value: int | None) -> int | None:
    return value if value is not None and value >= 0 else None


def _duration(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) and value >= 0 else None


_AUDIO: Final = frozenset({"response.output_audio.delta", "response.audio.delta"})
_READERS: Final[dict[str, Callable[[Frame], tuple[Event, ...]]]] = {
    "session.created": _opened,
    "session.updated": lambda _: (SessionConfigured(),),
    "input_audio_buffer.speech_started": lambda f: (SpeechStarted(f.item_id or None),),
    "input_audio_buffer.speech_stopped": lambda f: (SpeechStopped(f.item_id or None),),
    "input_audio_buffer.committed": lambda f: (Committed(f.item_id),),
    "input_audio_buffer.cleared": lambda _: (Cleared(),),
    "conversation.item.added": _added,
    "conversation.item.created": _added,
    "conversation.item.deleted": lambda f: (ItemDeleted(f.item_id),),
    "conversation.item.truncated": lambda f: (ItemCut(f.item_id, f.audio_end_ms),),
    "conversation.item.input_audio_transcription.delta": _transcript_delta,
    "conversation.item.input_audio_transcription.updated": _transcript_so_far,
    "conversation.item.input_audio_transcription.completed": _transcript_done,
    "conversation.item.input_audio_transcription.failed": lambda f: (
        TranscriptDone(item_id=f.item_id, text=None),
    ),
    "response.output_item.added": _reply_item,
    "response.output_item.done": _reply_item_done,
    "response.output_audio_transcript.delta": _text(spoken=True),
    "response.audio_transcript.delta": _text(spoken=True),
    "response.output_text.delta": _text(spoken=False),
    "response.text.delta": _text(spoken=False),
    "response.function_call_arguments.done": _call_done,
    "response.done": _response_done,
    "error": _error,
    "rate_limits.updated": _limits,
}
