"""How other servers write the same events: small functions from an event to its other form.

A shaper returns the event as that server sends it, or None where that server sends nothing. An
adapter returns what a client wrote for that server in the form of the GA reference.
"""

from typing import Any

type Json = dict[str, Any]

_BETA_NAMES = {
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio.done": "response.audio.done",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
    "response.output_audio_transcript.done": "response.audio_transcript.done",
    "response.output_text.delta": "response.text.delta",
    "response.output_text.done": "response.text.done",
}
_PLAIN_PARTS = {"output_audio": "audio", "output_text": "text"}
_XAI_NAMES_PREVIOUS = {"conversation.item.added"}


def azure_content(event: Json) -> Json:
    """Azure sends the part of `content_part` events twice."""
    if event["type"].startswith("response.content_part."):
        return event | {"content": event["part"]}
    return event


def localai_event_id(event: Json) -> Json:
    """LocalAI has no ids for its events."""
    return event | {"event_id": "event_TODO"}


def hugging_face_errors(event: Json) -> Json:
    """Hugging Face calls an unknown item `conversation_item_not_found`."""
    error: Json = event.get("error", {})
    if error.get("type") == "item_delete_invalid_item_id":
        return event | {"error": error | {"type": "conversation_item_not_found"}}
    return event


def without_call_name(event: Json) -> Json:
    """Inworld leaves out the name when a call is complete."""
    if event["type"] == "response.function_call_arguments.done":
        return {key: value for key, value in event.items() if key != "name"}
    return event


# Beta names and the flat session


def beta_names(event: Json) -> Json:
    """Rename what was renamed for GA."""
    return event | {"type": _BETA_NAMES.get(event["type"], event["type"])}


def beta_session(event: Json) -> Json:
    """Show the session flat and without a type."""
    if event["type"] not in {"session.created", "session.updated"}:
        return event
    ga = event["session"]
    heard, said = ga["audio"]["input"], ga["audio"]["output"]
    return event | {
        "session": {
            "id": ga["id"],
            "object": ga["object"],
            "model": ga["model"],
            "modalities": _beta_modalities(ga["output_modalities"]),
            "instructions": ga["instructions"],
            "voice": said["voice"],
            "input_audio_format": "pcm16",
            "output_audio_format": "pcm16",
            "input_audio_transcription": heard["transcription"],
            "turn_detection": heard["turn_detection"],
            "tools": ga["tools"],
            "tool_choice": ga["tool_choice"],
            "max_response_output_tokens": ga["max_output_tokens"],
            "expires_at": ga["expires_at"],
        }
    }


def beta_items(event: Json) -> Json:
    """Call the parts of replies `audio` and `text`, and every item a `realtime.item`."""
    if "item" not in event:
        return event
    return event | {"item": _beta_item(event["item"])}


def beta_response(event: Json) -> Json:
    """Show the response flat."""
    if event["type"] not in {"response.created", "response.done"}:
        return event
    ga = event["response"]
    flat = {name: value for name, value in ga.items() if name not in {"output_modalities", "audio"}}
    flat["output"] = [_beta_item(item) for item in ga["output"]]
    flat["modalities"] = _beta_modalities(ga["output_modalities"])
    flat["voice"] = ga["audio"]["output"]["voice"]
    flat["output_audio_format"] = "pcm16"
    flat["temperature"] = None
    return event | {"response": flat}


def from_beta(event: Json) -> Json:
    """Read a flat session or response; GA's own form is understood too."""
    if "session" in event:
        return event | {"session": {"type": "realtime"} | _nested(event["session"])}
    if event["type"] == "response.create" and "response" in event:
        return event | {"response": _nested(event["response"])}
    if event["type"] == "conversation.item.create":
        parts = {"text": "output_text"}
        item = event["item"]
        content = [
            part | {"type": parts.get(part.get("type"), part.get("type"))}
            for part in item.get("content", [])
        ]
        return event | {"item": item | {"content": content}} if content else event
    return event


def _nested(flat: Json) -> Json:
    """Return flat settings with their GA names and places; None of them means no change."""
    nested = {name: value for name, value in flat.items() if name not in _FLAT and name != "voice"}
    if isinstance(modalities := flat.get("modalities"), list):
        nested["output_modalities"] = ["audio"] if "audio" in modalities else ["text"]
    for old in ("max_response_output_tokens", "max_output_tokens"):
        if old in flat:
            nested["max_output_tokens"] = flat[old]
    audio: Json = {side: dict(given) for side, given in flat.get("audio", {}).items()}
    for old, (side, new) in _INSIDE_AUDIO.items():
        if old in flat:
            audio.setdefault(side, {})[new] = flat[old]
    if audio:
        nested["audio"] = audio
    nested.pop("temperature", None)
    if "tools" in nested:
        nested["tools"] = [tool | tool.get("function", {}) for tool in nested["tools"]]
        for tool in nested["tools"]:
            tool.pop("function", None)
    return nested


_INSIDE_AUDIO = {
    "voice": ("output", "voice"),
    "turn_detection": ("input", "turn_detection"),
    "input_audio_transcription": ("input", "transcription"),
    "input_audio_noise_reduction": ("input", "noise_reduction"),
}
_FLAT = {
    *_INSIDE_AUDIO,
    "audio",
    "modalities",
    "max_response_output_tokens",
    "input_audio_format",
    "output_audio_format",
    "input_audio_sampling_rate",
}


def _beta_modalities(ga: list[str]) -> list[str]:
    """Return beta's modalities: who speaks also writes."""
    return ["audio", "text"] if ga == ["audio"] else ["text"]


def _beta_item(item: Json) -> Json:
    """Return an item with the beta names of its parts."""
    shown = {"id": item["id"], "object": "realtime.item"} | item
    if "content" in item and item.get("role") == "assistant":
        shown["content"] = [
            part | {"type": _PLAIN_PARTS.get(part["type"], part["type"])}
            for part in item["content"]
        ]
    return shown


# xAI


def xai_session(event: Json) -> Json:
    """Show xAI's mixture of flat and nested settings, which has no type."""
    if event["type"] not in {"session.created", "session.updated"}:
        return event
    ga = event["session"]
    session: Json = {
        "instructions": ga["instructions"],
        "voice": ga["audio"]["output"]["voice"],
        "modalities": ["audio"],
        "turn_detection": ga["audio"]["input"]["turn_detection"] or {"type": None},
        "tools": [
            {"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}}
            for tool in ga["tools"]
        ],
        "model": ga["model"],
        "tool_choice": ga["tool_choice"],
        "temperature": -1.0,
        "max_response_output_tokens": ga["max_output_tokens"],
    }
    if event["type"] == "session.created":
        session = {"id": ga["id"], "object": ga["object"]} | session
    return event | {"session": session}


def xai_items(event: Json) -> Json | None:
    """Show xAI's items: roles for calls, no content in output items, no name for done items."""
    kind = event["type"]
    if kind == "conversation.item.done":
        return None
    if kind == "response.content_part.done":
        return {name: value for name, value in event.items() if name != "part"}
    if kind == "response.function_call_arguments.delta":
        return {name: value for name, value in event.items() if name != "output_index"}
    if "item" not in event:
        return event
    item = {"id": event["item"]["id"], "object": "realtime.item"} | event["item"]
    item.pop("phase", None)
    if kind.startswith("response.output_item."):
        item.pop("content", None)
        if item["type"] == "function_call":
            item["role"] = "user"
    elif item["type"].startswith("function_call"):
        item["role"] = "tool"
    return event | {"item": item}


def xai_response(event: Json) -> Json:
    """Show xAI's response: a string for details, and usage beside it."""
    if event["type"] not in {"response.created", "response.done"}:
        return event
    ga = event["response"]
    shown = {name: ga[name] for name in ("id", "object", "output", "status")}
    shown["output"] = [
        _beta_item(item) | ({"role": "user"} if item["type"] == "function_call" else {})
        for item in ga["output"]
    ]
    shaped = event | {"response": shown | {"status_details": "unimplemented", "usage": {}}}
    if ga["usage"] is not None:
        shaped |= {"response_id": ga["id"], "usage": ga["usage"] | {"billable_audio_seconds": 1}}
    return shaped


def xai_previous(event: Json) -> Json:
    """Put `previous_item_id` on every event, with a value on few."""
    if event["type"] in {"session.created", "error"}:
        return event
    if event["type"] == "response.content_part.added":
        return event | {"previous_item_id": "0"}
    named = event.get("previous_item_id") if event["type"] in _XAI_NAMES_PREVIOUS else None
    return event | {"previous_item_id": named}


def xai_errors(event: Json) -> Json:
    """Call the session limit `max_duration`, in the type of the error."""
    error: Json = event.get("error", {})
    if event["type"] == "error" and error.get("code") == "session_expired":
        return event | {"error": error | {"type": "max_duration", "code": None}}
    return event


def from_xai(event: Json) -> Json:
    """Read xAI's session, where voice and turn detection stand at the top."""
    return from_beta(event)
