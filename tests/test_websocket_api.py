"""The memory over the websocket: as the actions, for the same people, and out of the recorder."""

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.auth.models import User
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import async_capture_events
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.realtime_assist.memory.scopes import GLOBAL
from tests.people import People, person_scope
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

type Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def ask(hass: HomeAssistant, hass_ws_client: WebSocketGenerator) -> Ask:
    """Give a way to send a command as a user, over a connection of that user."""

    async def send(user: User, command: str, **data: Any) -> dict[str, Any]:  # noqa: ANN401
        refresh = await hass.auth.async_create_refresh_token(user, "https://example.com/")
        client = await hass_ws_client(hass, hass.auth.async_create_access_token(refresh))
        await client.send_json_auto_id({"type": f"realtime_assist/memory/{command}", **data})
        answer: dict[str, Any] = await client.receive_json()
        await client.close()
        return answer

    return send


async def test_a_page_does_what_the_actions_do_and_no_recorder_keeps_it(
    house: Home, people: People, ask: Ask
) -> None:
    """What is set, read, searched and forgotten in a page is in no event that would be recorded."""
    calls = async_capture_events(house.hass, EVENT_CALL_SERVICE)
    where = {"scope": "global"}
    for day in ("Monday", "Tuesday"):
        assert (await ask(people.admin, "set", **where, key="bins", value=day))["success"]
    done = await ask(people.admin, "set", **where, key="bins", value="Thursday", tags=["home"])
    (entry,) = done["result"]["entries"]
    assert (entry["value"], entry["version"], entry["source"]) == ("Thursday", 3, "action")
    got = await ask(people.admin, "get", **where, keys=["bins"])
    assert [old["value"] for old in got["result"]["entries"][0]["previous"]] == [
        "Monday",
        "Tuesday",
    ]
    found = await ask(people.admin, "search", **where, query="thursdays")
    assert [hit["entry"]["key"] for hit in found["result"]["hits"]] == ["bins"]
    both = {"entries": {"cat": "Miezi", "dog": {"value": "Rex", "pinned": True}}}
    updated = await ask(people.admin, "update", **where, **both)
    assert updated["result"]["entries"] == {"set": 2, "forgotten": 0}
    gone = await ask(people.admin, "delete", **where, keys=["bins", "unheard of"])
    assert gone["result"]["forgotten"] == 1
    cleared = await ask(people.admin, "clear", **where)
    assert cleared["result"]["forgotten"] == 2
    assert house.memory.context.visible((GLOBAL,)) == ()
    assert calls == []


async def test_a_page_reaches_the_open_session(house: Home, people: People, ask: Ask) -> None:
    """The conversation that is going on follows."""
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    done = await ask(people.tom, "set", scope="global", key="bins", value="Thursday")
    assert [each["state"] for each in done["result"]["sessions"]] == ["updated"]
    assert any("Thursday" in text for text in house.server.session.texts())


async def test_a_person_and_an_administrator_may_and_nobody_else(
    house: Home, people: People, ask: Ask
) -> None:
    """Anna's own memory is hers in a page, too."""
    own = {"entity_id": "person.anna"}
    assert (await ask(people.anna, "set", **own, key="tea", value="Assam"))["success"]
    for user in (people.anna, people.admin):
        got = await ask(user, "get", **own)
        assert [entry["value"] for entry in got["result"]["entries"]] == ["Assam"]
    for command, data in (
        ("get", {}),
        ("set", {"key": "tea", "value": "none"}),
        ("delete", {"keys": ["tea"]}),
        ("clear", {}),
        ("search", {"query": "tea"}),
        ("update", {"forget": ["tea"]}),
    ):
        refused = await ask(people.tom, command, **own, **data)
        assert refused["error"]["code"] == "service_validation_error"
        assert refused["error"]["translation_key"] == "not_your_memory"
    (entry,) = house.memory.context.visible((person_scope(house.hass, people.anna),))
    assert entry.value == "Assam"


MISTAKES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("set", {"scope": "global", "value": "secret"}, "invalid_format"),
    ("set", {"scope": "moon", "key": "secret", "value": 1}, "invalid_format"),
    ("get", {"scope": "global", "secret": "secret"}, "invalid_format"),
    ("get", {"scope": "global", "keys": []}, "empty_filter"),
    ("clear", {}, "no_target"),
    ("set", {"scope": "global", "key": "secret", "version": 1}, "unknown_version"),
    (
        "set",
        {
            "scope": "session",
            "entity_id": "assist_satellite.kitchen",
            "key": "secret",
            "value": 1,
        },
        "no_conversation",
    ),
    (
        "update",
        {"scope": "global", "entries": {"secret": {"value": 1, "tags": "secret"}}},
        "invalid_value",
    ),
)


async def test_a_mistake_is_told_to_its_maker_and_to_nobody_else(
    house: Home, people: People, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """A page learns what was wrong; no word of it is in the log, and nothing is changed."""
    for command, data, code in MISTAKES:
        answer = await ask(people.tom, command, **data)
        assert not answer["success"]
        assert code in (answer["error"]["code"], answer["error"].get("translation_key"))
    assert not house.memory.context.scopes()
    told = [each for each in caplog.records if each.levelno > logging.DEBUG]
    assert not [each for each in told if "secret" in each.getMessage()]


async def test_another_account_registers_nothing_twice(
    house: Home, people: People, ask: Ask
) -> None:
    """The commands are there once, however often accounts are loaded anew."""
    await house.hass.config_entries.async_reload(house.entry.entry_id)
    assert (await ask(people.tom, "get", scope="global"))["success"]
