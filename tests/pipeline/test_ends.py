"""How a turn ends: interrupted, cancelled, silent, or never ours."""

import asyncio
from collections.abc import Callable

import pytest
from homeassistant.components import assist_satellite, tts
from homeassistant.components.tts.const import DATA_TTS_MANAGER
from homeassistant.setup import async_setup_component

from custom_components.realtime_assist.pipeline.turn import async_open_turns
from tests.loopback import Request, Speech
from tests.satellite import speech

from .conftest import Home


def tasks() -> set[str]:
    """Return the names of our running tasks, and of Home Assistant's speech."""
    return {
        task.get_name()
        for task in asyncio.all_tasks()
        if "tts_load" in task.get_name() or "realtime_assist tool" in task.get_name()
    }


async def test_a_new_wake_cuts_the_answer_where_it_was_heard(house: Home) -> None:
    """Who interrupts is answered, and the assistant knows what of its answer was heard."""
    house.replies.extend(
        [
            Speech("One two three four five six seven eight nine ten.", ms=20_000),
            "Yes?",
        ]
    )
    run = asyncio.create_task(house.kitchen.hear(speech()))
    await house.until(lambda: house.kitchen.streamed)
    began = asyncio.get_running_loop().time()
    await run
    await asyncio.sleep(2.0)
    elapsed = (asyncio.get_running_loop().time() - began) * 1000
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    first, second = house.records(house.kitchen)
    assert first.interrupted
    heard = first.said[0]
    assert heard.heard_ms is not None
    assert elapsed - 800 <= heard.heard_ms <= elapsed
    assert heard.heard_words.startswith("One")
    assert "ten" not in heard.heard_words
    assert [said.text for said in second.said] == ["Yes?"]
    cut = house.server.session.received_of("conversation.item.truncate")
    assert [event["audio_end_ms"] for event in cut] == [heard.heard_ms]


async def test_a_stop_word_keeps_what_was_heard(house: Home) -> None:
    """A satellite that stops playing ends the answer there."""
    house.replies.append(Speech("One two three four five six seven eight.", ms=12_000))
    await house.kitchen.hear(speech())
    await house.kitchen.fetch()
    await asyncio.sleep(2.0)
    house.kitchen.tts_response_finished()
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert record.said[0].heard_words.startswith("One")
    assert "eight" not in record.said[0].heard_words


MOMENTS: dict[str, Callable[[Home], object]] = {
    "wake": lambda house: "run-start" in house.kitchen.kinds,
    "listening": lambda house: "stt-start" in house.kitchen.kinds,
    "socket": lambda house: house.server.sessions,
    "speech": lambda house: house.server.total("input_audio_buffer.append"),
    "commit": lambda house: house.server.total("input_audio_buffer.commit"),
    "response": lambda house: house.server.total("response.create"),
    "words": lambda house: "stt-end" in house.kitchen.kinds,
    "thinking": lambda house: "intent-start" in house.kitchen.kinds,
    "first words": lambda house: "intent-progress" in house.kitchen.kinds,
    "streaming": lambda house: house.kitchen.streamed,
    "speaking": lambda house: any(turn.claims.speaking for turn in async_open_turns(house.hass)),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_cancelled_run_leaves_nothing_behind(house: Home, moment: str) -> None:
    """Who hangs up leaves no task and no cached half of an answer, and the next run works."""
    house.replies.extend([Speech("A long answer follows here.", ms=60_000), "Back again."])
    run = asyncio.create_task(house.kitchen.hear(speech(60, wait=0.002)))
    await house.until(lambda: MOMENTS[moment](house), 20)
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    await house.until(lambda: not async_open_turns(house.hass))
    await house.until(lambda: not tasks())
    assert not house.hass.data[DATA_TTS_MANAGER].mem_cache
    kinds = await house.kitchen.hear(speech())
    assert "error" not in kinds
    await house.kitchen.fetch()


async def test_silence_is_no_turn(house: Home) -> None:
    """A false wake in a silent room is remembered nowhere, and the satellite is idle again."""
    house.hears.append("")
    kinds = await house.kitchen.hear(speech([bytes(640)] * 50))
    assert house.kitchen.event("error")["code"] == "stt-no-text-recognized"
    assert kinds[-1] == "run-end"
    await house.settled()
    assert house.records(house.kitchen) == []


async def test_what_home_assistant_answers_itself_is_remembered_too(house: Home) -> None:
    """A sentence of an automation is answered by it; the assistant hears of it and says nothing."""
    assert await async_setup_component(
        house.hass,
        "automation",
        {
            "automation": {
                "trigger": {"platform": "conversation", "command": "good night house"},
                "action": {"set_conversation_response": "Sleep well."},
            }
        },
    )
    house.hears.append("good night house")
    await house.kitchen.hear(speech())
    assert house.kitchen.event("tts-start")["tts_input"] == "Sleep well."
    await house.kitchen.fetch()
    await house.settled()
    (record,) = house.records(house.kitchen)
    assert record.source == "local"
    assert record.heard_text == "good night house"
    assert [said.text for said in record.said] == ["Sleep well."]
    assert [r["input"] for r in house.server.speech_requests] == ["Sleep well."]


async def test_answers_to_start_conversation_know_what_was_said_first(house: Home) -> None:
    """After "Shall I close the blinds?" a plain "yes" is understood."""
    seen: list[list[str]] = []

    def answer(request: Request) -> str:
        seen.append(request.texts())
        return "They are closing."

    house.brain.default = answer
    house.hears.append("yes")
    await house.hass.services.async_call(
        assist_satellite.DOMAIN,
        "start_conversation",
        {
            "entity_id": house.kitchen.entity_id,
            "start_message": "Shall I close the blinds?",
            "extra_system_prompt": "Blinds are on the south side.",
            "preannounce": False,
        },
        blocking=True,
    )
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    text = " ".join(seen[0])
    assert "Shall I close the blinds?" in text
    assert "Blinds are on the south side." in text
    assert house.server.session.count("response.create") == 1


async def test_ask_question_gets_the_words_and_no_answer(house: Home) -> None:
    """An automation that asks gets the person's words; the model does not talk into it."""
    house.hears.append("the blue one")
    house.kitchen.answers_with = speech()
    result = await house.hass.services.async_call(
        assist_satellite.DOMAIN,
        "ask_question",
        {
            "entity_id": house.kitchen.entity_id,
            "question": "Which one?",
            "preannounce": False,
        },
        blocking=True,
        return_response=True,
    )
    assert result is not None
    assert result["sentence"] == "the blue one"
    await house.settled()
    assert house.server.session.count("response.create") == 0
    assert house.records(house.kitchen) == []


async def test_an_announcement_cuts_the_answer(
    house: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an announcement talks over is not taken as heard, from its first word on."""
    open_meanwhile: list[object] = []
    announce = house.kitchen.async_announce

    async def note(announcement: assist_satellite.AssistSatelliteAnnouncement) -> None:
        open_meanwhile.extend(async_open_turns(house.hass))
        await announce(announcement)

    monkeypatch.setattr(house.kitchen, "async_announce", note)
    house.replies.append(Speech("One two three four five six seven eight.", ms=12_000))
    await house.kitchen.hear(speech())
    await asyncio.sleep(1.5)
    await house.hass.services.async_call(
        assist_satellite.DOMAIN,
        "announce",
        {"entity_id": house.kitchen.entity_id, "message": "Dinner!", "preannounce": False},
        blocking=True,
    )
    await house.settled()
    assert not open_meanwhile
    (announced,) = house.kitchen.announced
    stream = tts.async_get_stream(house.hass, announced.tts_token or "")
    assert stream is not None
    assert len(b"".join([chunk async for chunk in stream.async_stream_result()])) > 1000
    assert [r["input"] for r in house.server.speech_requests] == ["Dinner!"]
    (record,) = house.records(house.kitchen)
    assert record.interrupted
    assert record.said[0].heard_words.startswith("One")
    assert "eight" not in record.said[0].heard_words
