"""One more attempt where a provider says that it was too much at once, and how soon it will do.

A refusal may name the time itself; else it may stand in the limits that the provider tells, and
these come behind the response that they stopped (recorded), or never.
"""

from collections.abc import Callable
from typing import Final

from . import failures
from .errors import RateLimited
from .exchange import Exchange

LONGEST_SECONDS: Final = 2.0
"""A person waits no longer than this for an answer that may come."""
ANNOUNCED_SECONDS: Final = 0.3
"""How long the limits that stopped a response are waited for."""
REASON: Final = "rate_limit"


class Retry:
    """The turn that waits for its second attempt, if there is one; belongs to one link."""

    def __init__(self) -> None:
        """Let nobody wait."""
        self._waiting: Exchange | None = None

    def hold(
        self, exchange: Exchange, code: str, seconds: float | None, fail: Callable[[], None]
    ) -> bool:
        """Return whether a refused turn is to be asked again, once; else it has failed.

        `seconds`: when it may be, None if the refusal does not say. `fail` is called where nobody
        says it in time.
        """
        kind = type(failures.failure(code))
        if kind is not RateLimited or REASON in exchange.replays:
            return False
        if seconds is not None and not 0 <= seconds < LONGEST_SECONDS:
            return False
        exchange.replays.add(REASON)
        if seconds is not None:
            exchange.timers.start(REASON, seconds, exchange.ask_again)
            return True

        def not_announced() -> None:
            self._waiting = None
            fail()

        self._waiting = exchange
        exchange.timers.start(REASON, ANNOUNCED_SECONDS, not_announced)
        return True

    def announced(self, seconds: float) -> None:
        """Take it that what was used up is there again in `seconds`."""
        exchange, self._waiting = self._waiting, None
        if exchange is not None and 0 <= seconds < LONGEST_SECONDS:
            exchange.timers.start(REASON, seconds, exchange.ask_again)
        else:
            self._waiting = exchange
