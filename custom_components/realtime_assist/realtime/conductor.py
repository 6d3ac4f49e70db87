"""Does over one link what has become legal: speech, commits, responses, items, in this order.

`step` looks at what is wanted and at what is; it plans nothing and remembers nothing that could
be looked up. The barrier before a response is here: notes and cuts are sent before it, and what may
not be seen any more must be gone, or another session is asked for.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from ..items import DesiredItem
from .asides import Asides
from .commands import AppendAudio, ClearAudio, Configure
from .config import SessionConfig
from .errors import ResponseFailed
from .events import Event
from .exchange import Exchange, Stage
from .failures import MEMORY_NOT_WITHDRAWN
from .floor import Floor, FloorHost
from .keeper import Keeper
from .link import Link
from .listening import Ended
from .model import Capabilities
from .operations import Gate, Reason
from .routing import Router, RouterHost
from .timers import Timers

BARRIER_SECONDS: Final = 0.3
"""How long the removal of what may not be seen is waited for before a response."""
PROVIDER_COMMIT_SECONDS: Final = 1.5
"""How long a provider that has heard the end of speech may take to commit it."""


class ConductorHost(FloorHost, RouterHost, Protocol):
    """Who uses a conductor."""

    @property
    def ready(self) -> bool:
        """Whether what a turn needs is loaded: else nothing is committed."""

    @property
    def full(self) -> bool:
        """Whether the conversation presses hard against a limit, and a recap of it is ready."""

    def renew(self, reason: str) -> None:
        """Begin a new session now."""


class Conductor:
    """Everything that belongs to one link, and the one place that drives it."""

    def __init__(self, link: Link, keeper: Keeper, host: ConductorHost, caps: Capabilities) -> None:
        """Take over a link that was just opened."""
        self.link = link
        self.keeper = keeper
        self.floor = Floor(link, keeper.ledger, host)
        self.asides = Asides(link)
        self.router = Router(link, self.floor, self.asides, keeper.ledger, host)
        self.dirty = True
        """What the provider holds is to be looked at again."""
        self.timers = Timers()
        self._host = host
        self._caps = caps
        self._new_config: SessionConfig | None = None

    def open(self, config: SessionConfig) -> None:
        """Send what comes first: the configuration, and all notes."""
        self.keeper.open(self.link.send)
        self.link.send(Configure(config))
        self._reconcile(Gate())

    def close(self) -> None:
        """End all watchdogs."""
        self.timers.close()
        self.asides.stop("lost")
        self.floor.close()
        self.keeper.drop()

    def take(self, event: Event) -> None:
        """Take an event of the link."""
        self.router.take(event)
        self.keeper.answered()

    def reconfigure(self, config: SessionConfig) -> None:
        """Let another configuration be in force from the next boundary on."""
        self._new_config = config

    def live(self) -> list[DesiredItem]:
        """Return what the open turns add to what should be held."""
        epoch = self.keeper.ledger.epoch
        return [item for exchange in self._host.exchanges for item in exchange.live(epoch)]

    def is_free(self) -> bool:
        """Whether a new session would interrupt nobody: no commit, no response, no open turn."""
        early = {Stage.SPEAKING, Stage.ENDED, Stage.OVER}
        return not self.floor.busy and all(e.stage in early for e in self._host.exchanges)

    def is_clean(self) -> bool:
        """Whether what is held is as it should be, and nothing has to be waited for."""
        return not self.floor.busy and self.keeper.is_clean(self.live())

    def step(self) -> None:
        """Do what is legal now."""
        self._stream(self._host.exchanges)
        if self._new_config is not None and not self.floor.busy:
            self.link.config, self._new_config = self._new_config, None
            self.link.send(Configure(self.link.config))
        for exchange in tuple(self._host.exchanges):
            if exchange.stage is Stage.ENDED and self._host.ready:
                self._finish_speech(exchange)
            elif exchange.stage is Stage.COMMITTED and exchange.wanted and self._host.ready:
                self._respond(exchange)
            if self.link.dropped:
                return
        if self.dirty and not self.floor.busy:
            self._reconcile(Gate(hard=self._host.full))

    def stop(self, exchange: Exchange, heard_ms: int | None) -> None:
        """End a turn's answer: what was heard stays, cut; or nothing of the turn does."""
        if heard_ms is None:
            self.keeper.ledger.release(exchange.turn_id)
            if exchange.stage in {Stage.SPEAKING, Stage.ENDED}:
                self.floor.detecting = False
                self._clear()
        else:
            self.keeper.cut(exchange.turn_id, heard_ms)
        self.floor.cancel(exchange)
        self.dirty = True

    def reconcile_when_cold(self) -> None:
        """Bring everything up to date, knowing that a new session costs nothing now."""
        self._reconcile(Gate(cold=True))

    # Speech

    def _stream(self, exchanges: Sequence[Exchange]) -> None:
        """Send what was said since: of one turn only, the oldest that is not committed."""
        speaking = (e for e in exchanges if e.stage in {Stage.SPEAKING, Stage.ENDED})
        exchange = next(speaking, None)
        if exchange is None:
            return
        if exchange.needs_clear:
            exchange.needs_clear = False
            if self.link.unread_audio and not self._caps.clear:
                self._host.renew("unclean_buffer")
                return
            self._clear()
        for pcm in exchange.recording.take():
            self.link.send(AppendAudio(pcm))

    def _clear(self) -> None:
        if self.link.unread_audio and self._caps.clear:
            self.link.send(ClearAudio())

    def _finish_speech(self, exchange: Exchange) -> None:
        """Commit, with everything that goes before it and the request that goes behind it."""
        if self.floor.committing is not None or self._provider_commits(exchange):
            return
        open_ = not self.floor.busy and self._barrier(exchange)
        if self.link.dropped:
            return
        if exchange.provider_committed:
            exchange.committed()
        else:
            self.floor.commit(exchange)
        if not self._caps.commits_at_once and exchange.stage is Stage.COMMITTING:
            return
        if exchange.wanted and open_ and not exchange.has_outcomes(self.keeper.ledger.epoch):
            self.floor.ask(exchange)

    def _provider_commits(self, exchange: Exchange) -> bool:
        """Whether the provider has heard the end of speech, and will commit it by itself."""
        if exchange.provider_committed or exchange.ended_by is not Ended.PROVIDER:
            return False

        def too_late() -> None:
            exchange.ended_by = Ended.DEAF
            self._host.advance()

        exchange.timers.start_once("provider_commit", PROVIDER_COMMIT_SECONDS, too_late)
        return True

    # Responses

    def _respond(self, exchange: Exchange) -> None:
        if not self.floor.busy and self._barrier(exchange):
            self.floor.ask(exchange)

    def _barrier(self, exchange: Exchange) -> bool:
        """Send what must be so before a response, and tell whether it may be asked for."""
        self.dirty = False
        found = self.keeper.barrier(self.live())
        if found is False:
            self.timers.start_once(
                "barrier", BARRIER_SECONDS, lambda: self._not_withdrawn(exchange)
            )
            return False
        self.timers.stop("barrier")
        if found is True:
            return True
        self._not_withdrawn(exchange)
        return False

    def _not_withdrawn(self, exchange: Exchange) -> None:
        if exchange.stage is Stage.OVER:
            return
        error = ResponseFailed(MEMORY_NOT_WITHDRAWN)
        self._host.start_anew(exchange, "barrier", error)

    # Items

    def _reconcile(self, gate: Gate) -> None:
        """Bring what is held up to date; a new session only if it interrupts nobody."""
        self.dirty = False
        reason: Reason | None = self.keeper.reconcile(self.live(), gate)
        if reason is not None and self.is_free() and self.keeper.is_settled:
            self._host.renew(reason)
