"""What satellites do, and what serving them costs: the same for everything that is compared.

Only the standard library: one of the compared programs lives in an environment without ours.
"""

import argparse
import asyncio
import gc
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

FRAME_SECONDS: Final = 0.02
FRAME: Final = b"\x00\x40\x00\xc0" * 160
"""20 ms of PCM16 mono at 16 kHz, loud."""
SPEECH_SECONDS: Final = 2.0
REPLY: Final = "It is seven degrees outside, and it will be dry until noon."
"""Four seconds at 15 characters a second, as the loopback server speaks."""
PAUSE_SECONDS: Final = 0.5
PERIOD_SECONDS: Final = 7.5
"""One turn, about: the satellites begin evenly spread over it."""
_BEAT: Final = 0.01
_RATE: Final = 24_000


class Stream(Protocol):
    """One satellite, served by whatever is measured."""

    async def begin(self) -> None:
        """Begin a turn."""

    def frame(self, pcm: bytes) -> None:
        """Take 20 ms of PCM16 mono at 16 kHz."""

    async def answer(self, heard: Heard) -> None:
        """End the speech; take the answer, and tell `heard` of its audio as it comes."""


@dataclass(slots=True)
class Heard:
    """The audio of one answer, as it would be played: in real time from its first byte on."""

    bytes_per_second: int = _RATE * 2
    begun: float = 0.0
    seconds: float = 0.0
    glitches: int = 0
    """How often the next audio came after what there was had been played."""

    def take(self, size: int) -> None:
        """Note that so many bytes of PCM came."""
        now = time.perf_counter()
        if not self.begun:
            self.begun = now
        elif now > self.begun + self.seconds:
            self.glitches += 1
            self.begun = now - self.seconds
        self.seconds += size / self.bytes_per_second

    @property
    def left(self) -> float:
        """Seconds until it is played."""
        return max(self.begun + self.seconds - time.perf_counter(), 0.0)


@dataclass(slots=True)
class Costs:
    """What was measured."""

    spoken: float = 0.0
    heard: float = 0.0
    turns: int = 0
    glitches: int = 0
    late: list[float] = field(default_factory=list)
    collected: float = 0.0
    """The longest that Python looked for garbage: it looks at all there is in the process."""
    _collecting: float = 0.0

    def collecting(self, phase: str, _info: dict[str, int]) -> None:
        """Take the time of Python's collector."""
        now = time.perf_counter()
        if phase == "start":
            self._collecting = now
        else:
            self.collected = max(self.collected, now - self._collecting)

    def told(self, cpu: float, memory: float, later: float, idle: float) -> dict[str, float]:
        """Return it as JSON."""
        return {
            "cpu": cpu,
            "audio": self.spoken + self.heard,
            "turns": self.turns,
            "glitches": self.glitches,
            "late_ms": 1000 * _high(self.late),
            "idle_late_ms": 1000 * idle,
            "collector_ms": 1000 * self.collected,
            "memory_mb": memory,
            "memory_later_mb": later,
        }


def _high(late: list[float]) -> float:
    """Return what 99.9 % of the delays do not exceed, in seconds."""
    return sorted(late)[min(int(len(late) * 0.999), len(late) - 1)] if late else 0.0


def memory_mb() -> float:
    """Return how much of the process is in memory."""
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - nothing to resolve
        return int(statm.read().split()[1]) * resource.getpagesize() / 1e6


async def _watch(late: list[float]) -> None:
    """Look at the event loop again and again, and note how late it is."""
    while True:
        due = time.perf_counter() + _BEAT
        await asyncio.sleep(_BEAT)
        late.append(time.perf_counter() - due)


class _Crowd:
    """All satellites of a run, fed by one ticker: the load itself costs next to nothing."""

    def __init__(self, streams: list[Stream]) -> None:
        self._streams = streams
        self.speaking: dict[Stream, asyncio.Event] = {}
        self._left: dict[Stream, int] = {}
        self.costs = Costs()

    async def tick(self) -> None:
        """Give everybody who speaks a frame, in real time."""
        due = time.perf_counter()
        while True:
            due += FRAME_SECONDS
            await asyncio.sleep(max(due - time.perf_counter(), 0))
            for stream, done in list(self.speaking.items()):
                stream.frame(FRAME)
                self.costs.spoken += FRAME_SECONDS
                self._left[stream] -= 1
                if not self._left[stream]:
                    del self.speaking[stream]
                    done.set()

    async def live(self, stream: Stream, offset: float, until: float) -> None:
        """Speak and listen again and again."""
        await asyncio.sleep(offset)
        while time.perf_counter() < until:
            await stream.begin()
            done = asyncio.Event()
            self._left[stream] = round(SPEECH_SECONDS / FRAME_SECONDS)
            self.speaking[stream] = done
            await done.wait()
            heard = Heard()
            await stream.answer(heard)
            await asyncio.sleep(heard.left + PAUSE_SECONDS)
            self.costs.turns += 1
            self.costs.heard += heard.seconds
            self.costs.glitches += heard.glitches

    async def run(self, seconds: float) -> dict[str, float]:
        """Measure for so long."""
        idle: list[float] = []
        watching = asyncio.create_task(_watch(idle))
        await asyncio.sleep(1)
        watching.cancel()
        ticking = asyncio.create_task(self.tick())
        watching = asyncio.create_task(_watch(self.costs.late))
        gc.callbacks.append(self.costs.collecting)
        cpu, until = time.process_time(), time.perf_counter() + seconds
        spread = PERIOD_SECONDS / len(self._streams)
        lives = [
            asyncio.create_task(self.live(stream, number * spread, until))
            for number, stream in enumerate(self._streams)
        ]
        await asyncio.sleep(seconds / 2)
        memory = memory_mb()
        await asyncio.gather(*lives)
        cpu = time.process_time() - cpu
        gc.callbacks.remove(self.costs.collecting)
        for task in (ticking, watching):
            task.cancel()
        return self.costs.told(cpu, memory, memory_mb(), _high(idle))


async def measured(
    connect: Callable[[str, int], Awaitable[list[Stream]]], arguments: argparse.Namespace
) -> dict[str, float]:
    """Let satellites speak and listen; return what it cost."""
    before = memory_mb()
    streams = await connect(arguments.base_url, arguments.satellites)
    told = await _Crowd(streams).run(arguments.seconds)
    told["memory_each_mb"] = (told["memory_later_mb"] - before) / arguments.satellites
    return told


def arguments_of(description: str | None) -> argparse.Namespace:
    """Read the command line that all compared programs have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("base_url")
    parser.add_argument("satellites", type=int)
    parser.add_argument("seconds", type=float)
    return parser.parse_args()


def tell(told: dict[str, float]) -> None:
    """Print what was measured."""
    sys.stdout.write(f"{json.dumps(told)}\n")
