r"""Asides: questions to the model beside the conversation, answered in text, heard by nobody.

An aside is an out-of-band response with input of its own. It has no floor: turns neither wait for
it nor know of it. It is asked only while no turn is open, at most one at a time in a session, and
it is stopped when the next turn begins. Its tokens are paid for, but are not in the conversation.

    ask --Respond--> asked --created--> answering --done--> answered
                        \-- a turn, a lost link, an error, the time --> AsideFailed
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from .commands import CancelResponse, Respond
from .errors import RealtimeError
from .events import (
    AudioDelta,
    CallDone,
    ReplyItem,
    ResponseDone,
    ResponseStarted,
    ResponseStatus,
    TextDelta,
)
from .link import Link

MAX_CHARACTERS: Final = 65_536
"""An answer that is longer is not waited for."""
NAME: Final = "aside"
"""What an aside says of itself where a response says its turn."""


class AsideFailed(RealtimeError):
    """An aside was not answered: `not_idle`, `interrupted`, `lost`, `timeout`, or their code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """What is asked."""

    instructions: str = field(repr=False)
    """In place of the session's."""
    input: str = field(repr=False)
    """All that the model gets to see."""
    max_tokens: int
    """Tokens that the answer may have."""


class _Asked:
    """An aside on the wire."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.event_id = ""
        self.response_id: str | None = None
        self.answer: Final[asyncio.Future[str]] = asyncio.get_running_loop().create_future()
        self.text = ""

    def fail(self, code: str) -> None:
        if not self.answer.done():
            self.answer.set_exception(AsideFailed(code))


class Asides:
    """The asides of one link: one at a time, and what is left of those that were given up."""

    def __init__(self, link: Link) -> None:
        """Begin with none."""
        self._link: Final = link
        self._asked: _Asked | None = None
        self._given_up: Final[deque[str]] = deque(maxlen=8)
        """Asides that nobody waits for any more, but that may still begin, by their commands."""
        self._count = 0

    async def ask(self, aside: Aside, seconds: float) -> str:
        """Ask, and return the answer within `seconds`; raises AsideFailed."""
        if self._asked is not None:
            raise AsideFailed("not_idle")
        self._count += 1
        asked = self._asked = _Asked(f"{NAME}{self._count}")
        asked.event_id = self._link.send(
            Respond(
                turn_id=asked.name,
                isolated_input=aside.input,
                instructions=aside.instructions,
                max_tokens=aside.max_tokens,
            )
        )
        try:
            async with asyncio.timeout(seconds):
                return await asked.answer
        except TimeoutError:
            raise AsideFailed("timeout") from None
        finally:
            self._leave(asked)

    def stop(self, code: str = "interrupted") -> None:
        """Give up what is being asked: something goes first."""
        if (asked := self._asked) is not None:
            asked.fail(code)
            self._leave(asked)

    # What the link tells

    def started(self, event: ResponseStarted) -> None:
        """Take the beginning of a response that is no part of the conversation."""
        asked = self._asked
        # Without an echo of metadata they begin in the order in which they were asked.
        older = event.turn_id is None and self._given_up
        if (
            asked is not None
            and not older
            and asked.response_id is None
            and event.turn_id in {None, asked.name}
        ):
            asked.response_id = event.response_id
            return
        if self._given_up:
            self._given_up.popleft()
        self._link.send(CancelResponse(event.response_id))

    def reply(self, event: ReplyItem | AudioDelta | TextDelta | CallDone) -> bool:
        """Take a piece of a response; False: it is none of an aside."""
        asked = self._asked
        if asked is None or asked.response_id is None or event.response_id != asked.response_id:
            return False
        if isinstance(event, TextDelta):
            asked.text += event.text
            if len(asked.text) > MAX_CHARACTERS:
                self.stop("too_long")
        return True

    def done(self, event: ResponseDone) -> None:
        """Take the end of a response, of an aside or not."""
        asked = self._asked
        if asked is None or asked.response_id is None or event.response_id != asked.response_id:
            return
        self._asked = None
        if event.status is not ResponseStatus.COMPLETED:
            asked.fail(event.error_code or event.status.value)
        elif not asked.answer.done():
            asked.answer.set_result(asked.text)

    def refused(self, event_id: str | None, code: str) -> None:
        """Take the refusal of an aside, or of one that was given up by now."""
        if (asked := self._asked) is not None and asked.event_id == event_id:
            self._asked = None
            asked.fail(code)
        elif event_id is not None and event_id in self._given_up:
            self._given_up.remove(event_id)

    # Inside

    def _leave(self, asked: _Asked) -> None:
        """Let go of an aside, and stop the answer that nobody waits for."""
        if self._asked is asked:
            self._asked = None
            if asked.response_id is not None:
                self._link.send(CancelResponse(asked.response_id))
            else:
                self._given_up.append(asked.event_id)
