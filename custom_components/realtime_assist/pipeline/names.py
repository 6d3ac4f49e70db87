"""Names on request: a model looks up what it may control, instead of being told all of it before.

Home Assistant's prompt lists every exposed entity, some forty tokens each. With many of them that
is most of what a session begins with. Here the list is left out, and a tool knows it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final, override

import probatio
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.const import ATTR_DEVICE_CLASS
from homeassistant.core import HomeAssistant, State, callback
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import intent, llm

from ..const import DOMAIN

FOUND: Final = 40
"""Names that are told at once."""
TOOL: Final = f"{DOMAIN}__find_names"

_LISTED: Final = "Static Context: An overview of the areas and the devices in this smart home:"
"""What the list begins with; the same in 2026.10 and 2026.11."""
_FROM_LIST: Final = "from the static context below."
_PROMPT: Final = (
    "The names of the devices are not listed here. Before you control or speak of a device whose"
    f" exact name you have not seen in this conversation, look it up with '{TOOL}', and then use"
    " the name exactly as it was told. What is meant for a whole room or area needs no name."
)
_OWN_TOOLS: Final = frozenset({"calendar", "script"})
"""Domains whose entities have tools of their own: Home Assistant does not list them either."""


def on_request(instance: llm.APIInstance) -> llm.APIInstance:
    """Return an instance whose prompt lists no names, and which has a tool that finds them.

    One that lists none, since none is exposed or it is another API, is returned as it is.
    """
    prompt = without_names(instance.api_prompt)
    if prompt is None:
        return instance
    return replace(
        instance, api_prompt=f"{prompt}\n{_PROMPT}", tools=[*instance.tools, FindNames()]
    )


def without_names(prompt: str) -> str | None:
    """Return a prompt without its list of exposed entities, None if it has none."""
    lines = prompt.split("\n")
    if _LISTED not in lines:
        return None
    begin = lines.index(_LISTED)
    end = begin + 1
    while end < len(lines) and lines[end].startswith(("- ", "  ")):
        end += 1
    left = "\n".join((*lines[:begin], *lines[end:]))
    return left.replace(_FROM_LIST, f"from what '{TOOL}' tells.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exposed:
    """One thing that may be spoken of."""

    names: tuple[str, ...]
    domain: str
    device_class: str | None
    area_id: str | None
    areas: tuple[str, ...]
    """The name of its area, and others for it."""

    @property
    def words(self) -> str:
        return " ".join((*self.names, *self.areas, self.domain, self.device_class or "")).casefold()

    def told(self) -> dict[str, Any]:
        """Return it as a model is told of it."""
        told: dict[str, Any] = {"name": self.names[0], "domain": self.domain}
        if len(self.names) > 1:
            told["other_names"] = list(self.names[1:])
        if self.areas:
            told["area"] = self.areas[0]
        if self.device_class:
            told["kind"] = self.device_class
        return told


class FindNames(llm.Tool):
    """Finds the exact names of exposed entities."""

    name = TOOL
    title = "Find names"
    description = (
        "Finds the exact names of the devices and sensors that you may control or read, with their"
        " area. Say some words of the name, an area, a domain such as 'light', or several of them."
    )
    annotations = llm.ToolAnnotations(read_only=True, open_world=False)
    integration = DOMAIN
    parameters = probatio.Schema(
        {
            probatio.Optional("words", description="Words of the name, in any order"): str,
            probatio.Optional("area", description="Name of the room or area"): str,
            probatio.Optional("domain", description="For example 'light' or 'sensor'"): str,
        }
    )

    @override
    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Return what was found, nearest first: what is in the room comes before the rest."""
        asked = self.parameters(tool_input.tool_args)
        here = _area_of(hass, llm_context.device_id)
        words = asked.get("words", "").casefold().split()
        found = [
            (hits, one)
            for one in _exposed(hass, llm_context.assistant)
            if _is_there(one, asked.get("area", ""))
            and one.domain.startswith(asked.get("domain", "").strip().casefold())
            and ((hits := sum(word in one.words for word in words)) or not words)
        ]
        best = max((hits for hits, _ in found), default=0)
        near = [one for hits, one in found if hits == best]
        near.sort(key=lambda one: one.area_id != here or here is None)
        told: dict[str, Any] = {"found": [one.told() for one in near[:FOUND]]}
        if len(near) > FOUND:
            told["more"] = f"{len(near) - FOUND} others; say more words, an area or a domain."
        return llm.ToolResult(data=told)


def _is_there(one: _Exposed, area: str) -> bool:
    wanted = area.strip().casefold()
    return not wanted or any(wanted in name.casefold() for name in (*one.areas, one.area_id or ""))


@callback
def _exposed(hass: HomeAssistant, assistant: str | None) -> Iterator[_Exposed]:
    """Yield what is exposed to voice assistants, by name."""
    areas, registry = ar.async_get(hass), er.async_get(hass)
    for state in sorted(hass.states.async_all(), key=attrgetter("name")):
        if state.domain in _OWN_TOOLS or assistant is None:
            continue
        if not async_should_expose(hass, assistant, state.entity_id):
            continue
        entry = registry.async_get(state.entity_id)
        area_id = entry.area_id if entry else None
        area_id = area_id or _area_of(hass, entry.device_id if entry else None)
        area = areas.async_get_area(area_id) if area_id else None
        yield _Exposed(
            names=_names(hass, entry, state),
            domain=state.domain,
            device_class=state.attributes.get(ATTR_DEVICE_CLASS),
            area_id=area_id,
            areas=(area.name, *sorted(area.aliases)) if area else (),
        )


def _names(hass: HomeAssistant, entry: er.RegistryEntry | None, state: State) -> tuple[str, ...]:
    names = intent.async_get_entity_aliases(hass, entry, state=state)
    return tuple(names) or (state.name,)


def _area_of(hass: HomeAssistant, device_id: str | None) -> str | None:
    device = dr.async_get(hass).async_get(device_id) if device_id else None
    return dr.async_get_effective_area_id(hass, device) if device else None
