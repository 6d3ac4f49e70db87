"""One satellite, its server and its history: turn after turn, with chance."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from custom_components.realtime_assist.items import (
    FACTS,
    Composition,
    DesiredItem,
    View,
    note,
    outcome_key,
)
from custom_components.realtime_assist.memory.compose import compose, note_body
from custom_components.realtime_assist.memory.compression import checkpoint, committed
from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.transcript import (
    Called,
    Source,
    Thread,
    ThreadKey,
    TurnRecord,
)
from custom_components.realtime_assist.pipeline.record import said_items
from custom_components.realtime_assist.realtime.config import SessionConfig
from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.hearing import How
from custom_components.realtime_assist.realtime.refresh import Refreshed
from custom_components.realtime_assist.realtime.replies import Call
from tests.loopback import Drop, Error, Fault, LoopbackServer, RealClock
from tests.loopback.faults import Action
from tests.realtime.rig import CHUNK, CONFIG, Result, Rig, rig

from .mind import TOOL, Mind
from .voice import sound

RESUME_TOKENS: Final = 600
TURN_SECONDS: Final = 45.0
_DROPS: Final = (
    "client:session.update",
    "client:conversation.item.create",
    "client:input_audio_buffer.append",
    "client:input_audio_buffer.commit",
    "client:response.create",
    "session.updated",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "response.created",
    "response.output_audio.delta",
    "response.done",
)
_CREATE: Final = "client:conversation.item.create"
_REFUSED: Final = {
    _CREATE: "invalid_value",
    "client:conversation.item.delete": "invalid_value",
    "client:conversation.item.truncate": "invalid_value",
    "client:response.create": "server_error",
    "client:input_audio_buffer.commit": "invalid_value",
}


class Clock(RealClock):
    """Silent speed, and days that go by at once."""

    def __init__(self) -> None:
        """Begin now."""
        super().__init__(0)
        self.offset = 0.0

    def wall(self) -> float:
        """Return the Unix time."""
        return super().wall() + self.offset


class Past:
    """The record behind a session, made of the real parts: thread, facts, summaries."""

    def __init__(self) -> None:
        """Remember nothing."""
        self.at = datetime(2026, 1, 1, tzinfo=UTC)
        self.thread = Thread(key=ThreadKey("soak", GLOBAL))
        self.facts: Final = ContextStore(lambda: self.at)
        self.now: str | None = None
        self._told = self.thread

    async def prepare(self) -> SessionConfig:
        """Have everything at hand."""
        return CONFIG

    def fresh_view(self) -> View:
        """Begin with a recap of all there is."""
        self._told = self.thread
        return View(recap_upto=self.thread.next_number - 1)

    def compose(self, view: View) -> Composition:
        """Return what should be held."""
        return compose(
            thread=self.thread,
            entries=self.facts.visible((GLOBAL,)),
            now=self.now,
            visible=(GLOBAL,),
            view=view,
            resume_tokens=RESUME_TOKENS,
            base=self._told,
        )

    def outcome(self, call: Call) -> DesiredItem:
        """Tell what became of a call."""
        body = note_body("outcome", f"{call.name} {call.arguments}: {call.output}")
        return note(outcome_key(call.call_id), body)

    def join(self, record: TurnRecord) -> None:
        """Let a turn join, and summarise what has no room any more."""
        self.thread = self.thread.joined(record)
        made = checkpoint(self.thread, RESUME_TOKENS, self.at)
        if made is not None:
            # What is summarised away leaves for the archive, which is not part of this.
            self.thread = replace(committed(self.thread, made), leaving=())


class Lane:
    """Takes turns, and writes down whatever is not as it should be."""

    def __init__(self, house: Rig, server: LoopbackServer, clock: Clock, seed: int) -> None:
        """Live in a house that was set up."""
        self.problems: Final[list[str]] = []
        self.outcomes: Final[Counter[str]] = Counter()
        self.house: Final = house
        self.past: Final = Past()
        self._server: Final = server
        self._clock: Final = clock
        self._chance: Final = random.Random(seed)  # noqa: S311 - repeatable
        self._ran: Counter[int] = Counter()
        self._number = 0
        self._secrets = 0
        self._updates: set[asyncio.Task[Refreshed]] = set()
        self.mind: Final = Mind(self._chance, self.problem)
        self._learn()

    def problem(self, what: str) -> None:
        """Write down what is wrong."""
        self.problems.append(f"turn {self._number}: {what}")

    async def turn(self) -> None:
        """Take one turn, whatever happens in it."""
        self._number += 1
        self._pass_time()
        self._go_wrong()
        voice = self._chance.random() < 0.9
        exchange = self.house.session.begin(f"t{self._number}", voice=voice)
        if voice:
            await self._speak(exchange)
        if self._chance.random() < 0.15:
            self._change()
        self.past.now = f"Turn {self._number}."
        # A note that is refused is sent again, but no answer waits for it.
        refused = any(fault.on == _CREATE for fault in self._server.faults.faults)
        self.mind.known.counter = 0 if refused else self._counter
        if voice:
            exchange.end_of_speech(respond=True)
        else:
            exchange.say(f"typed #{self._number}")
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._answer(exchange, voice=voice)
        except TimeoutError:
            self.problem(f"hangs in {exchange.stage}, the session is {self.house.session.state}")
            exchange.close()
        self._tidy()

    async def settled(self) -> None:
        """Wait for the updates that were asked for."""
        for done in await asyncio.gather(*self._updates):
            self.outcomes[f"update {done.state}"] += 1
        self._updates.clear()

    # Inside

    @property
    def _counter(self) -> int:
        held = self.past.facts.get((GLOBAL,), "counter")
        assert held is not None
        return int(held.value)

    def _learn(self) -> None:
        self.past.facts.set(GLOBAL, "counter", str(self._number))
        self._secrets += 1
        self.past.facts.set(GLOBAL, "code", f"secret{self._secrets}x")

    def _pass_time(self) -> None:
        """Let some minutes go by; at times hours."""
        seconds = self._chance.choice((20.0, 60.0, 120.0, 120.0, 400.0))
        self._clock.offset += seconds
        self.house.offset += seconds
        self.past.at += timedelta(seconds=seconds)

    async def _speak(self, exchange: Exchange) -> None:
        pcm = sound(self._number, 16_000)
        for start in range(0, len(pcm), CHUNK):
            exchange.append(pcm[start : start + CHUNK])
            if start % (4 * CHUNK) == 0:
                await asyncio.sleep(0)

    def _go_wrong(self) -> None:
        """Plan what goes wrong in this turn, mostly nothing."""
        self._server.faults.clear()
        self.mind.deaf = self._chance.random() < 0.05
        dice = self._chance.random()
        action: Action
        if dice < 0.12:
            event, action = (
                self._chance.choice(_DROPS),
                Drop(self._chance.choice((1006, 1001, 1011))),
            )
        elif dice < 0.22:
            event, code = self._chance.choice(list(_REFUSED.items()))
            action = Error(code, instead=True, names_event=self._chance.random() < 0.8)
        else:
            if dice < 0.25 and self._server.open_sessions:
                form: Literal["error", "close"] = self._chance.choice(("error", "close"))
                later = self._chance.choice((0.0, 0.01, 0.05))
                session = self._server.session
                asyncio.get_running_loop().call_later(
                    later, lambda: None if session.closed else session.expire(form)
                )
            return
        self._server.faults.add(Fault(event, action, nth=self._chance.randrange(1, 4)))

    def _change(self) -> None:
        """Change what is remembered, and at times wait for all sessions to know."""
        if self._chance.random() < 0.3:
            self.past.facts.forget(GLOBAL, ["code"])
            self.mind.known.forgotten.append(f"secret{self._secrets}x")
            self.house.session.revoke([FACTS])
        self._learn()
        full = self._chance.random() < 0.1
        wish = self.house.session.refresh(full=full, seconds=10)
        self._updates.add(asyncio.create_task(wish))

    async def _answer(self, exchange: Exchange, *, voice: bool) -> None:
        """Take the answer, or interrupt it, and close the turn."""

        def tool(_call: Call) -> str:
            self._ran[self._number] += 1
            return "done"

        stop = voice and self._chance.random() < 0.12
        barge = asyncio.create_task(self._interrupt(exchange)) if stop else None
        result = await self.house.take(exchange, tool)
        if barge is not None:
            barge.cancel()
        heard = await exchange.heard()
        if self._ran[self._number] > 1:
            self.problem("a tool ran twice")
        if heard.how is How.NO_SPEECH:
            self.problem("nobody was heard")
        heard_ms = self._interrupted_at if exchange.answers.interrupted else None
        self._close(result, heard_ms, voice=voice)

    async def _interrupt(self, exchange: Exchange) -> None:
        while exchange.speech.received_ms < 1:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)
        self._interrupted_at = self._chance.randrange(1200)
        exchange.interrupt(self._interrupted_at)

    def _close(self, result: Result, heard_ms: int | None, *, voice: bool) -> None:
        """Let the turn join the history, and compare it with what was said and heard."""
        exchange, number = result.exchange, self._number
        wire = exchange.record
        said = tuple(said_items(wire.said, heard_ms))
        record = TurnRecord(
            id=f"t{number}",
            at=self.past.at,
            source=Source.VOICE if voice else Source.TEXT,
            heard_text=wire.heard_text,
            said=said,
            calls=tuple(
                Called(call_id=c.call_id, name=c.name, arguments=c.arguments, output=c.output)
                for c in wire.calls
            ),
            interrupted=wire.interrupted or wire.failure is not None,
        )
        self._compare(result, record)
        exchange.close()
        self.past.join(record)
        self.house.session.settle(record.id)
        for item in said:
            if (found := re.search(r"the (\d+)th", item.text)) and item.heard_ms is not None:
                self.mind.known.heard_ms[int(found[1])] = item.heard_ms

    def _compare(self, result: Result, record: TurnRecord) -> None:
        number, failure = self._number, result.exchange.record.failure
        words = "question" if record.source is Source.VOICE else "typed"
        if not f"{words} #{number}".startswith(record.heard_text or ""):
            self.problem(f"heard as {record.heard_text!r}")
        answers = self.mind.said.get(number, [])
        if any(not any(text.startswith(said.text) for text in answers) for said in record.said):
            self.problem("the history has words that were not said")
        if record.interrupted and failure is None:
            self.outcomes["interrupted"] += 1
        elif failure is not None:
            self.outcomes[f"apologised {failure.code}"] += 1
        elif result.end.incomplete or result.text not in answers:
            self.problem(f"answered {result.text!r} instead of {answers}")
        else:
            self.outcomes["answered"] += 1
            ms = self.mind.lengths[result.text]
            if record.source is Source.VOICE and abs(len(result.audio) / 48 - ms) > 1:
                self.problem(f"{len(result.audio) / 48} ms were heard of {ms}")
        if failure is None and not record.interrupted and number % 6 == 0:
            calls = [call.name for call in record.calls]
            if calls != [TOOL] or not record.answered:
                self.problem(f"calls {calls}")

    def _tidy(self) -> None:
        """Let go of what only the test would keep."""
        del self._server.sessions[:-1]
        for session in self._server.sessions:
            session.received.clear()
            session.sent.clear()
        self.house.tasks[:] = [task for task in self.house.tasks if not task.done()]
        self.mind.said.pop(self._number - 50, None)
        for text in list(self.mind.lengths)[:-100]:
            del self.mind.lengths[text]
        for old in list(self.mind.known.heard_ms)[:-200]:
            del self.mind.known.heard_ms[old]
        self._ran.pop(self._number - 1, None)
        updates = {task for task in self._updates if task.done()}
        for task in updates:
            self.outcomes[f"update {task.result().state}"] += 1
        self._updates -= updates


@asynccontextmanager
async def lane(seed: int) -> AsyncGenerator[Lane]:
    """Give a satellite with a server of its own."""
    clock = Clock()
    async with LoopbackServer(clock=clock, keep_audio=False, seed=seed) as server:
        past: Any = None
        async with rig(server) as house:
            made = Lane(house, server, clock, seed)
            server.brain = made.mind
            past = made.past
            house.session._source = house.session._keeper._source = past
            yield made
            await made.settled()
