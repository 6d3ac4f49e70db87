"""The flow in which a person adds an account, replaces its key or moves it elsewhere.

A real socket goes to a loopback server in every test: what the flow believes is what a session did.
"""

import socket
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from aiohttp import web
from homeassistant.components.assist_pipeline import async_get_pipelines
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.first_pipeline import async_create_pipeline
from tests.loopback import Error, Fault, LoopbackServer
from tests.loopback.models import MODELS

pytestmark = pytest.mark.usefixtures("socket_enabled")

KEY: Final = "a key that nobody has"
MODEL: Final = "gpt-realtime-2.1"


@pytest.fixture(autouse=True)
async def house(hass: HomeAssistant) -> None:
    """Have a home whose voice assistants can be set up."""
    assert await async_setup_component(hass, "homeassistant", {})


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    """Have a provider in this machine that knows one key."""
    async with LoopbackServer(key=KEY) as server:
        yield server


@pytest.fixture
def nowhere() -> str:
    """Return an address at which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def account(server: LoopbackServer, **changes: object) -> dict[str, Any]:
    """Return what a person types to add an account at that server."""
    typed = {"provider": "openai", "base_url": server.base_url, "api_key": KEY}
    return {**typed, "create_pipeline": False, **changes}


async def begin(hass: HomeAssistant) -> str:
    """Open the form and return the id of the flow."""
    form = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    assert form["type"] is FlowResultType.FORM
    assert form["step_id"] == "user"
    assert not form["errors"]
    return form["flow_id"]


def suggested(form: ConfigFlowResult) -> dict[str, Any]:
    """Return what the form shows before anybody types."""
    assert form["data_schema"] is not None
    fields = form["data_schema"].schema
    return {str(each): each.description["suggested_value"] for each in fields if each.description}


async def submit(hass: HomeAssistant, flow_id: str, typed: dict[str, Any]) -> ConfigFlowResult:
    """Submit a form, and wait until what it started is done."""
    result = await hass.config_entries.flow.async_configure(flow_id, typed)
    await hass.async_block_till_done()
    return result


def present(hass: HomeAssistant, server: LoopbackServer, **changes: object) -> MockConfigEntry:
    """Add an account that is there already, without an assistant."""
    data = {"provider": "openai", "base_url": server.base_url, "api_key": KEY, **changes}
    entry = MockConfigEntry(domain=DOMAIN, title="There", data=data, unique_id="as it was")
    entry.add_to_hass(hass)
    return entry


async def test_an_account_is_tried_and_added(hass: HomeAssistant, server: LoopbackServer) -> None:
    """With provider, address and key an assistant is there, and the key is known to work."""
    result = await submit(hass, await begin(hass), account(server))
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {"provider": "openai", "base_url": server.base_url, "api_key": KEY}
    entry = result["result"]
    assert entry.state is ConfigEntryState.LOADED
    assert entry.title == server.base_url.split("/")[2]
    assert [each.subentry_type for each in entry.subentries.values()] == ["assistant"]
    assert len(server.sessions) == 1
    assert server.session.received_of("session.update")
    assert await server.wait_for(lambda it: not it.open_sessions)


async def test_the_key_is_nowhere_but_in_the_data(
    hass: HomeAssistant, server: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A key cannot be read from what is shown, logged or used as a name."""
    result = await submit(hass, await begin(hass), account(server))
    entry = result["result"]
    assert entry.unique_id
    assert KEY not in entry.unique_id
    assert KEY not in entry.title
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("break_it", "typed", "error"),
    [
        ({}, {"api_key": "another"}, {"api_key": "invalid_auth"}),
        ({}, {"api_key": " "}, {"api_key": "key_missing"}),
        ({}, {"base_url": "api.openai.com"}, {"base_url": "invalid_address"}),
        ({}, {"base_url": "http://8.8.8.8/v1"}, {"base_url": "insecure_address"}),
        ({"refuse_connections": 503}, {}, {"base": "cannot_connect"}),
        ({"refuse_connections": 429}, {}, {"base": "rate_limited"}),
        ({"refuse_connections": 400}, {}, {"base": "not_realtime"}),
    ],
)
async def test_what_is_wrong_is_named_and_can_be_mended(
    hass: HomeAssistant,
    server: LoopbackServer,
    break_it: dict[str, Any],
    typed: dict[str, Any],
    error: dict[str, str],
) -> None:
    """A person learns what to correct, and goes on in the same form."""
    flow_id = await begin(hass)
    for name, value in break_it.items():
        setattr(server, name, value)
    result = await submit(hass, flow_id, account(server, **typed))
    assert result["type"] is FlowResultType.FORM
    assert result["step_id"] == "user"
    assert result["errors"] == error
    assert suggested(result) == account(server, **typed)
    server.refuse_connections = False
    result = await submit(hass, flow_id, account(server))
    assert result["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize(
    ("code", "error"),
    [("insufficient_quota", "no_quota"), ("a_code_of_its_own", "refused")],
)
async def test_a_refused_session_is_explained(
    hass: HomeAssistant, server: LoopbackServer, code: str, error: str
) -> None:
    """An account without money is told apart from a setting that the provider refuses."""
    flow_id = await begin(hass)
    server.faults.add(Fault("client:session.update", Error(code)))
    result = await submit(hass, flow_id, account(server))
    assert result["errors"] == {"base": error}
    server.faults.clear()
    result = await submit(hass, flow_id, account(server))
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_nothing_answers(hass: HomeAssistant, server: LoopbackServer, nowhere: str) -> None:
    """A server that is switched off is not taken for a wrong key."""
    flow_id = await begin(hass)
    result = await submit(hass, flow_id, account(server, base_url=nowhere))
    assert result["errors"] == {"base": "cannot_connect"}
    result = await submit(hass, flow_id, account(server))
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_name_that_nobody_knows(
    hass: HomeAssistant, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistyped name is shown at the address."""

    def answer(*_args: object, **_more: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    flow_id = await begin(hass)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", answer)
        result = await submit(hass, flow_id, account(server, base_url="http://nobody.invalid"))
    assert result["errors"] == {"base_url": "cannot_connect"}
    result = await submit(hass, flow_id, account(server))
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_an_account_without_the_newest_model(hass: HomeAssistant) -> None:
    """A person whose account may not use the newest model is asked for another one."""
    models = {"gpt-realtime-1.5": MODELS["gpt-realtime-1.5"]}
    async with LoopbackServer(key=KEY, models=models) as server:
        flow_id = await begin(hass)
        result = await submit(hass, flow_id, account(server))
        assert result["step_id"] == "model"
        assert result["errors"] == {"base": "model_not_found"}
        result = await submit(hass, flow_id, {"model": "gpt-realtime-2"})
        assert result["errors"] == {"model": "model_not_found"}
        result = await submit(hass, flow_id, {"model": "gpt-realtime-1.5"})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        [assistant] = result["result"].subentries.values()
        assert assistant.data["model"] == "gpt-realtime-1.5"


async def test_a_server_at_home(hass: HomeAssistant) -> None:
    """A server of one's own needs no key, and its models can be chosen from a list."""
    async with LoopbackServer(any_model=True) as server:
        flow_id = await begin(hass)
        typed = account(server, provider="openai_compatible")
        del typed["api_key"]
        result = await submit(hass, flow_id, typed)
        assert result["step_id"] == "model"
        assert not result["errors"]
        assert result["data_schema"] is not None
        [selector] = result["data_schema"].schema.values()
        assert MODEL in selector.config["options"]
        result = await submit(hass, flow_id, {"model": " a-model-of-mine "})
        assert result["type"] is FlowResultType.CREATE_ENTRY
        assert result["data"]["api_key"] == ""
        [assistant] = result["result"].subentries.values()
        assert assistant.data["model"] == "a-model-of-mine"


async def test_a_server_at_home_that_is_off(
    hass: HomeAssistant, server: LoopbackServer, nowhere: str
) -> None:
    """Nobody is asked for the model of a server that does not answer."""
    flow_id = await begin(hass)
    typed = account(server, provider="openai_compatible", base_url=nowhere)
    result = await submit(hass, flow_id, typed)
    assert result["step_id"] == "user"
    assert result["errors"] == {"base": "cannot_connect"}
    result = await submit(hass, flow_id, account(server, provider="openai_compatible"))
    assert result["step_id"] == "model"
    result = await submit(hass, flow_id, {"model": MODEL})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_server_at_home_that_hangs_up(hass: HomeAssistant, server: LoopbackServer) -> None:
    """A server that is only starting can be tried again from where one is."""
    flow_id = await begin(hass)
    server.refuse_connections = True
    result = await submit(hass, flow_id, account(server, provider="openai_compatible"))
    assert result["step_id"] == "model"
    again = await hass.config_entries.flow.async_configure(flow_id)
    assert again["step_id"] == "model"
    server.refuse_connections = False
    result = await submit(hass, flow_id, {"model": MODEL})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_server_at_home_that_refuses_the_key(
    hass: HomeAssistant, server: LoopbackServer
) -> None:
    """What the model's form finds out about the key can be corrected where the key is typed."""
    flow_id = await begin(hass)
    typed = account(server, provider="openai_compatible", api_key="another")
    await submit(hass, flow_id, typed)
    result = await submit(hass, flow_id, {"model": MODEL})
    assert result["step_id"] == "user"
    assert result["errors"] == {"api_key": "invalid_auth"}
    await submit(hass, flow_id, account(server, provider="openai_compatible"))
    result = await submit(hass, flow_id, {"model": MODEL})
    assert result["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(text="<html>It works!</html>", content_type="text/html"),
        web.json_response({"models": []}),
        web.json_response({"data": [{"id": "m" * 100}] * 11_000}),
        web.Response(status=302, headers={"Location": "http://8.8.8.8/v1/models"}),
    ],
    ids=["page", "other", "endless", "elsewhere"],
)
async def test_a_server_that_lists_no_models(hass: HomeAssistant, answer: web.Response) -> None:
    """A server without a list of models can be used: the name is typed."""

    async def models(_request: web.Request) -> web.Response:
        return answer

    app = web.Application()
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        typed = {"provider": "openai_compatible", "base_url": base_url, "create_pipeline": False}
        flow_id = await begin(hass)
        result = await submit(hass, flow_id, typed)
        assert result["step_id"] == "model"
        assert result["data_schema"] is not None
        [selector] = result["data_schema"].schema.values()
        assert selector.config["options"] == []
        result = await submit(hass, flow_id, {"model": MODEL})
        assert result["step_id"] == "user"
        assert result["errors"] == {"base": "not_realtime"}
    finally:
        await runner.cleanup()


async def test_an_account_is_added_once(hass: HomeAssistant, server: LoopbackServer) -> None:
    """Nobody gets the same assistants twice, however the address is spelled."""
    present(hass, server)
    typed = account(server, base_url=server.base_url.removesuffix("/v1") + "/")
    result = await submit(hass, await begin(hass), typed)
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"
    server.key = None
    result = await submit(hass, await begin(hass), account(server, api_key="of another account"))
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_refused_key_is_replaced(hass: HomeAssistant, server: LoopbackServer) -> None:
    """Whoever has changed the key at the provider enters the new one, and talks on."""
    entry = present(hass, server, api_key="the old one")
    assert await hass.config_entries.async_setup(entry.entry_id)
    assistants = list(entry.subentries)
    form = await entry.start_reauth_flow(hass)
    assert form["step_id"] == "reauth_confirm"
    result = await submit(hass, form["flow_id"], {"api_key": "a wrong one"})
    assert result["errors"] == {"api_key": "invalid_auth"}
    result = await submit(hass, form["flow_id"], {"api_key": KEY})
    assert result["reason"] == "reauth_successful"
    assert entry.data["api_key"] == KEY
    assert entry.unique_id != "as it was"
    assert entry.state is ConfigEntryState.LOADED
    assert list(entry.subentries) == assistants


async def test_an_account_that_is_not_loaded_gets_another_key(
    hass: HomeAssistant, server: LoopbackServer
) -> None:
    """A new key also helps an account that could not be set up."""
    entry = present(hass, server, api_key="the old one")
    form = await entry.start_reauth_flow(hass)
    result = await submit(hass, form["flow_id"], {"api_key": KEY})
    assert result["reason"] == "reauth_successful"
    assert entry.data["api_key"] == KEY
    assert entry.state is ConfigEntryState.LOADED


async def test_an_account_moves(hass: HomeAssistant, server: LoopbackServer, nowhere: str) -> None:
    """A server that got another address is followed, without typing the key again."""
    entry = present(hass, server, base_url=nowhere, provider="openai_compatible")
    form = await entry.start_reconfigure_flow(hass)
    assert form["step_id"] == "reconfigure"
    assert suggested(form) == {"provider": "openai_compatible", "base_url": nowhere}
    typed = {"provider": "openai_compatible", "base_url": nowhere}
    result = await submit(hass, form["flow_id"], typed)
    assert result["errors"] == {"base": "cannot_connect"}
    result = await submit(hass, form["flow_id"], typed | {"base_url": server.base_url})
    assert result["reason"] == "reconfigure_successful"
    assert entry.data == typed | {"base_url": server.base_url, "api_key": KEY}


async def test_an_account_without_its_model(hass: HomeAssistant, server: LoopbackServer) -> None:
    """Moving an account to where its assistant's model is unknown is noticed at once."""
    entry = present(hass, server)
    assert await hass.config_entries.async_setup(entry.entry_id)
    [assistant] = entry.subentries.values()
    hass.config_entries.async_update_subentry(entry, assistant, data={"model": "of another"})
    await hass.async_block_till_done()
    form = await entry.start_reconfigure_flow(hass)
    result = await submit(
        hass, form["flow_id"], {"provider": "openai", "base_url": server.base_url}
    )
    assert result["step_id"] == "reconfigure"
    assert result["errors"] == {"base": "model_not_found"}


async def test_two_accounts_do_not_become_one(hass: HomeAssistant, server: LoopbackServer) -> None:
    """An account cannot be turned into one that is there already."""
    present(hass, server)
    other = present(hass, server, api_key="another")
    form = await other.start_reconfigure_flow(hass)
    typed = {"provider": "openai", "base_url": server.base_url, "api_key": KEY}
    result = await submit(hass, form["flow_id"], typed)
    assert result["reason"] == "already_configured"


async def test_a_voice_assistant_is_made(hass: HomeAssistant, server: LoopbackServer) -> None:
    """After the flow, a satellite only has to choose the voice assistant that was made."""
    before = {pipeline.id for pipeline in async_pipelines(hass)}
    result = await submit(hass, await begin(hass), account(server, create_pipeline=True))
    [pipeline] = [
        each
        for each in async_pipelines(hass)
        if each.id not in before and each.name == "Realtime Assist"
    ]
    engines = {
        entity.domain: entity.entity_id
        for entity in er.async_entries_for_config_entry(
            er.async_get(hass), result["result"].entry_id
        )
    }
    assert pipeline.stt_engine == engines["stt"]
    assert pipeline.conversation_engine == engines["conversation"]
    assert pipeline.tts_engine == engines["tts"]
    assert not pipeline.prefer_local_intents


def async_pipelines(hass: HomeAssistant) -> list[Any]:
    """Return the voice assistants that there are."""
    return async_get_pipelines(hass) if "assist_pipeline" in hass.config.components else []


async def test_no_voice_assistant_is_made_unasked(
    hass: HomeAssistant, server: LoopbackServer
) -> None:
    """Whoever makes voice assistants by hand gets none besides."""
    await submit(hass, await begin(hass), account(server))
    assert all(each.name != "Realtime Assist" for each in async_pipelines(hass))


async def test_an_account_without_engines_makes_no_voice_assistant(
    hass: HomeAssistant, server: LoopbackServer
) -> None:
    """A voice assistant without ears and mouth is never offered to a satellite."""
    assert await async_setup_component(hass, "assist_pipeline", {})
    before = async_pipelines(hass)
    assert not await async_create_pipeline(hass, present(hass, server))
    assert async_pipelines(hass) == before


async def test_an_engine_that_is_switched_off(hass: HomeAssistant, server: LoopbackServer) -> None:
    """Nobody gets a voice assistant whose voice was switched off."""
    result = await submit(hass, await begin(hass), account(server))
    entry = result["result"]
    registry = er.async_get(hass)
    [voice] = [
        entity.entity_id
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id)
        if entity.domain == "tts"
    ]
    registry.async_update_entity(voice, disabled_by=er.RegistryEntryDisabler.USER)
    assert await hass.config_entries.async_reload(entry.entry_id)
    before = async_pipelines(hass)
    assert not await async_create_pipeline(hass, entry)
    assert async_pipelines(hass) == before


async def test_a_home_whose_language_home_assistant_does_not_know(
    hass: HomeAssistant, server: LoopbackServer
) -> None:
    """A voice assistant is made in a home of any language."""
    hass.config.language = "tlh"
    await submit(hass, await begin(hass), account(server, create_pipeline=True))
    assert any(each.name == "Realtime Assist" for each in async_pipelines(hass))
