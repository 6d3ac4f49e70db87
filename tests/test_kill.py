"""A real Home Assistant is killed while actions write, and has lost nothing when it is back.

Twice in the suite. `REALTIME_ASSIST_LONGER=25 scripts/test tests/test_kill.py` does it 50 times.

Lost nothing: what was acknowledged more than a second before the kill is there, whatever was
deleted is gone, and every file can be read. Where the machine itself is slow (an action takes
long), the second is as much longer.
"""

import asyncio
import json
import os
import random
import re
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final

import aiohttp
import pytest
from homeassistant.const import __version__

from tests.demo.client import Client, CommandFailed
from tests.demo.house import INTEGRATION, House
from tests.demo.ports import free_tcp_port
from tests.demo.processes import Processes
from tests.longer import LONGER

KILLS: Final = 2 * LONGER
SECOND: Final = 1.0
COMPONENTS: Final = Path(__file__).resolve().parents[1] / "custom_components"
SCOPES: Final[tuple[dict[str, str], ...]] = (
    {"scope": "global"},
    {"scope": "plugin", "scope_id": "garden"},
    {"scope": "plugin", "scope_id": "../.."},
)
KEYS: Final = tuple(f"key{number}" for number in range(6))
SUMMARY: Final = "summary"
"""What stands for the summary of the home's history, beside the keys of its facts."""
ACCOUNT: Final = {
    "version": 1,
    "minor_version": 5,
    "key": "core.config_entries",
    "data": {
        "entries": [
            {
                "created_at": "2026-11-30T00:00:00+00:00",
                "data": {
                    "provider": "openai",
                    "base_url": "http://127.0.0.1:9/v1",
                    "api_key": "none",
                },
                "disabled_by": None,
                "discovery_keys": {},
                "domain": INTEGRATION,
                "entry_id": "01KILLKILLKILLKILLKILLKILL",
                "minor_version": 1,
                "modified_at": "2026-11-30T00:00:00+00:00",
                "options": {},
                "pref_disable_new_entities": False,
                "pref_disable_polling": False,
                "source": "user",
                "subentries": [],
                "title": "Nobody",
                "unique_id": None,
                "version": 1,
            }
        ]
    },
}

pytestmark = [
    pytest.mark.skipif(
        __version__.startswith("2026.10"), reason="one release is enough, and it takes long"
    ),
    pytest.mark.timeout(60 + 20 * KILLS),
]


@dataclass(slots=True, kw_only=True)
class Write:
    """One thing that was asked for: a value for a key, or None to forget it."""

    value: str | None
    asked: float
    acknowledged: float | None = None

    def safe(self, killed: float) -> bool:
        """Whether it must be there after a kill. What is forgotten is gone when that is told."""
        if self.acknowledged is None:
            return False
        return self.value is None or self.acknowledged < killed


@dataclass(slots=True)
class Writers:
    """What writes to a house until it is killed, and what it was told."""

    client: Client
    random: random.Random
    asked: dict[tuple[int, str], list[Write]]
    forgets: bool
    """Forgetting writes all that is not written yet: what it hides is seen without it."""
    slowest: float = 0.0
    count: int = 0
    failed: list[str] = field(default_factory=list)

    async def write(self, place: int) -> None:
        """Write to one scope without a pause, one thing after another."""
        with suppress(CommandFailed, aiohttp.ClientError, ConnectionError):
            while True:
                key = self.random.choice([*KEYS, *([SUMMARY] if place == 0 else [])])
                self.count += 1
                value = f"value-{place}-{self.count}-" + "x" * self.random.choice((0, 0, 3000))
                forgets = self.forgets and key != SUMMARY and self.random.random() < 0.3
                write = Write(value=None if forgets else value, asked=monotonic())
                self.asked.setdefault((place, key), []).append(write)
                await self._ask(SCOPES[place], key, write.value)
                write.acknowledged = monotonic()
                self.slowest = max(self.slowest, write.acknowledged - write.asked)
                await asyncio.sleep(self.random.random() * 0.03)

    async def _ask(self, scope: dict[str, str], key: str, value: str | None) -> None:
        if value is None:
            await self._act("delete_memory", {**scope, "keys": [key]})
        elif key == SUMMARY:
            await self._act("update_memory", {**scope, "summary": value})
        else:
            await self._act("set_memory", {**scope, "key": key, "value": value})

    async def _act(self, action: str, data: dict[str, Any]) -> None:
        await self.client.act(INTEGRATION, action, data)


async def test_a_kill_loses_nothing(tmp_path: Path, socket_enabled: None) -> None:  # noqa: ARG001
    """A power cut costs at most the last second of what was remembered, and brings nothing back."""
    chance = random.Random(2026 if LONGER == 1 else None)  # noqa: S311 - nothing is secret
    asked: dict[tuple[int, str], list[Write]] = {}
    logs = tmp_path / "logs"
    logs.mkdir()
    async with aiohttp.ClientSession() as http, Processes(logs) as processes:
        house = House(
            folder=tmp_path / "config",
            components=COMPONENTS,
            port=free_tcp_port(),
            processes=processes,
            http=http,
        )
        house.prepare()
        storage = tmp_path / "config/.storage"
        (storage / "core.config_entries").write_text(json.dumps(ACCOUNT))
        await house.start()
        for number in range(KILLS):
            killed = await _written_until_killed(
                house, http, asked, chance, forgets=number % 2 == 1
            )
            _see_files(storage)
            await house.start()
            async with Client.connect(http, house.base, house.token) as client:
                told = await _remembered(client)
                _compare(asked, told, killed, f"kill {number}")
                assert not await _problems(client)
        assert "orrupt" not in house.log.read_text()


async def _written_until_killed(
    house: House,
    http: aiohttp.ClientSession,
    asked: dict[tuple[int, str], list[Write]],
    chance: random.Random,
    *,
    forgets: bool,
) -> float:
    """Let actions write, kill Home Assistant in the middle; return until when all must be there."""
    async with Client.connect(http, house.base, house.token) as client:
        writers = Writers(client, chance, asked, forgets)
        async with asyncio.TaskGroup() as tasks:
            for place in (*range(len(SCOPES)), 0):
                tasks.create_task(writers.write(place))
            await asyncio.sleep(1.2 + 2 * chance.random())
            assert house._running is not None
            process = house._running.process
            killed = monotonic()
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    assert process.returncode == -signal.SIGKILL
    writes = [write for each in asked.values() for write in each]
    assert sum(write.safe(killed - SECOND) for write in writes) > len(KEYS)
    return killed - SECOND - writers.slowest


async def _remembered(client: Client) -> dict[tuple[int, str], str]:
    """Return what the house knows."""
    found: dict[tuple[int, str], str] = {}
    for place, scope in enumerate(SCOPES):
        told = await client.act(INTEGRATION, "get_memory", scope, response=True)
        found |= {(place, entry["key"]): entry["value"] for entry in told["entries"]}
        for summary in told["summaries"]:
            (line,) = summary["lines"]
            found[place, SUMMARY] = line["text"]
    return found


def _compare(
    asked: dict[tuple[int, str], list[Write]],
    told: dict[tuple[int, str], str],
    killed: float,
    when: str,
) -> None:
    """See that nothing that had to be there is lost; go on from what there is."""
    assert told.keys() <= asked.keys()
    for held, writes in asked.items():
        # Two writers of one key may be answered in another order than they were heard.
        safe = [write for write in writes if write.safe(killed)]
        since = max((write.asked for write in safe), default=0.0)
        possible = {
            write.value
            for write in writes
            if (write.acknowledged is None or write.acknowledged >= since)
        }
        if not safe:
            possible.add(None)
        value = told.get(held)
        assert value in possible, (when, held, value and value[:30])
        now = monotonic()
        asked[held] = [Write(value=value, asked=now, acknowledged=now)]


def _see_files(storage: Path) -> None:
    """See that each file of ours is whole, and none was set aside."""
    files = [path for path in (storage / INTEGRATION).rglob("*") if path.is_file()]
    whole = [path for path in files if re.fullmatch(r"[0-9a-f]{32}|index|forgetting", path.name)]
    assert len(whole) > len(SCOPES)
    for path in whole:
        assert json.loads(path.read_text())["data"]
    # A write that was under way may leave its beginning behind, under another name.
    for path in set(files) - set(whole):
        assert path.name.startswith("tmp"), path.name


async def _problems(client: Client) -> list[str]:
    """Return the repairs that tell of our files."""
    issues = (await client.command("repairs/list_issues"))["issues"]
    told = [f"{issue['domain']} {issue['issue_id']}" for issue in issues]
    return [each for each in told if "storage" in each or "corrupt" in each]
