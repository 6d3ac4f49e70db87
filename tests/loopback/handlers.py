"""What each client event does: its shape, its effect, then its acknowledgement."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .marks import Mark, documented, recorded
from .parsing import decode
from .refusal import RefusedError
from .schema import ITEM, RESPONSE, SESSION, Check, anything, event, number, text

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]
type Act = Callable[[LoopbackSession, Json], None]

_REFERENCE = documented("client events of the published types and reference; never recorded")
_APPEND_LIMIT = 15 * 1024 * 1024
ITEM_OPERATIONS = frozenset(
    {"conversation.item.create", "conversation.item.delete", "conversation.item.truncate"}
)


@dataclass(frozen=True, slots=True)
class Handler:
    """A client event that is understood: its shape, what it does, where that is known from."""

    check: Check
    act: Act
    mark: Mark


HANDLERS: dict[str, Handler] = {}


def handles(kind: str, check: Check, mark: Mark) -> Callable[[Act], Act]:
    """Register what a client event does."""

    def register(act: Act) -> Act:
        HANDLERS[kind] = Handler(check, act, mark)
        return act

    return register


@handles(
    "session.update", event("session", session=SESSION), recorded("openai-2.1-text_tool_round")
)
def session_update(session: LoopbackSession, given: Json) -> None:
    """Change what is named, or refuse all of it."""
    busy = session.responder.active is not None
    session.config.update(given["session"], spoke=session.spoke, busy=busy)
    session.ear.reconfigure()
    session.emit("session.updated", session=session.config.wire)


@handles(
    "input_audio_buffer.append",
    event("audio", audio=text()),
    recorded("openai-audio_in_server_vad_turn"),
)
def buffer_append(session: LoopbackSession, given: Json) -> None:
    """Hear more audio; there is no acknowledgement."""
    pcm = decode(given["audio"], "audio")
    if len(pcm) > _APPEND_LIMIT:
        says = "Invalid 'audio': more than 15 MiB of audio in one event."
        raise RefusedError(code="invalid_value", says=says, param="audio")
    session.ear.append(pcm)


@handles("input_audio_buffer.commit", event(), _REFERENCE)
def buffer_commit(session: LoopbackSession, _given: Json) -> None:
    """Make an item of the buffer."""
    session.ear.commit()


@handles("input_audio_buffer.clear", event(), _REFERENCE)
def buffer_clear(session: LoopbackSession, _given: Json) -> None:
    """Forget the buffer."""
    session.ear.clear()
    session.emit("input_audio_buffer.cleared")


@handles(
    "conversation.item.create",
    event("item", item=ITEM, previous_item_id=anything),
    recorded("openai-2.1-text_tool_round: without previous_item_id or id"),
)
def item_create(session: LoopbackSession, given: Json) -> None:
    """Add an item where the client wants it."""
    previous = given.get("previous_item_id")
    item = session.conversation.create(given["item"], previous)
    session.announce_item(item, previous)


@handles("conversation.item.retrieve", event("item_id", item_id=text()), _REFERENCE)
def item_retrieve(session: LoopbackSession, given: Json) -> None:
    """Show an item, audio included."""
    item = session.conversation.retrieve(given["item_id"])
    shown = item.wire(with_audio=session.switches.retrieve_holds_audio)
    session.emit("conversation.item.retrieved", item=shown)


@handles("conversation.item.delete", event("item_id", item_id=text()), _REFERENCE)
def item_delete(session: LoopbackSession, given: Json) -> None:
    """Take an item out."""
    item = session.conversation.delete(given["item_id"])
    named = item.id if session.switches.deleted_names_item else ""
    session.emit("conversation.item.deleted", item_id=named)


@handles(
    "conversation.item.truncate",
    event(
        "item_id content_index audio_end_ms",
        item_id=text(),
        content_index=number(0, whole=True),
        audio_end_ms=number(0, whole=True),
    ),
    _REFERENCE,
)
def item_truncate(session: LoopbackSession, given: Json) -> None:
    """Cut what was said to what was heard."""
    place = {"item_id": given["item_id"], "content_index": given["content_index"]}
    session.conversation.truncate(**place, audio_end_ms=given["audio_end_ms"])
    end = {"audio_end_ms": given["audio_end_ms"]}
    session.emit("conversation.item.truncated", **place, **end)


@handles("response.create", event(response=RESPONSE), recorded("openai-2.1-text_tool_round: bare"))
def response_create(session: LoopbackSession, given: Json) -> None:
    """Begin a response."""
    session.responder.create(given.get("response", {}))


@handles("response.cancel", event(response_id=text()), _REFERENCE)
def response_cancel(session: LoopbackSession, given: Json) -> None:
    """Stop a response; it says so itself when it is done."""
    session.responder.cancel(given.get("response_id"))
