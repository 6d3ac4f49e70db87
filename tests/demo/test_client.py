"""The demonstration talks to Home Assistant as anybody may; the server side here is real."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from .client import Client, CommandFailed


@pytest.fixture
async def client(
    hass: HomeAssistant, hass_client: ClientSessionGenerator, hass_access_token: str
) -> AsyncIterator[Client]:
    """Return a client of a Home Assistant that runs in this test."""
    for component in ("homeassistant", "api", "websocket_api", "config"):
        assert await async_setup_component(hass, component, {})
    server = await hass_client()
    base = str(server.make_url("")).rstrip("/")
    async with (
        aiohttp.ClientSession() as http,
        Client.connect(http, base, hass_access_token) as connected,
    ):
        yield connected


async def test_requests_and_commands_are_answered(client: Client, hass: HomeAssistant) -> None:
    """States can be read in both ways that Home Assistant offers."""
    hass.states.async_set("light.kitchen", "on")
    assert (await client.get("/api/states/light.kitchen"))["state"] == "on"
    states = await client.command("get_states")
    assert [state["state"] for state in states] == ["on"]


async def test_refusals_have_home_assistants_own_words(client: Client) -> None:
    """A failed step tells why."""
    with pytest.raises(CommandFailed, match="HTTP 404"):
        await client.get("/api/states/light.none")
    with pytest.raises(CommandFailed, match="unknown_command"):
        await client.command("no/such/command")
    with pytest.raises(CommandFailed, match="Invalid handler"):
        await client.flow("no_such_integration")


async def test_events_come_in_order_and_end(client: Client, hass: HomeAssistant) -> None:
    """The phone learns when its answer was played."""
    watch = {"platform": "state", "entity_id": "light.kitchen"}
    async with client.subscribed("subscribe_trigger", trigger=watch) as changes:
        for state in ("on", "off"):
            hass.states.async_set("light.kitchen", state)
        events = [await changes.next(5) for _ in range(2)]
        with pytest.raises(TimeoutError):
            await changes.next(0.01)
    told = [event["variables"]["trigger"]["to_state"]["state"] for event in events]
    assert told == ["on", "off"]


async def test_actions_return_what_they_have_to_say(client: Client, hass: HomeAssistant) -> None:
    """The update step shows the response of memory.update."""

    async def echo(call: ServiceCall) -> ServiceResponse:
        return {"got": call.data["value"]}

    hass.services.async_register("demo", "echo", echo, supports_response=SupportsResponse.OPTIONAL)
    assert await client.act("demo", "echo", {"value": 3}, response=True) == {"got": 3}
    assert await client.act("demo", "echo", {"value": 3}) is None


async def test_a_connection_that_ends_ends_what_waits(client: Client) -> None:
    """A Home Assistant that dies is a failure at once, not after a timeout."""
    async with client.subscribed("subscribe_events", event_type="none") as events:
        waiting = asyncio.create_task(events.next(30))
        await asyncio.sleep(0)
        assert client._socket is not None
        await client._socket.close()
        with pytest.raises(CommandFailed, match="ended"):
            await waiting


@pytest.mark.usefixtures("socket_enabled")
async def test_a_wrong_token_is_refused() -> None:
    """Whoever is not signed in learns so."""

    async def refuse(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "auth_required"})
        await socket.receive_json()
        await socket.send_json({"type": "auth_invalid"})
        await socket.close()
        return socket

    app = web.Application()
    app.router.add_get("/api/websocket", refuse)
    async with TestServer(app) as server, aiohttp.ClientSession() as http:
        with pytest.raises(CommandFailed, match="refused the token: auth_invalid"):
            async with Client.connect(http, str(server.make_url("")).rstrip("/"), "wrong"):
                pass
