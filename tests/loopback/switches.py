"""Every behaviour of the server that could be otherwise, each with where its value is known from.

The defaults are what OpenAI's own server does, as far as it is recorded, documented or reported.
What is not recorded has its other plausible values in `mix`; :meth:`Switches.mixed` throws dice for
those, and the client's tests run under several seeds, since a client must not depend on a guess.
The values that only other servers show are used by their personalities (see `personalities.py`) and
stand beside.
"""

import random
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

from .marks import Mark, assumed, documented, recorded, reported

_TABLE = "table of deviations of OpenAI-compatible servers"


def switch(default: Any, mark: Mark, *mix: Any) -> Any:  # noqa: ANN401 - a field of any type
    """Declare a switch.

    Its default, where that is known from, and the values a seeded mix draws from.
    """
    return field(default=default, metadata={"mark": mark, "mix": mix})


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """One choice for each behaviour.

    Times are seconds of the server's clock unless named otherwise.
    """

    # Items and their acknowledgements
    item_events: Literal["added_done", "added", "created", "created_done"] = switch(
        "added_done", recorded("openai-*: a created item is added, then done")
    )
    announce_replies: bool = switch(
        True, recorded("openai-*: conversation.item.added for assistant items")
    )
    previous_item_id: Literal["honoured", "ignored", "echoed"] = switch(
        "honoured", documented("conversation.item.create; 'echoed' and 'ignored': " + _TABLE)
    )
    unknown_previous: Literal["refused", "appended"] = switch(
        "refused", documented("conversation.item.create: an error is returned")
    )
    duplicate_id: Literal["refused", "accepted"] = switch(
        "refused", reported("livekit-agents handles item_create_duplicate_item_id")
    )
    unknown_call: Literal["refused", "accepted"] = switch(
        "refused", reported("invalid_tool_call_id, without event id"), "refused", "accepted"
    )
    assistant_audio: Literal["missing_text", "wrong_type"] = switch(
        "missing_text", reported("openai-agents-js#963"), "missing_text", "wrong_type"
    )
    delete_in_progress: Literal["accepted", "refused"] = switch(
        "accepted", assumed("no source for an item that is being generated"), "accepted", "refused"
    )
    deleted_names_item: bool = switch(
        True, documented("conversation.item.deleted; False: xAI, " + _TABLE)
    )
    delete_reply: Literal["works", "refused"] = switch(
        "works", documented("conversation.item.delete; 'refused': Hugging Face has other ids")
    )
    truncate: Literal["cuts", "blanks", "acks_only"] = switch(
        "cuts", documented("conversation.item.truncate; 'blanks' LocalAI, 'acks_only' vLLM")
    )
    truncate_at_zero: Literal["refused", "accepted"] = switch(
        "refused", reported("livekit/agents#6249"), "refused", "accepted"
    )
    retrieve_holds_audio: bool = switch(True, documented("conversation.item.retrieved"))
    done_previous: Literal["sometimes_null", "always"] = switch(
        "sometimes_null", recorded("openai-*: item.done without previous_item_id for replies")
    )
    acks: Literal["at_once", "after_response"] = switch(
        "at_once", recorded("openai-*; 'after_response': Hugging Face, " + _TABLE)
    )

    # Errors
    error_names_event: bool = switch(True, documented("error.event_id; False: LocalAI, " + _TABLE))
    error_shape: Literal["code", "type_only"] = switch(
        "code", documented("error.code; 'type_only': Hugging Face puts it into error.type")
    )
    unknown_fields: Literal["refused", "ignored"] = switch(
        "refused", reported("TanStack/ai#586: unknown_parameter"), "refused", "ignored"
    )
    cancel_idle: Literal["refused", "silent"] = switch(
        "refused", reported("response_cancel_not_active, pipecat#3755"), "refused", "silent"
    )
    auth_refusal: Literal["http", "event"] = switch(
        "http", reported("HTTP 401, or an error event and close 3000"), "http", "event"
    )
    model_refusal: Literal["http", "event"] = switch(
        "http", assumed("HTTP 404, or an error event and close 4004"), "http", "event"
    )

    # Turn taking
    vad_cancels_anyway: bool = switch(
        False, reported("livekit-agents: create_response false alone may cancel"), False, True
    )
    vad_while_active: Literal["error", "dropped"] = switch(
        "error", documented("interrupt_response false: creating may fail"), "error", "dropped"
    )
    commit_with_vad: Literal["accepted", "not_implemented"] = switch(
        "accepted", documented("input_audio_buffer.commit; else LocalAI, " + _TABLE)
    )
    semantic_vad: Literal["works", "dead"] = switch(
        "works", documented("semantic_vad; 'dead': Azure, livekit/agents#6871")
    )
    user_item_at: Literal["commit", "speech_started"] = switch(
        "commit", recorded("openai-*; 'speech_started': xai-audio_in_server_vad_turn")
    )
    buffer_clear: Literal["cleared", "unsupported"] = switch(
        "cleared", documented("input_audio_buffer.clear")
    )
    input_rate: int = switch(24_000, documented("audio/pcm: 24000 only; Qwen hears 16000"))

    # Responses
    metadata_echo: bool = switch(
        True,
        documented("response.metadata; never recorded, clones may not echo"),
        True,
        True,
        False,
    )
    out_of_band: Literal["isolated", "appends_input", "refused"] = switch(
        "isolated", documented("conversation none; else LocalAI, speaches: " + _TABLE)
    )
    trailing_deltas: int = switch(
        2, reported("sglang-omni#1344, twilio: deltas after a cancel"), 0, 1, 2, 3
    )
    cancelled_item: Literal["kept", "removed"] = switch(
        "kept", documented("an incomplete item stays"), "kept", "kept", "removed"
    )
    unanswered_calls: Literal["ask_again", "ignored"] = switch(
        "ask_again", reported("livekit/agents#6785, #6569"), "ask_again", "ignored"
    )
    audio_close: tuple[str, ...] = switch(
        ("audio", "transcript", "part"),
        recorded("openai-*: audio.done, transcript.done, part.done; xAI has another order"),
    )
    usage: Literal["in_response", "beside_response", "none", "zero"] = switch(
        "in_response", recorded("openai-*; 'beside_response': xai-*; 'none': clones, 'zero' too")
    )
    assistant_audio_counted: bool = switch(
        True, assumed("27, 96, 124 audio tokens in three turns leave it open"), True, False
    )
    cached_share: Literal["prefix", "none", "erratic"] = switch(
        "erratic",
        recorded("openai-*: hits of 64 and none in hot turns"),
        "prefix",
        "none",
        "erratic",
    )
    rate_limits: Literal["after_done", "never", "sometimes"] = switch(
        "sometimes", recorded("openai-*: after response.done, or not at all")
    )
    over_limit: Literal["failed_response", "error_event"] = switch(
        "failed_response",
        assumed("truncation 'disabled' returns an error, its form unknown"),
        "failed_response",
        "error_event",
    )
    expiry: Literal["error", "close"] = switch(
        "error", reported("livekit/agents#2358; pollen-robotics/reachy#134"), "error", "close"
    )

    # Transcription
    transcript_after: tuple[int, int] = switch(
        (4, 9), recorded("openai-*, azure-*: completed after 4 to 9 audio deltas")
    )
    transcript_style: Literal["deltas", "cumulative", "whole"] = switch(
        "deltas", recorded("openai-*; 'cumulative': xai-*; 'whole': azure_voice_live-*")
    )
    transcript_while_speaking: bool = switch(
        False,
        recorded("openai-input_audio_retention_*: deltas before the commit; later elsewhere"),
        False,
        True,
    )
    transcript_of_deleted: Literal["sent", "withheld"] = switch(
        "sent", assumed("late events for deleted items are possible"), "sent", "withheld"
    )
    transcript_alone: float = switch(0.7, assumed("when no response is asked for"), 0.2, 0.7, 1.5)

    # Pace
    think: tuple[float, float] = switch(
        (0.35, 0.8), reported("time to first audio 0.8 s; text earlier"), (0.1, 0.3), (0.35, 0.8)
    )
    handling: tuple[float, float] = switch(
        (0.002, 0.02),
        assumed("network and server, per client event"),
        (0.0, 0.0),
        (0.002, 0.02),
        (0.005, 0.12),
    )
    audio_delta_ms: int = switch(250, reported("frames of about 16 kB base64"), 100, 250, 400)
    audio_speed: float = switch(
        4.0, assumed("audio is made at 3 to 5 times real time"), 3.0, 4.0, 5.0
    )
    characters_per_second: float = switch(
        15.0, assumed("text paced with the audio"), 12.0, 15.0, 20.0
    )
    text_lead: int = switch(
        12, recorded("openai-*: a few words of text before the first audio"), 4, 12, 24
    )

    # Whatever else may arrive
    extra_fields: Literal["obfuscation", "everywhere", "none"] = switch(
        "obfuscation",
        recorded("openai-*: obfuscation is in no published type; 'everywhere' is one more"),
        "obfuscation",
        "everywhere",
        "none",
    )
    extra_events: bool = switch(
        False, assumed("a new kind of event may appear any day"), False, True
    )
    pings: bool = switch(False, recorded("xai-*: True there"))
    conversation_created: bool = switch(False, recorded("xai-*: True there"))

    @classmethod
    def mixed(cls, seed: int) -> Self:
        """Return a choice by the dice `seed` for everything that is not recorded."""
        dice = random.Random(seed)  # noqa: S311 - a repeatable choice, no secret
        chosen = {
            one.name: dice.choice(one.metadata["mix"]) for one in fields(cls) if one.metadata["mix"]
        }
        return replace(cls(), **chosen)

    def but(self, **changes: Any) -> Self:  # noqa: ANN401 - the fields have their own types
        """Return the same choice with some switches set otherwise."""
        return replace(self, **changes)
