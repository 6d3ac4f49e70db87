"""One output item of a response while it is made: its events, in exactly the recorded order."""

import base64
from collections.abc import Callable
from typing import Any, Literal, Protocol

from .items import Item, Part

type Json = dict[str, Any]
type Kind = Literal["audio", "text", "call"]


class Sink(Protocol):
    """Where an output item tells what happens to it."""

    @property
    def id(self) -> str:
        """The id of the response."""

    def emit(self, kind: str, **fields: object) -> None:
        """Send an event of this response."""

    def added(self, item: Item) -> None:
        """Put the item into the conversation and announce it, if it belongs there."""

    def done(self, item: Item) -> None:
        """Announce that the item is complete, if it belongs there."""

    def obfuscation(self) -> Json:
        """Return the undeclared field that text-like deltas carry, or nothing."""


class OutputItem:
    """An item that opens, grows by deltas and closes.

    What was sent is what it holds, never more.
    """

    def __init__(
        self, sink: Sink, index: int, item: Item, kind: Kind, closing: tuple[str, ...]
    ) -> None:
        """Prepare output number `index`.

        `closing` is the order of the events that end its audio.
        """
        self.item = item
        self.kind = kind
        self.is_open = False
        self._sink = sink
        self._place = {"response_id": sink.id, "output_index": index}
        self._inside = {"response_id": sink.id, "item_id": item.id, "output_index": index}
        self._closing = closing
        self._text = ""

    def open(self) -> None:
        """Announce the item, and its part if it is a message."""
        self.is_open = True
        self._sink.emit("response.output_item.added", **self._place, item=self.item.wire())
        self._sink.added(self.item)
        if self.kind == "call":
            return
        self.item.content.append(
            Part("output_audio", transcript="") if self.kind == "audio" else Part("output_text")
        )
        self._emit_part("response.content_part.added")

    def text(self, delta: str) -> None:
        """Add letters: of the transcript, the text or the arguments."""
        self._text += delta
        hidden = self._sink.obfuscation()
        if self.kind == "call":
            self.item.arguments += delta
            fields = self._inside | {"call_id": self.item.call_id, "delta": delta}
            self._sink.emit("response.function_call_arguments.delta", **fields, **hidden)
            return
        part = self.item.content[0]
        if self.kind == "audio":
            if not self.item.sealed:
                part.transcript = self._text
            name = "response.output_audio_transcript.delta"
        else:
            part.text = self._text
            name = "response.output_text.delta"
        self._sink.emit(name, **self._inside, content_index=0, delta=delta, **hidden)

    def sound(self, pcm: bytes) -> None:
        """Add audio; audio that comes after a cut is sent but not kept."""
        if not self.item.sealed:
            self.item.content[0].audio += pcm
        delta = base64.b64encode(pcm).decode()
        self._sink.emit("response.output_audio.delta", **self._inside, content_index=0, delta=delta)

    def close(self, status: Literal["completed", "incomplete"] = "completed") -> None:
        """Send the `done` events, saying only what the deltas said, and end the item."""
        self.is_open = False
        self.item.status = status
        endings: dict[str, Callable[[], None]] = {
            "audio": lambda: self._sink.emit(
                "response.output_audio.done", **self._inside, content_index=0
            ),
            "transcript": lambda: self._sink.emit(
                "response.output_audio_transcript.done",
                **self._inside,
                content_index=0,
                transcript=self._text,
            ),
            "part": lambda: self._emit_part("response.content_part.done"),
        }
        match self.kind:
            case "call":
                called = {"call_id": self.item.call_id, "name": self.item.name}
                fields = self._inside | called | {"arguments": self.item.arguments}
                self._sink.emit("response.function_call_arguments.done", **fields)
            case "text":
                self._sink.emit(
                    "response.output_text.done", **self._inside, content_index=0, text=self._text
                )
                endings["part"]()
            case "audio":
                for name in self._closing:
                    endings[name]()
        self._sink.done(self.item)
        self._sink.emit("response.output_item.done", **self._place, item=self.item.wire())

    def _emit_part(self, name: str) -> None:
        """Send an event about the part.

        A part is `audio` or `text`, not what its content is called.
        """
        spoken = {"type": "audio", "transcript": self._text}
        part = spoken if self.kind == "audio" else {"type": "text", "text": self._text}
        self._sink.emit(name, **self._inside, content_index=0, part=part)
