"""Who has the floor in one session: one commit and one response at a time.

    free --commit--> committing --acknowledged--> free
    free --ask--> asked --created--> answering --done--> free

Everything here belongs to one link. A response is told by its id; one that nobody asked for is
cancelled, since nothing was made sure before it. What a cancelled response still says is dropped
until it is done. Every wait has a watchdog.
"""

import asyncio
from typing import Final, Protocol, override

from . import failures
from .commands import CancelResponse, Respond
from .commits import CommitHost, Commits
from .errors import ResponseFailed
from .events import (
    AudioDelta,
    CallDone,
    ErrorEvent,
    ItemKind,
    ReplyItem,
    ResponseDone,
    ResponseStarted,
    TextDelta,
)
from .exchange import Exchange, Stage
from .flight import Flight
from .ledger import Ledger
from .link import Link
from .metering import Purpose, Spent
from .retry import Retry
from .strangers import Strangers

CREATED_SECONDS: Final = 8.0
STALLED_SECONDS: Final = 15.0
CANCELLED_SECONDS: Final = 5.0
MAX_ATTEMPTS: Final = 3
ITEM_REFUSED: Final = "item_refused"

type ReplyEvent = ReplyItem | AudioDelta | TextDelta | CallDone


class FloorHost(CommitHost, Protocol):
    """Who uses the floor."""

    def spent(self, spent: Spent) -> None:
        """Learn what a response used, or a transcript."""


class Floor(Commits):
    """The commit and the response of one link."""

    def __init__(self, link: Link, ledger: Ledger, host: FloorHost) -> None:
        """Begin free."""
        super().__init__(link, ledger.caps, host)
        self.ledger = ledger
        self.flight: Flight | None = None
        self.detecting = False
        """The provider hears speech and has not made an item of it yet."""
        self._host: FloorHost = host
        self._landed: Flight | None = None
        self._strangers = Strangers(host.advance)
        self._echoes = False
        self._announces = False
        """The server says when a response begins, so that nothing before it is of ours."""
        self._takes_metadata = True
        self.retry: Final = Retry()

    @property
    def busy(self) -> bool:
        """Whether items may not change now, and no response may be asked for."""
        active = self.flight or self.committing or self._strangers.active
        return bool(active) or self.detecting

    def is_isolated(self, response_id: str) -> bool:
        """Whether a response is no part of the conversation."""
        return self._strangers.is_isolated(response_id)

    def close(self) -> None:
        """End all watchdogs."""
        self._timers.close()
        self._strangers.close()

    # Response

    def ask(self, exchange: Exchange) -> None:
        """Ask for a response; there must be none."""
        exchange.wanted = False
        audio = self._link.config is None or self._link.config.audio
        turn_id = exchange.turn_id if self._takes_metadata else ""
        event_id = self._link.send(Respond(turn_id=turn_id, audio=audio))
        self.flight = Flight(exchange, event_id, self.ledger)
        self._timers.start("created", CREATED_SECONDS, self._not_created)

    @override
    def cancel(self, exchange: Exchange) -> None:
        """Stop the response of this exchange, if it has one: what it still says is dropped."""
        flight = self.flight
        if flight is None or flight.exchange is not exchange or flight.dropped:
            return
        self._drop(flight)

    def started(self, event: ResponseStarted) -> bool:
        """Take the beginning of a response; False: nobody asked for it."""
        if event.isolated:
            self._strangers.isolate(event.response_id)
            return True
        if self._strangers.owns(event.response_id):
            return True
        self._announces = True
        self._echoes = self._echoes or event.turn_id is not None
        flight = self.flight
        if flight is None or flight.response_id is not None:
            return flight is not None and flight.response_id == event.response_id
        if event.turn_id is None and self._echoes:
            return False
        if event.turn_id is not None and event.turn_id != flight.exchange.turn_id:
            return False
        flight.response_id = event.response_id
        self._timers.stop("created")
        if self.committing is flight.exchange:
            self.committed()  # it was asked for behind the commit
        if flight.dropped:
            self._link.send(CancelResponse(event.response_id))
        else:
            self._watch(flight)
        return True

    def reject(self, response_id: str) -> None:
        """Stop a response that nobody wants."""
        self._strangers.add(response_id)
        self._link.send(CancelResponse(response_id))

    def reply(self, event: ReplyEvent) -> None:
        """Take a piece of a response."""
        flight = self._flight_of(event.response_id)
        if isinstance(event, ReplyItem):
            self._learn(event, flight)
        if flight is None or flight.dropped:
            return
        flight.last_event = asyncio.get_running_loop().time()
        match event:
            case ReplyItem():
                flight.assembly.item(event)
            case TextDelta():
                flight.assembly.text(event)
                self.ledger.wrote(event.item_id, event.text)
            case CallDone():
                flight.assembly.call(event)
            case AudioDelta():
                flight.assembly.audio(event)
                ms = len(event.pcm) / (self._caps.output_rate * 2) * 1000
                self.ledger.received(event.item_id, ms)

    def done(self, event: ResponseDone) -> None:
        """Take the end of a response: the wire is free again."""
        again = self._strangers.is_past(event.response_id)
        stranger = self._strangers.ended(event.response_id)
        flight = self.flight
        if stranger or flight is None or flight.response_id not in {None, event.response_id}:
            if not again:
                self._host.spent(Spent(purpose=Purpose.ASIDE, usage=event.usage))
            return
        self._host.spent(flight.spent(event))
        self._land()
        if flight.dropped:
            return
        flight.assembly.finish()

        def end() -> None:
            flight.exchange.response_done(event, flight.assembly.calls, self.ledger.epoch)

        self._landed = flight
        code = event.error_code
        silent = code is not None and not flight.said
        if not silent or not self.retry.hold(flight.exchange, code or "", event.retry_after, end):
            end()

    def refused(self, code: str, error: ErrorEvent) -> None:
        """Take the refusal of the response that was asked for; an earlier one is past caring."""
        flight = self.flight
        if flight is None or error.event_id not in {None, flight.event_id}:
            return
        exchange = flight.exchange
        if code == failures.UNKNOWN_PARAMETER and self._takes_metadata and not flight.dropped:
            self._takes_metadata = False
            self._land()
            exchange.wanted = True
            return
        if code != failures.ALREADY_ACTIVE:
            self._land()
            self._fail(flight, code, error.retry_after)
            return
        if flight.said and not exchange.answers.calls:
            return  # another one answers the same words
        self._ask_again(flight, code)

    def unfounded(self) -> None:
        """Ask again for a response that was asked for behind something that was refused."""
        if self.flight is not None and not self.flight.said:
            self._ask_again(self.flight, ITEM_REFUSED)

    # Inside

    def _ask_again(self, flight: Flight, code: str) -> None:
        """Let a response go, and ask for another one when the floor is free; not for ever."""
        self._land()
        if flight.response_id is not None:
            self.reject(flight.response_id)
        else:
            self._strangers.suspect()
        exchange = flight.exchange
        exchange.attempts += 1
        if flight.dropped:
            return
        if exchange.attempts > MAX_ATTEMPTS:
            exchange.fail(failures.failure(code))
        else:
            exchange.wanted = True

    def _fail(self, flight: Flight, code: str, retry_after: float | None) -> None:
        """Let a turn fail whose response was refused, or try again where that was announced."""
        exchange = flight.exchange

        def fail() -> None:
            exchange.fail(failures.failure(code))

        if flight.said or not self.retry.hold(exchange, code, retry_after, fail):
            fail()

    def _flight_of(self, response_id: str) -> Flight | None:
        """Return the response that a piece belongs to, None if it is to be dropped."""
        flight, landed = self.flight, self._landed
        if flight is not None and flight.response_id == response_id:
            return flight
        if landed is not None and landed.response_id == response_id:
            return landed if landed.exchange.stage is not Stage.OVER else None
        unnamed = flight is not None and flight.response_id is None and not self._announces
        return flight if unnamed and not self._strangers.owns(response_id) else None

    def _learn(self, event: ReplyItem, flight: Flight | None) -> None:
        """Let the ledger know an item of a response, and whose it is."""
        if self._strangers.is_isolated(event.response_id):
            return
        self.ledger.settle_added(event.item_id, event.kind, event.call_id)
        if flight is None:
            return
        turn_id = flight.exchange.turn_id
        if event.kind is ItemKind.CALL and event.call_id:
            self.ledger.bind_call(event.item_id, turn_id, event.call_id)
        elif event.kind is ItemKind.ASSISTANT and flight.dropped:
            self.ledger.bind_reply(event.item_id, turn_id)

    def _land(self) -> None:
        self.flight = None
        self._timers.stop("created")
        self._timers.stop("stalled")
        self._timers.stop("cancelled")

    def _drop(self, flight: Flight) -> None:
        flight.dropped = True
        self._link.send(CancelResponse(flight.response_id))
        self._timers.stop("created")
        self._timers.stop("stalled")
        self._timers.start("cancelled", CANCELLED_SECONDS, self._not_cancelled)

    def _watch(self, flight: Flight) -> None:
        """Look now and then whether a response still goes on."""
        flight.last_event = asyncio.get_running_loop().time()

        def look() -> None:
            quiet = asyncio.get_running_loop().time() - flight.last_event
            if quiet < STALLED_SECONDS:
                self._timers.start("stalled", STALLED_SECONDS - quiet, look)
                return
            flight.exchange.fail(ResponseFailed("response_stalled"))
            self._lose("stalled")

        self._timers.start("stalled", STALLED_SECONDS, look)

    def _not_created(self) -> None:
        flight = self.flight
        if flight is not None:
            flight.exchange.fail(ResponseFailed("no_response"))
        self._lose("no_response")

    def _not_cancelled(self) -> None:
        self._lose("cancel_not_done")

    def _lose(self, reason: str) -> None:
        self._land()
        self._host.start_anew(None, reason, ResponseFailed(reason))
