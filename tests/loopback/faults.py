"""Scripted misbehaviour: what goes wrong, at which event, for the how-manieth time.

A :class:`Fault` names the event it waits for: a server event by its type (`response.done`, with `*` and
`?` as wildcards, in the names of the API or as the personality renames it), a client event with `client:`
in front. Delays run on the server's clock.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection ends in place of the event: 1006 without a close frame, else with that code."""

    code: int = 1006
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Delay:
    """The event waits `seconds`. All behind it waits too, unless they may `overtake`."""

    seconds: float
    overtake: bool = False


@dataclass(frozen=True, slots=True)
class Error:
    """An `error` event.

    For a client event: in place of its effect, naming its event id if `names_event`. For a server event:
    before it, or instead of it.
    """

    code: str | None
    message: str = "Something went wrong."
    type: str = "invalid_request_error"
    param: str | None = None
    names_event: bool = True
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Reorder:
    """The event comes later: after `by` others, or after the next event of type `after`."""

    by: int = 1
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The event is sent, or handled, once more for each of `times`."""

    times: int = 1


@dataclass(frozen=True, slots=True)
class Garbage:
    """These bytes go out as a frame (text if they are a string), before the event or instead."""

    data: bytes | str = b"\x00\xff"
    instead: bool = False


@dataclass(frozen=True, slots=True)
class Swallow:
    """The event is lost: its effect stays, nobody hears of it; a client's event is never handled."""


@dataclass(frozen=True, slots=True)
class Hang:
    """From here on nothing goes out, or no client event is handled, though the socket stays open."""


@dataclass(frozen=True, slots=True)
class Change:
    """The event goes out with other fields; a function gets the event and returns the new one."""

    fields: Json | Callable[[Json], Json]

    def apply(self, event: Json) -> Json:
        """Return the changed event."""
        return self.fields(event) if callable(self.fields) else event | self.fields


@dataclass(frozen=True, slots=True)
class Insert:
    """Another event goes out before this one, or after it."""

    event: Json
    where: Literal["before", "after"] = "before"


type Action = (
    Drop | Delay | Error | Reorder | Duplicate | Garbage | Swallow | Hang | Change | Insert
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    It strikes from the `nth` matching event on (counted over all sessions, or in the session with index
    `session` only), `times` times; 0 means always. `where` narrows what matches.
    """

    on: str
    action: Action
    nth: int = 1
    times: int = 1
    session: int | None = None
    where: Callable[[Json], bool] | None = None


@dataclass
class FaultPlan:
    """The faults of one server, with how often each has met its event."""

    faults: list[Fault] = field(default_factory=list)
    _met: dict[int, int] = field(default_factory=dict)

    def add(self, *faults: Fault) -> None:
        """Plan more faults; they count from now on."""
        self.faults.extend(faults)

    def clear(self) -> None:
        """Plan none any more."""
        self.faults.clear()
        self._met.clear()

    def striking(self, names: tuple[str, ...], event: Json, session: int) -> list[Action]:
        """Count one event, known by any of `names`, and return what strikes it."""
        actions: list[Action] = []
        for place, fault in enumerate(self.faults):
            if fault.session not in {None, session}:
                continue
            if not any(fnmatchcase(name, fault.on) for name in names):
                continue
            if fault.where is not None and not fault.where(event):
                continue
            met = self._met[place] = self._met.get(place, 0) + 1
            if met >= fault.nth and (not fault.times or met < fault.nth + fault.times):
                actions.append(fault.action)
        return actions
