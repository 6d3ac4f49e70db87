"""A session with a realtime model, as a satellite has it: sockets come and go, the session stays.

                begin, wake            the socket is open:
       closed --------------> opening -----------------------> idle <-----------------+
         ^                     ^   configuration, notes, audio   |                    |
         |  idle, lost         |                                 | begin              |
         +---------------------+                                 v                    |
                               | lost in a turn,             listening   speech goes  |
                               | new session                     |       out as it    |
                               |                                 | end   comes        |
                               |                                 v of speech          |
                               +---------------------------- committed   one commit   |
                               |                                 |                    |
                               |                                 | response asked for |
                               |                                 v                    |
                               +---------------------------- responding --------------+
                                                          one response; calls, answers,
                                                          and the next response

There is no plan. Everything that happens (an event, a command, a deadline) ends in `advance`, which
looks at what is wanted and does what is legal now (`_step` here, and then `Conductor.step`):

    1. a new session is begun, if one is due and interrupts nobody;
    2. speech of the turn that is being spoken goes out as it comes;
    3. speech that has ended is committed, with notes and cuts before it and, if nothing has to be
       withdrawn first, the request for the response right behind it: all in one write;
    4. a response that is wanted is asked for when the floor is free and the barrier is open;
    5. otherwise, with a free floor, what the provider holds is brought up to date.

    lifecycle.py   links: opened, lost, left for another one   link.py, connection.py   one socket
    conductor.py   what is legal now                           routing.py    whom an event concerns
    floor.py       one commit, one response at a time          keeper.py     items, by the ledger
    exchange.py    one turn                                    failures.py   what a refusal means
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import asdict
from enum import StrEnum
from typing import Final, override

import aiohttp

from ..items import DesiredItem
from . import failures
from .conductor import Conductor
from .exchange import Exchange, Host, Stage
from .keeper import SessionSource
from .lifecycle import Lifecycle, StartTask
from .link import Link, internal
from .model import (
    ConnectionLost,
    RealtimeError,
    RealtimeModel,
    ResponseDone,
    ResponseStatus,
    SessionConfig,
)
from .refresh import Refresh, Refreshed, RefreshState
from .replies import Call

_LOGGER = logging.getLogger(__name__)

EXPIRY_SECONDS: Final = 360.0
"""A session that ends sooner than this is replaced before a turn: answers may take minutes."""
COLD_SECONDS: Final = 300.0
"""After so long without a response nothing of the conversation is cached any more."""
PREPARE_SECONDS: Final = 2.5
"""How long a turn in an open session waits for what it needs."""
CHANGE_SECONDS: Final = 0.1
"""Changes of the record within this time are looked at together."""
CLOSE_SECONDS: Final = 3.0

_REFRESH: Final = "refresh"


class SessionState(StrEnum):
    """Where a session stands."""

    CLOSED = "closed"
    OPENING = "opening"
    IDLE = "idle"
    LISTENING = "listening"
    COMMITTED = "committed"
    RESPONDING = "responding"


class RealtimeSession(Lifecycle, Host):
    """The session of one satellite, or of one typed conversation."""

    def __init__(  # noqa: PLR0913 - what it is given is all that it knows of the world
        self,
        *,
        http: aiohttp.ClientSession,
        model: RealtimeModel,
        source: SessionSource,
        start_task: StartTask,
        idle_seconds: float,
        time: Callable[[], float],
    ) -> None:
        """Begin closed.

        `start_task` starts a coroutine under a name and owns the task; `time` gives seconds since
        the epoch; after `idle_seconds` without a turn the socket is closed.
        """
        super().__init__(http, model, source, start_task)
        self._idle_seconds = idle_seconds
        self._time = time
        self._refresh: Refresh | None = None
        self._checking: asyncio.Task[None] | None = None
        self._responded_at = time()
        self._mute = False
        """The provider never told what it heard in the last answered turn."""
        self._advancing = self._again = False

    # For the hub

    @property
    def epoch(self) -> int:
        """Number of the session that is open, or comes next."""
        return self._keeper.ledger.epoch

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

    def wake(self) -> None:
        """Open the session in the background, or look whether the open one is still good."""
        if self._closed:
            return
        self._timers.stop("idle")
        if self._link is None:
            self._failed_openings = 0
            self._open()
        elif self._conductor is not None:
            self._check()
        self.advance()

    def begin(self, turn_id: str, *, voice: bool) -> Exchange:
        """Begin a turn: spoken, or typed. A turn that is still being spoken is given up for it."""
        for older in self.unfinished:
            if older.stage is Stage.SPEAKING:
                older.cancel()
        self.wake()
        exchange = Exchange(turn_id, voice=voice, caps=self._caps, host=self, mute=self._mute)
        if self._closed:
            exchange.fail(ConnectionLost("closed"))
            return exchange
        self.open_turns.append(exchange)
        self._keeper.ledger.begin(turn_id)
        if self._link is not None:
            self._link.served = True
        self.advance()
        return exchange

    async def refresh(self, *, full: bool = False, seconds: float = 5.0) -> Refreshed:
        """Bring the session up to date, at its next wire boundary; `full`: by a new session.

        Returns after `seconds` at the latest; what is deferred then is done all the same.
        """
        started = asyncio.get_running_loop().time()
        if self._link is None:
            return Refreshed(state=RefreshState.NOT_CONNECTED)
        if self._refresh is None or self._refresh.finished:
            self._refresh = Refresh(self._keeper.ledger.counts)
        wish = self._refresh
        if full:
            self._renewal = _REFRESH
        self.boundary()
        state = await wish.wait(seconds)
        took = asyncio.get_running_loop().time() - started
        return wish.report(state, self._keeper.ledger.counts, took)

    def revoke(self, keys: Collection[str]) -> None:
        """Let what is held under these keys not be seen any more."""
        self._keeper.ledger.revoke(keys)
        self.boundary()

    def changed(self) -> None:
        """Look at the record again, at the next legal moment."""
        self._timers.start_once("changed", CHANGE_SECONDS, self.boundary)

    def settle(self, turn_id: str) -> None:
        """Take it that nothing of this turn will change any more: its playout has settled."""
        self._keeper.ledger.settle(turn_id)
        self.boundary()

    def restart(self) -> None:
        """Begin a new session as soon as no response is interrupted, and before the next one."""
        if self._conductor is not None:
            self._renewal = "restart"
            self.advance()
        elif self._link is not None:
            self.renew("restart")

    async def close(self) -> None:
        """End everything: turns, socket and tasks."""
        self._closed = True
        for exchange in tuple(self.open_turns):
            exchange.fail(ConnectionLost("closed"))
            exchange.close()
        self._drop_link()
        self._timers.close()
        self._keeper.close()
        self._finish_refresh(RefreshState.NOT_CONNECTED)
        if self._checking is not None:
            self._checking.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_SECONDS)

    # For exchanges, and for what belongs to the link

    @property
    @override
    def ready(self) -> bool:
        """Whether turns may go on: what they need is loaded, and no other session is due first."""
        return self._checking is None and self._renewal in {None, _REFRESH}

    @override
    def advance(self) -> None:
        """Do what has become legal. May be called from anywhere, also from within."""
        self._again = True
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._again:
                self._again = False
                self._step()
        except Exception as err:  # noqa: BLE001 - the turns must end well, whatever it is
            self.session_failed(internal(err), again=False)
        finally:
            self._advancing = False

    @override
    def boundary(self) -> None:
        """Look again what the provider holds, and do what has become legal."""
        if self._conductor is not None:
            self._conductor.dirty = True
        self.advance()

    @override
    def dormant(self, error: RealtimeError | None) -> None:
        """Learn that there is no session until the next wake."""
        lost = error is not None
        self._finish_refresh(RefreshState.FAILED if lost else RefreshState.NOT_CONNECTED)

    @override
    def stop(self, exchange: Exchange, heard_ms: int | None) -> None:
        """End the answer of a turn, in one write: cuts, then the cancellation."""
        if self._conductor is not None:
            self._conductor.stop(exchange, heard_ms)
        elif heard_ms is None:
            self._keeper.ledger.release(exchange.turn_id)

    @override
    def outcome(self, call: Call) -> DesiredItem:
        """Return the note that tells a session what became of a call that it does not know."""
        return self._source.outcome(call)

    @override
    def forget(self, exchange: Exchange) -> None:
        """Let go of a closed turn."""
        if exchange in self.open_turns:
            self.open_turns.remove(exchange)
            self.dropped.update(exchange.dropped)
            if exchange.voice and exchange.answers.begun:
                self._mute = not exchange.hearing.told
        self.advance()

    @override
    def response_ended(self, event: ResponseDone) -> None:
        """Remember how the last response ended."""
        self._responded_at = self._time()
        if event.status is ResponseStatus.FAILED:
            self.last_failure = failures.failure(event.error_code or "response_failed")
        elif event.status is ResponseStatus.COMPLETED:
            self.last_failure = None

    # Inside

    def _step(self) -> None:
        conductor = self._conductor
        if conductor is None:
            for exchange in self.unfinished:
                self._await_socket(exchange)
            return
        if self._renewal is not None and self._renewal_interrupts_nobody(conductor):
            self.renew(self._renewal)
            return
        conductor.step()
        if self._conductor is not conductor:
            return
        if self._refresh is not None and self._renewal is None and conductor.is_clean():
            self._finish_refresh(RefreshState.UPDATED)
        if not self.unfinished:
            self._timers.start_once("idle", self._idle_seconds, self._idle)
        else:
            self._timers.stop("idle")

    def _renewal_interrupts_nobody(self, conductor: Conductor) -> bool:
        """Whether a new session may begin now; a refresh alone also waits for the playout."""
        if self._renewal == _REFRESH:
            return conductor.is_free() and self._keeper.is_settled
        return not conductor.floor.busy

    def _check(self) -> None:
        """Look at a wake whether the open session is still what is wanted, and for long enough."""
        link, conductor = self._link, self._conductor
        if link is None or conductor is None:
            return
        left = link.expires_at - self._time() if link.expires_at is not None else EXPIRY_SECONDS
        if link.served and left < EXPIRY_SECONDS:
            self._renewal = "expiring"
        elif self._time() - self._responded_at > COLD_SECONDS and conductor.is_free():
            conductor.reconcile_when_cold()
        if self._checking is None and self._conductor is conductor:
            task = self._own(self._compare(link), "realtime session check")
            # Where tasks start eagerly, it may be over before it has a name.
            self._checking = None if task.done() else task

    async def _compare(self, link: Link) -> None:
        """Load what a turn needs, and see whether the configuration has changed."""
        try:
            async with asyncio.timeout(PREPARE_SECONDS):
                config = await self._source.prepare()
        except TimeoutError:
            _LOGGER.debug("A turn begins with what was loaded before")
        except Exception as err:  # noqa: BLE001 - the turn goes on with what was loaded before
            internal(err)
        else:
            self._adopt(config, link)
        finally:
            self._checking = None
        self.boundary()

    def _adopt(self, config: SessionConfig, link: Link) -> None:
        """Let another configuration be in force: by a new session where it cannot change in one."""
        old, conductor = link.config, self._conductor
        if link is not self._link or conductor is None or old is None or old == config:
            return
        if _fixed(old) != _fixed(config):
            self._renewal = "configuration"
        else:
            conductor.reconfigure(config)

    def _idle(self) -> None:
        """Close a session that nobody has used for long: the next wake opens another."""
        if not self.unfinished:
            self._drop_link()
            self.dormant(None)

    def _finish_refresh(self, state: RefreshState) -> None:
        if self._refresh is not None:
            self._refresh.finish(state)
            self._refresh = None


def _fixed(config: SessionConfig) -> tuple[object, ...]:
    """Return what of a configuration cannot change within a session."""
    return (config.model, config.voice, config.audio, config.turn_detection)
