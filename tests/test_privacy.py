"""What is said at home stays there: nothing of it is in our log, at any level."""

import logging
from typing import TYPE_CHECKING

import pytest

from tests.loopback import Call, Drop, Fault, Speech
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
