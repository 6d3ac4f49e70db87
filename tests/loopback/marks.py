"""Where a behaviour of the loopback server is known from.

Every handler, event and switch carries one :class:`Mark`. A test lists them all, so that nothing
enters the server merely because its author believed it. The four kinds, from strong to weak:
*recorded* (seen in real traffic), *documented* (a provider's reference or published types),
*reported* (a public issue or another client's source), *assumed* (nobody showed it to us).
"""

from dataclasses import dataclass
from enum import StrEnum


class Known(StrEnum):
    """How strong the evidence for a behaviour is."""

    RECORDED = "recorded"
    DOCUMENTED = "documented"
    REPORTED = "reported"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Mark:
    """The evidence for one behaviour: its kind and where to look it up."""

    known: Known
    source: str


def recorded(source: str) -> Mark:
    """Mark a behaviour that real traffic shows; `source` names the recording."""
    return Mark(Known.RECORDED, source)


def documented(source: str) -> Mark:
    """Mark a behaviour that a provider's reference or published types state."""
    return Mark(Known.DOCUMENTED, source)


def reported(source: str) -> Mark:
    """Mark a behaviour that a public issue or another client's source tells of."""
    return Mark(Known.REPORTED, source)


def assumed(source: str) -> Mark:
    """Mark a behaviour that nothing shows; `source` says why it was chosen."""
    return Mark(Known.ASSUMED, source)
