"""A whole home with a realtime server that others wrote: it judges all of our client at once."""

from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.helpers import llm

from tests.foreign import KNOW, LAMP, Foreign
from tests.pipeline.engines import API_ID, Api, Tool
from tests.realtime.rig import quiet
from tests.realtime.rig import speech as voice
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.foreign")

FRAME = 640


@pytest.fixture(params=["home_assistant", "server_vad"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Let either side hear the end of speech."""
    return {"model": "any", "turn_detection": request.param, "llm_hass_api": [API_ID]}


@pytest.fixture
async def moved(house: Home, foreign: Foreign) -> Home:
    """Let the home's account move to the other server."""
    data = {"provider": "openai_compatible", "base_url": foreign.base_url, "api_key": ""}
    house.hass.config_entries.async_update_entry(house.entry, data=data)
    await house.hass.async_block_till_done()
    return house


@pytest.fixture
def lamp(hass: Any) -> list[llm.ToolInput]:  # noqa: ANN401 - a fixture without a type
    """Give the home a lamp; the list tells when it was turned on."""
    on: list[llm.ToolInput] = []

    async def turn_on(tool_input: llm.ToolInput) -> Any:  # noqa: ANN401 - JSON
        on.append(tool_input)
        return "on"

    llm.async_register_api(hass, Api(hass, [Tool("HassTurnOn", turn_on)]))
    return on


async def ask(house: Home, hertz: float) -> str:
    """Say a sentence in the kitchen, hear the answer to its end, and return its words."""
    pcm = voice(600, hertz)
    if house.assistant.options.turn_detection != "home_assistant":
        pcm += quiet(4000)  # the satellite goes on until it is told to stop
    frames = [pcm[at : at + FRAME] for at in range(0, len(pcm), FRAME)]
    kinds = await house.kitchen.hear(speech(frames, wait=0.002))
    assert "error" not in kinds
    assert len(await house.kitchen.play()) > 2 * 16_000 * 0.3
    await house.settled()
    said: str = house.kitchen.event("tts-start")["tts_input"]
    return said


async def test_whole_turns(moved: Home, foreign: Foreign, lamp: list[llm.ToolInput]) -> None:
    """Speech, tools and what `memory.update` changes reach a server that we did not write."""
    assert await ask(moved, KNOW) == "I know what I was told."
    assert moved.kitchen.event("stt-end")["stt_output"]["text"] == "What do you know?"
    assert "The lamp is" in await ask(moved, LAMP)
    assert [call.tool_name for call in lamp] == ["HassTurnOn"]
    assert "function_call_output" in await foreign.given()
    done = await moved.hass.services.async_call(
        "memory",
        "update",
        {"scope": "global", "entries": {"cat": "Minka is the cat"}},
        blocking=True,
        return_response=True,
    )
    assert done is not None
    told: Any = done["sessions"]
    assert [(session["state"], session["failed"]) for session in told] == [("updated", 0)]
    assert "Minka" in await foreign.held()
    assert await ask(moved, KNOW) == "I know what I was told."
    assert "Minka" in await foreign.given()
    await moved.hass.services.async_call(
        "memory", "update", {"scope": "global", "forget": ["cat"]}, blocking=True
    )
    assert await ask(moved, KNOW) == "I know what I was told."
    assert "Minka" not in await foreign.given() + await foreign.held()
    assert [record.heard_text for record in moved.records(moved.kitchen)] == [
        "What do you know?",
        "Please turn on the lamp.",
        "What do you know?",
        "What do you know?",
    ]


@pytest.mark.parametrize("options", ["home_assistant"], indirect=True)
async def test_a_later_session_knows_of_the_first(
    moved: Home, foreign: Foreign, lamp: list[llm.ToolInput]
) -> None:
    """Reloading loses nothing: the next session there is told what was said."""
    await ask(moved, LAMP)
    assert lamp
    await moved.hass.config_entries.async_reload(moved.entry.entry_id)
    assert await ask(moved, KNOW) == "I know what I was told."
    assert "turn on the lamp" in await foreign.given()
