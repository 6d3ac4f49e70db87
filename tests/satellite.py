"""A real Assist satellite for tests: Home Assistant's own entity, with a real-time speaker."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, override

from homeassistant.components import tts
from homeassistant.components.assist_pipeline import PipelineEvent, PipelineEventType
from homeassistant.components.assist_satellite import (
    AssistSatelliteAnnouncement,
    AssistSatelliteConfiguration,
    AssistSatelliteEntity,
    AssistSatelliteEntityFeature,
)
from homeassistant.config_entries import ConfigEntry, ConfigFlow
from homeassistant.const import Platform, __version__
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.device_registry import DeviceInfo
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockModule,
    mock_config_flow,
    mock_integration,
    mock_platform,
    setup_test_component_platform,
)

DOMAIN = "test"
_HEADER = 44
_NEEDS_BOOL = __version__.startswith("2026.10")


class Satellite(AssistSatelliteEntity):
    """A satellite that streams what it is given to say, and plays what it gets."""

    _attr_supported_features = (
        AssistSatelliteEntityFeature.ANNOUNCE | AssistSatelliteEntityFeature.START_CONVERSATION
    )
    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, name: str, *, tts_options: dict[str, Any] | None = None) -> None:
        """Be called `name`; play WAV of 16 kHz unless told otherwise."""
        self._attr_unique_id = name
        self._attr_device_info = DeviceInfo(identifiers={(DOMAIN, name)}, name=name)
        self._attr_tts_options = tts_options or {
            tts.ATTR_PREFERRED_FORMAT: "wav",
            tts.ATTR_PREFERRED_SAMPLE_RATE: 16000,
            tts.ATTR_PREFERRED_SAMPLE_CHANNELS: 1,
            tts.ATTR_PREFERRED_SAMPLE_BYTES: 2,
        }
        self.events: list[PipelineEvent] = []
        self.announced: list[AssistSatelliteAnnouncement] = []
        self.answers_with: AsyncIterator[bytes] | None = None
        self._token: str | None = None

    @override
    def on_pipeline_event(self, event: PipelineEvent) -> None:
        """Note what happens, and where the answer can be fetched."""
        self.events.append(event)
        if event.type is PipelineEventType.RUN_START and event.data:
            self._token = event.data.get("tts_output", {}).get("token")

    @override
    def async_get_configuration(self) -> AssistSatelliteConfiguration:
        """Return that nothing can be configured."""
        return AssistSatelliteConfiguration([], [], 1)

    @override
    async def async_set_configuration(self, config: AssistSatelliteConfiguration) -> None:
        """Refuse nothing, do nothing."""

    @override
    async def async_announce(self, announcement: AssistSatelliteAnnouncement) -> None:
        """Note an announcement."""
        self.announced.append(announcement)

    @override
    async def async_start_conversation(
        self, start_announcement: AssistSatelliteAnnouncement
    ) -> None:
        """Note what was said first; answer it, if the test gave an answer."""
        self.announced.append(start_announcement)
        if self.answers_with is not None:
            audio, self.answers_with = self.answers_with, None
            self.hass.async_create_background_task(
                self.async_accept_pipeline_from_satellite(audio), "answer"
            )

    async def hear(self, audio: AsyncIterator[bytes]) -> list[str]:
        """Run a pipeline with what is said to it; return the types of its events."""
        self.events.clear()
        await self.async_accept_pipeline_from_satellite(audio)
        return self.kinds

    @property
    def kinds(self) -> list[str]:
        """Return the types of the events so far."""
        return [str(event.type) for event in self.events]

    def event(self, kind: str) -> dict[str, Any]:
        """Return the data of the last event of a type."""
        return next(e.data or {} for e in reversed(self.events) if str(e.type) == kind)

    @property
    def streamed(self) -> bool:
        """Return whether the answer was announced as a stream."""
        return any((event.data or {}).get("tts_start_streaming") for event in self.events)

    async def fetch(self) -> bytes:
        """Return the audio of the last answer, whole."""
        stream = tts.async_get_stream(self.hass, self._token or "")
        assert stream is not None
        return b"".join([chunk async for chunk in stream.async_stream_result()])

    async def play(self) -> bytes:
        """Play the answer to its end; return its audio, WAV header and all."""
        wav = await self.fetch()
        await asyncio.sleep((len(wav) - _HEADER) / (2 * 16_000))
        self.tts_response_finished()
        return wav


async def speech(chunks: Iterable[bytes] | int = 50, wait: float = 0.0) -> AsyncGenerator[bytes]:
    """Yield audio for a microphone: loud noise of 20 ms each, unless it is given."""
    if isinstance(chunks, int):
        chunks = [_NOISE] * chunks
    for chunk in chunks:
        await asyncio.sleep(wait)
        yield chunk


_NOISE = b"".join(
    (value % 256).to_bytes() + (0x40 if value % 2 else 0xC0).to_bytes() for value in range(320)
)


@asynccontextmanager
async def satellites(
    hass: HomeAssistant, *made: Satellite, areas: Iterable[str | None] = ()
) -> AsyncGenerator[None]:
    """Set up satellites, each on a device of its own; put the devices into areas, in order."""
    entry = MockConfigEntry(domain=DOMAIN)
    entry.add_to_hass(hass)

    async def set_up(hass: HomeAssistant, entry: ConfigEntry) -> Any:  # noqa: ANN401 - a bool on one release, None on the next
        await hass.config_entries.async_forward_entry_setups(entry, [Platform.ASSIST_SATELLITE])
        return True if _NEEDS_BOOL else None

    async def unload(hass: HomeAssistant, entry: ConfigEntry) -> Any:  # noqa: ANN401 - as above
        await hass.config_entries.async_unload_platforms(entry, [Platform.ASSIST_SATELLITE])
        return True if _NEEDS_BOOL else None

    mock_integration(hass, MockModule(DOMAIN, async_setup_entry=set_up, async_unload_entry=unload))
    mock_platform(hass, f"{DOMAIN}.config_flow", None)
    setup_test_component_platform(hass, Platform.ASSIST_SATELLITE, made, from_config_entry=True)
    with mock_config_flow(DOMAIN, ConfigFlow):
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        registry = dr.async_get(hass)
        for satellite, area in zip(made, areas, strict=False):
            assert satellite.registry_entry is not None
            device_id = satellite.registry_entry.device_id
            assert device_id is not None
            registry.async_update_device(device_id, area_id=area)
        yield
