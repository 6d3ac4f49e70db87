"""The mind of an assistant, as Home Assistant sees it."""

import asyncio

import pytest
from homeassistant.components import conversation
from homeassistant.core import Context
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.pipeline.replying import asks
from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.home import Home
from tests.loopback import Speech
from tests.satellite import speech

pytest_plugins = ("tests.home",)


async def test_the_three_faces_share_one_service_device(house: Home) -> None:
    """An assistant is one thing in the device list, with an ear, a mind and a voice."""
    registry = er.async_get(house.hass)
    entries = [registry.async_get(house.engine(kind)) for kind in ("stt", "conversation", "tts")]
    devices = {entry.device_id for entry in entries if entry}
    assert len(devices) == 1
    device = dr.async_get(house.hass).async_get(devices.pop() or "")
    assert isinstance(device, dr.DeviceEntry)
    assert device.entry_type is dr.DeviceEntryType.SERVICE
    assert {entry.config_subentry_id for entry in entries if entry} == {house.assistant.subentry_id}
    assert {entry.platform for entry in entries if entry} == {DOMAIN}


async def test_it_says_that_it_controls_the_house(house: Home) -> None:
    """Home Assistant knows that this agent can act, and leaves it what it does better."""
    state = house.hass.states.get(house.engine("conversation"))
    assert state is not None
    features = state.attributes["supported_features"]
    assert features & conversation.ConversationEntityFeature.CONTROL


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which room?", True),
        ("どの部屋\uff1f", True),
        ("أي غرفة؟", True),
        ("It is off.", False),
        ("", False),
    ],
)
def test_a_question_opens_the_microphone_again(text: str, *, asked: bool) -> None:
    """Who is asked can answer at once."""
    assert asks(text) is asked


async def test_a_question_continues_the_conversation(house: Home) -> None:
    """After a question of the assistant Home Assistant keeps listening."""
    house.replies.append("Which room?")
    await house.kitchen.hear(speech())
    assert house.kitchen.event("intent-end")["intent_output"]["continue_conversation"]
    await house.kitchen.play()
    await house.settled()


async def test_two_chats_at_once_get_their_own_answers(house: Home) -> None:
    """Two people who type at the same time do not get each other's answer."""
    house.brain.default = lambda request: f"You wrote {request.texts()[-1]}"
    results = await asyncio.gather(
        *(
            conversation.async_converse(
                house.hass, word, None, Context(), agent_id=house.engine("conversation")
            )
            for word in ("one", "two")
        )
    )
    words = [result.response.speech["plain"]["speech"] for result in results]
    assert "one" in words[0]
    assert "two" in words[1]


async def test_unloading_in_mid_answer_keeps_what_was_heard(house: Home) -> None:
    """Reloading the integration while it speaks loses nothing, and takes no time."""
    house.replies.append(Speech("One two three four five six seven eight.", ms=12_000))
    await house.kitchen.hear(speech())
    await asyncio.sleep(1.5)
    projection = next(iter(house.assistant.projections()))
    async with asyncio.timeout(5):
        assert await house.hass.config_entries.async_unload(house.entry.entry_id)
    assert not async_open_turns(house.hass)
    (record,) = house.memory.thread(projection.key).turns
    assert record.interrupted
    assert record.said[0].heard_words.startswith("One")
    assert "eight" not in record.said[0].heard_words


async def test_a_renamed_engine_goes_on_speaking(house: Home) -> None:
    """Renaming the assistant's entities in mid conversation does not end it."""
    house.replies.append(Speech("A longer answer.", ms=4000))
    run = asyncio.create_task(house.kitchen.hear(speech()))
    await house.until(lambda: house.kitchen.streamed)
    registry = er.async_get(house.hass)
    registry.async_update_entity(house.engine("conversation"), new_entity_id="conversation.new")
    await run
    await house.hass.async_block_till_done()
    assert len(await house.kitchen.play()) > 32000
    await house.settled()
    assert len(house.records(house.kitchen)) == 1
