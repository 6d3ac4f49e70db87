"""The owner of a home learns once that a provider does not work, and what to do about it."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from homeassistant.config_entries import SOURCE_REAUTH
from homeassistant.helpers import issue_registry as ir

from tests.loopback import Drop, Failure, Fault, Reply
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)

OURS = "custom_components.realtime_assist"


async def ask(house: Home) -> str:
    """Ask something; return what is said."""
    await house.kitchen.hear(speech(20))
    await house.kitchen.fetch()
    house.kitchen.tts_response_finished()
    await house.settled()
    said: str = house.kitchen.event("tts-start")["tts_input"]
    return said


def issues(house: Home) -> set[str]:
    """Return the kinds of what is shown to a person."""
    shown = ir.async_get(house.hass).issues.values()
    return {issue.translation_key or "" for issue in shown if issue.domain == "realtime_assist"}


def told(caplog: pytest.LogCaptureFixture) -> list[int]:
    """Return the levels of what was logged of the provider."""
    return [r.levelno for r in caplog.records if r.name == f"{OURS}.health"]


def without_credit(house: Home) -> None:
    """Let the account be empty."""
    house.replies.extend([Reply(failure=Failure(code="insufficient_quota"))] * 2)


def without_model(house: Home) -> None:
    """Let the model be retired."""
    house.replies.extend([Reply(failure=Failure(code="model_not_found"))] * 2)


def another_server(house: Home) -> None:
    """Let something else answer at the address."""
    house.server.refuse_connections = 418


@pytest.mark.parametrize(
    ("trouble", "issue"),
    [
        (without_credit, "no_credit"),
        (without_model, "model_gone"),
        (another_server, "not_realtime"),
    ],
)
async def test_what_waits_for_a_person_is_shown_until_it_is_mended(
    house: Home, caplog: pytest.LogCaptureFixture, trouble: Callable[[Home], None], issue: str
) -> None:
    """A repair says what to do and goes by itself; the log says it once, and once that it works."""
    caplog.set_level(logging.INFO, logger=OURS)
    trouble(house)
    for _ in range(2):
        assert "Sorry" in await ask(house)
        assert issues(house) == {issue}
    assert told(caplog) == [logging.WARNING]
    for platform in ("stt", "conversation", "tts"):
        state = house.hass.states.get(house.engine(platform))
        assert state is not None
        assert state.state != "unavailable"  # or Home Assistant could not let it apologise
    house.server.refuse_connections = False
    for _ in range(2):
        assert await ask(house) == "OK."
    assert issues(house) == set()
    assert told(caplog) == [logging.WARNING, logging.INFO]


async def test_what_passes_by_itself_is_only_logged(
    house: Home, caplog: pytest.LogCaptureFixture
) -> None:
    """A night without a network is two lines in the log, and no work for anybody."""
    caplog.set_level(logging.INFO, logger=OURS)
    house.server.refuse_connections = True
    for _ in range(2):
        assert "can't reach" in await ask(house)
    house.server.refuse_connections = False
    assert await ask(house) == "OK."
    assert issues(house) == set()
    assert told(caplog) == [logging.WARNING, logging.INFO]


async def test_one_turns_trouble_is_no_news(house: Home, caplog: pytest.LogCaptureFixture) -> None:
    """An answer that failed once does not look like an outage."""
    caplog.set_level(logging.INFO, logger=OURS)
    house.replies.append(Reply(failure=Failure(code="server_error")))
    assert "didn't work" in await ask(house)
    assert told(caplog) == []


async def test_a_lost_line_and_a_refused_key_are_one_outage(
    house: Home, caplog: pytest.LogCaptureFixture
) -> None:
    """However it fails while it is down, that is said once; the owner is asked for a key."""
    caplog.set_level(logging.INFO, logger=OURS)
    house.server.faults.add(Fault("response.output_audio.delta", Drop(1006)))
    assert "lost" in await ask(house)
    house.server.key = "another"
    assert "refuses" in await ask(house)
    assert told(caplog) == [logging.WARNING]
    flows = house.hass.config_entries.flow.async_progress()
    assert [flow["context"]["source"] for flow in flows] == [SOURCE_REAUTH]


async def test_an_account_that_is_set_up_anew_starts_afresh(house: Home) -> None:
    """Who has mended it, and reloads, does not see the old repair."""
    without_credit(house)
    await ask(house)
    assert issues(house) == {"no_credit"}
    await house.hass.config_entries.async_reload(house.entry.entry_id)
    assert issues(house) == set()
