"""Other servers that speak this protocol in their own way, as data: switches, shapes and gaps.

Each comes from the table of deviations or from recorded traffic of that server. A personality is
applied last, to events that go out, and first, to events that come in, so that the server behind
has one form only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import dialects as d
from .marks import Mark, documented, recorded, reported
from .switches import Switches

type Json = dict[str, Any]
type Shaper = Callable[[Json], Json | None]


@dataclass(frozen=True, slots=True)
class Personality:
    """One server's ways.

    `unsupported` client events are answered with that code, or are `silent`.
    """

    name: str
    mark: Mark
    overrides: Mapping[str, Any] = field(default_factory=dict)
    unsupported: Mapping[str, str] = field(default_factory=dict)
    shapers: tuple[Shaper, ...] = ()
    adapter: Callable[[Json], Json] | None = None

    @property
    def switches(self) -> Switches:
        """The default switches with this server's own."""
        return Switches().but(**self.overrides)

    def mixed(self, seed: int) -> Switches:
        """Return a seeded mix of what is not recorded, with what is known of this server."""
        return Switches.mixed(seed).but(**self.overrides)

    def shape(self, event: Json) -> list[Json]:
        """Return what goes out for an event: one event, or none."""
        shaped: Json | None = event
        for shaper in self.shapers:
            if shaped is None:
                return []
            shaped = shaper(shaped)
        return [] if shaped is None else [shaped]

    def adapt(self, event: Json) -> Json:
        """Return a client's event in the form of the GA reference."""
        return event if self.adapter is None else self.adapter(event)


OPENAI = Personality("openai", recorded("openai-*: five sessions"))

AZURE = Personality(
    "azure",
    recorded("azure-*: a second copy of the part under 'content'"),
    {"semantic_vad": "dead"},
    shapers=(d.azure_content,),
)

LOCALAI = Personality(
    "localai",
    reported("mudler/LocalAI realtime.go, snapshot of 2026-08-22"),
    {
        "item_events": "added",
        "previous_item_id": "echoed",
        "error_names_event": False,
        "truncate": "blanks",
        "commit_with_vad": "not_implemented",
        "out_of_band": "appends_input",
        "duplicate_id": "accepted",
        "unknown_fields": "ignored",
        "transcript_style": "whole",
        "metadata_echo": False,
    },
    shapers=(d.localai_event_id,),
)

HUGGING_FACE = Personality(
    "hugging_face",
    reported("speech-to-speech 1.1.0, observed by a raw client"),
    {
        "item_events": "created",
        "announce_replies": False,
        "delete_reply": "refused",
        "previous_item_id": "ignored",
        "duplicate_id": "accepted",
        "unknown_call": "accepted",
        "error_shape": "type_only",
        "acks": "after_response",
        "cancel_idle": "silent",
        "unknown_fields": "ignored",
        "usage": "none",
        "transcript_style": "whole",
    },
    {
        "conversation.item.retrieve": "unknown_or_invalid_event",
        "input_audio_buffer.clear": "unknown_or_invalid_event",
        "conversation.item.truncate": "unknown_or_invalid_event",
    },
    shapers=(d.hugging_face_errors,),
)

XAI = Personality(
    "xai",
    recorded("xai-*: four sessions"),
    {
        "item_events": "added",
        "deleted_names_item": False,
        "error_names_event": False,
        "truncate": "acks_only",
        "user_item_at": "speech_started",
        "transcript_style": "cumulative",
        "usage": "beside_response",
        "metadata_echo": False,
        "extra_fields": "none",
        "pings": True,
        "conversation_created": True,
        "audio_close": ("transcript", "part", "audio"),
        "unknown_fields": "ignored",
        "rate_limits": "never",
        "text_lead": 0,
    },
    shapers=(d.xai_errors, d.xai_session, d.xai_items, d.xai_response, d.xai_previous),
    adapter=d.from_xai,
)

VOICE_LIVE = Personality(
    "voice_live",
    recorded("azure_voice_live-audio_in_server_vad_turn"),
    {
        "item_events": "created_done",
        "transcript_style": "whole",
        "unknown_fields": "ignored",
        "rate_limits": "never",
        "transcript_after": (1, 1),
    },
    shapers=(d.beta_session, d.beta_names, d.beta_items, d.beta_response),
    adapter=d.from_beta,
)

NO_DELETE = Personality(
    "no_delete",
    documented("dashscope 2.0.2: no delete, retrieve or truncate; beta names; hears 16 kHz"),
    {
        "item_events": "created",
        "input_rate": 16_000,
        "unknown_fields": "ignored",
        "previous_item_id": "ignored",
        "metadata_echo": False,
        "transcript_style": "whole",
    },
    {
        "conversation.item.delete": "unknown_or_invalid_event",
        "conversation.item.retrieve": "unknown_or_invalid_event",
        "conversation.item.truncate": "unknown_or_invalid_event",
    },
    shapers=(d.beta_session, d.beta_names, d.beta_items, d.beta_response),
    adapter=d.from_beta,
)

INWORLD = Personality(
    "inworld",
    reported("pipecat 1.14.0: pings, no delete or truncate, name may be missing"),
    {"pings": True, "unknown_fields": "ignored"},
    {"conversation.item.delete": "silent", "conversation.item.truncate": "silent"},
    shapers=(d.without_call_name,),
)

SPEACHES = Personality(
    "speaches",
    reported("speaches, snapshot of 2026-03: beta names, no out of band, no usage"),
    {
        "item_events": "created",
        "out_of_band": "refused",
        "previous_item_id": "ignored",
        "usage": "none",
        "unknown_fields": "ignored",
        "transcript_style": "whole",
    },
    {"response.cancel": "server_error", "conversation.item.truncate": "server_error"},
    shapers=(d.beta_session, d.beta_names, d.beta_items, d.beta_response),
    adapter=d.from_beta,
)

MUTE = Personality(
    "mute",
    reported("vllm-project/vllm#32304: truncate acknowledged, nothing done; no error ids"),
    {"truncate": "acks_only", "error_names_event": False, "metadata_echo": False},
)

PERSONALITIES = {
    one.name: one
    for one in (
        OPENAI,
        AZURE,
        LOCALAI,
        HUGGING_FACE,
        XAI,
        VOICE_LIVE,
        NO_DELETE,
        INWORLD,
        SPEACHES,
        MUTE,
    )
}
