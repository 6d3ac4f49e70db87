"""The house talks to the speaking server, or to a real provider that is only listened to."""

import sys
from pathlib import Path

import aiohttp
import pytest

from tests.loopback import LoopbackServer, ScriptedBrain

from .processes import Processes, ProcessFailed
from .server import Provider, served
from .wire import Wire

_REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.usefixtures("socket_enabled")
async def test_a_real_provider_is_reached_through_a_log(tmp_path: Path) -> None:
    """With a key the demo talks to whom the key is for, and can still show what passed."""
    async with (
        LoopbackServer(ScriptedBrain(), key="key") as real,
        Processes(tmp_path) as processes,
        aiohttp.ClientSession(headers={"Authorization": "Bearer key"}) as http,
        served(
            Provider(key="key", upstream=real.base_url),
            processes=processes,
            python=Path(sys.executable),
            repository=_REPOSITORY,
            log=tmp_path / "wire.jsonl",
        ) as base_url,
        http.ws_connect(f"{base_url}/realtime", params={"model": "gpt-realtime-2.1"}) as socket,
    ):
        assert base_url != real.base_url
        await socket.receive_json(timeout=5)
    assert [frame.kind for frame in Wire(tmp_path / "wire.jsonl").since()] == ["session.created"]


async def test_a_server_that_cannot_start_is_a_failure_with_its_words(tmp_path: Path) -> None:
    """A missing speech engine is told at once, not waited for."""
    async with Processes(tmp_path) as processes:
        with pytest.raises(ProcessFailed, match="server ended"):
            async with served(
                Provider(),
                processes=processes,
                python=Path("/bin/false"),
                repository=_REPOSITORY,
                log=tmp_path / "wire.jsonl",
            ):
                pass
