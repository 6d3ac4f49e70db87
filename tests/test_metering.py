"""A session is measured against all its limits, and nothing holds it up when it is full."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from custom_components.realtime_assist.items import Form
from custom_components.realtime_assist.memory.pressure import Limit
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.spending import Kind, Use
from custom_components.realtime_assist.memory.transcript import ThreadKey
from custom_components.realtime_assist.metering import ROOM, SessionMeter
from custom_components.realtime_assist.models import MODELS
from custom_components.realtime_assist.realtime.events import Usage
from custom_components.realtime_assist.realtime.metering import Purpose, Spent
from custom_components.realtime_assist.realtime.operations import LedgerItem
from custom_components.realtime_assist.usage_log import UsageLog

KEY: Final = ThreadKey(assistant="one", scope=GLOBAL)
FACTS: Final = replace(
    MODELS["gpt-realtime-2.1"], audio_seconds=100.0, turns=10, session_seconds=1000.0
)


@dataclass
class Open:
    """A session that is open."""

    held: tuple[LedgerItem, ...] = ()
    connected: bool = True
    turns: int = 0
    age: float = 0.0
    lifetime: float | None = None
    done: list[str] = field(default_factory=list)

    def rebuild(self) -> None:
        """Note that it is to be left."""
        self.done.append("rebuild")

    def boundary(self) -> None:
        """Note that it is to look again."""
        self.done.append("boundary")


class Bench:
    """A meter, its session, and what summarises for it."""

    def __init__(self, *, limit: int = 10_000, trouble: Exception | None = None) -> None:
        """Measure an empty session; `trouble` is what becomes of each summary."""
        self.trouble = trouble
        self.session = Open()
        self.log = UsageLog()
        self.summaries = 0
        self.meter = SessionMeter(
            facts=FACTS,
            limit=limit,
            minute_price=None,
            believed=True,
            log=self.log,
            thread=lambda: KEY,
            summarise=self.summarise,
            start_task=self.start,
        )
        self.meter.session = self.session
        self.tasks: list[asyncio.Task[None]] = []

    async def summarise(self) -> None:
        """Make a summary."""
        self.summaries += 1
        if self.trouble is not None:
            raise self.trouble

    def start(self, work: Coroutine[Any, Any, None], _name: str) -> asyncio.Task[None]:
        """Start a task."""
        self.tasks.append(asyncio.get_running_loop().create_task(work))
        return self.tasks[-1]

    def hold(self, *items: LedgerItem) -> None:
        """Hold more."""
        self.session.held += items

    def answer(self, tokens: int | None) -> None:
        """Have an answer for which the provider reports this input."""
        usage = Usage(input_tokens=tokens)
        read = self.session.held
        self.meter.spent(Spent(purpose=Purpose.ANSWER, usage=usage, whole=True, read=read))


def note(tokens: int) -> LedgerItem:
    """Return a note of about that many tokens."""
    return LedgerItem(remote_id=f"n{tokens}", form=Form.NOTE, key="facts", text="abcd" * tokens)


def said(ms: float, cut_ms: int | None = None) -> LedgerItem:
    """Return an answer that was spoken."""
    return LedgerItem(
        remote_id="s", form=Form.NATIVE, key="turn:1/say/0", received_ms=ms, cut_ms=cut_ms
    )


@pytest.mark.parametrize(
    ("session", "limit"),
    [
        (Open(held=(note(9000),)), Limit.TOKENS),
        (Open(held=(said(90_000),)), Limit.AUDIO),
        (Open(turns=9), Limit.TURNS),
        (Open(age=900.0), Limit.AGE),
        (Open(age=90.0, lifetime=100.0), Limit.AGE),
    ],
)
async def test_whatever_runs_out_is_noticed(session: Open, limit: Limit) -> None:
    """Tokens, speech, turns and time each lead to a summary, and then to a new session."""
    bench = Bench()
    bench.session = bench.meter.session = session
    assert bench.meter.long
    before = bench.meter.full
    bench.meter.look()
    await asyncio.gather(*bench.tasks)
    assert (before, bench.meter.full, bench.summaries) == (False, True, 1)
    assert session.done == ["boundary"]
    assert bench.meter.pressure().limit is limit


async def test_a_closed_session_presses_nothing() -> None:
    """What is not open cannot be full."""
    bench = Bench()
    bench.session.connected = False
    bench.hold(note(50_000))
    bench.meter.look()
    assert not bench.meter.long
    assert bench.meter.reading().tokens == 0
    assert not bench.tasks


@pytest.mark.parametrize("trouble", [RuntimeError("no"), TimeoutError()])
async def test_a_summary_that_fails_holds_nothing_up(trouble: Exception) -> None:
    """A session that is full goes on in another one also when nobody could summarise it."""
    bench = Bench(trouble=trouble)
    bench.hold(note(9000))
    bench.meter.look()
    await asyncio.gather(*bench.tasks)
    assert bench.meter.full


async def test_one_summary_at_a_time() -> None:
    """Turns that end while one is being made ask for no other."""
    bench = Bench()
    bench.hold(note(9000))
    for _ in range(3):
        bench.meter.look()
    await asyncio.gather(*bench.tasks)
    bench.meter.look()
    assert (len(bench.tasks), bench.summaries) == (1, 1)


async def test_a_full_session_that_became_smaller_is_not_full() -> None:
    """When enough was taken away, the session stays; if it fills again, so is it summarised."""
    bench = Bench()
    bench.hold(note(9000))
    bench.meter.look()
    await asyncio.gather(*bench.tasks)
    bench.session.held = (note(100),)
    assert not bench.meter.full
    bench.meter.look()
    bench.hold(note(9000))
    assert not bench.meter.full
    bench.meter.look()
    await asyncio.gather(*bench.tasks)
    assert (bench.meter.full, bench.summaries) == (True, 2)


async def test_a_long_beginning_leaves_room_to_talk() -> None:
    """However much a session begins with, it does not end after each turn."""
    bench = Bench(limit=1000)
    bench.meter.prefix_tokens = 5000
    bench.hold(note(2000))
    bench.answer(None)
    assert bench.log.prefix_tokens == 5000
    assert bench.meter.limits().tokens == pytest.approx((5000 + 2003 + ROOM) / 0.85, abs=1)
    bench.meter.look()
    assert not bench.tasks
    bench.hold(note(ROOM + 10))
    bench.meter.look()
    assert len(bench.tasks) == 1
    await asyncio.gather(*bench.tasks)


async def test_what_a_server_cannot_hold_is_learned() -> None:
    """After a silent loss the next session is renewed before it comes to that again."""
    bench = Bench()
    bench.hold(note(6000))
    bench.answer(6000)
    for _ in range(2):
        bench.hold(said(5000))
        bench.answer(2000)
    assert bench.session.done == ["rebuild"]
    bench.session.held = ()
    bench.meter.emptied()
    bench.answer(10)
    assert bench.meter.limits().tokens == 6000


async def test_speech_counts_as_far_as_it_was_heard() -> None:
    """An answer that was cut costs no more than what is left of it."""
    bench = Bench()
    bench.hold(said(60_000))
    whole = bench.meter.reading().tokens
    bench.session.held = (said(60_000, cut_ms=1000),)
    assert bench.meter.reading().tokens == whole - 59 * 20


async def test_an_estimate_is_part_of_what_was_used() -> None:
    """A provider that reports nothing costs something all the same, as far as prices are known."""
    bench = Bench()
    bench.hold(note(1000))
    bench.answer(None)
    total = bench.log.of(KEY)
    assert total.amounts[Kind.INPUT].tokens == 1003
    assert total.cost == pytest.approx(1003 * 4 / 1_000_000)
    # One that failed before it began was not paid for.
    bench.meter.spent(Spent(purpose=Purpose.ANSWER, usage=Usage(), read=bench.session.held))
    assert bench.log.total.cost == total.cost
    assert bench.log.total.unpriced == 1


def test_threads_of_which_the_use_is_known_are_bounded() -> None:
    """A house that talks for years keeps no endless list."""
    log = UsageLog()
    for number in range(300):
        log.add(ThreadKey(assistant=str(number), scope=GLOBAL), Use(at=1.0), 0.0)
    assert log.total.responses == 300
    assert log.of(ThreadKey(assistant="0", scope=GLOBAL)).responses == 0
    assert log.of(ThreadKey(assistant="299", scope=GLOBAL)).responses == 1
