"""What a run carries along: two ContextVars that only propose.

Everything that a run starts inherits them, so finding a Turn here is no claim to it.
"""

import asyncio
from contextvars import Context, ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Callable

    from .origin import Origin
    from .turn import Turn

current_turn: Final[ContextVar[Turn | None]] = ContextVar("realtime_assist_turn", default=None)

calling_origin: Final[ContextVar[Origin | None]] = ContextVar(
    "realtime_assist_calling", default=None
)
"""Where the turn comes from for which a tool runs: as it was fixed, whoever speaks there by now."""


@dataclass(frozen=True, slots=True)
class _Noted:
    """A satellite, and the task that turned it to listening."""

    entity_id: str
    task: ref[asyncio.Task[object]]


_satellite: Final[ContextVar[_Noted | None]] = ContextVar("realtime_assist_satellite", default=None)


def note_satellite(entity_id: str) -> None:
    """Note that the running task is the pipeline of a satellite."""
    task = asyncio.current_task()
    _satellite.set(_Noted(entity_id, ref(task)) if task else None)


def noted_satellite() -> str | None:
    """Return the satellite whose pipeline is this very task; an inherited note does not count."""
    noted = _satellite.get()
    if noted is None or noted.task() is not asyncio.current_task():
        return None
    return noted.entity_id


def in_empty_context[**P, R](function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that starts something long-lived, so that it inherits nothing of a run."""
    return Context().run(function, *args, **kwargs)
