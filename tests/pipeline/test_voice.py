"""A voice turn, from the satellite to the model and back."""

import asyncio
import os

from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS

from tests.loopback import Speech
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
