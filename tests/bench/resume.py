"""What does it cost to go on with a conversation? After 100, 1,000 and 10,000 turns.

Each time Home Assistant starts anew, with a hundred exposed entities in its Assist prompt, and
somebody speaks to a satellite: the thread is read from the disk, composed, told to the loopback
server at silent speed, and answered. Growth says how many times as much the longest takes as the
shortest. Every length is measured at several places between two summaries, one after the other.
"""

import asyncio
import gc
import json
import random
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from custom_components.realtime_assist.hub import Assistant
from custom_components.realtime_assist.memory.compression import checkpoint, committed
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.transcript import Said, Thread, ThreadKey, TurnRecord
from custom_components.realtime_assist.memory.usage import estimate_tokens
from custom_components.realtime_assist.pipeline.origin import Origin
from tests.loopback import LoopbackServer, RealClock

from .asking import ask, at
from .home import home
from .remembered import ACTS, DAYS, PEOPLE, PLACES, THINGS
from .report import Figure
from .timing import Times

LENGTHS: Final = (100, 1_000, 10_000)
PLACES_BETWEEN: Final = 5
"""Threads of each length, three turns apart: how much is verbatim goes up and down."""
RESTARTS: Final = 4
AIM: Final = 1.2
RESUME_TOKENS: Final = 1500
_OPERATIONS: Final = ("conversation.item.create", "conversation.item.delete", "session.update")


class Resumed:
    """What was measured of one length."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.compose: Final = Times()
        self.first: Final = Times()
        self.tokens: Final[list[float]] = []
        self.operations: Final[list[float]] = []


def figures() -> Iterator[Figure]:
    """Measure all lengths, then how much more the longest takes."""
    with TemporaryDirectory() as folder:
        found = asyncio.run(_measure(Path(folder), LENGTHS))
    for length, resumed in found.items():
        name = f"resume.{length}"
        yield from resumed.compose.figures(f"{name}.compose", "ms")
        yield from resumed.first.figures(f"{name}.first_answer", "ms")
        yield Figure(name=f"{name}.tokens", value=statistics.fmean(resumed.tokens), unit="tokens")
        many = statistics.fmean(resumed.operations)
        yield Figure(name=f"{name}.operations", value=many, unit="operations on the wire")
    yield from _growth(found[LENGTHS[0]], found[LENGTHS[-1]])


def _growth(short: Resumed, long: Resumed) -> Iterator[Figure]:
    told = {
        "compose": long.compose.median / short.compose.median,
        "first_answer": long.first.median / short.first.median,
        "tokens": statistics.fmean(long.tokens) / statistics.fmean(short.tokens),
        "operations": statistics.fmean(long.operations) / statistics.fmean(short.operations),
    }
    for what, times in told.items():
        name = f"resume.growth.{what}"
        yield Figure(name=name, value=round(times, 3), unit="times", aim=AIM, at_most=True)


async def _measure(folder: Path, lengths: tuple[int, ...]) -> dict[int, Resumed]:
    """Remember threads of all lengths, then resume each after each restart."""
    found = {length: Resumed() for length in lengths}
    threads = _threads(lengths)
    async with LoopbackServer(key="key", clock=RealClock(0), keep_audio=False) as server:
        async with home(folder, server.base_url) as (assistant, _):
            for device, thread in threads.items():
                house = assistant.hub.house
                key = ThreadKey(assistant.subentry_id, ScopeKey(Scope.DEVICE, device))
                await house.storage.async_load_thread(key)
                house.storage.save_thread(_renamed(thread, key))
            assistant.hub.house.context.set(GLOBAL, "the cat", "is called Minka")
            await assistant.hub.house.storage.async_flush()
        for _ in range(RESTARTS):
            async with home(folder, server.base_url) as (assistant, origin):
                await assistant.hub.house.async_loaded()
                await _warm(assistant, origin)
                for place in range(PLACES_BETWEEN):
                    for length in lengths:
                        where = at(origin, f"{length}-{place}")
                        await _resume(server, assistant, where, found[length])
    return found


async def _resume(
    server: LoopbackServer, assistant: Assistant, origin: Origin, resumed: Resumed
) -> None:
    """Speak to a satellite that nobody spoke to since the start."""
    gc.collect()
    with resumed.first.take():
        await ask(assistant, origin)
    projection = assistant.projection(origin, None)
    view = projection.fresh_view()
    if view.recap_upto == 0:
        raise OSError("the history was not read")
    tries = Times()
    for _ in range(10):
        with tries.take(time.thread_time):
            projection.compose(view)
    resumed.compose.seconds.append(min(tries.seconds))  # the rest is the machine's
    sent = [event for event in server.session.received if event["type"] in _OPERATIONS]
    resumed.operations.append(len(sent))
    resumed.tokens.append(sum(map(_tokens, sent)))
    await projection.async_close()


async def _warm(assistant: Assistant, origin: Origin) -> None:
    """Let what a first turn after a start loads be loaded."""
    await ask(assistant, origin)
    await assistant.projection(origin, None).async_close()


def _threads(lengths: tuple[int, ...]) -> dict[str, Thread]:
    """Return threads by the name of their device, each grown turn by turn and summarised."""
    wanted = {
        length + 3 * place: f"{length}-{place}"
        for length in lengths
        for place in range(PLACES_BETWEEN)
    }
    chance = random.Random(1)  # noqa: S311 - no secret
    thread = Thread(key=ThreadKey("bench", ScopeKey(Scope.DEVICE, "any")))
    grown: dict[str, Thread] = {}
    for number in range(1, max(wanted) + 1):
        record = _turn(chance, number)
        thread = thread.joined(record)
        if (made := checkpoint(thread, RESUME_TOKENS, record.at)) is not None:
            thread = committed(thread, made)
        if number in wanted:
            grown[wanted[number]] = thread
    return grown


def _turn(chance: random.Random, number: int) -> TurnRecord:
    """Return a turn as homes have them."""
    pick = chance.choice
    heard = f"{pick(PEOPLE)} {pick(ACTS)} the {pick(THINGS)} in the {pick(PLACES)}, is that so?"
    said = f"Yes, the {pick(THINGS)} is there until {pick(DAYS)}, {chance.randrange(24)} o'clock."
    return TurnRecord(
        id=f"t{number}",
        at=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=2 * number),
        heard_text=heard,
        said=(Said(index=0, text=said, audio_ms=3000),),
        place="Kitchen",
    )


def _renamed(thread: Thread, key: ThreadKey) -> Thread:
    return Thread(
        key=key,
        turns=thread.turns,
        summary=thread.summary,
        next_number=thread.next_number,
        last_at=thread.last_at,
    )


def _tokens(event: dict[str, Any]) -> int:
    """Return what a command costs as input: its instructions, tools and texts."""
    session, item = event.get("session", {}), event.get("item", {})
    texts = [session.get("instructions", "")]
    texts += [json.dumps(tool, ensure_ascii=False) for tool in session.get("tools", ())]
    texts += [part.get("text", "") for part in item.get("content", ())]
    return sum(map(estimate_tokens, texts))
