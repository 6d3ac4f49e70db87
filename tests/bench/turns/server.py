"""The loopback server in a process of its own: `python -m tests.bench.turns.server`.

A reply is as long as the newest text says: the user's words are `N`, or the session's instructions
end in `reply N`.
"""

import asyncio
import json
import signal
import sys
from typing import Final

from tests.loopback import LoopbackServer, RealClock, ScriptedBrain, Transcript
from tests.loopback.brain import Reply, Request, Speech

from .declared import REALTIME, reply_of

HEARD: Final = "How are things at home?"


class _Length:
    """How long the replies are: a line on standard input changes it."""

    def __init__(self) -> None:
        self.value = 20

    def reply(self, _request: Request) -> Reply:
        return Reply((Speech(reply_of(self.value)),))


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
            length.value = int(line)
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
