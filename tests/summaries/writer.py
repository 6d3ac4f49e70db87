"""An AI Task entity for tests, in the real component, and a history that is due for a summary."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, Final, override

from homeassistant.components.ai_task import (
    AITaskEntity,
    AITaskEntityFeature,
    GenDataTask,
    GenDataTaskResult,
)
from homeassistant.components.ai_task.const import DATA_COMPONENT
from homeassistant.components.conversation import ChatLog
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.items import EVERYBODY, Audience
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import Said, ThreadKey, TurnRecord
from tests.home import Home
from tests.people import act, device_id

SUMMARY: Final = {
    "gist": ["Berta's houses on the long street were talked about. [1, 2, 3, 4, 5]"],
    "facts": ["The sister Berta lives in house 3 of the long street. [4]"],
}
LINES: Final = [
    "The sister Berta lives in house 3 of the long street.",
    "Berta's houses on the long street were talked about.",
]
"""What becomes of it."""

type Answer = object | BaseException | Callable[[GenDataTask], Any]


class Writer(AITaskEntity):
    """Answers what a test wrote down, in order, then the last of it again; or it fails."""

    _attr_supported_features = AITaskEntityFeature.GENERATE_DATA
    _attr_unique_id = "writer"
    _attr_name = "Writer"

    def __init__(self, *answers: Answer) -> None:
        """Answer these."""
        self.answers: list[Answer] = list(answers) or [SUMMARY]
        self.tasks: list[GenDataTask] = []

    @override
    async def _async_generate_data(self, task: GenDataTask, chat_log: ChatLog) -> GenDataTaskResult:
        self.tasks.append(task)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        if callable(answer):
            answer = await answer(task)
        if isinstance(answer, dict) and task.structure is not None:
            answer = task.structure(answer)
        return GenDataTaskResult(conversation_id=chat_log.conversation_id, data=answer)


async def add_writer(hass: HomeAssistant, writer: Writer) -> None:
    """Set up Home Assistant's AI Task component with an entity, `ai_task.writer`."""
    assert await async_setup_component(hass, "ai_task", {})
    await hass.data[DATA_COMPONENT].async_add_entities([writer])
    await hass.async_block_till_done()


def houses(count: int = 30, *, first: int = 0, who: Audience = EVERYBODY) -> Iterable[TurnRecord]:
    """Return turns of which a new session of few tokens would be told the last alone."""
    for number in range(first, first + count):
        yield TurnRecord(
            id=f"old{number}",
            at=dt_util.now() - timedelta(minutes=90 - number),
            heard_text=f"My sister Berta lives in house number {number} of the long street.",
            said=(Said(index=0, text=f"I will remember that house {number} is hers."),),
            audience=who,
        )


async def remember(house: Home, turns: Iterable[TurnRecord]) -> ThreadKey:
    """Let turns of the kitchen join its thread, without a summary yet."""
    scope = ScopeKey(Scope.DEVICE, device_id(house.kitchen))
    key = ThreadKey(house.assistant.subentry_id, scope)
    thread = await house.memory.storage.async_load_thread(key)
    for turn in turns:
        thread = thread.joined(turn)
    house.memory.storage.save_thread(thread)
    return key


def lines(house: Home, key: ThreadKey) -> list[str]:
    """Return the lines of the summary of a thread."""
    summary = house.memory.thread(key).summary
    return [line.text for line in summary.lines] if summary else []


async def summarize(house: Home) -> dict[str, Any]:
    """Call the action for the kitchen, and return what it says of the kitchen's thread."""
    response = await act(house.hass, "summarize", device_id=device_id(house.kitchen))
    (thread,) = response["threads"]
    found: dict[str, Any] = thread
    return found
