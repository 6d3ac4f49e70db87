"""Who may be recognised: the persons of the home, and the speakers of all accounts together."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from homeassistant.const import CONF_NAME
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from .const import CONF_ALIASES, CONF_PERSON, DOMAIN, SUBENTRY_SPEAKER
from .memory.scopes import Scope, ScopeKey

PERSON: Final = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Somebody who may be recognised."""

    key: ScopeKey
    """The person's registry id, else the id of the speaker's subentry."""
    name: str
    names: frozenset[str]
    """What else means this speaker, as `folded` has it: ids, name, aliases."""


def folded(text: str) -> str:
    """Return a name as names are compared: case, spaces and ways to write letters do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def names_of(*texts: object) -> frozenset[str]:
    """Return the names among these, folded."""
    return frozenset(name for text in texts if isinstance(text, str) and (name := folded(text)))


@callback
def async_speakers(hass: HomeAssistant) -> tuple[Speaker, ...]:
    """Return who may be recognised, by name; each one once, however many accounts name it."""
    found = {speaker.key: speaker for speaker in _persons(hass)}
    for speaker in _subentries(hass):
        known = found.get(speaker.key)
        found[speaker.key] = replace(known, names=known.names | speaker.names) if known else speaker
    return tuple(sorted(found.values(), key=lambda each: (folded(each.name), str(each.key))))


def find(speakers: Iterable[Speaker], text: object) -> Speaker | None:
    """Return whom a text names; None where that is nobody, or might be two."""
    wanted = names_of(text)
    found = [speaker for speaker in speakers if wanted & speaker.names]
    return found[0] if len(found) == 1 else None


def labels(speakers: Iterable[Speaker], reserved: Collection[str] = ()) -> dict[str, ScopeKey]:
    """Return a text for each speaker to choose from; no two are equal, and none is reserved."""
    made: dict[str, ScopeKey] = {}
    for speaker in speakers:
        label, number = speaker.name, 2
        while label in made or label in reserved:
            label, number = f"{speaker.name} ({number})", number + 1
        made[label] = speaker.key
    return made


def _persons(hass: HomeAssistant) -> Iterator[Speaker]:
    registry = er.async_get(hass)
    for state in hass.states.async_all(PERSON):
        entry = registry.async_get(state.entity_id)
        key = ScopeKey(Scope.SPEAKER, entry.id if entry else state.entity_id)
        yield Speaker(key=key, name=state.name, names=names_of(state.entity_id, key.id, state.name))


def _subentries(hass: HomeAssistant) -> Iterator[Speaker]:
    registry = er.async_get(hass)
    for entry in hass.config_entries.async_entries(DOMAIN, include_disabled=False):
        for subentry in entry.get_subentries_of_type(SUBENTRY_SPEAKER):
            reference = subentry.data.get(CONF_PERSON)
            person = registry.async_get(reference) if isinstance(reference, str) else None
            name = subentry.data.get(CONF_NAME)
            name = name.strip() if isinstance(name, str) and name.strip() else subentry.title
            aliases = subentry.data.get(CONF_ALIASES)
            yield Speaker(
                key=ScopeKey(Scope.SPEAKER, person.id if person else subentry.subentry_id),
                name=name,
                names=names_of(
                    subentry.subentry_id,
                    name,
                    *((person.id, person.entity_id) if person else ()),
                    *(aliases if isinstance(aliases, list | tuple) else ()),
                ),
            )
