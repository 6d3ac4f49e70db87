"""A realtime server that others wrote, for the tests of our client against it."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.loopback.other_python import python_of

_SERVER = Path(__file__).resolve().parent / "realtime" / "foreign_server.py"
KNOW, LAMP, STORY = 330.0, 500.0, 800.0
"""The pitch by which the stub's ear knows a sentence."""


class Foreign:
    """The other server, as one who looks into it sees it."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        """Look into the server at `url`."""
        self.base_url = f"{url}/v1"
        self._url = url
        self._http = http

    async def held(self) -> str:
        """Return all that its conversations hold."""
        return await self._show("held")

    async def given(self) -> str:
        """Return all that its last answer was made from."""
        return json.dumps((await self._get("given"))[-1])

    async def _show(self, what: str) -> str:
        return json.dumps(await self._get(what))

    async def _get(self, what: str) -> Any:  # noqa: ANN401 - JSON
        async with self._http.get(f"{self._url}/{what}") as response:
            return await response.json()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run the server, and return where it is."""
    command = [python_of("judge-hf"), str(_SERVER)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own
        assert process.stdout
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.kill()


@pytest.fixture
async def foreign(address: str, socket_enabled: None) -> AsyncIterator[Foreign]:  # noqa: ARG001
    """Look into the server, in which nothing is left of another test."""
    async with aiohttp.ClientSession() as http:
        made = Foreign(address, http)
        async with asyncio.timeout(5):
            while await made.held() != "[]":  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.02)
        yield made
