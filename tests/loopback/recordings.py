"""Recorded traffic of real servers, read for comparison with what this server sends.

The recordings are not part of this repository: where their folder is missing, the tests that need
it say so and are skipped.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

type Json = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "recordings"
_SIDE = ("input_audio_transcription", "rate_limits.updated", "ping")


def sessions(*prefixes: str) -> dict[str, list[Json]]:
    """Return the recorded server events of each session whose name begins with one of these."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.name.startswith(prefixes):
            steps = yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"]
            found[path.stem] = [
                step["data"]
                for step in steps
                if step.get("kind") == "message" and step["direction"] == "received"
            ]
    return found


def is_side(event: Json) -> bool:
    """Tell whether an event belongs to a lane of its own, beside the response."""
    return any(part in event["type"] for part in _SIDE)


def responses(events: Iterable[Json]) -> Iterator[list[Json]]:
    """Yield the events from each `response.created` to its `response.done`."""
    current: list[Json] | None = None
    for event in events:
        if event["type"] == "response.created":
            current = []
        if current is None:
            continue
        current.append(event)
        if event["type"] == "response.done":
            yield current
            current = None


def main_lane(response: Iterable[Json]) -> tuple[str, ...]:
    """Return the sequence of a response: without side lanes, runs of deltas as one."""
    lane: list[str] = []
    for event in response:
        if is_side(event) or event["type"].startswith(("input_audio_buffer", "session")):
            continue
        tag = event["type"]
        if tag.startswith("conversation.item."):
            item = event["item"]
            if item.get("role") in {"user", "system"} or item["type"] == "function_call_output":
                continue
            tag += f"({item['type']})"
        if "delta" in tag and tag in lane[-2:]:
            continue
        lane.append(tag)
    return tuple(lane)


def fields_of(value: object, path: str = "") -> set[tuple[str, str]]:
    """Return every field in an event with the JSON type of its value; lists count as one element.

    Free-form objects (a tool's parameters, metadata) are one field, ids are only strings.
    """
    kind = {dict: "object", list: "array", bool: "bool", int: "number", float: "number"}
    name = "null" if value is None else kind.get(type(value), "string")
    found = {(path, name)}
    if isinstance(value, dict) and not path.endswith(("parameters", "metadata")):
        for key, inner in value.items():
            found |= fields_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            found |= fields_of(inner, f"{path}[]")
    return found
