"""Long tool results: the model is told the first part, and can read on.

tool ──> async_shorten ──> part 1 to the wire and the record
             └──> all of it: in memory, and with the turn that is kept into the archive
"""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.util import dt as dt_util

from .const import DOMAIN
from .items import EVERYBODY, Audience
from .memory.scopes import ScopeKey, audience
from .memory.segments import result_id
from .memory.transcript import Called, ThreadKey, TurnRecord
from .pipeline.parts import MAX_CHARS, cost, parts, readable

if TYPE_CHECKING:
    from homeassistant.helpers.llm import ToolInput

    from .house import House
    from .pipeline.turn import Turn
    from .projection import Projection

READ_RESULT: Final = f"{DOMAIN}__read_result"

MAX_HELD: Final = 16
"""Long results of one session that are in memory."""
MAX_HELD_CHARS: Final = 4 * MAX_CHARS
_MORE: Final = (
    f"This is only a part of a long result. If it does not answer the question, call {READ_RESULT}"
    " with this result and the number of another part."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a long result."""

    result: str
    number: int
    count: int
    left_out: int
    """Characters that are in the other parts."""
    text: str = field(repr=False)

    @property
    def data(self) -> dict[str, Any]:
        """Return what a model is told."""
        return {
            "result": self.result,
            "part": self.number,
            "of_parts": self.count,
            "characters_left_out": self.left_out,
            **({"note": _MORE} if self.count > 1 else {}),
            "text": self.text,
        }


_FRAME: Final = cost(
    Part(result="0" * 12, number=9999, count=9999, left_out=MAX_CHARS, text="").data
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A long result in memory."""

    thread: ThreadKey
    turn: TurnRecord = field(repr=False)
    """The turn that got it, with nothing else in it; its output is all of it."""


class LongResults:
    """The long tool results of one session."""

    def __init__(self, house: House, projection: Projection, tokens: int) -> None:
        """Tell the model at most `tokens` of a result at once."""
        self._house: Final = house
        self._projection: Final = projection
        self._tokens: Final = tokens
        self._held: Final[OrderedDict[str, _Held]] = OrderedDict()
        self._keeping: Final[set[str]] = set()
        """Those that are on their way into the archive."""

    async def async_shorten(
        self, turn: Turn, call: ToolInput, data: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what the model is told of a result of this turn: all of it, or the first part."""
        run = self._house.hass.async_add_executor_job
        if await run(cost, data) <= self._tokens:
            return data
        found = result_id(turn.id, call.id)
        text = await run(readable, data)
        self._hold(
            found,
            _Held(
                thread=self._projection.key,
                turn=TurnRecord(
                    id=turn.id,
                    at=turn.at,
                    calls=(
                        Called(call_id=call.id, name=call.tool_name, arguments="{}", output=text),
                    ),
                    audience=audience(turn.origin.speaker) if turn.origin.speaker else EVERYBODY,
                ),
            ),
        )
        part = await run(self._part, found, text, 1)
        return part.data if part else data

    async def async_read(
        self, result: str, number: int, visible: Collection[ScopeKey]
    ) -> Part | None:
        """Return a part of a result, for somebody who sees these scopes; None if there is none."""
        thread = self._projection.key
        held = self._held.get(result)
        if held is None and thread.scope.durable:
            kept = await self._house.storage.archive.async_result(thread, result)
            held = _Held(thread=thread, turn=kept) if kept else None
        # The session's own thread is seen by whoever speaks here; a turn of it perhaps not.
        seen: Audience = audience(*visible, thread.scope)
        if held is None or held.thread != thread or not held.turn.audience <= seen:
            return None
        text = held.turn.calls[0].output or ""
        return await self._house.hass.async_add_executor_job(self._part, result, text, number)

    @callback
    def keep(self, record: TurnRecord, key: ThreadKey) -> None:
        """Have the long results of a turn that is remembered in the archive of its thread."""
        if not key.scope.durable or self._house.changes.forgotten_meanwhile(record):
            return
        for result, held in self._held.items():
            if held.turn.id == record.id:
                self._keeping.add(result)
                self._house.hass.async_create_background_task(
                    self._async_keep(result, key), f"{DOMAIN} long result"
                )

    async def _async_keep(self, result: str, key: ThreadKey) -> None:
        turns = partial(self._turns, result)
        try:
            await self._house.storage.archive.async_add(key, turns, dt_util.now(), result)
        finally:
            self._keeping.discard(result)

    @callback
    def end(self, *, but: Collection[str] = ()) -> None:
        """Let go of what is only in memory: the session is over, but not these turns."""
        for result, held in list(self._held.items()):
            if held.turn.id not in but and result not in self._keeping:
                del self._held[result]

    @callback
    def forget(self) -> None:
        """Let go of all, whatever becomes of it: nobody knows what of it was forgotten."""
        self._held.clear()

    def _turns(self, result: str) -> tuple[TurnRecord, ...]:
        """Return the turn of a result; none if something was forgotten meanwhile."""
        held = self._held.get(result)
        return (held.turn,) if held else ()

    def _hold(self, result: str, held: _Held) -> None:
        self._held[result] = held
        while len(self._held) > MAX_HELD or self._chars() > MAX_HELD_CHARS:
            self._held.popitem(last=False)

    def _chars(self) -> int:
        return sum(len(held.turn.calls[0].output or "") for held in self._held.values())

    def _part(self, result: str, text: str, number: int) -> Part | None:
        """Return a part of a text; None if there are not so many."""
        found = parts(text, self._tokens - _FRAME)
        if not 0 < number <= len(found):
            return None
        piece = found[number - 1]
        return Part(
            result=result,
            number=number,
            count=len(found),
            left_out=len(text) - len(piece),
            text=piece,
        )
