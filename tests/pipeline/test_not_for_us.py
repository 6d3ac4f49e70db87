"""What no satellite asked for, and what is not speech: no turn."""

from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.satellite import speech

from .conftest import Home

LOUD = b"".join(
    (value % 256).to_bytes() + (0x40 if value % 2 else 0xC0).to_bytes() for value in range(320)
)
QUIET = bytes(640)
OTHERS = "and now the weather for tomorrow"


async def test_speech_that_no_satellite_asked_for_is_nobodys_turn(house: Home) -> None:
    """What a television says behind a turn is not answered, kept, or told to the model later."""
    house.replies.extend(["The first answer.", "The second answer."])
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    session = house.server.session
    asked = session.count("response.create")
    session.push("input_audio_buffer.speech_started", item_id="item_tv", audio_start_ms=0)
    session.push("input_audio_buffer.speech_stopped", item_id="item_tv", audio_end_ms=900)
    session.push("input_audio_buffer.committed", item_id="item_tv", previous_item_id=None)
    session.push(
        "conversation.item.input_audio_transcription.completed",
        item_id="item_tv",
        content_index=0,
        transcript=OTHERS,
    )
    await house.until(
        lambda: "item_tv" in [e["item_id"] for e in session.received_of("conversation.item.delete")]
    )
    assert not async_open_turns(house.hass)
    assert session.count("response.create") == asked
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    assert house.server.session is session
    records = house.records(house.kitchen)
    assert len(records) == 2
    assert OTHERS not in str(records)
    assert not any(OTHERS in text for text in house.brain.requests[-1].texts())


async def test_the_end_of_the_wake_word_is_no_turn(house: Home) -> None:
    """A woken satellite to which nobody says anything is idle again, and nothing is kept."""
    house.hears.append("")
    await house.kitchen.hear(speech([LOUD] * 4 + [QUIET] * 75))
    assert house.kitchen.event("error")["code"] == "stt-no-text-recognized"
    await house.settled()
    assert house.records(house.kitchen) == []
    house.replies[:] = ["Here I am."]
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    heard = [i for i in house.brain.requests[-1].context if i.role == "user" and i.audio]
    assert len(heard) == 1
