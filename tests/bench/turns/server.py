"""The loopback server in a process of its own: `python -m tests.bench.turns.server`.

A line on standard input is the number of characters that replies have from then on.
"""

import array
import asyncio
import json
import random
import signal
import sys
from typing import Final

from tests.loopback import LoopbackServer, RealClock, ScriptedBrain, Transcript
from tests.loopback.audio import BYTES_PER_MS
from tests.loopback.brain import Reply, Request, Speech

from .declared import REALTIME, reply_of

HEARD: Final = "How are things at home?"


def voice(text: str) -> bytes:
    """Return noise as long as it takes to say a text, at 15 characters a second.

    A tone would be told by FLAC in so few bytes that ffmpeg keeps all of it until the end.
    """
    size = max(300, 1000 * len(text) // 15) * BYTES_PER_MS
    noise = array.array("h", random.Random(1).randbytes(size))  # noqa: S311 - no secret
    return array.array("h", (value >> 4 for value in noise)).tobytes()


class _Length:
    """How long the replies are: a line on standard input changes it."""

    def __init__(self) -> None:
        self.set(20)

    def set(self, value: int) -> None:
        text = reply_of(value)
        self._reply = Reply((Speech(text, pcm=voice(text)),))

    def reply(self, _request: Request) -> Reply:
        return self._reply


async def _serve() -> None:
    length = _Length()
    brain = ScriptedBrain(default=length.reply, default_hears=Transcript(HEARD))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, stop.set)

    def order() -> None:
        line = sys.stdin.readline()
        if line.strip():
            length.set(int(line))
            sys.stdout.write("ok\n")
            sys.stdout.flush()
        else:
            stop.set()

    loop.add_reader(sys.stdin, order)
    async with LoopbackServer(
        brain, switches=REALTIME, clock=RealClock(1), key="key", keep_audio=False
    ) as server:
        sys.stdout.write(json.dumps({"base_url": server.base_url, "ws_url": server.ws_url}) + "\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(_serve())
