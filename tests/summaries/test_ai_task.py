"""An AI task of the family's own choice writes the summaries, and nothing depends on it."""

import asyncio
import json
import re
from contextvars import copy_context
from datetime import timedelta
from typing import Any, cast

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.ai_task import GenDataTask
from homeassistant.const import EVENT_CALL_SERVICE, STATE_UNAVAILABLE
from homeassistant.core import Event, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir

from custom_components.realtime_assist.compaction import Compacted
from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey, audience
from custom_components.realtime_assist.pipeline.context import current_turn
from custom_components.realtime_assist.pipeline.turn import Turn
from custom_components.realtime_assist.summaries import ai_task
from tests.home import Home

from .writer import LINES, SUMMARY, Answer, Writer, add_writer, houses, lines, remember, summarize

ANNA = ScopeKey(Scope.SPEAKER, "anna")
REFUSED: dict[str, Any] = {
    "empty": {},
    "broken": {"facts": "House 3. [N]"},
    "answers": {"gist": ["Sure, the house of Berta is on the long street. [N]"]},
    "cites_nothing": {"gist": ["Berta lives in house 3 of the long street."]},
    "too_long": {"facts": ["Berta lives in one of the houses on the long street. [N]"] * 200},
    "unfounded": {"facts": ["A dragon sleeps in Rome. [N]", "Zebras paint. [N]"]},
    "failed": None,
}


def giving(answer: Any) -> Answer:  # noqa: ANN401 - whatever a model gives
    """Return what gives this, as text, with the number of a turn for N; None: it fails."""

    async def give(task: GenDataTask) -> str:
        if answer is None:
            raise HomeAssistantError(f"It said: {task.instructions}")
        number = re.findall(r"^#(\d+) ", task.instructions, re.MULTILINE)[0]
        return json.dumps(answer).replace("[N]", f"[{number}]")

    return give


@pytest.fixture
def options() -> dict[str, Any]:
    """Choose an AI task, and little room for what is told word for word."""
    return {"resume_tokens": 300, "ai_task_entity": "ai_task.writer"}


def issues(house: Home) -> list[str]:
    """Return the repairs of ours that are shown."""
    shown = ir.async_get(house.hass).issues.values()
    return [each.translation_key or "" for each in shown if each.domain == DOMAIN]


async def test_it_writes_the_summary(house: Home) -> None:
    """What the chosen AI task wrote is what is known from then on, and the action says so."""
    writer = Writer()
    await add_writer(house.hass, writer)
    key = await remember(house, houses())
    told: list[Event[Any]] = []

    @callback
    def keep(event: Event[Any]) -> None:
        told.append(event)

    house.hass.bus.async_listen(EVENT_CALL_SERVICE, keep)
    made = await summarize(house)
    assert (made["state"], made["made_by"], made["lines"]) == ("summarized", "ai_task", 2)
    assert lines(house, key) == LINES
    (task,) = writer.tasks
    assert "My sister Berta lives in house number 0 of the long street." in task.instructions
    assert task.structure is not None
    assert task.llm_api is None
    assert not any("Berta" in str(event.data) for event in told)
    assert house.memory.compaction.tries.counts == {"ai_task_made": 1}


async def test_its_summary_is_folded_into_the_next(house: Home) -> None:
    """What was known stays known, and is shown to the AI task with the turns it is from."""
    writer = Writer()
    await add_writer(house.hass, writer)
    await remember(house, houses())
    await summarize(house)
    key = await remember(house, houses(first=30))
    writer.answers = [{"facts": ["Berta lives in house 3. [4]", "Another is house 40. [41]"]}]
    assert (await summarize(house))["state"] == "summarized"
    assert "The sister Berta lives in house 3 of the long street." in writer.tasks[1].instructions
    assert lines(house, key) == ["Berta lives in house 3.", "Another is house 40."]


async def test_a_renamed_entity_is_still_the_one(house: Home) -> None:
    """Who renames an entity has not chosen another."""
    writer = Writer()
    await add_writer(house.hass, writer)
    registry = er.async_get(house.hass)
    entry = registry.async_get("ai_task.writer")
    assert entry is not None
    subentry = next(iter(house.entry.subentries.values()))
    house.hass.config_entries.async_update_subentry(
        house.entry, subentry, data={**subentry.data, "ai_task_entity": entry.id}
    )
    await house.hass.async_block_till_done()
    registry.async_update_entity("ai_task.writer", new_entity_id="ai_task.poet")
    await house.hass.async_block_till_done()
    await remember(house, houses())
    assert (await summarize(house))["made_by"] == "ai_task"


async def test_what_is_no_summary_is_not_kept(
    house: Home, freezer: FrozenDateTimeFactory, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever an AI task gives instead of a summary, nothing is lost, and it may try again."""
    writer = Writer()
    await add_writer(house.hass, writer)
    key = await remember(house, houses())
    first = 30
    for number, (code, answer) in enumerate(REFUSED.items(), 1):
        writer.answers = [giving(answer)]
        made = await summarize(house)
        assert (made["state"], made["made_by"]) == ("summarized", "extractive"), code
        assert house.memory.compaction.tries.counts[f"ai_task_{code}"] == 1
        assert len(writer.tasks) == number
        # It is left alone for a while, and then asked again.
        await remember(house, houses(10, first=first))
        assert (await summarize(house))["made_by"] == "extractive"
        assert len(writer.tasks) == number
        freezer.tick(timedelta(minutes=10, seconds=1))
        await remember(house, houses(20, first=first + 10))
        first += 30
    assert issues(house) == ["ai_task_fails"]
    assert all("Berta" in line for line in lines(house, key))
    ours = [each.getMessage() for each in caplog.records if DOMAIN in each.name]
    assert not any("Berta" in message for message in ours)
    writer.answers = [{"facts": ["Berta lives in house 231. [232]", "And in 3. [4]"]}]
    assert (await summarize(house))["made_by"] == "ai_task"
    assert not issues(house)


async def test_a_slow_one_holds_up_nothing(house: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that thinks for hours costs a minute, in which everything else goes on."""

    async def think(_task: GenDataTask) -> None:
        await asyncio.Event().wait()

    await add_writer(house.hass, Writer(think))
    await remember(house, houses())
    monkeypatch.setattr(ai_task, "SECONDS", 0.1)
    made = await summarize(house)
    assert (made["state"], made["made_by"]) == ("summarized", "extractive")
    assert house.memory.compaction.tries.counts["ai_task_timeout"] == 1


async def test_one_that_is_gone_is_reported(house: Home, freezer: FrozenDateTimeFactory) -> None:
    """Who removed the AI task reads so, and meanwhile summaries are made all the same."""
    await remember(house, houses())
    assert (await summarize(house))["made_by"] == "extractive"
    assert issues(house) == ["ai_task_fails"]
    writer = Writer()
    await add_writer(house.hass, writer)
    house.hass.states.async_set("ai_task.writer", STATE_UNAVAILABLE)
    freezer.tick(timedelta(minutes=11))
    await remember(house, houses(first=30))
    assert (await summarize(house))["made_by"] == "extractive"
    assert not writer.tasks
    counts = house.memory.compaction.tries.counts
    assert (counts["ai_task_entity_missing"], counts["ai_task_entity_unavailable"]) == (1, 1)
    subentry = next(iter(house.entry.subentries.values()))
    house.hass.config_entries.async_update_subentry(house.entry, subentry, data={})
    await house.hass.async_block_till_done()
    assert not issues(house)


async def test_what_is_forgotten_meanwhile_never_comes_back(house: Home) -> None:
    """A summary that was begun before something was forgotten is thrown away."""
    house.memory.context.set(ANNA, "sister", "house number 3 of the long street")

    async def forget(_task: GenDataTask) -> Any:  # noqa: ANN401 - a summary
        await house.memory.changes.async_forget_words(["house number 3 of the long street"])
        return SUMMARY

    writer = Writer(forget, SUMMARY)
    await add_writer(house.hass, writer)
    key = await remember(house, houses())
    assert (await summarize(house))["state"] == "changed"
    assert lines(house, key) == []
    # Then it is made without it, by the way that is always there.
    made = await summarize(house)
    assert (made["state"], made["made_by"]) == ("summarized", "extractive")
    thread = house.memory.thread(key)
    known = [*lines(house, key), *(text for turn in thread.turns for text in turn.texts())]
    assert not any("number 3 of" in text for text in known)
    assert house.memory.compaction.tries.counts["ai_task_too_late"] == 1


async def test_what_it_does_is_no_part_of_the_turn_before(house: Home) -> None:
    """An AI task that talks to the house itself is not taken for the person who just spoke."""
    found: list[object] = []

    async def look(_task: GenDataTask) -> Any:  # noqa: ANN401 - a summary
        found.append(current_turn.get())
        return SUMMARY

    await add_writer(house.hass, Writer(look))
    key = await remember(house, houses())

    def join() -> None:
        current_turn.set(cast("Turn", "a turn"))
        house.memory.join(key, next(iter(houses(1, first=99))), 300)

    copy_context().run(join)
    await house.until(lambda: lines(house, key), 20)
    assert found == [None]


async def test_a_turn_that_joins_meanwhile_is_not_lost(house: Home) -> None:
    """What is said while a summary is written stays word for word."""
    latest = next(iter(houses(1, first=99)))

    async def slow(_task: GenDataTask) -> Any:  # noqa: ANN401 - a summary
        await remember(house, [latest])
        return SUMMARY

    await add_writer(house.hass, Writer(slow))
    key = await remember(house, houses())
    assert (await summarize(house))["made_by"] == "ai_task"
    assert house.memory.thread(key).turns[-1].id == latest.id


async def test_what_one_person_said_is_never_put_beside_the_rest(house: Home) -> None:
    """What Anna said is summarised in a question of its own, and its lines are hers alone."""

    async def write(task: GenDataTask) -> Any:  # noqa: ANN401 - a summary
        number = 31 if "number 30 " in task.instructions else 1
        return {"facts": [f"Berta lives in house {number - 1}. [{number}, {number + 1}]"]}

    writer = Writer(write)
    await add_writer(house.hass, writer)
    await remember(house, houses(25))
    key = await remember(house, houses(25, first=30, who=audience(ANNA)))
    await remember(house, houses(5, first=60))
    assert (await summarize(house))["made_by"] == "ai_task"
    everybodys, annas = (task.instructions for task in writer.tasks)
    assert "number 30 " not in everybodys
    assert "number 0 " not in annas
    summary = house.memory.thread(key).summary
    assert summary is not None
    assert {line.audience for line in summary.lines} == {audience(), audience(ANNA)}


async def test_with_no_time_the_built_in_way_is_taken(house: Home) -> None:
    """Where a conversation must be shortened soon, nobody waits for another model for long."""

    async def think(_task: GenDataTask) -> None:
        await asyncio.Event().wait()

    writer = Writer(think)
    await add_writer(house.hass, writer)
    key = await remember(house, houses())
    run = house.hass.async_create_task(summarize(house))
    await house.until(lambda: writer.tasks)
    assert (await summarize(house))["state"] == "running"
    state = await house.memory.compaction.async_compact(key, 300, within=0.05)
    assert state is Compacted.SUMMARIZED
    assert lines(house, key)
    assert house.memory.compaction.running == 1
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    assert house.memory.compaction.running == 0
    assert await house.memory.compaction.async_compact(key, 300, within=5) is Compacted.UP_TO_DATE


async def test_with_some_time_a_run_is_waited_for(house: Home) -> None:
    """A summary that is nearly written is not thrown away for a worse one."""
    ready = asyncio.Event()

    async def think(_task: GenDataTask) -> Any:  # noqa: ANN401 - a summary
        await ready.wait()
        return SUMMARY

    writer = Writer(think)
    await add_writer(house.hass, writer)
    key = await remember(house, houses())
    run = house.hass.async_create_task(summarize(house))
    await house.until(lambda: writer.tasks)
    compact = house.memory.compaction.async_compact(key, 300, within=5)
    pressed = house.hass.async_create_task(compact)
    ready.set()
    assert (await run)["made_by"] == "ai_task"
    assert await pressed is Compacted.UP_TO_DATE
    assert lines(house, key) == LINES
