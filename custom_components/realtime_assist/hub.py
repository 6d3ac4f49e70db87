"""One per config entry: its assistants, and their sessions joined with the house's memory.

satellite ── Assistant.projection() ──> Projection ──> session (realtime/)
                                                 └───> thread, facts (memory/, owned by the house)
"""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .account import Account
from .assistant import AssistantOptions, HistoryScope
from .const import (
    CONF_PROVIDER,
    PROVIDER_OPENAI,
    SUBENTRY_ASSISTANT,
)
from .health import Health
from .house import House
from .memory.scopes import GLOBAL, Scope, ScopeKey
from .memory.transcript import ThreadKey
from .metering import SessionMeter
from .models import minute_price, model_facts
from .pipeline.origin import Origin
from .projection import Projection
from .realtime.config import SessionConfig
from .realtime.model import RealtimeModel, Verbatim
from .realtime.reading import INSTRUCTIONS, read_aloud
from .realtime.verbatim import speech_audio
from .satellite_entities import SatelliteEntities
from .usage_log import UsageLog

type RealtimeAssistConfigEntry = ConfigEntry[Hub]


class Hub:
    """What one account of a provider does in this house."""

    def __init__(self, hass: HomeAssistant, entry: RealtimeAssistConfigEntry, house: House) -> None:
        """Make the assistants of the entry; nothing connects before somebody speaks."""
        self.hass = hass
        self.entry = entry
        self.house = house
        self.health: Final = Health(self)
        self.satellite_entities: Final = SatelliteEntities(hass, entry)
        self.provider: Final[str] = entry.data.get(CONF_PROVIDER, PROVIDER_OPENAI)
        self.model: RealtimeModel = Account.from_data(entry.data).adapter()
        self.assistants = {
            subentry.subentry_id: Assistant(self, subentry)
            for subentry in entry.get_subentries_of_type(SUBENTRY_ASSISTANT)
        }
        self._made_of: Final = _made_of(entry)

    @property
    def outdated(self) -> bool:
        """Whether the entry means another account or other assistants by now.

        What is special about a satellite or a speaker is read at each turn.
        """
        return self._made_of != _made_of(self.entry)

    @callback
    def start_task(self, coro: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task that ends with the entry.

        It runs in an empty context: else it would look like the turn that started it, for ever.
        """
        return contextvars.Context().run(
            self.entry.async_create_background_task, self.hass, coro, name
        )

    def projections(self) -> Iterator[Projection]:
        """Return all projections of all assistants."""
        for assistant in self.assistants.values():
            yield from assistant.projections()

    async def async_close(self) -> None:
        """End all sessions."""
        self.health.close()
        await asyncio.gather(*(projection.async_close() for projection in list(self.projections())))


def _made_of(entry: ConfigEntry[Any]) -> dict[str, Any]:
    """Return what a hub, its assistants and their entities are made of."""
    return {
        sub.subentry_id: (sub.title, dict(sub.data))
        if sub.subentry_type == SUBENTRY_ASSISTANT
        else None
        for sub in entry.subentries.values()
    } | {"account": dict(entry.data)}


class Assistant:
    """One voice agent: its options, and a projection for each place where it is spoken to."""

    def __init__(self, hub: Hub, subentry: ConfigSubentry) -> None:
        """Read the options; they are those of this load of the entry."""
        self.hub = hub
        self.subentry_id: Final = subentry.subentry_id
        self.title: Final = subentry.title
        self.options: Final = AssistantOptions.from_subentry(subentry.data, hub.provider)
        self.facts: Final = model_facts(self.options.model, hub.provider)
        self.usage: Final = UsageLog()
        self._satellites: dict[str, Projection] = {}
        self._passing: set[Projection] = set()

    @property
    def model(self) -> RealtimeModel:
        """The adapter of the account."""
        return self.hub.model

    def meter(
        self,
        thread: Callable[[], ThreadKey | None] = lambda: None,
        summarise: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> SessionMeter:
        """Return what measures one session; `summarise` makes its thread short when it is full."""
        return SessionMeter(
            facts=self.facts,
            limit=self.options.context_limit,
            minute_price=minute_price(self.options.transcription_model, self.hub.provider),
            believed=self.model.capabilities.reports_context,
            log=self.usage,
            thread=thread,
            summarise=summarise,
            start_task=self.hub.start_task,
        )

    @callback
    def projection(
        self, origin: Origin, conversation_id: str | None, *, text: bool = False
    ) -> Projection:
        """Return the session and the thread for a turn from there.

        A satellite keeps its session from turn to turn. Anything else has one for this turn only,
        which the caller releases.
        """
        key = self.thread_key(origin, conversation_id)
        satellite = None if text else origin.satellite
        if satellite is None:
            passing = Projection(self, origin, key, text=text, on_release=self._passing.discard)
            self._passing.add(passing)
            return passing
        kept = self._satellites.get(satellite)
        if kept is None:
            kept = self._satellites[satellite] = Projection(self, origin, key)
        kept.arrive(origin, key)
        return kept

    def thread_key(self, origin: Origin, conversation_id: str | None) -> ThreadKey:
        """Return which history a turn from there belongs to."""
        return ThreadKey(
            assistant=self.subentry_id, scope=self._thread_scope(origin, conversation_id)
        )

    def projections(self) -> Iterator[Projection]:
        """Return the projections of this assistant."""
        yield from self._satellites.values()
        yield from self._passing

    async def speak_verbatim(self, text: str) -> tuple[AsyncIterator[bytes], int] | None:
        """Return PCM16 mono audio that says exactly `text`, and its rate in Hz.

        None if the provider cannot. The audio raises as `speech_audio` does.
        """
        request = self.model.speech(text, self.options.voice)
        if request is None:
            return None
        return speech_audio(async_get_clientsession(self.hub.hass), request), request.sample_rate

    def read_aloud(self, text: str) -> tuple[AsyncIterator[bytes], int] | None:
        """Return PCM16 mono audio of `text` as the model itself reads it, and its rate in Hz.

        For providers that cannot speak an exact text; None for those that can. The audio raises as
        `realtime.reading.read_aloud` does.
        """
        capabilities = self.model.capabilities
        if capabilities.verbatim is not Verbatim.NONE:
            return None
        config = SessionConfig(
            model=self.options.model, instructions=INSTRUCTIONS, voice=self.options.voice
        )
        http = async_get_clientsession(self.hub.hass)
        audio = read_aloud(
            http, self.model, config, text, start_task=self.hub.start_task, meter=self.meter()
        )
        return audio, capabilities.output_rate

    def _thread_scope(self, origin: Origin, conversation_id: str | None) -> ScopeKey:
        """Return what the history of a turn belongs to: as chosen, else the next narrower thing."""
        scope = self.options.history_scope
        if scope is HistoryScope.GLOBAL:
            return GLOBAL
        if scope is HistoryScope.AREA and origin.area_id:
            return ScopeKey(Scope.AREA, origin.area_id)
        if origin.speaker and (scope is HistoryScope.SPEAKER or origin.satellite is None):
            return origin.speaker
        if origin.device_key:
            return ScopeKey(Scope.DEVICE, origin.device_key)
        return ScopeKey(Scope.SESSION, conversation_id or "alone")
