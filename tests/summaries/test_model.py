"""The model that was spoken with writes the summary beside the conversation, if it can."""

import json
from typing import Any, Final, cast

import pytest

from custom_components.realtime_assist.const import CONF_BASE_URL
from custom_components.realtime_assist.summaries.tries import MOST_PUT_OFF
from tests.home import Home
from tests.loopback import Reply, Request, Text
from tests.satellite import speech

from .writer import LINES, SUMMARY, Writer, add_writer, houses, lines, remember, summarize

WRITTEN: Final = json.dumps(SUMMARY)


@pytest.fixture
def options() -> dict[str, Any]:
    """Leave little room for what is told word for word; all else as it is by default."""
    return {"resume_tokens": 300}


async def turn(house: Home) -> None:
    """Say something in the kitchen, and hear the answer to its end."""
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()


def asides(house: Home) -> list[Request]:
    """Return what the model was asked beside the conversation."""
    return [request for request in house.brain.requests if request.aside]


def answer(house: Home, *answers: object) -> None:
    """Let the model answer this when it is asked beside the conversation."""
    cast("list[object]", house.brain.asides).extend(answers)


def never() -> Reply:
    """Return an answer that takes longer than anybody waits."""
    return Reply((Text("Too late."),), after=100_000.0)


async def quiet(house: Home) -> None:
    """Wait until the session of the kitchen could be asked, and no summary is being made."""
    (projection,) = house.assistant.projections()
    await house.until(lambda: projection.session.can_ask_aside, 20)
    await house.until(lambda: not house.memory.compaction.running, 20)


async def test_the_model_writes_it_beside_the_conversation(house: Home) -> None:
    """Nobody has to choose anything: the summary is good, costs one question, and leaks nowhere."""
    answer(house, f"```json\n{WRITTEN}\n```")
    await turn(house)
    await quiet(house)
    (projection,) = house.assistant.projections()
    key = await remember(house, houses())
    before, gauge = house.assistant.usage.of(key), projection.meter.gauge
    made = await summarize(house)
    assert (made["state"], made["made_by"]) == ("summarized", "model")
    assert lines(house, key) == LINES
    (request,) = asides(house)
    assert "My sister Berta lives in house number 0" in request.texts()[0]
    assert (request.modality, request.tools) == ("text", ())
    told = " ".join(house.server.session.texts())
    assert LINES[0] not in told
    assert "You keep the notes" not in told
    after = house.assistant.usage.of(key)
    assert after.responses == before.responses + 1
    assert (after.tokens or 0) > (before.tokens or 0) + 500
    assert projection.meter.gauge == gauge
    house.hears.append("what was it about?")
    await turn(house)
    assert projection.session.connected
    assert len(house.server.sessions) == 1
    assert house.records(house.kitchen)[-1].heard_text == "what was it about?"


async def test_it_is_made_by_itself_after_a_turn(house: Home) -> None:
    """The turn that makes a history too long is the one after which it is summarised."""
    answer(house, WRITTEN)
    await turn(house)
    await quiet(house)
    key = await remember(house, houses())
    await turn(house)
    await house.until(lambda: lines(house, key), 20)
    assert lines(house, key) == LINES


async def test_a_turn_that_begins_meanwhile_waits_for_nothing(house: Home) -> None:
    """Who speaks while a summary is written is answered at once, and it is written afterwards."""
    answer(house, never())
    await turn(house)
    await quiet(house)
    key = await remember(house, houses())
    run = house.hass.async_create_task(summarize(house))
    await house.until(lambda: asides(house))
    house.hears.append("are you there?")
    house.replies.append("I am here.")
    await turn(house)
    assert (await run)["state"] == "put_off"
    # Only after that turn it is tried again, and this answer is no summary.
    await house.until(lambda: lines(house, key), 20)
    counts = house.memory.compaction.tries.counts
    assert (counts["model_put_off"], counts["model_broken"]) == (1, 1)
    assert len(asides(house)) == 2
    last = house.records(house.kitchen)[-1]
    assert (last.heard_text, last.said[0].text) == ("are you there?", "I am here.")


async def test_it_does_not_wait_for_ever_in_a_long_talk(house: Home) -> None:
    """Where people speak without a pause, the built-in way does it in between."""
    await turn(house)
    await quiet(house)
    key = await remember(house, houses())
    (projection,) = house.assistant.projections()
    exchange = projection.session.begin("talk", voice=True)
    for _ in range(MOST_PUT_OFF - 1):
        assert (await summarize(house))["state"] == "put_off"
    assert (await summarize(house))["made_by"] == "extractive"
    assert lines(house, key)
    assert not asides(house)
    exchange.cancel()
    exchange.close()


async def test_without_a_session_nobody_is_asked(house: Home) -> None:
    """A summary is no reason to open a session that costs money."""
    await remember(house, houses())
    assert (await summarize(house))["made_by"] == "extractive"
    assert not house.server.sessions


async def test_what_is_no_summary_is_not_asked_for_again_at_once(house: Home) -> None:
    """A model that cannot do it is paid once, not after every turn."""
    await turn(house)
    await quiet(house)
    await remember(house, houses())
    assert (await summarize(house))["made_by"] == "extractive"
    await remember(house, houses(first=30))
    assert (await summarize(house))["made_by"] == "extractive"
    assert len(asides(house)) == 1
    assert house.memory.compaction.tries.counts == {"model_broken": 1, "extractive_made": 2}


@pytest.mark.parametrize("options", [{"resume_tokens": 300, "summarizer": "extractive"}])
async def test_who_wants_no_model_for_it_gets_none(house: Home) -> None:
    """With the built-in way chosen nothing of it leaves the house once more."""
    await turn(house)
    await quiet(house)
    await remember(house, houses())
    assert (await summarize(house))["made_by"] == "extractive"
    assert not asides(house)


async def test_a_server_that_would_mix_it_up_is_not_asked(house: Home) -> None:
    """Only a provider of which it is documented keeps a question apart from the conversation."""
    house.hass.config_entries.async_update_entry(
        house.entry,
        data={
            **house.entry.data,
            "provider": "openai_compatible",
            CONF_BASE_URL: house.server.base_url,
        },
    )
    await house.hass.async_block_till_done()
    await turn(house)
    (projection,) = house.assistant.projections()
    assert projection.session.connected
    await house.until(lambda: not house.memory.compaction.running)
    await remember(house, houses())
    assert (await summarize(house))["made_by"] == "extractive"
    assert not asides(house)


@pytest.mark.parametrize(
    "options", [{"resume_tokens": 300, "ai_task_entity": "ai_task.writer", "summarizer": "auto"}]
)
async def test_each_way_stands_in_for_the_one_before(house: Home) -> None:
    """The AI task, then the model, then the sentences themselves: something is always known."""
    writer = Writer({})
    await add_writer(house.hass, writer)
    answer(house, WRITTEN)
    await turn(house)
    await quiet(house)
    key = await remember(house, houses())
    assert (await summarize(house))["made_by"] == "model"
    assert lines(house, key) == LINES
    assert house.memory.compaction.tries.counts == {"ai_task_empty": 1, "model_made": 1}
    assert len(writer.tasks) == 1
