"""One response, put together from its pieces.

A response may have several items, and some models fill them in turns: a call is added while the
message before it still speaks. Pieces are told apart by (response, output index, item); each
message is passed on whole before the next one begins.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from .events import AudioDelta, CallDone, ItemKind, ReplyItem, TextDelta
from .replies import Call

type Part = str | bytes


@dataclass(slots=True)
class Message:
    """A message of the response: its words and its audio."""

    item_id: str
    output_index: int
    phase: str | None = None
    complete: bool = False
    """Nothing more is expected of it."""
    passed: bool = False
    """It had its turn; what comes late is passed on at once."""
    parts: list[Part] = field(default_factory=list)
    """What waits for the message before it."""


class Assembly:
    """Sorts what a response brings; `pass_on(message, part)` gets words and audio in order."""

    def __init__(self, pass_on: Callable[[Message, Part], None]) -> None:
        """Begin with an empty response."""
        self._pass_on = pass_on
        self._messages: dict[str, Message] = {}
        self._calls: dict[str, tuple[int, Call]] = {}
        self._current: Message | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls of the response, in the order of its items."""
        return tuple(call for _, call in sorted(self._calls.values(), key=lambda found: found[0]))

    def item(self, event: ReplyItem) -> None:
        """Learn of an item. The second time a message is told of, it is complete."""
        if event.kind is not ItemKind.ASSISTANT:
            return
        known = self._messages.get(event.item_id)
        message = self._message(event.item_id, event.output_index)
        message.phase = event.phase or message.phase
        message.complete = known is not None
        self._flow()

    def text(self, event: TextDelta) -> None:
        """Take words of a message."""
        self._part(event.item_id, event.output_index, event.text)

    def audio(self, event: AudioDelta) -> None:
        """Take audio of a message."""
        self._part(event.item_id, event.output_index, event.pcm)

    def call(self, event: CallDone) -> None:
        """Take a call; the same one again changes nothing."""
        call = Call(call_id=event.call_id, name=event.name, arguments=event.arguments)
        self._calls.setdefault(event.call_id, (event.output_index, call))

    def finish(self) -> None:
        """Pass on what still waits: the response is over."""
        for message in self._messages.values():
            message.complete = True
        self._flow()

    def _message(self, item_id: str, output_index: int) -> Message:
        return self._messages.setdefault(item_id, Message(item_id, output_index))

    def _part(self, item_id: str, output_index: int, part: Part) -> None:
        message = self._message(item_id, output_index)
        message.parts.append(part)
        self._flow()
        if message.passed:
            self._drain(message)

    def _flow(self) -> None:
        while True:
            if self._current is None:
                waiting = [m for m in self._messages.values() if not m.passed]
                self._current = min(waiting, key=lambda m: m.output_index, default=None)
            if self._current is None:
                return
            self._drain(self._current)
            if not self._current.complete:
                return
            self._current.passed = True
            self._current = None

    def _drain(self, message: Message) -> None:
        parts, message.parts = message.parts, []
        for part in parts:
            self._pass_on(message, part)
