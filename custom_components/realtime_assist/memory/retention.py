"""How long an entry stays."""

from enum import StrEnum
from typing import Final


class Retention(StrEnum):
    """How long an entry stays."""

    __hash__ = str.__hash__  # an Enum's own is ten times as slow

    IMMEDIATE = "immediate"
    """Until the turn that set it ends."""
    SESSION_END = "session_end"
    """Until the session that set it ends."""
    TIME_BASED = "time_based"
    TURN_BASED = "turn_based"
    """For a number of turns of its scope."""
    MANUAL = "manual"
    """Until it is removed, or its scope is full."""
    PERSISTENT = "persistent"
    """As `manual`, and among the last to go when its scope is full."""


UNBOUNDED: Final = frozenset({Retention.MANUAL, Retention.PERSISTENT})
UNSAVED: Final = frozenset({Retention.IMMEDIATE, Retention.SESSION_END})
"""Retentions that never reach the disk: no turn and no session outlives a restart."""
