"""The house does not talk with itself."""

import pytest

from custom_components.realtime_assist.pipeline.echo import is_echo
from tests.loopback import Speech
from tests.satellite import speech

from .conftest import Home

SAID = "The washing machine is done, and the dryer has ten minutes left. Shall I remind you then?"


@pytest.mark.parametrize(
    ("heard", "echo"),
    [
        ("and the dryer has ten minutes left", True),
        ("The washing machine is done and the dryer has tin minutes left", True),
        (SAID, True),
        ("ten minutes", False),
        ("yes please remind me then", False),
        ("is the washing machine in the cellar done and how long has the other one left", False),
        ("turn off the lights in the kitchen", False),
        ("", False),
    ],
)
def test_only_its_own_words_are_an_echo(heard: str, *, echo: bool) -> None:
    """An answer to a question is not mistaken for the question."""
    assert is_echo(heard, SAID) is echo


async def test_a_satellite_that_hears_its_own_answer_is_not_answered(house: Home) -> None:
    """A microphone that opens too early does not make the house talk on and on."""
    house.replies.append(Speech(SAID, ms=800))
    await house.kitchen.hear(speech())
    await house.kitchen.fetch()
    house.hears.append("and the dryer has ten minutes left shall I remind you then")
    await house.kitchen.hear(speech())
    assert house.kitchen.event("error")["code"] == "stt-no-text-recognized"
    await house.settled()
    assert len(house.records(house.kitchen)) == 1
    house.hears.append("yes please do that")
    house.replies.append("I will.")
    await house.kitchen.hear(speech())
    assert house.kitchen.event("tts-start")["tts_input"]
    await house.kitchen.play()
    await house.settled()
    assert len(house.records(house.kitchen)) == 2
