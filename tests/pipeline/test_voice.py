"""A voice turn, from the satellite to the model and back."""

import asyncio
import os

from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS

from tests.loopback import Delay, Fault, Speech
from tests.satellite import speech

from .conftest import Home


async def test_what_is_said_is_answered_in_the_models_own_voice(house: Home) -> None:
    """Somebody asks, and hears the model itself answer."""
    house.hears.append("how are you")
    house.replies.append("I am well, thank you.")
    kinds = await house.kitchen.hear(speech())
    assert "error" not in kinds
    assert house.kitchen.event("stt-end")["stt_output"]["text"] == "how are you"
    assert house.kitchen.streamed
    wav = await house.kitchen.play()
    assert wav[:4] == b"RIFF"
    assert len(wav) > 16000
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert record.heard_text == "how are you"
    assert [said.heard_words for said in record.said] == ["I am well, thank you."]
    assert record.area_id == "kitchen"


async def test_two_satellites_at_once_do_not_mix(house: Home) -> None:
    """Two rooms that speak at the same time each get their own answer."""
    house.hears.extend(["one", "one"])
    await asyncio.gather(
        house.kitchen.hear(speech(wait=0.001)), house.bedroom.hear(speech(wait=0.001))
    )
    assert len(house.server.sessions) == 2
    await asyncio.gather(house.kitchen.play(), house.bedroom.play())
    await house.settled()
    assert [r.area_id for r in house.records(house.kitchen)] == ["kitchen"]
    assert [r.area_id for r in house.records(house.bedroom)] == ["bedroom"]


async def test_the_same_short_answer_twice_is_spoken_twice(house: Home) -> None:
    """Nobody hears an old recording, and no spoken word is left on the disk."""
    house.replies.extend([Speech("OK.", ms=400), Speech("OK.", ms=900)])
    lengths = []
    for _ in range(2):
        await house.kitchen.hear(speech())
        lengths.append(len(await house.kitchen.play()))
        await house.settled()
    assert lengths[0] < lengths[1]
    assert not os.listdir(house.speech_files)  # noqa: PTH208
    (log,) = house.hass.data[DATA_CHAT_LOGS].values()
    assert [c.content for c in log.content if c.role == "assistant"] == ["OK.", "OK."]


async def test_nothing_is_announced_before_it_can_be_heard(house: Home) -> None:
    """A satellite that gives up after two silent seconds is told of an answer when there is one."""
    # The server's clock runs twenty times as fast.
    house.server.faults.add(Fault("response.output_audio.delta", Delay(20.0)))
    house.replies.append(Speech("Late, but whole.", ms=1000))
    run = asyncio.create_task(house.kitchen.hear(speech()))
    await house.until(
        lambda: house.server.sessions and house.server.session.count("response.create")
    )
    began = asyncio.get_running_loop().time()
    await house.until(lambda: house.kitchen.streamed)
    assert asyncio.get_running_loop().time() - began > 0.9
    wav = await house.kitchen.fetch()
    assert len(wav) > 31_000
    await run
    house.kitchen.tts_response_finished()
    await house.settled()


async def test_four_minutes_are_spoken_to_their_end(house: Home) -> None:
    """A long story is not cut off, and is handed over as it comes."""
    house.replies.append(Speech("A long story.", ms=240_000))
    run = asyncio.create_task(house.kitchen.hear(speech()))
    await house.until(lambda: house.kitchen.streamed)
    wav = await house.kitchen.fetch()
    await run
    assert abs(len(wav) - 240 * 32_000) < 32_000


async def test_a_satellite_that_disappears_leaves_nothing_open(house: Home) -> None:
    """Unplugging, reloading or removing a satellite in mid answer does no harm."""
    house.replies.append(Speech("A longer answer.", ms=4000))
    run = asyncio.create_task(house.kitchen.hear(speech()))
    await house.until(lambda: house.kitchen.streamed)
    assert house.kitchen.platform.config_entry is not None
    entry_id = house.kitchen.platform.config_entry.entry_id
    assert await house.hass.config_entries.async_unload(entry_id)
    await asyncio.gather(run, return_exceptions=True)
    await house.settled()
