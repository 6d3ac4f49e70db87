"""Scripted misbehaviour: what goes wrong, at which event, for the how-manieth time.

A :class:`Fault` names the event it waits for: a server event by its type (`response.done`, with `*`
and `?` as wildcards, in the names of the API or as the personality renames it), a client event with
`client:` in front. Delays run on the server's clock.

What strikes an event is folded into a :class:`Passage`, which the connection carries out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, Protocol

type Json = dict[str, Any]


@dataclass
class Passage:
    """How one event passes: what is done in its place, before it, to it and after it."""

    event: Json
    times: int = 1
    wait: float = 0.0
    overtaken: bool = False
    drop: Drop | None = None
    hang: bool = False
    hold: Reorder | None = None
    frames: list[bytes | str] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    before: list[Json] = field(default_factory=list)
    after: list[Json] = field(default_factory=list)


class Action(Protocol):
    """Something that goes wrong with an event."""

    def bend(self, passage: Passage) -> None:
        """Change how the event passes."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection ends in place of the event: 1006 without a close frame, else by that code."""

    code: int = 1006
    reason: str = ""

    def bend(self, passage: Passage) -> None:
        """Let the connection end here."""
        passage.drop = self
        passage.times = 0


@dataclass(frozen=True, slots=True)
class Delay:
    """The event waits `seconds`. All behind it waits too, unless they may `overtake`."""

    seconds: float
    overtake: bool = False

    def bend(self, passage: Passage) -> None:
        """Let it wait."""
        passage.wait += self.seconds
        passage.overtaken = passage.overtaken or self.overtake


@dataclass(frozen=True, slots=True)
class Error:
    """An `error` event.

    For a client event: in place of its effect, naming its event id if `names_event`. For a server
    event: before it, or `instead` of it.
    """

    code: str | None
    message: str = "Something went wrong."
    type: str = "invalid_request_error"
    param: str | None = None
    names_event: bool = True
    instead: bool = False

    def bend(self, passage: Passage) -> None:
        """Put an error before it."""
        passage.errors.append(self)
        passage.times = 0 if self.instead else passage.times


@dataclass(frozen=True, slots=True)
class Reorder:
    """The event comes later: after `by` others, or after the next event of type `after`."""

    by: int = 1
    after: str | None = None

    def bend(self, passage: Passage) -> None:
        """Hold it back."""
        passage.hold = self
        passage.times = 0


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The event is sent, or handled, once more for each of `times`."""

    times: int = 1

    def bend(self, passage: Passage) -> None:
        """Let it pass more often."""
        passage.times += self.times


@dataclass(frozen=True, slots=True)
class Garbage:
    """These bytes go out as a frame (text if they are a string), before the event or instead."""

    data: bytes | str = b"\x00\xff"
    instead: bool = False

    def bend(self, passage: Passage) -> None:
        """Put the frame before it."""
        passage.frames.append(self.data)
        passage.times = 0 if self.instead else passage.times


@dataclass(frozen=True, slots=True)
class Swallow:
    """The event is lost: its effect stays untold, or a client's event is never handled."""

    def bend(self, passage: Passage) -> None:
        """Let nothing pass."""
        passage.times = 0


@dataclass(frozen=True, slots=True)
class Hang:
    """From here on nothing goes out, or nothing is handled, though the socket stays open."""

    def bend(self, passage: Passage) -> None:
        """Let nothing pass any more."""
        passage.hang = True


@dataclass(frozen=True, slots=True)
class Change:
    """The event goes on with other fields; a function gets the event and returns the new one."""

    fields: Json | Callable[[Json], Json]

    def bend(self, passage: Passage) -> None:
        """Put the changed event in its place."""
        event = passage.event
        passage.event = self.fields(event) if callable(self.fields) else event | self.fields


@dataclass(frozen=True, slots=True)
class Insert:
    """Another event passes before this one, or after it."""

    event: Json
    where: Literal["before", "after"] = "before"

    def bend(self, passage: Passage) -> None:
        """Put the other event beside it."""
        (passage.before if self.where == "before" else passage.after).append(self.event)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    It strikes from the `nth` matching event on (counted over all sessions, or in the session with
    index `session` only), `times` times; 0 means always. `where` narrows what matches.
    """

    on: str
    action: Action
    nth: int = 1
    times: int = 1
    session: int | None = None
    where: Callable[[Json], bool] | None = None

    def meets(self, names: tuple[str, ...], event: Json, session: int) -> bool:
        """Tell whether an event, known by any of `names`, is one that this fault waits for."""
        if self.session not in {None, session}:
            return False
        if not any(fnmatchcase(name, self.on) for name in names):
            return False
        return self.where is None or self.where(event)


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

    def passage(self, names: tuple[str, ...], event: Json, session: int) -> Passage:
        """Count one event, known by any of `names`, and return how it passes."""
        passage = Passage(event)
        for place, fault in enumerate(self.faults):
            if not fault.meets(names, event, session):
                continue
            met = self._met[place] = self._met.get(place, 0) + 1
            if met >= fault.nth and (not fault.times or met < fault.nth + fault.times):
                fault.action.bend(passage)
        return passage


class Holding:
    """Events that were put back until others have gone by."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._held: list[tuple[Json, int, str | None]] = []

    def hold(self, event: Json, how: Reorder) -> None:
        """Keep an event until `how.by` others, or one of type `how.after`, have passed."""
        self._held.append((event, how.by, how.after))

    def passed(self, kind: str) -> list[Json]:
        """Count an event that passed; return what may go now."""
        released: list[Json] = []
        kept: list[tuple[Json, int, str | None]] = []
        for event, left, after in self._held:
            if kind == after if after is not None else left <= 1:
                released.append(event)
            else:
                kept.append((event, left - 1, after))
        self._held = kept
        return released
