"""How sockets come and go under a session.

One link at a time. It is opened when somebody needs it, dropped when it is idle, lost or no good
any more, and followed by another one where a turn waits: that is the same move for a resume after
days, a reconnect, a rotation before the session limit, a changed voice and a full refresh.
"""

import asyncio
import logging
import random
from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, override

import aiohttp

from . import failures
from .conductor import Conductor, ConductorHost
from .errors import CannotConnect, ConnectionLost, RealtimeError
from .events import Event
from .exchange import Exchange, Stage
from .keeper import Keeper, SessionSource
from .link import Link
from .metering import Meter, Spent
from .model import RealtimeModel
from .timers import Timers

_LOGGER = logging.getLogger(__name__)

REOPEN_SECONDS: Final = (0.25, 0.75)
"""Waits between the attempts to open a socket that a turn waits for, give or take a half: many
satellites that lost the same server do not come back at the same moment."""
REPAIRS_PER_HOUR: Final = 30
"""More sockets than this are not opened in an hour in place of those that failed: by then each turn
gets one, and its failure is told."""

_HOUR: Final = 3600.0

type StartTask = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class Lifecycle(ConductorHost):
    """The links of a session, one after another, and the turns that go from one to the next."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a session is given, passed on
        self,
        http: aiohttp.ClientSession,
        model: RealtimeModel,
        source: SessionSource,
        start_task: StartTask,
        time: Callable[[], float],
        meter: Meter,
    ) -> None:
        """Begin closed; `time` gives seconds since the epoch."""
        self.last_failure: RealtimeError | None = None
        """Why the last session or response failed; None since one has worked."""
        self.open_turns: list[Exchange] = []
        self.dropped: Counter[str] = Counter()
        """What did not fit into a buffer, over all sessions."""
        self._http = http
        self._model = model
        self._source = source
        self._meter = meter
        self._start_task = start_task
        self._time = time
        self._repairs: deque[float] = deque(maxlen=REPAIRS_PER_HOUR)
        """When the last sockets were opened in place of failed ones."""
        self._caps = model.capabilities
        self._keeper = Keeper(source, self._caps, self.boundary)
        self._link: Link | None = None
        self._conductor: Conductor | None = None
        self._number = 0
        self._failed_openings = 0
        self._renewal: str | None = None
        """Why a new session is due at the next moment that allows it."""
        self._timers = Timers()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    @override
    def exchanges(self) -> Sequence[Exchange]:
        """The open turns, oldest first."""
        return self.open_turns

    @property
    def unfinished(self) -> list[Exchange]:
        """The turns whose answer is not complete, oldest first."""
        return [e for e in self.open_turns if e.stage is not Stage.OVER]

    @abstractmethod
    def dormant(self, error: RealtimeError | None) -> None:
        """Learn that there is no session until the next wake."""

    # What a link tells

    def link_up(self, link: Link) -> None:
        """Begin the conversation of a link that was just opened."""
        if link is not self._link or link.config is None:
            return
        self._conductor = Conductor(link, self._keeper, self, self._caps)
        for exchange in self.open_turns:
            exchange.timers.stop("socket")
        link.served = bool(self.open_turns)
        self._conductor.open(link.config)
        self.advance()

    def link_event(self, link: Link, event: Event) -> None:
        """Take an event of the open link."""
        if link is self._link and self._conductor is not None:
            self._conductor.take(event)

    def link_ended(self, link: Link, error: RealtimeError) -> None:
        """Learn that a link could not be opened, or has ended."""
        if link is self._link:
            self._lost(error, again=True, was_open=link.connection is not None)

    # What is found out over a link

    @property
    @override
    def full(self) -> bool:
        """Whether the conversation presses hard against a limit, and a recap of it is ready."""
        return self._meter.full

    @override
    def spent(self, spent: Spent) -> None:
        """Let the meter know what was used."""
        self._meter.spent(spent)

    @override
    def configured(self) -> None:
        """Take it that the session works."""
        self._failed_openings = 0
        self.last_failure = None

    @override
    def session_failed(self, error: RealtimeError, *, again: bool) -> None:
        """Give up the session; the turns may try another one if `again`."""
        if self._link is not None:
            self._lost(error, again=again, was_open=True)

    @override
    def start_anew(self, exchange: Exchange | None, reason: str, error: RealtimeError) -> None:
        """Leave a session that is no good any more; a turn tries another once for each reason."""
        if exchange is not None and (reason in exchange.replays or not self._may_repair()):
            exchange.fail(error)
        elif exchange is not None:
            exchange.replays.add(reason)
        if self.unfinished:
            self._repairs.append(self._time())
            self.renew(reason)
        else:
            self._drop_link()
            self.dormant(None)

    @override
    def renew(self, reason: str) -> None:
        """Begin a new session now, and all unfinished turns in it again from their recording."""
        _LOGGER.debug("New realtime session: %s", reason)
        if (half := self._half_answered()) is not None:
            half.fail(ConnectionLost(reason))
        self._drop_link()
        for exchange in self.unfinished:
            exchange.rewind()
        self._open()

    # Inside

    def _open(self) -> None:
        """Open the next session in the background."""
        if self._closed:
            return
        self._timers.stop("reopen")
        self._number += 1
        self._renewal = None
        link = Link(self._number, self)
        self._link = link
        run = link.run(self._http, self._model, self._source.prepare)
        link.start(self._own(run, f"realtime session {self._number}"))
        self.advance()

    def _own(self, run: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = self._start_task(run, name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _drop_link(self) -> None:
        self._timers.stop("reopen")
        if self._conductor is not None:
            self._conductor.close()
            self._conductor = None
            self._meter.emptied()
        if self._link is not None:
            if (connection := self._link.connection) is not None:
                self.dropped["sent_frames"] += connection.dropped_frames
                self.dropped["repeated_frames"] += connection.repeated_frames
            self._link.drop()
            self._link = None

    def _lost(self, error: RealtimeError, *, again: bool, was_open: bool) -> None:
        """Decide for each turn whether it begins again; without any the session stays closed."""
        half = self._half_answered()
        self._drop_link()
        if error.code != failures.SESSION_EXPIRED:
            self.last_failure = error
        again = again and not failures.is_fatal(error) and not self._closed and self._may_repair()
        if not was_open:
            self._failed_openings += 1
            again = again and self._failed_openings <= len(REOPEN_SECONDS)
        for exchange in self.unfinished:
            if not again or exchange is half or (was_open and "lost" in exchange.replays):
                exchange.fail(error)
            elif was_open:
                exchange.replays.add("lost")
                exchange.rewind()
        if not again or not self.unfinished:
            self.dormant(error)
            return
        self._repairs.append(self._time())
        if was_open:
            self._open()
        else:
            give_or_take = random.uniform(0.5, 1.5)  # noqa: S311 - spreads load, guards nothing
            wait = REOPEN_SECONDS[self._failed_openings - 1] * give_or_take
            self._timers.start("reopen", wait, self._open)

    def _may_repair(self) -> bool:
        """Whether another socket may be opened in place of one that failed."""
        while self._repairs and self._repairs[0] < self._time() - _HOUR:
            self._repairs.popleft()
        return len(self._repairs) < REPAIRS_PER_HOUR

    def _half_answered(self) -> Exchange | None:
        """Return the turn of whose answer a part was passed on: that is not begun again.

        A turn whose tools run goes on in the next session, which is told what became of them.
        """
        flight = self._conductor.floor.flight if self._conductor is not None else None
        return flight.exchange if flight is not None and flight.said else None

    def _await_socket(self, exchange: Exchange) -> None:
        """Let a turn whose speech has ended wait a moment for the socket, and no longer."""
        exchange.await_socket(lambda: self._too_late(exchange))

    def _too_late(self, exchange: Exchange) -> None:
        """Give up a turn whose socket does not come, and the socket with it: the next one may."""
        error = CannotConnect("timeout")
        exchange.fail(error)
        if self._conductor is None and not self.unfinished:
            self._lost(error, again=False, was_open=False)
