"""Summaries by the session's own model, beside the conversation.

Only where the provider keeps such a response apart, and only while a session of the thread is open
and nobody speaks: a turn that begins stops it, and it is done after that turn.
"""

from collections.abc import Callable
from typing import Final

from ..memory.asking import instructions, read, record
from ..memory.summarizer import HomeSummary, SummaryFailed, SummaryPutOff, SummaryTask
from ..realtime.asides import Aside, AsideFailed
from ..realtime.session import RealtimeSession

SECONDS: Final = 30.0
"""How long one answer is waited for."""
_FRAME_TOKENS: Final = 1000
"""What an answer may cost beside its lines: their marks, and what a model thinks."""
_MOST_TOKENS: Final = 4096
"""What the smallest model of OpenAI can answer at most (PROTOCOL.md 1.9); more is refused."""
_PUT_OFF: Final = frozenset({"interrupted", "not_idle", "lost"})


class ModelSummarizer:
    """The way by the model that was spoken with."""

    name: Final = "model"

    def __init__(self, session: Callable[[], RealtimeSession | None]) -> None:
        """Use the session that this gives at each moment: one that can be asked, or None."""
        self._session: Final = session

    async def summarize(self, task: SummaryTask) -> HomeSummary:
        """Return the summary of a task; raises SummaryFailed, SummaryPutOff for a turn."""
        aside = Aside(
            instructions=instructions(task),
            input=record(task),
            max_tokens=min(2 * task.tokens + _FRAME_TOKENS, _MOST_TOKENS),
        )
        if (session := self._session()) is None:
            raise SummaryPutOff("not_idle")
        try:
            answer = await session.ask_aside(aside, seconds=SECONDS)
        except AsideFailed as err:
            raise (SummaryPutOff if err.code in _PUT_OFF else SummaryFailed)(err.code) from None
        return read(answer)
