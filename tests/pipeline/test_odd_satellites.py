"""Satellites that do not behave: the turn ends all the same, and the next one works."""

import asyncio
import itertools
from types import MappingProxyType

import pytest
from homeassistant.config_entries import ConfigSubentry
from homeassistant.helpers import entity_registry as er

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.pipeline import turn as turn_module
from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.loopback import Speech
from tests.satellite import speech

from .conftest import Home

HEADER = 44


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less long for a satellite that never says that it has finished."""
    monkeypatch.setattr(turn_module, "PATIENCE", 0.2)


async def works(house: Home) -> None:
    """See that the next question is answered and heard."""
    house.replies[:] = ["Here I am."]
    await house.kitchen.hear(speech(20))
    assert house.kitchen.event("tts-start")["tts_input"] == "Here I am."
    assert len(await house.kitchen.play()) > HEADER
    await house.settled()


@pytest.mark.parametrize("fetches", [0, 2])
async def test_a_satellite_that_never_says_it_has_finished(house: Home, fetches: int) -> None:
    """Whether it fetched the answer never, once or twice: the turn is over when it must be."""
    house.replies.append(Speech("One two three.", ms=600))
    await house.kitchen.hear(speech(20))
    wavs = [await house.kitchen.fetch() for _ in range(fetches)]
    assert len(set(wavs)) <= 1
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert record.said[0].heard_words == "One two three."
    await works(house)


async def test_a_satellite_that_fetches_late(house: Home) -> None:
    """An answer waits for a satellite that is slow to come for it."""
    house.replies.append(Speech("One two three.", ms=600))
    await house.kitchen.hear(speech(20))
    await house.settled()
    wav = await house.kitchen.fetch()
    assert abs((len(wav) - HEADER) / 32 - 600) < 50
    await works(house)


@pytest.mark.parametrize("size", [1, 641])
async def test_pieces_of_any_size_are_one_sentence(house: Home, size: int) -> None:
    """However a microphone cuts what it hears, the model hears every sample of it once."""
    frames = [frame async for frame in speech(40)]
    said = b"".join(frames)[: 16_000 if size > 1 else 8_000]
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    await house.kitchen.hear(speech(pieces))
    await house.kitchen.play()
    await house.settled()
    (item,) = [i for i in house.server.session.items if i.role == "user" and i.audio]
    assert abs(len(item.audio) / 48 - len(said) / 32) < 10


async def test_a_flood_from_a_microphone_is_bounded(house: Home) -> None:
    """Sixteen megabytes in one piece are a question that is too long, and end nothing else."""
    await house.kitchen.hear(speech([bytes(range(256)) * 65_536]))
    async with asyncio.timeout(15):
        await house.settled()
    assert not async_open_turns(house.hass)
    await works(house)


async def test_two_assistants_on_one_satellite(house: Home) -> None:
    """Who asks the second assistant silences the first, and each remembers its own."""
    entries = house.hass.config_entries
    second = ConfigSubentry(
        data=MappingProxyType({}), subentry_type="assistant", title="Butler", unique_id=None
    )
    entries.async_add_subentry(house.entry, second)
    await house.hass.async_block_till_done()
    find = er.async_get(house.hass).async_get_entity_id
    house.replies.append(Speech("One two three four five six.", ms=20_000))
    await house.kitchen.hear(speech(20))
    await house.until(lambda: house.kitchen.streamed)
    engines = {
        f"{platform}_engine": find(platform, DOMAIN, second.subentry_id)
        for platform in ("stt", "conversation", "tts")
    }
    await house.pipeline(**engines)
    house.replies.append("At your service.")
    await house.kitchen.hear(speech(20))
    assert house.kitchen.event("tts-start")["tts_input"] == "At your service."
    assert len(async_open_turns(house.hass)) == 1
    await house.kitchen.play()
    await house.settled()
    hub = house.entry.runtime_data
    threads = [
        [said.text for turn in house.memory.thread(each.key).turns for said in turn.said]
        for each in itertools.chain.from_iterable(a.projections() for a in hub.assistants.values())
    ]
    assert ["At your service."] in threads
    assert len(threads) == 2
    assert house.memory.thread(next(house.assistant.projections()).key).turns[0].interrupted
