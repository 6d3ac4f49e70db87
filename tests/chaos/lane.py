"""One satellite with an account and a server of its own, on which turns go wrong."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from homeassistant.components.assist_pipeline import (
    async_create_default_pipeline,
    async_update_pipeline,
)
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import llm
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.pipeline.sentences import Apology, sentence
from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.loopback import (
    Call,
    Fault,
    LoopbackServer,
    RealClock,
    Request,
    ScriptedBrain,
    Speech,
)
from tests.loopback.brain import Answer
from tests.pipeline.engines import API_ID, Api, Tool
from tests.satellite import Satellite, satellites, speech

from .faults import FAULTS, Moment

TURN_SECONDS: Final = 40.0
"""A turn that is not over by then never will be."""
SETTLED_SECONDS: Final = 20.0
LEAST_BYTES: Final = 3000
"""Of WAV at 16 kHz: what is shorter is the silence that stands for no answer."""
LENGTHS: Final = (400, 400, 700, 2500)
"""Milliseconds of speech in an answer."""
_WORD: Final = re.compile(r"\w+")
_SORRY: Final = tuple(sentence(kind, "en") for kind in Apology)


class Outcome(StrEnum):
    """What somebody in the room got of a turn."""

    ANSWERED = "answered"
    APOLOGISED = "apologised"
    ENDED = "ended"
    """The run was cancelled by whoever asked, and is over."""
    SILENT = "silent"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A turn, as it is told where it was not as it should be."""

    fault: str
    outcome: Outcome
    seconds: float
    said: str
    kinds: tuple[str, ...]


@dataclass(kw_only=True)
class Lane:
    """A satellite, its account and its server."""

    hass: HomeAssistant
    server: LoopbackServer
    brain: ScriptedBrain
    entry: MockConfigEntry
    satellite: Satellite
    dice: random.Random
    number: int = 0
    ran: Counter[int] = field(default_factory=Counter)
    """How often the tool of a turn ran."""
    turns: list[Told] = field(default_factory=list)

    def script(self) -> None:
        """Let the model answer whatever is asked now."""
        self.brain.default = self._answer

    async def take(self) -> None:
        """Take one turn in which something goes wrong, and say how it went."""
        fault = self.dice.choice(FAULTS)
        moment = Moment(nth=self.dice.randint(1, 45), lane=self)
        self.ask()
        self.server.faults.add(Fault("*", fault.action(moment), nth=moment.nth))
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(TURN_SECONDS):
                outcome, said = await self._run(moment)
        except TimeoutError:
            outcome, said = Outcome.SILENT, "it never ended"
        told = Told(
            fault=f"{fault.name}@{moment.nth} {moment.event}",
            outcome=outcome,
            seconds=loop.time() - began,
            said=said,
            kinds=tuple(self.satellite.kinds),
        )
        self.turns.append(told)
        self.server.faults.clear()
        await self._settle()

    def ask(self) -> None:
        """Let the next words be a new question."""
        self.number += 1
        self.brain.default_hears = f"question {self.number}"

    async def hear(self) -> None:
        """Ask the question at the satellite."""
        await self.satellite.hear(speech(15, wait=0.002))

    async def _run(self, moment: Moment) -> tuple[Outcome, str]:
        moment.run = asyncio.create_task(self.hear())
        await asyncio.gather(moment.run, return_exceptions=True)
        if moment.again is not None:
            await asyncio.gather(moment.again, return_exceptions=True)
        if moment.cancelled:
            return Outcome.ENDED, ""
        return await self._judge()

    async def _judge(self) -> tuple[Outcome, str]:
        """Return what was heard in the room."""
        kinds = self.satellite.kinds
        if "tts-start" not in kinds:
            codes = [(e.data or {}).get("code") for e in self.satellite.events if e.data]
            return Outcome.SILENT, f"no speech: {[code for code in codes if code]}"
        said = self.satellite.event("tts-start")["tts_input"]
        try:
            wav = await self.satellite.fetch()
            await asyncio.sleep(self.dice.choice((0.0, 0.4)))
        except HomeAssistantError as error:
            return Outcome.SILENT, f"cut: {said} ({error.translation_key})"
        finally:
            self.satellite.tts_response_finished()
        if len(wav) < LEAST_BYTES:
            return Outcome.SILENT, f"{len(wav)} bytes: {said}"
        words = said
        for sorry in _SORRY:
            words = words.replace(sorry, "")
        if Counter(_WORD.findall(words)) - Counter(_WORD.findall(self._words(self.number))):
            return Outcome.WRONG, said
        if self.ran[self.number] > 1:
            return Outcome.WRONG, "a tool ran twice"
        return (Outcome.ANSWERED if words == said else Outcome.APOLOGISED), said

    async def _settle(self) -> None:
        """Wait until nothing of the turn is open, and the account is set up again."""
        async with asyncio.timeout(SETTLED_SECONDS):
            while self._busy():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)

    def _busy(self) -> bool:
        turns = async_open_turns(self.hass)
        mine = any(turn.assistant.hub.entry.entry_id == self.entry.entry_id for turn in turns)
        return mine or self.entry.state is not ConfigEntryState.LOADED

    def _words(self, number: int) -> str:
        return f"Answer {number}: alpha bravo{number} charlie."

    def _answer(self, request: Request) -> Answer:
        number = self.number
        last = request.last
        # In another session the call is not known, and what became of it is told in a note.
        told = any("Count was started before" in text for text in request.texts()[-3:])
        called = told or (last is not None and last.kind == "output")
        if number % 3 == 0 and not called:
            return [Call("Count", "{}")]
        return Speech(self._words(number), ms=LENGTHS[number % len(LENGTHS)])


@asynccontextmanager
async def lanes(hass: HomeAssistant, count: int, seed: int) -> AsyncGenerator[list[Lane]]:
    """Set up satellites, each with an account and a server of its own."""
    made: list[Lane] = []

    async def tool(tool_input: llm.ToolInput) -> Any:  # noqa: ANN401 - JSON
        await asyncio.sleep(0.02)
        return {"done": tool_input.tool_name}

    counting = Tool("Count", tool)
    llm.async_register_api(hass, _Counting(hass, [counting], made))
    async with AsyncExitStack() as stack:
        rooms = [Satellite(f"room{index}") for index in range(count)]
        for index, satellite in enumerate(rooms):
            satellite._attr_pipeline_entity_id = f"select.room{index}"
        await stack.enter_async_context(satellites(hass, *rooms))
        for index, satellite in enumerate(rooms):
            brain = ScriptedBrain()
            server = LoopbackServer(brain, clock=RealClock(20), keep_audio=False, seed=seed + index)
            await stack.enter_async_context(server)
            entry = await _account(hass, server, index)
            lane = Lane(
                hass=hass,
                server=server,
                brain=brain,
                entry=entry,
                satellite=satellite,
                dice=random.Random(seed * 1000 + index),  # noqa: S311 - chance for a test
            )
            lane.script()
            made.append(lane)
        try:
            yield made
        finally:
            for lane in made:
                lane.server.faults.clear()
                await hass.config_entries.async_unload(lane.entry.entry_id)
            await hass.async_block_till_done()


class _Counting(Api):
    """An API whose tool knows in whose turn it ran."""

    def __init__(self, hass: HomeAssistant, tools: list[llm.Tool], lanes: Sequence[Lane]) -> None:
        """Count for these lanes."""
        super().__init__(hass, tools)
        self._lanes = lanes

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return an instance whose tool counts."""

        async def count(_: llm.ToolInput) -> Any:  # noqa: ANN401 - JSON
            for lane in self._lanes:
                entry = lane.satellite.registry_entry
                if entry is not None and entry.device_id == llm_context.device_id:
                    lane.ran[lane.number] += 1
            await asyncio.sleep(0.02)
            return {"done": True}

        return llm.APIInstance(
            api=self, api_prompt="Tests.", llm_context=llm_context, tools=[Tool("Count", count)]
        )


async def _account(hass: HomeAssistant, server: LoopbackServer, index: int) -> MockConfigEntry:
    """Set up an account, and a pipeline of its own for one satellite."""
    assistant = {
        "subentry_type": "assistant",
        "title": f"Assistant {index}",
        "unique_id": None,
        "data": {"llm_hass_api": [API_ID]},
    }
    data = {"provider": "openai", "base_url": server.base_url, "api_key": "key"}
    entry = MockConfigEntry(domain=DOMAIN, data=data, subentries_data=[assistant])
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    subentry_id = next(iter(entry.subentries))
    engines = {
        platform: er.async_get(hass).async_get_entity_id(platform, DOMAIN, subentry_id) or ""
        for platform in ("stt", "conversation", "tts")
    }
    name = f"pipeline {index}"
    pipeline = await async_create_default_pipeline(hass, engines["stt"], engines["tts"], name)
    assert pipeline is not None
    await async_update_pipeline(
        hass,
        pipeline,
        conversation_engine=engines["conversation"],
        conversation_language="*",
        prefer_local_intents=False,
        language="en",
        stt_language="en",
        tts_language="en",
        tts_voice=None,
    )
    hass.states.async_set(f"select.room{index}", name)
    return entry
