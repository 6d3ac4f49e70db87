"""What is said at home stays there: nothing of it is in our log, at any level."""

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers import llm

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.diagnostics import async_get_config_entry_diagnostics
from custom_components.realtime_assist.system_health import async_system_health_info
from tests.loopback import (
    Call,
    Drop,
    Error,
    Failure,
    Fault,
    Garbage,
    Reply,
    Speech,
    Transcript,
)
from tests.pipeline.engines import Tool, register
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)

OURS = "custom_components.realtime_assist"


async def test_no_word_is_logged(house: Home, caplog: pytest.LogCaptureFixture) -> None:
    """Who sends in a log gives away no key, no word and no argument of a tool."""
    caplog.set_level(logging.DEBUG, logger=OURS)
    house.hears.extend(["the alarm code is 4711", "once more"])
    house.replies.extend(
        [
            [Speech("One moment."), Call("realtime_assist__recall", '{"query": "4711"}')],
            "I keep 4711.",
            Speech("A long story about 4711.", ms=20_000),
        ]
    )
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    await house.hass.services.async_call(
        "memory",
        "update",
        {"scope": "global", "entries": {"code": "4711"}, "full": True},
        blocking=True,
    )
    house.server.faults.add(Fault("response.output_audio.delta", Drop(1006), nth=3))
    await house.kitchen.hear(speech())
    await house.settled()
    ours = [record for record in caplog.records if record.name.startswith(OURS)]
    assert ours
    for record in ours:
        text = record.getMessage() + str(record.exc_info or "")
        assert "4711" not in text
        assert "Bearer" not in text


SECRET = "4711"
KEY = "sk-a-key-that-nobody-may-see"
PANGS = f"Nobody may read {SECRET} or {KEY}."


def failed(house: Home) -> None:
    """Let the provider quote in a failed answer what it was told."""
    house.replies.append(Reply(failure=Failure(code="server_error", says=PANGS)))


def limited(house: Home) -> None:
    """Let it quote that where it says how long to wait."""
    house.replies.append(Reply(failure=Failure(code="rate_limit_exceeded", says=PANGS)))


def misnamed(house: Home) -> None:
    """Let it put words where a code belongs."""
    house.replies.append(Reply(failure=Failure(code=PANGS, kind=PANGS)))


def refused(house: Home) -> None:
    """Let it quote in an error."""
    error = Error(PANGS, PANGS, type=PANGS, param=PANGS)
    house.server.faults.add(Fault("client:response.create", error))


def unheard(house: Home) -> None:
    """Let it fail to write down what was said."""
    house.hears[:] = [Transcript(failure=PANGS, says=PANGS)]


def closed(house: Home) -> None:
    """Let it give a reason with words for hanging up."""
    house.server.faults.add(Fault("response.created", Drop(1011, PANGS)))


def garbled(house: Home) -> None:
    """Let it send what nobody understands."""
    frames = (PANGS, json.dumps({"type": PANGS, "item": {"id": PANGS}}), PANGS.encode())
    house.server.faults.add(*(Fault("response.created", Garbage(frame)) for frame in frames))


def unreachable(house: Home) -> None:
    """Let nobody be there."""
    house.server.refuse_connections = True


def keyless(house: Home) -> None:
    """Let it refuse the key."""
    house.server.key = "another"


def broken_tool(house: Home) -> None:
    """Let a tool fail with what it was asked."""

    async def run(tool_input: llm.ToolInput) -> Any:  # noqa: ANN401 - JSON
        raise HomeAssistantError(f"{PANGS} {tool_input.tool_args}")

    register(house, Tool("Open", run))
    arguments = json.dumps({"code": SECRET})
    house.replies[:] = [[Call("Open", arguments), Call(PANGS, PANGS)], "It did not open."]


def silent_voice(house: Home) -> None:
    """Let the voice for exact texts fail, too."""
    unreachable(house)
    object.__setattr__(house.assistant.options, "fallback_tts", "tts.gone")


def broken_prompt(house: Home) -> None:
    """Let the instructions be no template."""
    object.__setattr__(house.assistant.options, "prompt", "{{ " + PANGS)


TROUBLES: list[Callable[[Home], None]] = [
    failed,
    limited,
    misnamed,
    refused,
    unheard,
    closed,
    garbled,
    unreachable,
    keyless,
    broken_tool,
    silent_voice,
    broken_prompt,
]


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_nothing_that_fails_tells(
    house: Home, caplog: pytest.LogCaptureFixture, trouble: Callable[[Home], None]
) -> None:
    """Whatever goes wrong: no key and no word is in the log, a report, a repair or a health page.

    Home Assistant's own logs of what it was told by us count as ours.
    """
    entries = house.hass.config_entries
    house.server.key = KEY
    entries.async_update_entry(house.entry, data={**house.entry.data, "api_key": KEY})
    await house.hass.async_block_till_done()
    caplog.clear()
    caplog.set_level(logging.DEBUG, logger=OURS)
    house.hears.append(f"the alarm code is {SECRET}")
    house.brain.default = f"I keep {SECRET}."
    trouble(house)
    await house.kitchen.hear(speech(20))
    if "tts-end" in house.kitchen.kinds:
        await house.kitchen.fetch()
    house.kitchen.tts_response_finished()
    await house.settled()
    health = await async_system_health_info(house.hass)
    health.pop("can_reach_provider").close()
    told = [
        *(r.getMessage() + str(r.exc_text or r.exc_info or "") for r in logged(caplog)),
        *(str(issue.to_json()) + str(issue.translation_placeholders) for issue in shown(house)),
        json.dumps(await async_get_config_entry_diagnostics(house.hass, house.entry), default=str),
        str(health),
    ]
    for text in told:
        assert SECRET not in text
        assert KEY not in text


def logged(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return what we logged, and what others logged as warnings or errors."""
    return [
        record
        for record in caplog.records
        if record.name.startswith(OURS) or record.levelno >= logging.WARNING
    ]


def shown(house: Home) -> list[ir.IssueEntry]:
    """Return what we show to a person."""
    return [i for i in ir.async_get(house.hass).issues.values() if i.domain == DOMAIN]
