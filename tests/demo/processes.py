"""The processes of the demonstration, each in a group of its own, none of which outlives it."""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

STOP_SECONDS = 20.0
"""How long a process may take to end by itself after it was asked."""

_UNWANTED = (
    # Hints for numerical libraries, often for another processor than the one at hand.
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    # Another Python's affairs.
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    # Home Assistant without its bytecode takes three times as long to start.
    "PYTHONDONTWRITEBYTECODE",
)


class ProcessFailed(Exception):
    """A process ended when it was still needed, or could not be started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A started process, its name for people, and the file that holds what it wrote."""

    name: str
    process: asyncio.subprocess.Process
    log: Path

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self.process.returncode is not None

    def tail(self, lines: int = 15) -> str:
        """Return the end of what the process wrote, for a report of its failure."""
        with suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        return ""


class Processes:
    """Owns every process that the demonstration starts; leaving the context ends them all."""

    def __init__(self, logs: Path) -> None:
        """Keep what processes write in the folder `logs`, one file for each name."""
        self._logs = logs
        self._running: list[Running] = []

    async def __aenter__(self) -> Self:
        """Begin with no process."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End whatever still runs, the youngest first."""
        for running in reversed(self._running):
            await self.stop(running, seconds=5)

    def log_of(self, name: str) -> Path:
        """Return where what a process of that name writes is kept."""
        return self._logs / f"{name}.log"

    async def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        piped: bool = False,
    ) -> Running:
        """Start `command` as leader of a new group.

        With `piped`, its standard input and output are pipes and only its errors go to the log.

        Raises:
            ProcessFailed: the program does not exist or cannot be run.

        """
        if shutil.which(command[0]) is None:
            raise ProcessFailed(f"{name} does not start: there is no {command[0]}")
        log = self.log_of(name)
        with log.open("ab") as written:
            try:
                process = await asyncio.create_subprocess_exec(
                    *_leash(),
                    *command,
                    cwd=cwd,
                    env=environment() | dict(env or {}),
                    stdin=asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE if piped else written,
                    stderr=written,
                    start_new_session=True,
                )
            except OSError as err:
                raise ProcessFailed(f"{name} does not start: {err.strerror}") from err
        running = Running(name=name, process=process, log=log)
        self._running.append(running)
        return running

    async def stop(self, running: Running, *, seconds: float = STOP_SECONDS) -> int:
        """Ask a process to end, end its whole group when it does not, and return its exit code."""
        with suppress(ProcessLookupError):
            running.process.terminate()
        try:
            async with asyncio.timeout(seconds):
                await running.process.wait()
        except TimeoutError:
            pass
        finally:
            # What the process itself started and left behind is in its group.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(running.process.pid, signal.SIGKILL)
        code = await running.process.wait()
        if running in self._running:
            self._running.remove(running)
        return code


def _leash() -> tuple[str, ...]:
    """Return what makes a program end with us, even if we are killed; nothing where that is not."""
    return ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()


def environment() -> dict[str, str]:
    """Return this process's environment without what would mislead a child."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    return kept | {"PYTHONUNBUFFERED": "1"}
