"""Hears again what the house said, with a recogniser of its own."""

import asyncio
import json
from pathlib import Path

from .processes import Processes, ProcessFailed, Running

_LOAD_SECONDS = 60.0
_HEAR_SECONDS = 30.0


class Listener:
    """A recogniser that was loaded once."""

    def __init__(self, running: Running) -> None:
        """Use `Listener.start`."""
        self._running = running
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    async def start(cls, processes: Processes, python: Path, repository: Path) -> Listener:
        """Load the recogniser in the environment of `python`.

        Raises:
            ProcessFailed: it ended instead, or took longer than a minute.

        """
        running = await processes.start(
            "ear", [str(python), "-m", "tests.demo.ear"], cwd=repository, piped=True
        )
        listener = cls(running)
        await listener._line(_LOAD_SECONDS)
        return listener

    async def words(self, wav: Path) -> str:
        """Return what is said in a WAV; an empty text if nothing is.

        Raises:
            ProcessFailed: the recogniser ended or does not answer.

        """
        async with self._one_at_a_time:
            stdin = self._running.process.stdin
            assert stdin is not None
            stdin.write(f"{wav}\n".encode())
            await stdin.drain()
            return await self._line(_HEAR_SECONDS)

    async def _line(self, seconds: float) -> str:
        stdout = self._running.process.stdout
        assert stdout is not None
        try:
            async with asyncio.timeout(seconds):
                line = await stdout.readline()
        except TimeoutError:
            raise ProcessFailed(f"the recogniser says nothing for {seconds:.0f} s") from None
        if not line:
            raise ProcessFailed(f"the recogniser ended:\n{self._running.tail()}")
        return str(json.loads(line))
