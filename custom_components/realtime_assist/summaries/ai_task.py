"""Summaries by an AI Task entity that the user chose, with structured output.

It is called directly and not as an action: the data of action calls is in Home Assistant's event
bus and recorder, and these are the words of a family.
"""

import asyncio
from typing import Final

import probatio as vol
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant

from ..assistant import entity_id
from ..memory.asking import instructions, read, record
from ..memory.summarizer import HomeSummary, SummaryFailed, SummaryTask

COMPONENT: Final = "ai_task"
SECONDS: Final = 60.0
"""How long one answer is waited for: local models are slow, and nobody waits for a summary."""
MISSING: Final = "entity_missing"
UNAVAILABLE: Final = "entity_unavailable"

_STRUCTURE: Final = vol.Schema(
    {
        vol.Optional(name, description=field.description): [str]
        for name, field in HomeSummary.model_fields.items()
    }
)
"""Lists of texts: what every integration's structured output can do."""


class AITaskSummarizer:
    """The way by an entity of another integration."""

    name: Final = "ai_task"

    def __init__(self, hass: HomeAssistant, reference: str | None) -> None:
        """Use the entity of this entity id or registry id."""
        self._hass: Final = hass
        self._reference: Final = reference

    async def summarize(self, task: SummaryTask) -> HomeSummary:
        """Return the summary of a task; raises SummaryFailed."""
        entity = self._entity()
        asked = f"{instructions(task)}\n\n{record(task)}"
        # Not before it is set up: a house without it may lack what its import needs.
        from homeassistant.components import ai_task  # noqa: PLC0415

        try:
            async with asyncio.timeout(SECONDS):
                made = await ai_task.async_generate_data(
                    self._hass,
                    task_name="Summary of earlier conversation",
                    entity_id=entity,
                    instructions=asked,
                    structure=_STRUCTURE,
                )
        except TimeoutError:
            raise SummaryFailed("timeout") from None
        except Exception:  # noqa: BLE001 - another integration's; its text may quote the family
            raise SummaryFailed("failed") from None
        return read(made.data)

    def _entity(self) -> str:
        """Return the entity's present id; raises SummaryFailed if it cannot be asked."""
        found = entity_id(self._hass, self._reference)
        state = self._hass.states.get(found) if found else None
        if found is None or state is None or COMPONENT not in self._hass.config.components:
            raise SummaryFailed(MISSING)
        if state.state == STATE_UNAVAILABLE:
            raise SummaryFailed(UNAVAILABLE)
        return found
