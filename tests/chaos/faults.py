"""What goes wrong: on the wire, and around it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tests.loopback import Delay, Drop, Duplicate, Error, Garbage, Reorder, Swallow
from tests.loopback.faults import Action, Passage

if TYPE_CHECKING:
    from .lane import Lane


@dataclass(kw_only=True)
class Moment:
    """When it goes wrong in a turn, and what it does to its run."""

    nth: int
    lane: Lane
    event: str = "(never)"
    """The type of the event that was struck."""
    run: asyncio.Task[None] | None = None
    again: asyncio.Task[None] | None = None
    """The run that came in its place."""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """Another action, and which event it struck."""

    moment: Moment
    action: Action | None = None
    call: Callable[[Moment], None] | None = None

    def bend(self, passage: Passage) -> None:
        """Note the event, then let it go wrong."""
        self.moment.event = str(passage.event.get("type"))
        if self.action is not None:
            self.action.bend(passage)
        if self.call is not None:
            self.call(self.moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of fault."""

    name: str
    wire: Action | None = None
    call: Callable[[Moment], None] | None = None

    def action(self, moment: Moment) -> Action:
        """Return it for one turn."""
        return Noted(moment, self.wire, self.call)


def _cancel(moment: Moment) -> None:
    """Let whoever asked hang up."""
    if moment.run is not None and not moment.run.done():
        moment.cancelled = moment.run.cancel()


def _wake(moment: Moment) -> None:
    """Let somebody wake the satellite again, and ask something else."""
    moment.lane.ask()
    moment.again = asyncio.create_task(moment.lane.hear())


def _reload(moment: Moment) -> None:
    """Let the account be set up anew."""
    entries = moment.lane.hass.config_entries
    moment.lane.hass.async_create_task(entries.async_reload(moment.lane.entry.entry_id))


FAULTS: Final = (
    Kind(name="drop", wire=Drop(1006)),
    Kind(name="close", wire=Drop(1011)),
    Kind(name="delay", wire=Delay(10.0)),
    Kind(name="overtaken", wire=Delay(4.0, overtake=True)),
    Kind(name="duplicate", wire=Duplicate()),
    Kind(name="reorder", wire=Reorder(2)),
    Kind(name="lost", wire=Swallow()),
    Kind(name="error", wire=Error("server_error", instead=True)),
    Kind(name="refusal", wire=Error("rate_limit_exceeded", "Try again in 0.1s.", instead=True)),
    Kind(name="garbage", wire=Garbage(b"\x00\xff\xfe")),
    Kind(name="nonsense", wire=Garbage('{"type": "response.done", "response": [[[]]]}')),
    Kind(name="cancel", call=_cancel),
    Kind(name="wake", call=_wake),
    Kind(name="reload", call=_reload),
)
