"""The commit of one link: speech becomes an item, one at a time.

Servers differ: most acknowledge a commit at once, some make an item only of what they have heard
end by themselves, some never say that they did. Every wait has a watchdog.
"""

from abc import abstractmethod
from typing import Final, Protocol

from . import failures
from .audio import silence
from .commands import AppendAudio, CommitAudio
from .errors import RealtimeError, ResponseFailed
from .exchange import Exchange, Stage
from .hearing import How
from .link import Link
from .model import Capabilities
from .timers import Timers

COMMIT_SECONDS: Final = 3.0
HEARD_SECONDS: Final = 0.4
"""How long a server that may not commit at once has for it before it hears silence."""
TOLD_SECONDS: Final = 1.2
"""How long it has for it then."""
SILENCE_MS: Final = 1200
"""Silence in which every provider's turn detection finds the end of speech."""


class CommitHost(Protocol):
    """Who uses the commit of a link."""

    def advance(self) -> None:
        """Do what has become legal."""

    def start_anew(self, exchange: Exchange | None, reason: str, error: RealtimeError) -> None:
        """Leave the session: another one, once for this exchange and reason, else it fails."""


class Commits:
    """The commit of one link."""

    def __init__(self, link: Link, caps: Capabilities, host: CommitHost) -> None:
        """Begin with nothing to commit."""
        self.committing: Exchange | None = None
        self._link = link
        self._caps = caps
        self._host: CommitHost = host
        self._timers = Timers()

    @abstractmethod
    def cancel(self, exchange: Exchange) -> None:
        """Stop the response of this exchange, if it has one."""

    def commit(self, exchange: Exchange) -> None:
        """Make an item of the speech; nothing else may change until it is acknowledged."""
        self._link.send(CommitAudio())
        exchange.stage = Stage.COMMITTING
        self.committing = exchange
        if self._caps.commits_at_once:
            self._timers.start("commit", COMMIT_SECONDS, self._not_committed)
        else:
            self._timers.start("commit", HEARD_SECONDS, self._let_end_be_heard)

    def committed(self) -> None:
        """Take the acknowledgement of the commit."""
        self._timers.stop("commit")
        if (exchange := self.committing) is not None:
            self.committing = None
            exchange.committed()

    def commit_refused(self, code: str) -> None:
        """Take the refusal of a commit: nobody spoke, unless the provider was first."""
        exchange, self.committing = self.committing, None
        self._timers.stop("commit")
        self._link.unread_audio = True  # it lies in the buffer still
        if exchange is None:
            return
        if exchange.provider_committed:
            exchange.committed()
        elif code == failures.NOT_IMPLEMENTED and "commit" not in exchange.replays:
            exchange.replays.add("commit")
            self._let_provider_commit(exchange)
        elif code == failures.COMMIT_EMPTY:
            exchange.hearing.settle(How.NO_SPEECH)
            exchange.cancel()
        else:
            self.cancel(exchange)
            exchange.fail(failures.failure(code))

    def _let_end_be_heard(self) -> None:
        """Let a server that makes an item only of what it has heard end hear that end."""
        self._link.send(AppendAudio(silence(SILENCE_MS, self._caps.input_rate)))
        self._timers.start("commit", TOLD_SECONDS, self._not_told)

    def _not_told(self) -> None:
        """Go on with a server that may never say that it has made an item."""
        self.committed()
        self._host.advance()

    def _let_provider_commit(self, exchange: Exchange) -> None:
        """Let a provider that commits only what it has heard end by itself hear that end."""
        self.cancel(exchange)
        self._link.send(AppendAudio(silence(SILENCE_MS, self._caps.input_rate)))
        exchange.let_provider_commit()

    def _not_committed(self) -> None:
        exchange, self.committing = self.committing, None
        error = ResponseFailed("commit_not_acknowledged")
        self._host.start_anew(exchange, "commit", error)
