"""The loopback server for many satellites: `python -m tests.bench.crowd.server`."""

import asyncio
import json
import signal
import sys

from tests.bench.turns.declared import REALTIME
from tests.loopback import LoopbackServer, RealClock, ScriptedBrain

from .load import REPLY


async def _serve() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with LoopbackServer(
        ScriptedBrain(default=REPLY),
        switches=REALTIME,
        clock=RealClock(1),
        keep_audio=False,
        any_model=True,
    ) as server:
        sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(_serve())
