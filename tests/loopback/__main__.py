"""Run the loopback server as a process: `python -m tests.loopback --port 8765 --brain speaking`.

Prints one line of JSON with its addresses when it is ready, and ends on SIGTERM or SIGINT.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from .brain import Brain, ScriptedBrain
from .clock import RealClock
from .personalities import PERSONALITIES
from .server import LoopbackServer


def _arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.loopback", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 (default): any free port")
    parser.add_argument("--key", help="the only API key that is accepted (default: any)")
    parser.add_argument("--personality", choices=sorted(PERSONALITIES), default="openai")
    parser.add_argument("--brain", choices=("scripted", "speaking"), default="scripted")
    parser.add_argument("--speed", type=float, default=1.0, help="times real time; 0: no delays")
    parser.add_argument("--seed", type=int, default=0, help="seed of ids, delays and mix")
    parser.add_argument("--mix", action="store_true", help="throw dice for what is not recorded")
    parser.add_argument("--lifetime", type=float, default=3600.0, help="seconds a session lasts")
    parser.add_argument("--any-model", action="store_true", help="accept models of any name")
    parser.add_argument("--log", type=Path, help="write every event to this file, a line each")
    return parser.parse_args()


async def _brain(name: str) -> Brain:
    """Return the brain of that name, ready; the speaking one has heavy imports of its own."""
    if name == "scripted":
        return ScriptedBrain()
    from .speaking import SpeakingBrain  # noqa: PLC0415

    brain = SpeakingBrain()
    await brain.prepare()
    return brain


class _Log:
    """Writes every event as one line of JSON."""

    def __init__(self, target: TextIO) -> None:
        """Write to `target`."""
        self._target = target

    def __call__(self, direction: str, session: int, event: dict[str, Any], /) -> None:
        """Write one event, with the Unix time at which it passed."""
        line = {"at": round(time.time(), 4), "session": session, direction: event}
        print(json.dumps(line), file=self._target, flush=True)


async def _serve(arguments: argparse.Namespace, log: TextIO | None) -> None:
    """Serve until a signal comes."""
    personality = PERSONALITIES[arguments.personality]
    switches = personality.mixed(arguments.seed) if arguments.mix else personality.switches
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = LoopbackServer(
        await _brain(arguments.brain),
        personality=personality,
        switches=switches,
        clock=RealClock(arguments.speed),
        key=arguments.key,
        lifetime=arguments.lifetime,
        seed=arguments.seed,
        port=arguments.port,
        any_model=arguments.any_model,
        witness=None if log is None else _Log(log),
    )
    async with server:
        ready = {"base_url": server.base_url, "ws_url": server.ws_url}
        print(json.dumps(ready), flush=True)  # noqa: T201 - this line is the interface
        await stop.wait()


def main() -> None:
    """Run the server as the command line wants it."""
    arguments = _arguments()
    if arguments.log is None:
        asyncio.run(_serve(arguments, None))
    else:
        with arguments.log.open("a", encoding="utf-8") as log:
            asyncio.run(_serve(arguments, log))
    sys.exit(0)


if __name__ == "__main__":
    main()
