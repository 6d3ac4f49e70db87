"""One socket's life in a session: it is prepared, opened, heard, and ends.

A link is never reused. What a session knows of its provider's side (ids, acknowledgements, who has
the floor) belongs to one link and goes with it; events of a link that was dropped reach nobody.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Final, Protocol

import aiohttp

from .commands import AppendAudio, ClearAudio, Command, CommitAudio, Configure, Respond
from .config import SessionConfig
from .connection import HANDSHAKE_SECONDS, Connection
from .errors import CannotConnect, ConnectionLost, RealtimeError
from .events import Event
from .model import RealtimeModel

_LOGGER = logging.getLogger(__name__)
_REMEMBERED: Final = 256
"""Commands whose errors can still be told apart."""


class Owner(StrEnum):
    """Whose command an error is about."""

    CONFIGURE = "configure"
    COMMIT = "commit"
    RESPOND = "respond"
    ASIDE = "aside"
    OTHER = "other"


_OWNERS: Final = {Configure: Owner.CONFIGURE, CommitAudio: Owner.COMMIT, Respond: Owner.RESPOND}


class LinkHost(Protocol):
    """Who uses a link."""

    def link_up(self, link: Link) -> None:
        """Send what is to be sent first: the socket is open."""

    def link_event(self, link: Link, event: Event) -> None:
        """Take an event."""

    def link_ended(self, link: Link, error: RealtimeError) -> None:
        """Learn that the link could not be opened, or has ended; not called after `drop`."""


class Link:
    """Prepares, opens and hears one socket."""

    def __init__(self, number: int, host: LinkHost) -> None:
        """Begin closed; `number` tells this link's event ids from all others'."""
        self.config: SessionConfig | None = None
        self.connection: Connection | None = None
        self.expires_at: float | None = None
        self.configured = False
        self.served = False
        """A turn has begun in it."""
        self.unread_audio = False
        """The input buffer has audio that was neither committed nor cleared."""
        self.dropped = False
        self._number = number
        self._sent = 0
        self._host = host
        self._owners: OrderedDict[str, Owner] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    @property
    def up(self) -> bool:
        """Whether commands can be sent."""
        return self.connection is not None and not self.dropped

    def start(self, task: asyncio.Task[None]) -> None:
        """Remember the task that runs `run`, so that `drop` can end it."""
        self._task = task

    def drop(self) -> asyncio.Task[None] | None:
        """End the link: nothing of it is heard any more. Returns the task that ends now."""
        self.dropped = True
        if self._task is not None:
            self._task.cancel()
        return self._task

    def send(self, command: Command) -> str:
        """Send a command and return its event id; never waits."""
        self._sent += 1
        event_id = f"ra_{self._number}_{self._sent}"
        owner = _OWNERS.get(type(command))
        if isinstance(command, Respond) and command.isolated_input is not None:
            owner = Owner.ASIDE
        if owner is not None:
            self._owners[event_id] = owner
            if len(self._owners) > _REMEMBERED:
                self._owners.popitem(last=False)
        if isinstance(command, AppendAudio):
            self.unread_audio = True
        elif isinstance(command, CommitAudio | ClearAudio):
            self.unread_audio = False
        if self.connection is not None and not self.dropped:
            self.connection.send(command, event_id)
        return event_id

    def owner(self, event_id: str | None) -> Owner:
        """Return whose command an event id belongs to."""
        return self._owners.get(event_id or "", Owner.OTHER)

    async def run(
        self,
        http: aiohttp.ClientSession,
        model: RealtimeModel,
        prepare: Callable[[], Awaitable[SessionConfig]],
    ) -> None:
        """Live from the first preparation to the end of the socket."""
        try:
            error = await self._live(http, model, prepare)
        except RealtimeError as err:
            error = err
        except Exception as err:  # noqa: BLE001 - whatever it is, the turn must end well
            error = internal(err)
        if not self.dropped:
            self.dropped = True
            self._host.link_ended(self, error)

    async def _live(
        self,
        http: aiohttp.ClientSession,
        model: RealtimeModel,
        prepare: Callable[[], Awaitable[SessionConfig]],
    ) -> RealtimeError:
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                self.config = await prepare()
        except TimeoutError:
            raise CannotConnect("not_prepared") from None
        connection = await Connection.open(http, model, self.config)
        try:
            self.connection = connection
            self._host.link_up(self)
            return await connection.run(self._hear)
        finally:
            await connection.close()

    def _hear(self, event: Event) -> None:
        if not self.dropped:
            self._host.link_event(self, event)


def internal(err: BaseException) -> RealtimeError:
    """Return the failure for a fault of our own, and log where it is: never what it says."""
    while isinstance(err, BaseExceptionGroup):
        err = err.exceptions[0]
    trace = err.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}" if trace else "?"
    _LOGGER.error("Fault in a realtime session: %s at %s", type(err).__name__, place)
    return ConnectionLost("internal_error")
