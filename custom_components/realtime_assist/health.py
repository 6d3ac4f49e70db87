"""Whether an account works, as its turns show: told once when it stops, and once when it is back.

A turn tells the person in the room. Here its owner is told: in the log, and by a repair where
somebody must act. The engines stay available meanwhile, or nobody would be told anything.
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from homeassistant.core import callback

from .realtime.errors import (
    AuthenticationFailed,
    CannotConnect,
    ConnectionLost,
    ModelNotFound,
    NotRealtime,
    QuotaExceeded,
    RealtimeError,
)
from .repairs import Issue, async_clear, async_report

if TYPE_CHECKING:
    from .hub import Assistant, Hub

_LOGGER: Final = logging.getLogger(__name__)

_DOWN: Final = (
    AuthenticationFailed,
    CannotConnect,
    ConnectionLost,
    ModelNotFound,
    NotRealtime,
    QuotaExceeded,
)
"""The provider does not work. Anything else is one turn's trouble, or passes by itself."""
_ISSUES: Final[Mapping[type[RealtimeError], Issue]] = {
    ModelNotFound: Issue.MODEL_GONE,
    NotRealtime: Issue.NOT_REALTIME,
    QuotaExceeded: Issue.NO_CREDIT,
}
"""What waits for a person. A refused key does as well; Home Assistant has a way of its own."""


class Health:
    """One account's."""

    def __init__(self, hub: Hub) -> None:
        """Take it that it works."""
        self._hub = hub
        self._down = False
        self._shown: set[tuple[Issue, str]] = set()

    @callback
    def failed(self, assistant: Assistant, error: RealtimeError) -> None:
        """Learn why a turn of an assistant, or a text that it should say, has failed."""
        if not isinstance(error, _DOWN):
            return
        entry = self._hub.entry
        if not self._down:
            self._down = True
            _LOGGER.warning(
                "The provider of account %s does not work (%s): turns get an apology",
                entry.entry_id,
                error.code,
            )
        if isinstance(error, AuthenticationFailed):
            entry.async_start_reauth(self._hub.hass)
        elif (issue := _ISSUES.get(type(error))) is not None:
            self._show(issue, assistant)

    @callback
    def worked(self, assistant: Assistant) -> None:
        """Learn that the provider has answered."""
        if self._down:
            self._down = False
            _LOGGER.info("The provider of account %s works again", self._hub.entry.entry_id)
        for shown in list(self._shown):
            if shown[0] is not Issue.MODEL_GONE or shown[1] == assistant.subentry_id:
                self._clear(shown)

    @callback
    def close(self) -> None:
        """Take back what was shown: the account is set up anew, or goes away."""
        for shown in list(self._shown):
            self._clear(shown)

    def _show(self, issue: Issue, assistant: Assistant) -> None:
        entry = self._hub.entry
        whose = assistant.subentry_id if issue is Issue.MODEL_GONE else entry.entry_id
        placeholders = {
            "account": entry.title,
            "assistant": assistant.title,
            "model": assistant.options.model,
        }
        self._shown.add((issue, whose))
        async_report(self._hub.hass, issue, whose, placeholders=placeholders)

    def _clear(self, shown: tuple[Issue, str]) -> None:
        self._shown.discard(shown)
        async_clear(self._hub.hass, *shown)
