"""Whether the open session is still good: looked at when somebody wakes it, and when nobody does.

At each wake what a turn needs is loaded, and the configuration compared; a session that will end
soon is replaced before the turn, and one that has gone cold is tidied by starting anew. One that
nobody uses is closed, since resuming costs no more than keeping it.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, override

import aiohttp

from . import failures
from .conductor import Conductor
from .config import SessionConfig
from .events import ResponseDone, ResponseStatus
from .keeper import SessionSource
from .lifecycle import Lifecycle, StartTask
from .link import Link, internal
from .metering import Meter
from .model import RealtimeModel

_LOGGER = logging.getLogger(__name__)

EXPIRY_SECONDS: Final = 360.0
"""A session that ends sooner than this is replaced before a turn: answers may take minutes."""
COLD_SECONDS: Final = 300.0
"""After so long without a response nothing of the conversation is cached any more."""
PAUSE_SECONDS: Final = 120.0
"""After so long what comes next is no follow-up, and a long conversation is renewed."""
PREPARE_SECONDS: Final = 2.5
"""How long a turn in an open session waits for what it needs."""
REFRESH: Final = "refresh"
"""The one reason for a new session that can wait until the playout of a reply has settled."""


class Upkeep(Lifecycle):
    """Keeps the session good for the next turn."""

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
        super().__init__(http, model, source, start_task, time, meter)
        self._opened_at = time()
        self._responded_at = time()
        self._checking: asyncio.Task[None] | None = None

    @property
    def age(self) -> float:
        """Seconds since the open session began, 0 if there is none."""
        return self._time() - self._opened_at if self._conductor is not None else 0.0

    @property
    def lifetime(self) -> float | None:
        """Seconds that the open session may last, None if the provider does not say."""
        ends = self._link.expires_at if self._link is not None else None
        return ends - self._opened_at if ends is not None else None

    @override
    def link_up(self, link: Link) -> None:
        """Begin the conversation of a link that was just opened."""
        self._opened_at = self._time()
        super().link_up(link)

    @property
    @override
    def ready(self) -> bool:
        """Whether turns may go on: what they need is loaded, and no other session is due first."""
        return self._checking is None and self._renewal in {None, REFRESH}

    @override
    def boundary(self) -> None:
        """Look again what the provider holds, and do what has become legal."""
        if self._conductor is not None:
            self._conductor.dirty = True
        self.advance()

    @override
    def response_ended(self, event: ResponseDone) -> None:
        """Remember how the last response ended."""
        self._responded_at = self._time()
        if event.status is ResponseStatus.FAILED:
            self.last_failure = failures.failure(event.error_code or "response_failed")
        elif event.status is ResponseStatus.COMPLETED:
            self.last_failure = None

    def _renewal_interrupts_nobody(self, conductor: Conductor) -> bool:
        """Whether a new session may begin now; a refresh alone also waits for the playout."""
        if self._renewal == REFRESH:
            return conductor.is_free() and self._keeper.is_settled
        return not conductor.floor.busy

    def _check(self) -> None:
        """Look at a wake whether the open session is still what is wanted, and for long enough."""
        link, conductor = self._link, self._conductor
        if link is None or conductor is None:
            return
        idle = self._time() - self._responded_at
        left = link.expires_at - self._time() if link.expires_at is not None else EXPIRY_SECONDS
        if link.served and left < EXPIRY_SECONDS:
            self._renewal = "expiring"
        elif idle > PAUSE_SECONDS and self._is_long(conductor):
            self._renewal = "pressure"
        elif idle > COLD_SECONDS and conductor.is_free():
            conductor.reconcile_when_cold()
        if self._checking is None and self._conductor is conductor:
            task = self._own(self._compare(link), "realtime session check")
            # Where tasks start eagerly, it may be over before it has a name.
            self._checking = None if task.done() else task

    def _is_long(self, conductor: Conductor) -> bool:
        """Whether the conversation should go on in a new session, and nobody minds."""
        return conductor.is_free() and self._keeper.is_settled and self._meter.long

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


def _fixed(config: SessionConfig) -> tuple[object, ...]:
    """Return what of a configuration cannot change within a session."""
    return (config.model, config.voice, config.audio, config.turn_detection)
