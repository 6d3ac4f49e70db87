"""One fixed conversation that touches what no public recording holds: delete, cut, cancel, errors.

Each act sends some events and waits for one of the kinds that end it. An error ends an act too,
since several acts are there to earn one.
"""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

type Json = dict[str, Any]

MODEL = "gpt-realtime-2.1"
_RATE = 24_000
_CHUNK_MS = 100


@dataclass(slots=True)
class Seen:
    """What acts refer to later."""

    speech: bytes
    """PCM at 24 kHz: somebody asks something."""
    reply: str = ""
    """The id of the newest spoken item of the model."""
    reply_ms: int = 0
    call: str = ""
    """The id of the newest call of a tool."""
    audio: dict[str, int] = field(default_factory=dict)

    def take(self, event: Json) -> None:
        """Note what later acts refer to."""
        if event.get("type") in ("response.output_audio.delta", "response.audio.delta"):
            item, sound = str(event["item_id"]), base64.b64decode(event["delta"])
            self.audio[item] = self.audio.get(item, 0) + len(sound) // 2 * 1000 // _RATE
            self.reply, self.reply_ms = item, self.audio[item]
        for item in (event.get("response") or {}).get("output") or ():
            if item.get("type") == "function_call":
                self.call = str(item.get("call_id", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Events to send, and the kinds of which one ends the act."""

    name: str
    send: Callable[[Seen], list[Json]]
    until: tuple[str, ...]
    settles: bool = True
    """Whether to wait for what follows: not while a response is to go on."""


def acts() -> Iterator[Act]:
    """Yield the acts in their order."""
    yield from _items()
    yield from _speech()
    yield from _cuts()
    yield from _responses()
    yield from _tools()
    yield from _refusals()


def session() -> Json:
    """Return the session that the acts are written for."""
    return {
        "type": "session.update",
        "session": {
            "type": "realtime",
            "output_modalities": ["audio"],
            "instructions": "Answer in one short sentence. For lamps use the tool.",
            "audio": {
                "input": {
                    "format": {"type": "audio/pcm", "rate": _RATE},
                    "turn_detection": None,
                    "transcription": {"model": "gpt-realtime-whisper", "language": "en"},
                },
                "output": {"format": {"type": "audio/pcm", "rate": _RATE}, "voice": "marin"},
            },
            "tools": [
                {
                    "type": "function",
                    "name": "lamp",
                    "description": "Switch a lamp.",
                    "parameters": {
                        "type": "object",
                        "properties": {"on": {"type": "boolean"}},
                        "required": ["on"],
                    },
                }
            ],
        },
    }


_DELETED = ("conversation.item.deleted",)
_ADDED = ("conversation.item.done", "conversation.item.created")
_DONE = ("response.done",)
_RESPOND: Json = {"type": "response.create"}


def _items() -> Iterator[Act]:
    yield Act(name="configure", send=lambda _: [session()], until=("session.updated",))
    yield Act(
        name="note",
        send=lambda _: [_text("note_1", "The bins go out on Monday.", "system")],
        until=_ADDED,
    )
    yield Act(
        name="same_id_again", send=lambda _: [_text("note_1", "Again.", "system")], until=_ADDED
    )
    yield Act(
        name="note_at_root",
        send=lambda _: [
            _text("note_2", "The house is called Elm.", "system") | {"previous_item_id": "root"}
        ],
        until=_ADDED,
    )
    yield Act(
        name="note_after_unknown",
        send=lambda _: [
            _text("note_3", "Nowhere.", "system") | {"previous_item_id": "item_unknown"}
        ],
        until=_ADDED,
    )
    yield Act(
        name="answer_text",
        send=lambda _: [_text("ask_1", "When do the bins go out?"), _RESPOND],
        until=_DONE,
    )
    yield Act(name="delete", send=lambda _: [_delete("note_1")], until=_DELETED)
    yield Act(
        name="delete_again",
        send=lambda _: [_delete("note_1")],
        until=_DELETED,
    )


def _speech() -> Iterator[Act]:
    yield Act(
        name="answer_speech",
        send=lambda seen: [
            *_appended(seen.speech),
            {"type": "input_audio_buffer.commit"},
            _RESPOND | {"response": {"metadata": {"turn": "2"}}},
        ],
        until=_DONE,
    )
    yield Act(
        name="clear",
        send=lambda seen: [*_appended(seen.speech[:_RATE]), {"type": "input_audio_buffer.clear"}],
        until=("input_audio_buffer.cleared",),
    )
    yield Act(
        name="commit_nothing",
        send=lambda _: [{"type": "input_audio_buffer.commit"}],
        until=("input_audio_buffer.committed",),
    )


def _cuts() -> Iterator[Act]:
    ends = ("conversation.item.truncated",)
    yield Act(name="cut", send=lambda seen: [_cut(seen.reply, 300)], until=ends)
    yield Act(
        name="retrieve_cut",
        send=lambda seen: [{"type": "conversation.item.retrieve", "item_id": seen.reply}],
        until=("conversation.item.retrieved",),
    )
    yield Act(name="cut_to_nothing", send=lambda seen: [_cut(seen.reply, 0)], until=ends)
    yield Act(
        name="cut_too_far", send=lambda seen: [_cut(seen.reply, seen.reply_ms + 60_000)], until=ends
    )
    yield Act(name="cut_of_user", send=lambda _: [_cut("ask_1", 100)], until=ends)


def _responses() -> Iterator[Act]:
    yield Act(
        name="begin_long",
        send=lambda _: [_text("ask_2", "Count slowly from one to thirty."), _RESPOND],
        until=("response.output_audio.delta",),
        settles=False,
    )
    yield Act(
        name="second_at_once",
        send=lambda _: [_RESPOND],
        until=("response.created",),
        settles=False,
    )
    yield Act(name="cancel", send=lambda _: [{"type": "response.cancel"}], until=_DONE)
    yield Act(
        name="cancel_nothing",
        send=lambda _: [{"type": "response.cancel"}],
        until=_DONE,
    )
    yield Act(
        name="delete_cancelled",
        send=lambda seen: [_delete(seen.reply)],
        until=_DELETED,
    )
    aside = {
        "conversation": "none",
        "output_modalities": ["text"],
        "instructions": "Summarise in five words.",
        "input": [_message("Anna likes tea with lemon.", "user")],
        "metadata": {"aside": "1"},
    }
    yield Act(name="aside", send=lambda _: [_RESPOND | {"response": aside}], until=_DONE)


def _tools() -> Iterator[Act]:
    yield Act(
        name="call", send=lambda _: [_text("ask_3", "Turn the lamp on."), _RESPOND], until=_DONE
    )
    yield Act(
        name="answer_call",
        send=lambda seen: [_output(seen.call), _RESPOND],
        until=_DONE,
    )
    yield Act(
        name="answer_unknown_call",
        send=lambda _: [_output("call_unknown")],
        until=_ADDED,
    )


def _refusals() -> Iterator[Act]:
    wrong_field = {"type": "session.update", "session": {"type": "realtime", "colour": "green"}}
    other_voice = {
        "type": "session.update",
        "session": {"type": "realtime", "audio": {"output": {"voice": "cedar"}}},
    }
    yield Act(name="unknown_field", send=lambda _: [wrong_field], until=("session.updated",))
    yield Act(name="other_voice", send=lambda _: [other_voice], until=("session.updated",))
    yield Act(
        name="unknown_event",
        send=lambda _: [{"type": "conversation.item.move"}],
        until=(),
    )


def _message(text: str, role: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def _text(item: str, text: str, role: str = "user") -> Json:
    return {"type": "conversation.item.create", "item": {"id": item, **_message(text, role)}}


def _note(item: str, *, after: str) -> Json:
    return _text(item, "The house is called Elm.", "system") | {"previous_item_id": after}


def _delete(item: str) -> Json:
    return {"type": "conversation.item.delete", "item_id": item}


def _cut(item: str, ms: int) -> Json:
    return {
        "type": "conversation.item.truncate",
        "item_id": item,
        "content_index": 0,
        "audio_end_ms": ms,
    }


def _output(call: str) -> Json:
    item = {"type": "function_call_output", "call_id": call, "output": '{"done": true}'}
    return {"type": "conversation.item.create", "item": item}


def _appended(pcm: bytes) -> list[Json]:
    size = 2 * _RATE * _CHUNK_MS // 1000
    return [
        {
            "type": "input_audio_buffer.append",
            "audio": base64.b64encode(pcm[start : start + size]).decode(),
        }
        for start in range(0, len(pcm), size)
    ]
