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

    upkeep.py      whether the session is still good           refresh.py    memory.update
    lifecycle.py   links: opened, lost, left for another one   link.py, connection.py   one socket
    conductor.py   what is legal now                           routing.py    whom an event concerns
    floor.py, commits.py    one response, one commit           keeper.py     items, by the ledger
    exchange.py    one turn                                    failures.py   what a refusal means
    asides.py      questions beside the conversation           standing.py   where it stands
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Final, override

import aiohttp

from ..items import DesiredItem
from .asides import Aside, AsideFailed
from .errors import ConnectionLost, RealtimeError
from .exchange import Exchange, Host, Stage
from .keeper import SessionSource
from .lifecycle import StartTask
from .link import internal
from .metering import Meter, NoMeter
from .model import RealtimeModel
from .refresh import Refresh, Refreshed, RefreshState
from .replies import Call
from .standing import SessionState, Standing
from .upkeep import REFRESH

__all__ = ["RealtimeSession", "SessionState"]

CHANGE_SECONDS: Final = 0.1
"""Changes of the record within this time are looked at together."""
CLOSE_SECONDS: Final = 3.0


class RealtimeSession(Standing, Host):
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
        meter: Meter | None = None,
    ) -> None:
        """Begin closed.

        `start_task` starts a coroutine under a name and owns the task; `time` gives seconds since
        the epoch; after `idle_seconds` without a turn the socket is closed.
        """
        super().__init__(http, model, source, start_task, time, meter or NoMeter())
        self._idle_seconds = idle_seconds
        self._refresh: Refresh | None = None
        self._mute = False
        """The provider never told what it heard in the last answered turn."""
        self._advancing = self._again = False

    # For the hub

    @property
    def can_ask_aside(self) -> bool:
        """Whether an aside may be asked now: the provider keeps it apart, and nobody is waiting."""
        conductor = self._conductor
        return (
            self._caps.isolates
            and conductor is not None
            and conductor.link.configured
            and not conductor.floor.busy
            and not self.unfinished
            and self._renewal is None
        )

    async def ask_aside(self, aside: Aside, *, seconds: float) -> str:
        """Ask the model something beside the conversation, and return its answer.

        Raises AsideFailed: also when a turn begins meanwhile, and after `seconds`.
        """
        if self._conductor is None or not self.can_ask_aside:
            raise AsideFailed("not_idle")
        return await self._conductor.asides.ask(aside, seconds)

    def wake(self) -> None:
        """Open the session in the background, or look whether the open one is still good."""
        if self._closed:
            return
        if self._conductor is not None:
            self._conductor.asides.stop()
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
        exchange = Exchange(turn_id, voice=voice, caps=self._caps, host=self, mute=self._mute)
        if self._closed:
            exchange.fail(ConnectionLost("closed"))
            return exchange
        self.open_turns.append(exchange)
        self._keeper.ledger.begin(turn_id)
        self.wake()
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
            self._renewal = REFRESH
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

    def rebuild(self) -> None:
        """Begin a new session once nobody is interrupted: what this one holds is not known."""
        if self._conductor is not None:
            self._renewal = self._renewal or REFRESH
            self.boundary()

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

    def _finish_refresh(self, state: RefreshState) -> None:
        if self._refresh is not None:
            self._refresh.finish(state)
            self._refresh = None
