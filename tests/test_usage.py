"""What a conversation costs is known, and none gets too long: in a home, with a real server.

Tests that are about a row of the seeds' feature table begin with its name.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from custom_components.realtime_assist.memory.gauge import Reading
from custom_components.realtime_assist.memory.pressure import Level
from custom_components.realtime_assist.memory.spending import Kind, Provenance
from custom_components.realtime_assist.metering import SessionMeter
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)

CELLAR = {
    f"shelf {number}": " ".join([f"Shelf {number} of the cellar has wine."] * 60)
    for number in range(6)
}
"""About 3,000 tokens: as much of each as is told of a fact."""


async def say(house: Home, words: str = "hello", reply: str = "Fine.") -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    house.hears.append(words)
    house.replies.append(reply)
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


async def remember(house: Home, **entries: str) -> None:
    """Let an automation remember something for the whole home."""
    await house.hass.services.async_call(
        "memory", "update", {"scope": "global", "entries": entries}, blocking=True
    )


def meter(house: Home) -> SessionMeter:
    """Return what measures the session of the kitchen."""
    return next(iter(house.assistant.projections())).meter


def reading(house: Home) -> Reading:
    """Return how full the session is."""
    return meter(house).reading()


def reports(house: Home) -> Iterable[dict[str, Any]]:
    """Yield what the server reported of each response, in all sessions."""
    for session in house.server.sessions:
        for event in session.sent_of("response.done"):
            yield event["response"]["usage"]


async def test_what_the_provider_reports_is_what_is_shown(house: Home) -> None:
    """Token usage: tokens and money are the provider's own numbers; the gauge, its last report."""
    await say(house)
    await say(house)
    await house.until(lambda: house.assistant.usage.total.transcripts == 2, 20)
    first, last = reports(house)
    total = house.assistant.usage.total
    assert (total.responses, total.transcripts) == (2, 2)
    for kind, name in ((Kind.INPUT, "input_tokens"), (Kind.OUTPUT, "output_tokens")):
        amount = total.amounts[kind]
        assert amount.tokens == first[name] + last[name]
        assert amount.provenance is Provenance.REPORTED
    read = reading(house)
    assert read.reported == last["input_tokens"]
    # The answer was added since, and nothing else.
    assert 0 < read.tokens - last["input_tokens"] <= 2 * last["output_tokens"] + 10
    assert read.provenance is Provenance.ESTIMATED
    assert total.cost is not None
    assert total.cost > 0
    assert not total.unpriced
    thread = next(iter(house.assistant.projections())).key
    assert house.assistant.usage.of(thread) == total


async def test_the_gauge_knows_the_next_report(house: Home) -> None:
    """Between two reports the gauge is right: the next says what it showed, and what was added."""
    await remember(house, **CELLAR)
    await say(house, reply="One moment, that is quite a long list of what there is in the cellar.")
    await say(house)
    for _ in range(2):
        shown = reading(house).tokens
        await say(house)
        *_, last = reports(house)
        heard = 15  # a second of speech, and the note of the moment
        assert abs(last["input_tokens"] - shown - heard) < 0.03 * shown


async def test_a_server_that_reports_nothing_is_estimated(house: Home) -> None:
    """Usage estimate fallback: without reports there are a gauge and a bill, and they say so."""
    house.server.switches = house.server.switches.but(usage="none")
    await say(house)
    total = house.assistant.usage.total
    assert total.amounts[Kind.INPUT].provenance is Provenance.ESTIMATED
    assert Kind.CACHED not in total.amounts
    (asked,) = house.brain.requests
    read = reading(house)
    assert read.reported is None
    assert read.tokens > len(asked.instructions) // 4
    assert total.amounts[Kind.INPUT].tokens < read.tokens


async def test_a_reported_zero_is_a_number(house: Home) -> None:
    """A server that counts nothing is believed, and is no reason for one session after another."""
    house.server.switches = house.server.switches.but(usage="zero")
    for _ in range(3):
        await say(house)
    amount = house.assistant.usage.total.amounts[Kind.INPUT]
    assert (amount.tokens, amount.provenance) == (0, Provenance.REPORTED)
    assert reading(house).reported == 0
    assert len(house.server.sessions) == 1


async def test_an_unknown_price_is_not_zero(house: Home) -> None:
    """What a turn costs is not shown where no price is known; the tokens are."""
    house.hass.config_entries.async_update_entry(
        house.entry, data={**house.entry.data, "provider": "openai_compatible"}
    )
    await house.hass.async_block_till_done()
    await say(house)
    total = house.assistant.usage.total
    assert total.cost is None
    assert total.unpriced
    assert total.tokens


async def test_a_gauge_falls_with_the_session(house: Home) -> None:
    """Usage estimate fallback, and it falls: the gauge shows what is held, not what once was."""
    await remember(house, **CELLAR)
    await say(house)
    full = reading(house).tokens
    await house.hass.services.async_call(
        "realtime_assist", "delete_memory", {"scope": "global", "keys": list(CELLAR)}, blocking=True
    )
    await house.until(lambda: reading(house).tokens < full - 2000, 20)
    house.server.session.close(1006)
    await house.until(lambda: reading(house).tokens == 0, 20)


async def test_a_server_that_drops_silently_is_found_out(house: Home) -> None:
    """When the provider has lost what it was told, the next turn is told it anew."""
    await remember(house, **CELLAR)
    await say(house, "my name is Anna")
    house.server.session.window = 500
    await say(house)
    assert len(house.server.sessions) == 1
    await say(house)
    await house.until(lambda: len(house.server.sessions) == 2, 20)
    house.server.session.window = 100_000
    await say(house, "what is my name")
    told = " ".join(house.brain.requests[-1].texts())
    assert "my name is Anna" in told
    assert "Shelf 3 of the cellar has wine" in told
    assert len(house.server.sessions) == 2


@pytest.mark.parametrize("options", [{"context_tokens": 2_000}])
async def test_a_long_conversation_goes_on_in_a_new_session(
    house: Home, options: dict[str, Any]
) -> None:
    """Context budget: before the model forgets, a new session knows in short what was said."""
    del options
    await say(house, "my name is Anna", "Hello Anna.")
    assert meter(house).pressure().level is not Level.HARD
    await remember(house, **CELLAR)
    await remember(house, beer="is there too")
    await say(house)
    await house.until(lambda: len(house.server.sessions) == 2, 20)
    await house.until(lambda: reading(house).tokens > 0, 20)
    assert reading(house).reported is None
    # What a newer fact had replaced goes first.
    assert house.server.sessions[0].count("conversation.item.delete")
    await say(house, "what is my name")
    told = " ".join(house.brain.requests[-1].texts())
    assert "my name is Anna" in told
    assert "is there too" in told
    # What it begins with is not what presses: it is no reason for another one.
    assert len(house.server.sessions) == 2


@pytest.mark.parametrize("options", [{"context_tokens": 2_000}])
async def test_nothing_happens_while_somebody_speaks(house: Home, options: dict[str, Any]) -> None:
    """Proactive rollover: no conversation is interrupted in the middle of an answer for it."""
    del options
    await say(house, "my name is Anna")
    await remember(house, **CELLAR)
    house.replies.append("Fine.")
    await house.kitchen.hear(speech())
    assert len(house.server.sessions) == 1
    assert meter(house).pressure().level is Level.HARD
    await house.kitchen.play()
    await house.settled()
    await house.until(lambda: len(house.server.sessions) == 2, 20)
