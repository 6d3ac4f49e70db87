"""What the house says when the model cannot, and that the next turn works."""

import asyncio

import pytest
from homeassistant.config_entries import SOURCE_REAUTH

from tests.loopback import Drop, Failure, Fault, Reply, Speech
from tests.satellite import speech

from .conftest import Home
from .engines import OtherVoice, add

BEGIN_SECONDS = 3.0


async def ask(house: Home) -> tuple[str, float]:
    """Ask in the kitchen; return what is said, and the seconds until it begins."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    run = asyncio.ensure_future(house.kitchen.hear(speech(20)))
    await house.until(lambda: house.kitchen.streamed or run.done(), 8)
    took = loop.time() - began
    await run
    assert "error" not in house.kitchen.kinds
    return house.kitchen.event("tts-start")["tts_input"], took


async def idle_again(house: Home) -> None:
    """Play what is said; the satellite is idle and nothing is open soon after."""
    wav = await house.kitchen.play()
    assert len(wav) > 5000
    async with asyncio.timeout(3):
        await house.settled()
    state = house.hass.states.get(house.kitchen.entity_id)
    assert state is not None
    assert state.state == "idle"


async def test_a_refused_key_is_said_and_asks_for_a_new_one(house: Home) -> None:
    """A person in the room hears that the key is refused, and its owner is asked for another."""
    house.server.key = "another"
    words, took = await ask(house)
    assert "refuses my access" in words
    assert took < BEGIN_SECONDS
    await idle_again(house)
    flows = house.hass.config_entries.flow.async_progress()
    assert [flow["context"]["source"] for flow in flows] == [SOURCE_REAUTH]
    house.server.key = "key"
    house.replies.append("Here I am.")
    assert (await ask(house))[0] == "Here I am."
    await idle_again(house)


@pytest.mark.parametrize("how", ["refused", "silent"])
async def test_an_unreachable_server_is_said_in_time(house: Home, how: str) -> None:
    """Without a network nobody stands in a silent room."""
    if how == "refused":
        house.server.refuse_connections = True
    else:
        house.server.hang_handshake = True
    words, took = await ask(house)
    assert "can't reach" in words
    assert took < BEGIN_SECONDS
    await idle_again(house)
    house.server.refuse_connections = False
    house.server.hang_handshake = False
    house.replies.append("Here I am.")
    assert (await ask(house))[0] == "Here I am."
    await idle_again(house)


async def test_a_socket_that_drops_in_mid_answer_is_said(house: Home) -> None:
    """Half an answer is followed by an apology, and the next question is answered."""
    house.replies.append(Speech("One two three four five six seven eight.", ms=6000))
    house.server.faults.add(Fault("response.output_audio.delta", Drop(1006), nth=5))
    words, _ = await ask(house)
    assert "connection was lost" in words
    await idle_again(house)
    house.replies.append("Here I am.")
    assert (await ask(house))[0] == "Here I am."
    assert any("(interrupted)" in text for text in house.server.session.texts())
    await idle_again(house)
    first, second = house.records(house.kitchen)
    assert "eight" not in first.said[0].text
    assert (first.interrupted, second.interrupted) == (True, False)
    assert [said.text for said in second.said] == ["Here I am."]


@pytest.mark.parametrize(
    ("code", "words"),
    [("insufficient_quota", "credit"), ("rate_limit_exceeded", "busy"), ("server_error", "work")],
)
async def test_a_failed_answer_is_said(house: Home, code: str, words: str) -> None:
    """Whoever asked hears why there is no answer, as far as it is of use in a room."""
    house.replies.append(Reply(failure=Failure("failed", code=code)))
    said, _ = await ask(house)
    assert words in said
    assert (
        house.kitchen.event("intent-end")["intent_output"]["response"]["response_type"] == "error"
    )
    await idle_again(house)


@pytest.mark.parametrize("options", [{"fallback_tts": "tts.other"}])
@pytest.mark.usefixtures("options")
async def test_the_fallback_voice_says_it_in_the_users_language(house: Home) -> None:
    """Who speaks German hears in German what is wrong, from the voice that was chosen."""
    voice = OtherVoice()
    await add(house.hass, voice)
    await house.pipeline(stt_language="de", language="de", tts_language="de")
    house.server.refuse_connections = True
    words, _ = await ask(house)
    assert words.startswith("Entschuldigung")
    await idle_again(house)
    assert voice.said == [words]


async def test_unknown_words_do_not_hold_up_the_answer(house: Home) -> None:
    """When transcription fails, the answer is spoken all the same."""
    from tests.loopback import Transcript  # noqa: PLC0415

    house.hears.append(Transcript(failure="server_error"))
    house.replies.append("Here I am.")
    assert (await ask(house))[0] == "Here I am."
    await idle_again(house)
    (record,) = house.records(house.kitchen)
    assert record.heard_text is None
    assert record.unclear
