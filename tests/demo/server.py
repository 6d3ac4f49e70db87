"""Whom the house talks to: the speaking server of this repository, or a real provider."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .processes import Processes, ProcessFailed, Running
from .relay import Relay

_READY_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Whom the house talks to: nobody's address means the server of this repository."""

    key: str = field(default="demonstration", repr=False)
    upstream: str | None = None

    @property
    def real(self) -> bool:
        """Whether a real provider answers."""
        return self.upstream is not None


@asynccontextmanager
async def served(
    provider: Provider, *, processes: Processes, python: Path, repository: Path, log: Path
) -> AsyncIterator[str]:
    """Give the address of the provider, ending in /v1; what passes is written to `log`.

    Args:
        provider: whom to talk to.
        processes: owns the speaking server.
        python: of the environment that has the speech engines.
        repository: where the server's code is.
        log: a file of one event a line.

    Raises:
        ProcessFailed: the speaking server does not start.

    """
    if provider.upstream is not None:
        async with Relay(provider.upstream, log) as relay:
            yield relay.base_url
        return
    running = await processes.start(
        "server",
        [
            *(str(python), "-m", "tests.loopback", "--brain", "speaking"),
            *("--key", provider.key, "--log", str(log)),
        ],
        cwd=repository,
        piped=True,
    )
    yield str((await _first_line(running))["base_url"])


async def _first_line(running: Running) -> dict[str, Any]:
    """Return the line of JSON with which a server says that it is ready."""
    stdout = running.process.stdout
    assert stdout is not None
    try:
        async with asyncio.timeout(_READY_SECONDS):
            line = await stdout.readline()
    except TimeoutError:
        message = f"{running.name} is not ready after {_READY_SECONDS:.0f} s"
        raise ProcessFailed(message) from None
    if not line:
        raise ProcessFailed(f"{running.name} ended:\n{running.tail()}")
    ready: dict[str, Any] = json.loads(line)
    return ready
