"""Whom an event concerns: the ledger, the floor, a turn, or the session as a whole.

Ids come from whichever event is first, and transcripts may come before anybody knows whose they
are: then they wait here for their item. One router belongs to one link.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from typing import Final, Protocol

from . import failures
from .asides import Asides
from .errors import RealtimeError
from .events import (
    AudioDelta,
    CallDone,
    Committed,
    ErrorEvent,
    Event,
    ItemAdded,
    ItemCut,
    ItemDeleted,
    ItemKind,
    LimitReached,
    ReplyItem,
    ResponseDone,
    ResponseStarted,
    SessionConfigured,
    SessionOpened,
    SpeechStarted,
    SpeechStopped,
    TextDelta,
    TranscriptDelta,
    TranscriptDone,
)
from .exchange import Exchange, Stage
from .failures import Severity
from .floor import Floor
from .ledger import Ledger
from .link import Link, Owner
from .listening import Ended
from .metering import Purpose, Spent
from .operations import Create, ItemOperation

MAX_EARLY: Final = 8
"""Items whose words may wait for their turn."""
MAX_EARLY_PIECES: Final = 256

type Transcript = TranscriptDelta | TranscriptDone


class RouterHost(Protocol):
    """Who uses a router."""

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The open turns, oldest first."""

    def boundary(self) -> None:
        """Look again what the provider holds, and do what has become legal."""

    def session_failed(self, error: RealtimeError, *, again: bool) -> None:
        """Give up the session; `again`: the turns may try another one."""

    def configured(self) -> None:
        """Our configuration is in force."""

    def response_ended(self, event: ResponseDone) -> None:
        """Learn that a response has ended."""

    def spent(self, spent: Spent) -> None:
        """Learn what a response used, or a transcript."""


class Router:
    """Passes on the events of one link."""

    def __init__(
        self, link: Link, floor: Floor, asides: Asides, ledger: Ledger, host: RouterHost
    ) -> None:
        """Begin with an empty conversation."""
        self.counts: Counter[str] = Counter()
        self._link = link
        self._floor = floor
        self._asides = asides
        self._ledger = ledger
        self._host = host
        self._speakers: dict[str, Exchange] = {}
        self._works = False
        """The provider has done something of what was asked."""
        self._early: OrderedDict[str, deque[Transcript]] = OrderedDict()

    def take(self, event: Event) -> None:  # noqa: C901, PLR0912 - one case for each kind
        """Pass on one event."""
        match event:
            case AudioDelta() | TextDelta() | CallDone() | ReplyItem():
                if not self._asides.reply(event):
                    self._floor.reply(event)
            case TranscriptDelta():
                self._transcript(event)
            case TranscriptDone():
                if event.usage is not None:
                    self._host.spent(Spent(purpose=Purpose.TRANSCRIPT, usage=event.usage))
                self._transcript(event)
            case SpeechStarted(item_id):
                self._speech_started(item_id)
            case SpeechStopped():
                if (exchange := self._listener()) is not None:
                    exchange.listening.end(Ended.PROVIDER)
            case Committed(item_id):
                self._committed(item_id)
            case ItemAdded():
                self._added(event)
            case ItemDeleted(item_id):
                self._ledger.settle_deleted(item_id)
                self._host.boundary()
            case ItemCut(item_id, ms):
                self._ledger.settle_cut(item_id, ms)
                self._host.boundary()
            case ResponseStarted():
                if not self._floor.started(event):
                    self._floor.reject(event.response_id)
                if event.isolated:
                    self._asides.started(event)
            case ResponseDone():
                self._done(event)
            case SessionOpened():
                self._link.expires_at = event.expires_at
            case SessionConfigured():
                self._link.configured = True
                self._host.configured()
            case LimitReached(seconds):
                self._floor.retry.announced(seconds)
            case ErrorEvent():
                self._error(event)
            case _:
                self.counts["other"] += 1

    def _done(self, event: ResponseDone) -> None:
        """Take the end of a response: of the conversation's, or of one beside it."""
        self._asides.done(event)
        self._floor.done(event)
        if not self._floor.is_isolated(event.response_id):
            self._host.response_ended(event)
            self._host.boundary()

    # The user's part

    def _listener(self) -> Exchange | None:
        """Return the turn whose speech is being heard."""
        speaking = (e for e in self._host.exchanges if e.stage in {Stage.SPEAKING, Stage.ENDED})
        return next(speaking, None)

    def _bind(self, item_id: str, exchange: Exchange) -> None:
        self._ledger.bind_user(item_id, exchange.turn_id)
        self._ledger.spoken(item_id, exchange.recording.ms)
        self._speakers = {i: e for i, e in self._speakers.items() if not e.closed}
        self._speakers[item_id] = exchange
        exchange.hearing.bind(item_id)
        for words in self._early.pop(item_id, ()):
            self._transcript(words)

    def _speech_started(self, item_id: str | None) -> None:
        exchange = self._listener()
        if exchange is None or exchange.provider_committed:
            return
        exchange.listening.started()
        exchange.hearing.speech_seen = True
        self._floor.detecting = True
        if item_id:
            self._bind(item_id, exchange)

    def _committed(self, item_id: str) -> None:
        """Take the birth of a user item: of our commit, or of the provider's own."""
        self._works = True
        floor = self._floor
        floor.detecting = False
        exchange = floor.committing or self._speakers.get(item_id) or self._listener()
        self._link.unread_audio = False
        if exchange is None:
            self._ledger.settle_added(item_id, ItemKind.USER)
        else:
            if item_id:
                self._bind(item_id, exchange)
            if floor.committing is not None:
                floor.committed()
            elif exchange.stage in {Stage.SPEAKING, Stage.ENDED}:
                exchange.provider_committed = True
                exchange.listening.end(Ended.PROVIDER)
        self._host.boundary()

    def _added(self, event: ItemAdded) -> None:
        """Take an item: an acknowledgement, or the first that is heard of a new one."""
        self._works = True
        known = any(item.remote_id == event.item_id for item in self._ledger.items)
        if event.kind is ItemKind.USER and not known and self._floor.committing is not None:
            # Some servers announce the item and never say that they committed it.
            self._bind(event.item_id, self._floor.committing)
            self._floor.committed()
        self._ledger.settle_added(event.item_id, event.kind, event.call_id)
        self._host.boundary()

    def _transcript(self, event: Transcript) -> None:
        exchange = self._speakers.get(event.item_id)
        if exchange is None:
            self._early.setdefault(event.item_id, deque(maxlen=MAX_EARLY_PIECES)).append(event)
            if len(self._early) > MAX_EARLY:
                self._early.popitem(last=False)
        elif isinstance(event, TranscriptDelta):
            exchange.hearing.delta(event)
        else:
            exchange.hearing.done(event)

    # Errors

    def _error(self, event: ErrorEvent) -> None:
        """Settle an error with what caused it; by its code where nothing else tells."""
        self.counts["errors"] += 1
        owner = self._link.owner(event.event_id)
        code = failures.plain(event.code)
        unknown = code == failures.UNKNOWN_ITEM
        if event.event_id and (
            operation := self._ledger.settle_error(event.event_id, unknown=unknown)
        ):
            self._item_refused(operation)
        elif owner is Owner.CONFIGURE or self._is_refused_configuration(event):
            again = failures.severity(code) is Severity.SESSION
            self._host.session_failed(failures.failure(code), again=again)
        elif owner is Owner.COMMIT or self._is_refused_commit(event, code):
            self._floor.commit_refused(code)
            self._host.boundary()
        elif owner is Owner.ASIDE:
            self._asides.refused(event.event_id, code)
        elif owner is Owner.RESPOND or code == failures.ALREADY_ACTIVE:
            self._floor.refused(code, event)
            self._host.boundary()
        else:
            self._unexplained(event, code)

    def _is_refused_configuration(self, event: ErrorEvent) -> bool:
        """Guess that the first word of a session, if it is an error, is about its configuration."""
        benign = failures.severity(event.code) is Severity.BENIGN
        return (
            event.event_id is None and not self._link.configured and not self._works and not benign
        )

    def _is_refused_commit(self, event: ErrorEvent, code: str) -> bool:
        """Guess by its code that an error without an id is about the commit."""
        return code == failures.COMMIT_EMPTY or (
            event.event_id is None
            and code == failures.NOT_IMPLEMENTED
            and self._floor.committing is not None
        )

    def _unexplained(self, event: ErrorEvent, code: str) -> None:
        if code == failures.CANCEL_TOO_LATE:
            self.counts["benign"] += 1
            return
        match failures.severity(code):
            case Severity.FATAL:
                self._host.session_failed(failures.failure(code), again=False)
            case Severity.SESSION:
                self._host.session_failed(failures.failure(code), again=True)
            case Severity.BENIGN | Severity.TURN if event.event_id is None and (
                operation := self._ledger.settle_error(None)
            ):
                self._item_refused(operation)
            case Severity.TURN if event.event_id is None:
                self._fail_current(event, code)
            case _:
                self.counts["benign"] += 1

    def _item_refused(self, operation: ItemOperation) -> None:
        """Let what was refused be tried again, and whatever was asked for behind it."""
        if isinstance(operation, Create) and operation.item.is_said:
            self._floor.unfounded()
        self._host.boundary()

    def _fail_current(self, event: ErrorEvent, code: str) -> None:
        """End the turn that the wire is busy with: the error is about nothing else.

        Servers answer in order: so it is about the commit while that is open, else about the
        response that was asked for and has not begun, else about the one that is being made.
        """
        flight = self._floor.flight
        if self._floor.committing is not None:
            self._floor.commit_refused(code)
        elif flight is not None and flight.response_id is None:
            self._floor.refused(code, event)
        elif flight is not None:
            self._floor.cancel(flight.exchange)
            flight.exchange.fail(failures.failure(code))
