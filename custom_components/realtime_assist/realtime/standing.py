"""Where a session stands, for whoever shows or measures it: nothing here changes anything."""

from dataclasses import asdict
from enum import StrEnum

from .exchange import Stage
from .operations import LedgerItem
from .upkeep import Upkeep


class SessionState(StrEnum):
    """Where a session stands."""

    CLOSED = "closed"
    OPENING = "opening"
    IDLE = "idle"
    LISTENING = "listening"
    COMMITTED = "committed"
    RESPONDING = "responding"


class Standing(Upkeep):
    """What can be read of a session."""

    @property
    def epoch(self) -> int:
        """Number of the session that is open, or comes next."""
        return self._keeper.ledger.epoch

    @property
    def held(self) -> tuple[LedgerItem, ...]:
        """What the provider holds, as far as it is known."""
        return self._keeper.ledger.items

    @property
    def turns(self) -> int:
        """How many turns were had in the open session."""
        return len(self._keeper.ledger.natives)

    @property
    def connected(self) -> bool:
        """Whether the socket is open."""
        return self._conductor is not None

    @property
    def state(self) -> SessionState:
        """Where the session stands."""
        turns = self.unfinished
        if self._conductor is None:
            waiting = self._link is not None or self._timers.runs("reopen")
            return SessionState.OPENING if waiting else SessionState.CLOSED
        if self._conductor.floor.flight or any(e.answers.calls for e in turns):
            return SessionState.RESPONDING
        match turns[-1].stage if turns else Stage.OVER:
            case Stage.SPEAKING | Stage.ENDED:
                return SessionState.LISTENING
            case Stage.COMMITTING | Stage.COMMITTED:
                return SessionState.COMMITTED
            case Stage.OVER:
                return SessionState.IDLE

    @property
    def counters(self) -> dict[str, int]:
        """What happened so far, as numbers: for diagnostics."""
        counts = {
            f"items_{name}": count for name, count in asdict(self._keeper.ledger.counts).items()
        }
        if self._conductor is not None:
            counts |= {f"events_{n}": c for n, c in self._conductor.router.counts.items()}
        return {**counts, **self.dropped, "sockets": self._number}
