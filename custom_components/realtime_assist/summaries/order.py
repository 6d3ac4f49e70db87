"""Which ways a thread is summarised by, in their order; the built-in one comes after them."""

from typing import TYPE_CHECKING

from ..assistant import SummarizerChoice
from .ai_task import AITaskSummarizer
from .model import ModelSummarizer

if TYPE_CHECKING:
    from ..house import House
    from ..hub import Assistant
    from ..memory.summarizer import SummaryWay
    from ..memory.transcript import ThreadKey
    from ..realtime.session import RealtimeSession


def ways(house: House, key: ThreadKey) -> list[SummaryWay]:
    """Return the ways that were chosen for a thread and can be tried now."""
    assistant = house.assistant(key.assistant)
    if assistant is None:
        return []
    found: list[SummaryWay] = []
    if uses_ai_task(assistant):
        found.append(AITaskSummarizer(house.hass, assistant.options.ai_task_entity))
    if _uses_model(assistant) and any(session.connected for session in _sessions(house, key)):
        found.append(
            ModelSummarizer(
                lambda: next((s for s in _sessions(house, key) if s.can_ask_aside), None)
            )
        )
    return found


def uses_ai_task(assistant: Assistant) -> bool:
    """Whether an AI Task entity is to write the summaries of an assistant."""
    choice = assistant.options.summarizer
    chosen = assistant.options.ai_task_entity is not None
    return choice is SummarizerChoice.AI_TASK or (choice is SummarizerChoice.AUTO and chosen)


def _uses_model(assistant: Assistant) -> bool:
    """Whether the model may be asked: where its provider would mix it up it never is."""
    return assistant.model.capabilities.isolates and assistant.options.summarizer in {
        SummarizerChoice.AUTO,
        SummarizerChoice.MODEL,
    }


def _sessions(house: House, key: ThreadKey) -> list[RealtimeSession]:
    """Return the sessions that project a thread."""
    return [each.session for each in house.projections() if each.key == key and each.remembers]
