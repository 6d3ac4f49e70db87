"""What every session of one server shares."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .brain import Brain
from .clock import Clock
from .faults import FaultPlan
from .personalities import Personality
from .switches import Switches


class Witness(Protocol):
    """Whoever wants to know of each event.

    (`received` or `sent`, index of the session, the event).
    """

    def __call__(self, direction: str, session: int, event: dict[str, Any], /) -> None:
        """Take note."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The server's side of a session.

    `lifetime` is in seconds, `context_tokens` 0 means the model's.
    """

    brain: Brain
    clock: Clock
    personality: Personality
    switches: Switches
    faults: FaultPlan
    seed: int
    lifetime: float
    context_tokens: int
    changed: Callable[[], None]
    keep_audio: bool = True
    witness: Witness | None = None
