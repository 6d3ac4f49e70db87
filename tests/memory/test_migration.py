"""What an earlier version wrote is read, and written as the present one does.

`stored/entries_1.json` was written by the version that told each entry in full.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from homeassistant.core import HomeAssistant

from custom_components.realtime_assist.memory.entries import Retention
from custom_components.realtime_assist.memory.files import file_name
from custom_components.realtime_assist.memory.problems import Trouble
from custom_components.realtime_assist.memory.scopes import GLOBAL

from .at_home import Home, restarted, texts

STORED = Path(__file__).parent / "stored" / "entries_1.json"
KEPT = {
    "alarm": {"at": "8:00", "days": ["Mon"]},
    "cat": "Minka",
    "door": None,
    "guests": "Jürgen 🐈",
    "hint": 1,
}


def put(disk: Path, **changes: object) -> Path:
    """Put the old file where Home Assistant finds it."""
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    stored["data"] |= changes
    path = disk / "entries" / file_name(GLOBAL)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(stored))
    return path


def seen(home: Home) -> dict[str, object]:
    """Return what the home knows."""
    return {entry.key: entry.value for entry in home.context.visible([GLOBAL])}


async def test_everything_an_older_version_knew_is_there(hass: HomeAssistant, disk: Path) -> None:
    """An update forgets nothing: values, their past, their ends, and what was forgotten."""
    put(disk)
    home = await restarted(hass)
    assert not home.problems
    assert seen(home) == KEPT
    by_key = {entry.key: entry for entry in home.context.visible([GLOBAL])}
    alarm, cat, guests = by_key["alarm"], by_key["cat"], by_key["guests"]
    assert (alarm.version, [old.value_json for old in alarm.previous]) == (2, ['"7:00"'])
    assert (cat.tags, cat.priority, cat.metadata) == (("animal", "pet"), 2, {"chip": 900.5})
    assert (cat.source, cat.retention) == ("action", Retention.MANUAL)
    assert cat.created == cat.updated == datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    assert cat.accessed == datetime(2026, 11, 30, 12, 3, tzinfo=UTC)
    assert (guests.sliding, guests.owner) == (10**8, "session:s1")
    assert (by_key["hint"].turns, by_key["hint"].max_turns) == (1, 3)
    assert (by_key["door"].retention, by_key["door"].pinned) == (Retention.PERSISTENT, True)
    assert home.context.learn(GLOBAL, "code", "4711") is None


async def test_the_old_file_becomes_a_new_one(hass: HomeAssistant, disk: Path) -> None:
    """It is read in the old way once, and what it says is the same ever after."""
    path = put(disk)
    first = await restarted(hass)
    stored = json.loads(path.read_text())
    assert stored["version"] == 2
    alarm = stored["data"]["entries"][0]
    assert set(alarm) == {"key", "value", "created", "updated", "version", "previous"}
    again = await restarted(hass)
    assert again.context.visible([GLOBAL]) == first.context.visible([GLOBAL])
    assert again.context.dump(GLOBAL) == first.context.dump(GLOBAL) == stored["data"]


async def test_what_was_broken_before_is_kept_aside_after(hass: HomeAssistant, disk: Path) -> None:
    """An update neither loses the neighbours of a broken entry, nor that entry itself."""
    entries = json.loads(STORED.read_text(encoding="utf-8"))["data"]["entries"]
    entries[0]["retention"] = "for a while"
    put(disk, entries=entries)
    home = await restarted(hass)
    assert seen(home) == {key: value for key, value in KEPT.items() if key != "alarm"}
    (problem,) = home.problems
    assert (problem.trouble, problem.lost) == (Trouble.SHAPE, 1)
    home.context.set(GLOBAL, "cat", "Mau")
    await home.storage.async_flush()
    (aside,) = (disk / "entries").glob("*.aside.*")
    assert "for a while" in aside.read_text()
    assert "for a while" not in (disk / "entries" / file_name(GLOBAL)).read_text()


async def test_an_old_file_that_is_none_is_kept_aside_whole(
    hass: HomeAssistant, disk: Path
) -> None:
    """A file that says the version but not whose it is stops no update."""
    put(disk, scope=3)
    home = await restarted(hass)
    assert seen(home) == {}
    assert [problem.trouble for problem in home.problems] == [Trouble.SHAPE]
    home.context.set(GLOBAL, "cat", "Mau")
    await home.storage.async_flush()
    assert "Minka" in texts(disk)
    assert seen(await restarted(hass)) == {"cat": "Mau"}
