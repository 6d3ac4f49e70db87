"""A home with two satellites, an assistant of ours and a loopback server: all real parts.

A test module that lives in it says `pytest_plugins = ("tests.home",)`.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from homeassistant.components.assist_pipeline import (
    Pipeline,
    async_get_pipeline,
    async_update_pipeline,
)
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import CONF_BASE_URL, CONF_PROVIDER, DOMAIN
from custom_components.realtime_assist.house import DATA_HOUSE, House, async_get_house
from custom_components.realtime_assist.hub import Assistant, Hub
from custom_components.realtime_assist.memory.transcript import TurnRecord
from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.loopback import LoopbackServer, ScriptedBrain, Transcript
from tests.loopback.brain import Script
from tests.satellite import Satellite, satellites

_MAKING_SPEECH = "tts_load_data_into_cache"
"""What Home Assistant calls the tasks that take the audio of a voice."""


@dataclass(kw_only=True)
class Home:
    """What the tests of the pipeline live in."""

    hass: HomeAssistant
    server: LoopbackServer
    brain: ScriptedBrain
    entry: MockConfigEntry
    kitchen: Satellite
    bedroom: Satellite
    speech_files: Path

    @property
    def replies(self) -> list[Script]:
        """What the model says next, in order; then its default."""
        return cast("list[Script]", self.brain.replies)

    @property
    def hears(self) -> list[Transcript | str]:
        """What the model's recogniser hears next, in order; then its default."""
        return cast("list[Transcript | str]", self.brain.hears)

    @property
    def assistant(self) -> Assistant:
        """Return the assistant."""
        hub: Hub = self.entry.runtime_data
        return next(iter(hub.assistants.values()))

    @property
    def memory(self) -> House:
        """Return what this home remembers."""
        return async_get_house(self.hass)

    def engine(self, platform: str) -> str:
        """Return the entity of the assistant on a platform."""
        found = er.async_get(self.hass).async_get_entity_id(
            platform, DOMAIN, self.assistant.subentry_id
        )
        assert found is not None
        return found

    def records(self, satellite: Satellite) -> list[TurnRecord]:
        """Return the turns that are remembered of a satellite's device."""
        assert satellite.registry_entry is not None
        for projection in self.assistant.projections():
            if projection.origin.satellite == satellite.registry_entry.id:
                return list(self.entry.runtime_data.house.thread(projection.key).turns)
        return []

    async def until(self, condition: Callable[[], Any], seconds: float = 5.0) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - anything may be waited for
                await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """Wait until no turn is open."""
        await self.until(lambda: not async_open_turns(self.hass), 10)
        await self.hass.async_block_till_done()

    async def restart(self, meanwhile: Callable[[], object] | None = None) -> None:
        """Let the memory be as after a restart of Home Assistant: only what is on the disk.

        `meanwhile` happens while nobody looks.
        """
        await self.memory.storage.async_flush()
        assert await self.hass.config_entries.async_unload(self.entry.entry_id)
        self.memory.storage.close()
        del self.hass.data[DATA_HOUSE]
        if meanwhile is not None:
            meanwhile()
        assert await self.hass.config_entries.async_setup(self.entry.entry_id)
        await self.hass.async_block_till_done()

    async def pipeline(self, **changes: Any) -> Pipeline:  # noqa: ANN401
        """Change the preferred pipeline."""
        await async_update_pipeline(self.hass, async_get_pipeline(self.hass), **changes)
        return async_get_pipeline(self.hass)


@pytest.fixture
def brain() -> ScriptedBrain:
    """Give the model that the server plays; a test adds to its `replies` and `hears`."""
    return ScriptedBrain()


@pytest.fixture
def options() -> dict[str, Any]:
    """Give the options of the assistant; a test may override this."""
    return {}


@pytest.fixture
async def house(
    hass: HomeAssistant,
    socket_enabled: None,  # noqa: ARG001 - the server needs it
    brain: ScriptedBrain,
    options: dict[str, Any],
    tmp_path: Path,
) -> AsyncGenerator[Home]:
    """Give a home that is set up."""
    for component in ("homeassistant", "assist_pipeline", "assist_satellite"):
        assert await async_setup_component(hass, component, {})
    async with LoopbackServer(brain, key="key") as server:
        entry = MockConfigEntry(
            domain=DOMAIN,
            data={
                CONF_PROVIDER: "openai",
                CONF_BASE_URL: server.base_url,
                CONF_API_KEY: "key",
            },
            subentries_data=[
                {
                    "subentry_type": "assistant",
                    "title": "Realtime Assist",
                    "unique_id": None,
                    "data": options,
                }
            ],
        )
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
        await hass.async_block_till_done()
        areas = ar.async_get(hass)
        kitchen, bedroom = Satellite("kitchen"), Satellite("bedroom")
        async with satellites(
            hass,
            kitchen,
            bedroom,
            areas=(areas.async_create("Kitchen").id, areas.async_create("Bedroom").id),
        ):
            home = Home(
                hass=hass,
                server=server,
                brain=brain,
                entry=entry,
                kitchen=kitchen,
                bedroom=bedroom,
                speech_files=tmp_path / "tts",
            )
            await home.pipeline(
                conversation_engine=home.engine("conversation"),
                conversation_language="*",
                stt_engine=home.engine("stt"),
                stt_language="en",
                tts_engine=home.engine("tts"),
                tts_language="en",
                tts_voice=None,
                prefer_local_intents=False,
            )
            yield home
            if hass.config_entries.async_get_entry(entry.entry_id):
                await hass.config_entries.async_unload(entry.entry_id)
            await hass.async_block_till_done()
            await _speech_is_over()


async def _speech_is_over() -> None:
    """Wait until Home Assistant has let go of all speech: ffmpeg takes its time on a busy machine.

    What still runs when Home Assistant stops has 0.1 s to end, and fails the test if it takes more.
    """
    making = [task for task in asyncio.all_tasks() if task.get_name().startswith(_MAKING_SPEECH)]
    if making:
        await asyncio.wait(making, timeout=10)
