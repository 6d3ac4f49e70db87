"""Who is speaking, on each satellite's device: shown, and to be chosen by hand.

What was chosen is not restored after a restart: by then nobody knows who stands there.
"""

from datetime import datetime, timedelta
from typing import Final, override

from homeassistant.components.select import SelectEntity
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import (
    CALLBACK_TYPE,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.event import async_track_point_in_utc_time

from .actions.speaker import async_check_choice
from .assistant import entity_id
from .hub import RealtimeAssistConfigEntry
from .memory.scopes import ScopeKey
from .satellite_entities import SatelliteEntity
from .satellites import async_satellite_options
from .speakers import PERSON, async_speakers, labels
from .who import async_who

PARALLEL_UPDATES = 0

GUEST: Final = "guest"
UNKNOWN: Final = "unknown"

_MOMENT: Final = timedelta(milliseconds=1)


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001
    entry: RealtimeAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Keep a select on the device of each satellite that this account looks after."""
    entry.runtime_data.satellite_entities.offer(SpeakerSelect, async_add_entities)


class SpeakerSelect(SatelliteEntity, SelectEntity):
    """Who speaks at one satellite."""

    key = "speaker"
    _end: CALLBACK_TYPE | None = None

    @property
    @override
    def options(self) -> list[str]:
        """Return who may be chosen."""
        return [*self._people, GUEST, UNKNOWN]

    @property
    @override
    def current_option(self) -> str:
        """Return who counts as speaking now, however that is known."""
        standing = async_who(self.hass).standing(self.satellite)
        if standing.speaker is None:
            return GUEST if standing.guest else UNKNOWN
        return next(
            (name for name, key in self._people.items() if key == standing.speaker.key), UNKNOWN
        )

    @override
    async def async_select_option(self, option: str) -> None:
        """Take it that somebody speaks there now."""
        speaker = self._people.get(option)
        user_id = self._context.user_id if self._context else None
        await async_check_choice(self.hass, user_id, speaker)
        async_who(self.hass).choose(self.satellite, speaker, guest=option == GUEST)

    @override
    async def async_added_to_hass(self) -> None:
        """Follow what proves who speaks."""
        self.async_on_remove(async_who(self.hass).subscribe(self._changed))
        self.async_on_remove(
            self.hass.bus.async_listen(
                EVENT_STATE_CHANGED, self._state_changed, event_filter=self._tells
            )
        )
        self.async_on_remove(self._forget_end)
        self._plan()

    @callback
    def _tells(self, data: EventStateChangedData) -> bool:
        """Whether a state is one of a person, or of the source of this satellite."""
        if data["entity_id"].startswith(f"{PERSON}."):
            return True
        source = async_satellite_options(self.hass, self.satellite).speaker_source
        return source is not None and data["entity_id"] == entity_id(self.hass, source)

    @callback
    def _state_changed(self, _event: Event[EventStateChangedData]) -> None:
        self._changed()

    @callback
    def _changed(self) -> None:
        self._plan()
        self.async_write_ha_state()

    @callback
    def _plan(self) -> None:
        """Show it when it is not known any more."""
        self._forget_end()
        until = async_who(self.hass).standing(self.satellite).until
        if until is not None:
            self._end = async_track_point_in_utc_time(self.hass, self._ended, until + _MOMENT)

    @callback
    def _ended(self, _now: datetime) -> None:
        self._end = None
        self._changed()

    @callback
    def _forget_end(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None

    @property
    def _people(self) -> dict[str, ScopeKey]:
        return labels(async_speakers(self.hass), (GUEST, UNKNOWN))
