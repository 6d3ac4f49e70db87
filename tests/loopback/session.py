"""One session of the server: what it holds, what it was asked, what it said, and levers to pull."""

import asyncio
import random
import string
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from aiohttp import web

from .config import SessionConfig
from .connection import GARBAGE, Connection, Transport
from .conversation import Conversation
from .events import EVENTS
from .handlers import HANDLERS, ITEM_OPERATIONS
from .items import Item
from .listening import Ear
from .models import Model
from .refusal import RefusedError
from .responder import Responder
from .setting import Setting
from .signals import Signal

type Json = dict[str, Any]

_LETTERS = string.ascii_letters + string.digits
_ID_LETTERS = {"call": 16}
_DONE_WITHOUT_PREVIOUS = 0.6
_RATE_LIMITS = {"after_done": 1.0, "never": 0.0, "sometimes": 0.4}


class LoopbackSession:
    """A session as a test sees it."""

    def __init__(self, setting: Setting, index: int, model: Model) -> None:
        """Prepare session number `index` of a server."""
        self.index = index
        self.model = model
        self.setting = setting
        self.brain = setting.brain
        self.clock = setting.clock
        self.switches = setting.switches
        self.window = setting.context_tokens or model.context - model.output
        """Input tokens that fit before the oldest items go; a test may shrink it at any time."""
        self.dice = random.Random(setting.seed * 1_000_003 + index)  # noqa: S311 - repeatable
        self.received: list[Json] = []
        self.sent: list[Json] = []
        self.closed = False
        self.spoke = False
        self.failures: list[BaseException] = []
        self.progress = Signal()
        self.conversation_id = self.new_id("conv")
        expires_at = int(setting.clock.wall() + setting.lifetime)
        self.config = SessionConfig(model, self.new_id("sess"), expires_at)
        self.conversation = Conversation(self.switches, self.new_id)
        self.responder = Responder(self)
        self.ear = Ear(self)
        self._connection = Connection(self, self._handle)
        self._tasks: set[asyncio.Task[None]] = set()
        self._deferred: list[Json] = []
        self._afterwards: list[Callable[[], None]] = []

    # What tests look at

    @property
    def items(self) -> list[Item]:
        """The items held now, in order; some of them a model may no longer see."""
        return self.conversation.items

    @property
    def seen(self) -> list[Item]:
        """The items that a model would see now."""
        return self.conversation.seen()

    @property
    def close_code(self) -> int | None:
        """The code with which the connection ended, or None."""
        return self._connection.close_code

    def texts(self) -> list[str]:
        """Return every text held now, outputs of tools included, in order."""
        return [text for item in self.items if (text := item.text or item.output)]

    def count(self, kind: str) -> int:
        """Return how many client events of that type came."""
        return len(self.received_of(kind))

    def received_of(self, kind: str) -> list[Json]:
        """Return the client events of that type."""
        return [event for event in self.received if event.get("type") == kind]

    def sent_of(self, kind: str) -> list[Json]:
        """Return the server events of that type, as they went out."""
        return [event for event in self.sent if event.get("type") == kind]

    # Levers

    def push(self, kind: str, **fields: object) -> None:
        """Send an event out of the blue; it need not be one that exists."""
        event = {"type": kind, "event_id": self.new_id("event"), **fields}
        self._connection.say(kind, event)

    def close(self, code: int = 1000, reason: str = "") -> None:
        """End the connection after what was said so far; 1006 cuts it without a goodbye."""
        self._connection.close(code, reason)

    def expire(self, form: Literal["error", "close"] | None = None) -> None:
        """Reach the session limit now: `error` and then close, or a bare `close` with 1001."""
        minutes = round(self.setting.lifetime / 60)
        says = f"Your session hit the maximum duration of {minutes} minutes."
        if (form or self.switches.expiry) == "error":
            self.refuse(RefusedError(code="session_expired", says=says), None)
        self.close(1001, says)

    # What its parts use

    def new_id(self, prefix: str) -> str:
        """Return a new id of the recorded form; the same seed makes the same ids."""
        letters = self.dice.choices(_LETTERS, k=_ID_LETTERS.get(prefix, 21))
        return f"{prefix}_{''.join(letters)}"

    def obfuscation(self) -> Json:
        """Return the undeclared padding of text-like deltas, if extra fields are on."""
        if self.switches.extra_fields == "none":
            return {}
        return {"obfuscation": "".join(self.dice.choices(_LETTERS, k=self.dice.randint(4, 16)))}

    def handling_time(self) -> float:
        """Return how many seconds the next client event takes until it is looked at."""
        return self.dice.uniform(*self.switches.handling)

    def emit(self, kind: str, **fields: object) -> None:
        """Say an event, which must be a known one, in this personality's dialect."""
        assert kind in EVENTS, kind
        event: Json = {"type": kind, "event_id": self.new_id("event"), **fields}
        if self.switches.extra_fields == "everywhere":
            event["x_served_by"] = {"node": self.index, "since": None}
        for shaped in self.setting.personality.shape(event):
            self._connection.say(kind, shaped)

    def refuse(self, refused: RefusedError, event: Json | None) -> None:
        """Send an `error` event, which names the client event if this server does so."""
        event_id = None if event is None else event.get("event_id")
        names = self.switches.error_names_event and isinstance(event_id, str)
        error = refused.wire(event_id if names else None)
        if self.switches.error_shape == "type_only":
            error |= {"type": refused.code or refused.kind, "code": None}
        self.emit("error", error=error)

    def announce_item(self, item: Item, asked: str | None) -> None:
        """Acknowledge an item that was put into the conversation, `asked` for after that one."""
        previous = self.conversation.before(item)
        if self.switches.previous_item_id == "echoed" and asked is not None:
            previous = asked
        self.emit(self._added, previous_item_id=previous, item=item.wire())
        if self.switches.item_events.endswith("done"):
            self.emit("conversation.item.done", previous_item_id=previous, item=item.wire())

    def announce_reply(self, item: Item, stage: Literal["added", "done"]) -> None:
        """Announce an item of a response, when it opens and when it is done."""
        if not self.switches.announce_replies:
            return
        previous = self.conversation.before(item)
        if stage == "added":
            self.emit(self._added, previous_item_id=previous, item=item.wire())
        elif self.switches.item_events == "added_done":
            erratic = self.switches.done_previous == "sometimes_null"
            named = None if erratic and self.dice.random() < _DONE_WITHOUT_PREVIOUS else previous
            self.emit("conversation.item.done", previous_item_id=named, item=item.wire())

    @property
    def _added(self) -> str:
        """The event by which this server announces an item."""
        created = self.switches.item_events.startswith("created")
        return "conversation.item.created" if created else "conversation.item.added"

    def response_ended(self) -> None:
        """Let go on what waited for the end of the response in the conversation."""
        if self.dice.random() < _RATE_LIMITS[self.switches.rate_limits]:
            limit = {"name": "tokens", "limit": 15_000_000, "remaining": 14_998_954}
            self.emit("rate_limits.updated", rate_limits=[limit | {"reset_seconds": 0.004}])
        if self.switches.extra_events:
            self.emit("session.weather_changed", weather={"sky": "clear"})
        self.progress.fire()
        waiting, self._afterwards = self._afterwards, []
        for act in waiting:
            act()
        self._connection.later(self._catch_up)
        self.ear.response_ended()

    def after_response(self, act: Callable[[], None]) -> None:
        """Do something once the active response has ended."""
        self._afterwards.append(act)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside until the session ends; what it raises is kept in `failures`."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def note(self, direction: Literal["received", "sent"], event: Json) -> None:
        """Write down an event and tell whoever waits for one."""
        kept = event if self.setting.keep_audio else _without_audio(event)
        (self.received if direction == "received" else self.sent).append(kept)
        if self.setting.witness is not None:
            self.setting.witness(direction, self.index, event)
        self.setting.changed()

    # Its life

    async def run(self, socket: web.WebSocketResponse, transport: Transport | None) -> None:
        """Serve a connection until it ends."""
        self.emit("session.created", session=self.config.wire)
        if self.switches.conversation_created:
            created = {"id": self.conversation_id, "object": "realtime.conversation"}
            self.emit("conversation.created", conversation=created)
        if self.switches.pings:
            self.emit("ping", timestamp=int(self.clock.wall() * 1000))
        self.spawn(self._live())
        try:
            await self._connection.run(socket, transport)
        finally:
            self.closed = True
            tasks = [*self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.setting.changed()

    async def _live(self) -> None:
        """End the session at its limit."""
        await self.clock.lapse(self.setting.lifetime)
        self.expire()

    def _finished(self, task: asyncio.Task[None]) -> None:
        """Keep what a task raised: a broken script must break its test."""
        self._tasks.discard(task)
        if not task.cancelled() and (raised := task.exception()) is not None:
            self.failures.append(raised)
            self.setting.changed()

    def _handle(self, event: Json) -> None:
        """Let one client event have its effect and its acknowledgement, or refuse it."""
        defers = self.switches.acks == "after_response" and event.get("type") in ITEM_OPERATIONS
        if defers and self.responder.active is not None:
            self._deferred.append(event)
            return
        try:
            self._obey(event)
        except RefusedError as refused:
            self.refuse(refused, event)

    def _obey(self, event: Json) -> None:
        """Do what a client event asks for. Raises RefusedError."""
        if GARBAGE in event:
            says = "The server could not parse the client event as a JSON object."
            raise RefusedError(code="invalid_json", says=says)
        if "type" not in event:
            raise RefusedError.missing("type")
        kind = str(event["type"])
        gap = self.setting.personality.unsupported.get(kind)
        if gap == "silent":
            return
        if gap is not None:
            says = f"Unknown or invalid event: '{kind}'."
            raise RefusedError(code=gap, says=says, param="type")
        handler = HANDLERS.get(kind)
        if handler is None:
            names = ", ".join(f"'{name}'" for name in HANDLERS)
            raise RefusedError.value("type", kind, f"Supported values are: {names}.")
        adapted = self.setting.personality.adapt(event)
        handler.check(adapted, "", self.switches.unknown_fields == "refused")
        handler.act(self, adapted)

    def _catch_up(self) -> None:
        """Handle what was put off until the response had ended."""
        deferred, self._deferred = self._deferred, []
        for event in deferred:
            self._handle(event)


def _without_audio(event: Json) -> Json:
    """Return an event with the length of its audio in place of the audio."""
    name = {"input_audio_buffer.append": "audio", "response.output_audio.delta": "delta"}.get(
        str(event.get("type"))
    )
    return event | {name: f"{len(event[name])} letters"} if name and name in event else event
