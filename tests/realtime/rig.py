"""A session against the loopback server, with a small record behind it, as a hub would have."""

import array
import asyncio
import contextvars
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp

from custom_components.realtime_assist.items import (
    FACTS,
    NOW,
    RECAP,
    Composition,
    DesiredItem,
    View,
    call_key,
    hear_key,
    meanwhile_key,
    native,
    note,
    outcome_key,
    output,
    say_key,
)
from custom_components.realtime_assist.realtime.config import SessionConfig, ToolSpec
from custom_components.realtime_assist.realtime.exchange import Exchange, ExchangeRecord
from custom_components.realtime_assist.realtime.hearing import Heard
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel
from custom_components.realtime_assist.realtime.replies import (
    Call,
    FirstAudio,
    Reply,
    ReplyCalls,
    ReplyEnd,
    ReplyText,
)
from custom_components.realtime_assist.realtime.session import RealtimeSession, SessionState
from tests.loopback import LoopbackServer

CONFIG = SessionConfig(
    model="gpt-realtime-2.1",
    instructions="You are the voice of a home.",
    tools=(ToolSpec(name="HassTurnOn", description="Turns on", parameters={"type": "object"}),),
    voice="marin",
)
CHUNK = 640
"""20 ms of PCM16 mono at 16 kHz, as a satellite sends it."""


def speech(ms: int = 600, hertz: float = 330.0) -> bytes:
    """Return something as loud as a voice near a microphone, at 16 kHz."""
    samples = (round(7000 * math.sin(2 * math.pi * hertz * n / 16_000)) for n in range(16 * ms))
    return array.array("h", samples).tobytes()


def quiet(ms: int = 600) -> bytes:
    """Return the silence of a room, at 16 kHz."""
    return bytes(32 * ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A turn that has joined the thread."""

    record: ExchangeRecord
    typed: bool = False
    heard_ms: dict[int, int] = field(default_factory=dict)
    """Of replies that were not heard to their end, by index."""
    text: str = ""
    """What is told of it outside its own session."""


@dataclass
class Record:
    """The source of a session: facts, turns and the moment, kept in memory."""

    config: SessionConfig = CONFIG
    facts: dict[str, str] = field(default_factory=dict)
    turns: list[Spoken] = field(default_factory=list)
    now: str | None = None
    visible: frozenset[str] = frozenset()
    prepared: int = 0
    prepare_seconds: float = 0.0

    async def prepare(self) -> SessionConfig:
        """Load nothing, at a chosen pace."""
        self.prepared += 1
        await asyncio.sleep(self.prepare_seconds)
        return self.config

    def fresh_view(self) -> View:
        """Begin with a recap of all turns."""
        return View(recap_upto=len(self.turns))

    def compose(self, view: View) -> Composition:
        """Tell earlier turns in the recap, this session's as they are, others as meanwhile."""
        items: list[DesiredItem] = []
        recap = [turn.text for turn in self.turns[: view.recap_upto] if turn.text]
        if recap:
            items.append(note(RECAP, "[recap] " + " | ".join(recap)))
        if self.facts:
            told = ", ".join(f"{key}={value}" for key, value in sorted(self.facts.items()))
            items.append(note(FACTS, f"[facts] {told}"))
        if self.now:
            items.append(note(NOW, f"[now] {self.now}"))
        for number, turn in enumerate(self.turns, 1):
            turn_id = turn.record.turn_id
            if turn_id in view.natives:
                items += self._own(turn)
            elif number > view.recap_upto and turn.text:
                items.append(note(meanwhile_key(turn_id), f"[meanwhile] {turn.text}"))
        return Composition(desired=tuple(items), visible=self.visible)

    def outcome(self, call: Call) -> DesiredItem:
        """Tell what became of a call."""
        return note(outcome_key(call.call_id), f"[outcome] {call.name}: {call.output}")

    def _own(self, turn: Spoken) -> Iterable[DesiredItem]:
        record = turn.record
        if turn.typed:
            yield note(hear_key(record.turn_id), record.heard_text or "")
        else:
            yield native(hear_key(record.turn_id))
        for said in record.said:
            yield native(say_key(record.turn_id, said.index), cut_ms=turn.heard_ms.get(said.index))
        for call in record.calls:
            yield native(call_key(call.call_id), pair=call.call_id)
            if call.output is not None:
                yield output(call.call_id, call.output)


@dataclass(slots=True)
class Result:
    """What came of one turn."""

    exchange: Exchange
    heard: Heard | None = None
    replies: list[Reply] = field(default_factory=list)
    audio: bytes = b""
    calls: list[Call] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All words of the answer."""
        return "".join(r.text for r in self.replies if isinstance(r, ReplyText))

    @property
    def end(self) -> ReplyEnd:
        """The end of the answer."""
        assert isinstance(self.replies[-1], ReplyEnd)
        return self.replies[-1]

    @property
    def first_audio(self) -> int:
        """How often the audio was announced."""
        return sum(isinstance(r, FirstAudio) for r in self.replies)


class Rig:
    """A session, its record and its tasks."""

    def __init__(self, http: aiohttp.ClientSession, server: LoopbackServer, **how: Any) -> None:  # noqa: ANN401 - options
        """Make a session that knows the way to the server."""
        self.server = server
        self.record: Record = how.pop("record", None) or Record()
        self.tasks: list[asyncio.Task[None]] = []
        self.number = 0
        self.offset = 0.0
        url = how.pop("base_url", server.base_url)
        key = how.pop("key", "sk-test")
        compatible = how.pop("compatible", False)
        self.model = how.pop("model", None) or OpenAIModel(
            base_url=url, api_key=key, compatible=compatible
        )
        self.session = RealtimeSession(
            http=http,
            model=self.model,
            source=self.record,
            start_task=self.start_task,
            idle_seconds=how.pop("idle_seconds", 60.0),
            time=lambda: time.time() + self.offset,
            meter=how.pop("meter", None),
        )
        assert not how

    def start_task(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task at once and in an empty context, as the hub does."""
        loop = asyncio.get_running_loop()
        task = asyncio.Task(
            work, loop=loop, name=name, context=contextvars.Context(), eager_start=True
        )
        self.tasks.append(task)
        return task

    def begin(self, *, voice: bool = True) -> Exchange:
        """Begin the next turn."""
        self.number += 1
        return self.session.begin(f"turn{self.number}", voice=voice)

    async def speak(self, exchange: Exchange, pcm: bytes | None = None) -> None:
        """Say something at the pace of a busy event loop, not of a voice."""
        pcm = speech() if pcm is None else pcm
        for start in range(0, len(pcm), CHUNK):
            exchange.append(pcm[start : start + CHUNK])
            await asyncio.sleep(0)

    async def take(
        self, exchange: Exchange, tool: Callable[[Call], str | None] = lambda _: "done"
    ) -> Result:
        """Take the answer as the stages of a pipeline do, and answer its calls."""
        result = Result(exchange)

        async def listen() -> None:
            async for pcm in exchange.speech:
                result.audio += pcm

        async def read() -> None:
            async for reply in exchange.replies():
                result.replies.append(reply)
                if isinstance(reply, ReplyCalls):
                    for call in reply.calls:
                        result.calls.append(call)
                        if (answer := tool(call)) is not None:
                            exchange.answer(call.call_id, answer)

        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            tasks.create_task(listen())
            tasks.create_task(read())
        return result

    def close(self, result: Result, **how: Any) -> None:  # noqa: ANN401 - options
        """Close a turn: it joins the thread, and its playout has settled."""
        record = result.exchange.record
        text = how.pop("text", f"{record.turn_id}: {record.heard_text} -> {result.text}")
        result.exchange.close()
        self.record.turns.append(Spoken(record=record, text=text, **how))
        self.session.settle(record.turn_id)

    async def voice_turn(self, pcm: bytes | None = None, **how: Any) -> Result:  # noqa: ANN401 - options
        """Take a whole spoken turn, and close it."""
        exchange = self.begin()
        await self.speak(exchange, pcm)
        exchange.end_of_speech(respond=True)
        heard = await exchange.heard()
        result = await self.take(exchange, **how)
        result.heard = heard
        self.close(result)
        return result

    async def voice_turn_unclosed(self) -> Result:
        """Take a whole spoken turn, and leave it open."""
        exchange = self.begin()
        await self.speak(exchange)
        exchange.end_of_speech(respond=True)
        return await self.take(exchange)

    async def text_turn(self, text: str, **how: Any) -> Result:  # noqa: ANN401 - options
        """Take a whole typed turn, and close it."""
        exchange = self.begin(voice=False)
        exchange.say(text)
        result = await self.take(exchange, **how)
        result.heard = await exchange.heard()
        self.close(result, typed=True)
        return result

    async def until(self, condition: Callable[[], bool], seconds: float = 5.0) -> None:
        """Wait for something to become true."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - the server knows of no event
                await asyncio.sleep(0.002)

    async def connected(self) -> None:
        """Wait until the session is open and idle."""
        self.session.wake()
        await self.until(lambda: self.session.state is SessionState.IDLE)


@asynccontextmanager
async def rig(server: LoopbackServer, **how: Any) -> AsyncIterator[Rig]:  # noqa: ANN401 - options
    """Give a session, and see that nothing of it is left when it is closed."""
    async with aiohttp.ClientSession() as http:
        made = Rig(http, server, **how)
        try:
            yield made
        finally:
            await made.session.close()
        left = [task.get_name() for task in made.tasks if not task.done()]
        assert not left, f"tasks that outlive their session: {left}"
        errors = [t.exception() for t in made.tasks if not t.cancelled() and t.exception()]
        assert not errors, errors


def changed(config: SessionConfig, **changes: Any) -> SessionConfig:  # noqa: ANN401 - options
    """Return the configuration with something else in it."""
    return replace(config, **changes)
