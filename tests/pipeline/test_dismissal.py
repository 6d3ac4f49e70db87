"""Who says "never mind" is left alone."""

import pytest

from custom_components.realtime_assist.pipeline.dismissal import is_dismissal
from tests.loopback import Speech
from tests.satellite import speech

from .conftest import Home
from .engines import OtherEar, add


@pytest.mark.parametrize(
    ("heard", "language"),
    [
        ("Never mind.", "en"),
        ("never mind", "en-GB"),
        ("Oh, no, never mind, thanks!", "en"),
        ("Stop!", "en"),
        ("STOP", None),
        ("Stopp.", "de"),
        ("Ach, schon gut.", "de-CH"),
        ("Ho\u0308r auf!", "de_DE"),
        ("Laat maar.", "nl"),
        ("Stop alsjeblieft", "nl"),
        ("Laisse tomber.", "fr"),
        ("Arr\u00eate !", "fr"),
        ("Non, ce n\u2019est rien.", "fr"),
        ("Da igual.", "es"),
        ("\u00a1Para!", "es"),
        ("No, d\u00e9jalo", "es"),
    ],
)
def test_never_mind_is_understood(heard: str, language: str | None) -> None:
    """Everybody can say it as they are used to."""
    assert is_dismissal(heard, language)


@pytest.mark.parametrize(
    ("heard", "language"),
    [
        ("Stop the music.", "en"),
        ("Never mind the lights, close the door.", "en"),
        ("Please.", "en"),
        ("No.", "en"),
        ("", "en"),
        ("Schon gut.", "en"),
        ("Stoppe die Musik", "de"),
        ("Para qué sirve esto", "es"),
        ("Stop", "tlh"),
        ("Vergiss es", "de"),
    ],
)
def test_a_wish_is_not_taken_for_it(heard: str, language: str) -> None:
    """What begins like it is answered, and so is what asks to forget something."""
    assert not is_dismissal(heard, language)


@pytest.mark.parametrize(
    ("offered", "dismissed"),
    [("Shall I stop the music?", False), ("Which lamp do you mean?", True), ("", True)],
)
def test_an_offered_answer_is_an_answer(offered: str, *, dismissed: bool) -> None:
    """Who is asked whether to stop something, and says stop, is understood."""
    assert is_dismissal("Stop.", "en", offered) is dismissed


async def test_never_mind_ends_it(house: Home) -> None:
    """After a false start the house says nothing, remembers nothing, and is ready at once."""
    house.hears.append("Never mind.")
    house.replies.append("Whatever you say.")
    kinds = await house.kitchen.hear(speech())
    assert "tts-start" not in kinds
    assert "error" not in kinds
    assert kinds[-1] == "run-end"
    await house.settled()
    assert house.records(house.kitchen) == []
    state = house.hass.states.get(house.kitchen.entity_id)
    assert state is not None
    assert state.state == "idle"
    house.replies[:] = ["Here I am."]
    await house.kitchen.hear(speech())
    assert house.kitchen.event("tts-start")["tts_input"] == "Here I am."
    await house.kitchen.play()
    await house.settled()
    held = " ".join(house.server.session.texts())
    assert "Never mind" not in held
    assert "Whatever" not in held


async def test_stop_ends_an_answer_and_asks_for_none(house: Home) -> None:
    """Who has heard enough of a long answer says stop, and it is quiet."""
    await house.pipeline(prefer_local_intents=True)
    house.hears.extend(["tell me something long", "Stop!"])
    house.replies.append(Speech("One two three four five six seven eight.", ms=20_000))
    await house.kitchen.hear(speech())
    await house.until(lambda: house.kitchen.streamed)
    kinds = await house.kitchen.hear(speech())
    assert "tts-start" not in kinds
    await house.settled()
    assert house.server.total("response.create") == 1
    (record,) = house.records(house.kitchen)
    assert record.interrupted


async def test_an_answer_to_the_model_is_told_to_it(house: Home) -> None:
    """After "shall I stop the music?" a stop is an answer."""
    house.replies.extend(["Shall I stop the music?", "It is quiet now."])
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    house.hears.append("Stop.")
    await house.kitchen.hear(speech())
    assert house.kitchen.event("tts-start")["tts_input"] == "It is quiet now."
    await house.kitchen.play()
    await house.settled()


async def test_it_is_understood_whoever_heard_it(house: Home) -> None:
    """With another recogniser it is the same."""
    await add(house.hass, OtherEar("Never mind."))
    await house.pipeline(stt_engine="stt.other")
    kinds = await house.kitchen.hear(speech())
    assert "tts-start" not in kinds
    assert house.server.total("response.create") == 0
