"""Keep broad calls in the room: "turn off the lights" is said in one room, and means that room."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import probatio
from homeassistant.helpers import intent, llm

# What narrows a call down to one thing or one place.
_NARROW: Final = ("name", "area", "floor")
# What means "all of this kind".
_KIND: Final = ("domain", "device_class")
# Intents that act on everything that fits, even when they are told no kind.
_SWEEPING: Final = frozenset(
    {
        intent.INTENT_TURN_ON,
        intent.INTENT_TURN_OFF,
        intent.INTENT_TOGGLE,
        intent.INTENT_SET_POSITION,
        "HassLightSet",
    }
)
REFUSAL: Final = (
    "Where is not known, so this would act in the whole home."
    " Ask which room is meant, then say its area."
    " If the whole home is really wanted, call once for each area."
)


def confine(
    tool: llm.Tool, arguments: Mapping[str, Any], area_id: str | None
) -> tuple[dict[str, Any], str | None]:
    """Return the arguments with the area that was meant, or why the call is refused.

    A call that names a thing, an area or a floor, and a tool that only reads, are left as they are.
    """
    given = dict(arguments)
    if not _is_broad(tool, given):
        return given, None
    if area_id is None:
        return given, REFUSAL
    return {**given, "area": area_id}, None


def _is_broad(tool: llm.Tool, arguments: Mapping[str, Any]) -> bool:
    while isinstance(tool, llm.NamespacedTool):
        tool = tool.tool
    if not isinstance(tool, llm.IntentTool) or tool.annotations.read_only:
        return False
    if not _takes_area(tool):
        return False
    if any(not intent.is_blank_slot_value(arguments.get(key)) for key in _NARROW):
        return False
    kind = any(not intent.is_blank_slot_value(arguments.get(key)) for key in _KIND)
    return kind or tool.intent_type in _SWEEPING


def _takes_area(tool: llm.IntentTool) -> bool:
    schema = tool.parameters.schema
    return isinstance(schema, Mapping) and any("area" in _names(key) for key in schema)


def _names(key: object) -> Iterator[str]:
    """Return the names that a key of a schema stands for: itself, or any of several."""
    if isinstance(key, str):
        yield key
    elif isinstance(key, probatio.Any):
        for one in key.validators:
            yield from _names(one)
    elif isinstance(key, probatio.Marker):
        yield from _names(key.schema)
