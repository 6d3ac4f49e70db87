"""One connection: a first-in-first-out queue of client events, and one of server events.

Client events are handled one after the other; each has its effect before its acknowledgement is sent, and
both before the next event is looked at. Server events leave in the order in which they were said, past the
faults that a test planned and through the personality's dialect.
"""

import asyncio
import json
import random
import string
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import WSMsgType, web

from . import faults as f
from .config import SessionConfig
from .conversation import Conversation, Item
from .events import EVENTS
from .handlers import HANDLERS, ITEM_OPERATIONS
from .listening import Ear
from .models import Model
from .refusal import RefusedError
from .respond import Responder
from .setting import Setting
from .signals import Signal

type Json = dict[str, Any]

_LETTERS = string.ascii_letters + string.digits
_ID_LETTERS = {"call": 16}
_RESUME: Json = {"type": "loopback.resume"}


class Transport(Protocol):
    """What can be cut without a goodbye."""

    def abort(self) -> None:
        """Close at once."""


@dataclass(frozen=True, slots=True)
class _Close:
    """Stands in the queue of server events for the end of the connection."""

    code: int
    reason: str


class LoopbackSession:
    """A session as a test sees it: what came, what went, what it holds, and levers to pull."""

    def __init__(self, setting: Setting, index: int, model: Model) -> None:
        """Prepare session number `index` of a server."""
        self.index = index
        self.model = model
        self.setting = setting
        self.brain = setting.brain
        self.clock = setting.clock
        self.switches = setting.switches
        self.personality = setting.personality
        self.dice = random.Random(setting.seed * 1_000_003 + index)  # noqa: S311 - repeatable
        self.received: list[Json] = []
        self.sent: list[Json] = []
        self.closed = False
        self.close_code: int | None = None
        self.spoke = False
        self.failures: list[BaseException] = []
        self.progress = Signal()
        self.conversation_id = self.new_id("conv")
        self.expires_at = setting.clock.wall() + setting.lifetime
        self.config = SessionConfig(model, self.new_id("sess"), int(self.expires_at))
        self.conversation = Conversation(self.switches, self.new_id)
        self.responder = Responder(self)
        self.ear = Ear(self)
        self._inbox: asyncio.Queue[Json] = asyncio.Queue()
        self._outbox: asyncio.Queue[tuple[str, Json] | _Close] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._deferred: list[Json] = []
        self._afterwards: list[Callable[[], None]] = []
        self._held_out = _Holding()
        self._held_in = _Holding()
        self._ended = asyncio.Event()
        self._socket: web.WebSocketResponse | None = None
        self._transport: Transport | None = None

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
    def context_limit(self) -> int:
        """The input tokens that fit before the oldest items go."""
        return self.setting.context_tokens or self.model.context - self.model.output

    def texts(self) -> list[str]:
        """Return every text held now, outputs of tools included, in order."""
        return [text for item in self.items if (text := item.text or item.output)]

    def count(self, kind: str) -> int:
        """Return how many client events of that type came."""
        return sum(event.get("type") == kind for event in self.received)

    def received_of(self, kind: str) -> list[Json]:
        """Return the client events of that type."""
        return [event for event in self.received if event.get("type") == kind]

    def sent_of(self, kind: str) -> list[Json]:
        """Return the server events of that type, as they went out."""
        return [event for event in self.sent if event.get("type") == kind]

    # Levers

    def push(self, kind: str, **fields: object) -> None:
        """Send an event out of the blue; it need not be one that exists."""
        self._outbox.put_nowait((kind, {"type": kind, "event_id": self.new_id("event"), **fields}))

    def close(self, code: int = 1000, reason: str = "") -> None:
        """End the connection after what was said so far; 1006 cuts it without a goodbye."""
        self._outbox.put_nowait(_Close(code, reason))

    def expire(self, form: str | None = None) -> None:
        """Reach the session limit now: `error` and close, or a bare `close` with 1001."""
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
        if not self.switches.extra_fields:
            return {}
        return {"obfuscation": "".join(self.dice.choices(_LETTERS, k=self.dice.randint(4, 16)))}

    def emit(self, kind: str, **fields: object) -> None:
        """Say an event, which must be a known one, in this personality's dialect."""
        assert kind in EVENTS, kind  # noqa: S101 - every event carries a mark
        event: Json = {"type": kind, "event_id": self.new_id("event"), **fields}
        for shaped in self.personality.shape(event):
            self._outbox.put_nowait((kind, shaped))

    def refuse(self, refused: RefusedError, event: Json | None) -> None:
        """Send an `error` event, which names the client event if this server does so."""
        names = self.switches.error_names_event and event is not None
        event_id = event.get("event_id") if names and event is not None else None
        error = refused.wire(event_id if isinstance(event_id, str) else None)
        if self.switches.error_shape == "type_only":
            error |= {"type": refused.code or refused.kind, "code": None}
        self.emit("error", error=error)

    def announce_item(self, item: Item, asked: str | None) -> None:
        """Acknowledge an item that was put into the conversation; `asked`: after which, if anyone did."""
        previous = self.conversation.before(item)
        if self.switches.previous_item_id == "echoed" and asked is not None:
            previous = asked
        form = self.switches.item_events
        first = (
            "conversation.item.created" if form.startswith("created") else "conversation.item.added"
        )
        self.emit(first, previous_item_id=previous, item=item.wire())
        if form.endswith("done"):
            self.emit("conversation.item.done", previous_item_id=previous, item=item.wire())

    def announce_reply(self, item: Item, stage: str) -> None:
        """Announce an item of a response, when it opens (`added`) and when it is done."""
        if not self.switches.announce_replies:
            return
        previous = self.conversation.before(item)
        if stage == "added":
            created = self.switches.item_events.startswith("created")
            kind = "conversation.item.created" if created else "conversation.item.added"
            self.emit(kind, previous_item_id=previous, item=item.wire())
        elif self.switches.item_events == "added_done":
            erratic = self.switches.done_previous == "sometimes_null"
            named = None if erratic and self.dice.random() < 0.6 else previous
            self.emit("conversation.item.done", previous_item_id=named, item=item.wire())

    def response_ended(self) -> None:
        """Let go on what waited for the end of a response."""
        chance = {"after_done": 1.0, "never": 0.0, "sometimes": 0.4}[self.switches.rate_limits]
        if self.dice.random() < chance:
            limit = {"name": "tokens", "limit": 15_000_000, "remaining": 14_998_954}
            self.emit("rate_limits.updated", rate_limits=[limit | {"reset_seconds": 0.004}])
        self.progress.fire()
        waiting, self._afterwards = self._afterwards, []
        for act in waiting:
            act()
        self._inbox.put_nowait(_RESUME)
        self.ear.response_ended()

    def after_response(self, act: Callable[[], None]) -> None:
        """Do something once the active response has ended."""
        self._afterwards.append(act)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside; it ends with the session, and what it raises is kept in `failures`."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        """Keep what a task raised: a broken script must break its test."""
        self._tasks.discard(task)
        if not task.cancelled() and (raised := task.exception()) is not None:
            self.failures.append(raised)

    # The connection

    async def run(self, socket: web.WebSocketResponse, transport: Transport | None) -> None:
        """Serve a connection until it ends."""
        self._socket, self._transport = socket, transport
        self.emit("session.created", session=self.config.wire)
        if self.switches.conversation_created:
            created = {"id": self.conversation_id, "object": "realtime.conversation"}
            self.emit("conversation.created", conversation=created)
        if self.switches.pings:
            self.emit("ping", timestamp=int(self.clock.wall() * 1000))
        self.spawn(self._work())
        self.spawn(self._write())
        self.spawn(self._live())
        reader = asyncio.ensure_future(self._read())
        try:
            ended = asyncio.ensure_future(self._ended.wait())
            await asyncio.wait({reader, ended}, return_when=asyncio.FIRST_COMPLETED)
            ended.cancel()
        finally:
            reader.cancel()
            await self._finish(reader)

    async def _finish(self, reader: asyncio.Future[None]) -> None:
        """End everything that runs for this session."""
        self.closed = True
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(reader, *tasks, return_exceptions=True)
        if self.close_code is None and self._socket is not None:
            self.close_code = self._socket.close_code
        self.setting.changed()

    async def _read(self) -> None:
        """Put what comes into the queue."""
        assert self._socket is not None  # noqa: S101 - set by run
        async for message in self._socket:
            if message.type is WSMsgType.TEXT:
                self._arrived(message.data)
            elif message.type is WSMsgType.BINARY:
                self._arrived("")

    def _arrived(self, frame: str) -> None:
        """Take one frame; what is no JSON object is refused."""
        try:
            event = json.loads(frame)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            event = {"type": "", "loopback.garbage": True}
        self._note("received", self.received, event)
        self._inbox.put_nowait(event)

    def _note(self, direction: str, log: list[Json], event: Json) -> None:
        """Write down an event and tell whoever waits for one."""
        log.append(event)
        if self.setting.witness is not None:
            self.setting.witness(direction, self.index, event)
        self.setting.changed()

    async def _live(self) -> None:
        """End the session at its limit."""
        await self.clock.sleep(self.setting.lifetime)
        self.expire()

    # Client events, one after the other

    async def _work(self) -> None:
        """Handle client events in their order."""
        while True:
            event = await self._inbox.get()
            if event is _RESUME:
                deferred, self._deferred = self._deferred, []
                for waiting in deferred:
                    self._handle(waiting)
                continue
            kind = str(event.get("type"))
            if kind != "input_audio_buffer.append":
                await self.clock.sleep(self.dice.uniform(*self.switches.handling))
            await self._strike_in(kind, event)

    async def _strike_in(self, kind: str, event: Json) -> None:
        """Handle one event the way the planned faults want it."""
        times = 1
        for action in self.setting.faults.striking((f"client:{kind}",), event, self.index):
            match action:
                case f.Drop(code, reason):
                    self.close(code, reason)
                    times = 0
                case f.Delay(seconds):
                    await self.clock.sleep(seconds)
                case f.Error():
                    self.refuse(_planned(action), event)
                    times = 0
                case f.Reorder():
                    self._held_in.hold(kind, event, action)
                    times = 0
                case f.Duplicate(more):
                    times += more
                case f.Swallow():
                    times = 0
                case f.Hang():
                    await self._ended.wait()
                case f.Change():
                    event = action.apply(event)  # noqa: PLW2901 - the event changes on its way
                case f.Insert(other, where):
                    if where == "before":
                        self._handle(other)
                    else:
                        self._held_in.hold(kind, other, f.Reorder(by=0))
                case f.Garbage(data):
                    await self._send_raw(data)
        for _ in range(times):
            self._handle(event)
        if times:
            for _, released in self._held_in.passed(kind):
                self._handle(released)

    def _handle(self, event: Json) -> None:
        """Let one event have its effect and its acknowledgement, or refuse it."""
        kind = str(event.get("type"))
        defers = self.switches.acks == "after_response" and kind in ITEM_OPERATIONS
        if defers and self.responder.active is not None:
            self._deferred.append(event)
            return
        try:
            if event.get("loopback.garbage"):
                says = "The server could not parse the client event as a JSON object."
                raise RefusedError(code="invalid_json", says=says)
            if (unsupported := self.personality.unsupported.get(kind)) is not None:
                if unsupported == "silent":
                    return
                says = f"Unknown or invalid event: '{kind}'."
                raise RefusedError(code=unsupported, says=says, param="type")
            if "type" not in event:
                raise RefusedError.missing("type")
            if (handler := HANDLERS.get(kind)) is None:
                names = ", ".join(f"'{name}'" for name in HANDLERS)
                raise RefusedError.value("type", kind, f"Supported values are: {names}.")
            adapted = self.personality.adapt(event)
            handler.check(adapted, "", self.switches.unknown_fields == "refused")
            handler.act(self, adapted)
        except RefusedError as refused:
            self.refuse(refused, event)

    # Server events, one after the other

    async def _write(self) -> None:
        """Send server events in their order."""
        while True:
            said = await self._outbox.get()
            if isinstance(said, _Close):
                await self._hang_up(said)
                return
            await self._strike_out(*said)

    async def _strike_out(self, kind: str, event: Json) -> None:
        """Send one event the way the planned faults want it."""
        names = (kind, str(event.get("type")))
        times, later = 1, []
        for action in self.setting.faults.striking(names, event, self.index):
            match action:
                case f.Drop(code, reason):
                    await self._hang_up(_Close(code, reason))
                    await self._ended.wait()
                case f.Delay(seconds, overtake):
                    if overtake:
                        self.spawn(self._send_later(seconds, kind, event))
                        return
                    await self.clock.sleep(seconds)
                case f.Error():
                    error = {"type": "error", "event_id": self.new_id("event")}
                    await self._send(error | {"error": _planned(action).wire(None)})
                    times = 0 if action.instead else times
                case f.Reorder():
                    self._held_out.hold(kind, event, action)
                    times = 0
                case f.Duplicate(more):
                    times += more
                case f.Swallow():
                    times = 0
                case f.Hang():
                    await self._ended.wait()
                case f.Change():
                    event = action.apply(event)  # noqa: PLW2901 - the event changes on its way
                case f.Garbage(data, instead):
                    await self._send_raw(data)
                    times = 0 if instead else times
                case f.Insert(other, where):
                    if where == "before":
                        await self._send(other)
                    else:
                        later.append(other)
        for _ in range(times):
            await self._send(event)
        for other in later:
            await self._send(other)
        if times:
            for _, released in self._held_out.passed(kind):
                await self._send(released)

    async def _send_later(self, seconds: float, kind: str, event: Json) -> None:
        """Send an event after a while, past the faults."""
        del kind
        await self.clock.sleep(seconds)
        await self._send(event)

    async def _send(self, event: Json) -> None:
        """Write one event to the wire."""
        await self._send_raw(json.dumps(event))
        self._note("sent", self.sent, event)

    async def _send_raw(self, data: bytes | str) -> None:
        """Write one frame; a client that is gone ends the session."""
        assert self._socket is not None  # noqa: S101 - set by run
        try:
            if isinstance(data, str):
                await self._socket.send_str(data)
            else:
                await self._socket.send_bytes(data)
        except ConnectionError:
            self._ended.set()
            await asyncio.Event().wait()

    async def _hang_up(self, end: _Close) -> None:
        """End the connection, with or without a goodbye."""
        assert self._socket is not None  # noqa: S101 - set by run
        self.close_code = end.code
        if end.code == 1006:
            if self._transport is not None:
                self._transport.abort()
        else:
            await self._socket.close(code=end.code, message=end.reason.encode())
        self._ended.set()


class _Holding:
    """Events that were put back until others have gone by."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._held: list[tuple[str, Json, int, str | None]] = []

    def hold(self, kind: str, event: Json, how: f.Reorder) -> None:
        """Keep an event until `how.by` others, or one of type `how.after`, have passed."""
        self._held.append((kind, event, how.by, how.after))

    def passed(self, kind: str) -> list[tuple[str, Json]]:
        """Count an event that passed; return what may go now."""
        released, kept = [], []
        for held, event, left, after in self._held:
            due = kind == after if after is not None else left <= 1
            if due:
                released.append((held, event))
            else:
                kept.append((held, event, left - 1, after))
        self._held = kept
        return released


def _planned(error: f.Error) -> RefusedError:
    """Return the refusal that a planned error stands for."""
    return RefusedError(
        code=error.code,
        says=error.message,
        param=error.param,
        kind=error.type,
        names_event=error.names_event,
    )
