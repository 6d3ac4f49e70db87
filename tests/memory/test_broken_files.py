"""Broken, newer and unreadable files: each costs what is in it, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from homeassistant.core import HomeAssistant

from custom_components.realtime_assist.memory.context import ScopeRefused
from custom_components.realtime_assist.memory.files import file_name
from custom_components.realtime_assist.memory.problems import Kind, Trouble
from custom_components.realtime_assist.memory.scopes import GLOBAL

from .at_home import KITCHEN, THREAD, Home, restarted, texts, turn, with_facts

BROKEN_ENTRIES = json.dumps(
    {
        "version": 1,
        "minor_version": 1,
        "key": "k",
        "data": {"scope": "global:home", "entries": 5, "tombstones": []},
    }
)


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        ("{ broken", Trouble.CORRUPT),
        ("[]", Trouble.SHAPE),
        ('{"some": "thing"}', Trouble.SHAPE),
        ('{"version": 1, "minor_version": 1, "key": "k", "data": null}', Trouble.SHAPE),
        ('{"version": 1, "minor_version": 1, "key": "k", "data": {"scope": 3}}', Trouble.SHAPE),
        (
            '{"version": 1, "minor_version": 1, "key": "k", "data": {"scope": "global:other"}}',
            Trouble.SHAPE,
        ),
        (BROKEN_ENTRIES, Trouble.SHAPE),
    ],
)
@pytest.mark.no_fail_on_log_exception
async def test_a_broken_file_loses_nothing_else(
    hass: HomeAssistant, disk: Path, content: str, trouble: Trouble
) -> None:
    """One broken file costs what was in it; a copy is kept, and the rest of the house remembers."""
    await with_facts(hass)
    path = disk / "entries" / file_name(GLOBAL)
    path.write_text(content)
    home = await restarted(hass)
    assert home.value(KITCHEN, "radio") == "SWR3"
    assert [(p.trouble, p.kind, p.name) for p in home.problems] == [
        (trouble, Kind.ENTRIES, file_name(GLOBAL))
    ]
    assert home.storage.problems == tuple(home.problems)
    assert [p.read_text() for p in path.parent.glob(f"{path.name}.*")] == [content]
    home.context.set(GLOBAL, "dog", "Rex")
    await home.storage.async_flush()
    again = await restarted(hass)
    assert again.value(GLOBAL, "dog") == "Rex"
    assert not again.problems
    await again.storage.async_remove_copies(GLOBAL)
    assert not list(path.parent.glob(f"{path.name}.*"))


async def test_a_broken_entry_loses_only_itself(hass: HomeAssistant, disk: Path) -> None:
    """One entry that cannot be read does not take its neighbours with it, and a copy is kept."""
    home = await with_facts(hass)
    home.context.set(GLOBAL, "dog", "Rex")
    await home.storage.async_flush()
    path = disk / "entries" / file_name(GLOBAL)
    data = json.loads(path.read_text())
    data["data"]["entries"][0]["retention"] = "for a while"
    path.write_text(json.dumps(data))
    again = await restarted(hass)
    assert (again.value(GLOBAL, "cat"), again.value(GLOBAL, "dog")) == (None, "Rex")
    (problem,) = again.problems
    assert (problem.trouble, problem.lost) == (Trouble.SHAPE, 1)
    assert "for a while" in next(path.parent.glob(f"{path.name}.aside.*")).read_text()


async def test_a_newer_file_is_not_overwritten(hass: HomeAssistant, disk: Path) -> None:
    """Going back to an older version does not destroy what the newer one wrote."""
    await with_facts(hass)
    paths = [disk / "entries" / file_name(GLOBAL), disk / "threads" / file_name(THREAD)]
    for path in paths:
        data = json.loads(path.read_text())
        path.write_text(json.dumps({**data, "version": 99}))
    before = [path.read_text() for path in paths]
    home = await restarted(hass)
    with pytest.raises(ScopeRefused) as refused:
        home.context.set(GLOBAL, "dog", "Rex")
    assert refused.value.code == "newer_file"
    thread = await home.storage.async_load_thread(THREAD)
    home.storage.save_thread(thread.joined(turn("t9")))
    home.context.set(KITCHEN, "radio", "off")
    await home.storage.async_flush()
    assert [path.read_text() for path in paths] == before
    assert {p.trouble for p in home.problems} == {Trouble.NEWER}
    assert (await restarted(hass)).value(KITCHEN, "radio") == "off"


async def test_a_newer_minor_version_is_read(hass: HomeAssistant, disk: Path) -> None:
    """A small step back reads what it knows and ignores the rest."""
    await with_facts(hass)
    path = disk / "entries" / file_name(GLOBAL)
    data = json.loads(path.read_text())
    data["data"]["entries"][0]["mood"] = "new"
    path.write_text(json.dumps({**data, "minor_version": 7}))
    assert (await restarted(hass)).value(GLOBAL, "cat") == "Minka"


@pytest.mark.parametrize("name", [file_name(GLOBAL), None])
@pytest.mark.no_fail_on_log_exception
async def test_the_index_may_be_lost(hass: HomeAssistant, disk: Path, name: str | None) -> None:
    """Without its index the house still finds everything, as each file says whose it is."""
    await with_facts(hass)
    (disk / "index").write_text("{" if name else '{"version": 1, "data": {"entries": []}}')
    home = await restarted(hass)
    assert home.value(GLOBAL, "cat") == "Minka"
    assert await home.storage.async_thread_keys() == (THREAD,)


async def test_a_full_disk_is_noticed(
    hass: HomeAssistant, disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """When the disk takes nothing the house says so, and what it knows is not in the log."""
    home = await with_facts(hass)
    folder = disk / "entries"
    moved = folder.rename(disk / "away")
    folder.write_text("in the way")
    home.context.set(GLOBAL, "cat", "planted")
    await home.storage.async_flush()
    assert [p.trouble for p in home.problems] == [Trouble.NOT_WRITTEN]
    assert "planted" not in caplog.text
    folder.unlink()
    moved.rename(folder)
    await home.storage.async_flush()
    assert (await restarted(hass)).value(GLOBAL, "cat") == "planted"
    caplog.clear()


@pytest.mark.parametrize(
    ("change", "turns", "lost"),
    [
        ({"turns": 5}, 0, 0),
        ({"key": "assistant/device:other"}, 0, 0),
        ({"turns": [{"id": "x"}]}, 0, 1),
    ],
)
async def test_a_broken_thread_is_kept_aside(
    hass: HomeAssistant, disk: Path, change: dict[str, Any], turns: int, lost: int
) -> None:
    """A damaged history does not stop the conversation, and a copy of it is kept."""
    await with_facts(hass)
    path = disk / "threads" / file_name(THREAD)
    data = json.loads(path.read_text())
    data["data"].update(change)
    path.write_text(json.dumps(data))
    home = await restarted(hass)
    thread = await home.storage.async_load_thread(THREAD)
    assert len(thread.turns) == turns
    (problem,) = home.problems
    assert (problem.trouble, problem.kind, problem.lost) == (Trouble.SHAPE, Kind.THREADS, lost)
    home.storage.save_thread(thread.joined(turn("t2")))
    await home.storage.async_flush()
    assert len((await (await restarted(hass)).storage.async_load_thread(THREAD)).turns) == 1
    await home.storage.async_remove_thread(THREAD)
    assert not texts(disk / "threads")


async def test_a_file_that_cannot_be_read_is_left_alone(hass: HomeAssistant, disk: Path) -> None:
    """When the disk refuses a file, it is not replaced by an empty one."""
    await with_facts(hass)
    path = disk / "entries" / file_name(GLOBAL)
    path.unlink()
    path.mkdir()
    home = await restarted(hass)
    assert [p.trouble for p in home.problems] == [Trouble.UNREADABLE]
    with pytest.raises(ScopeRefused) as refused:
        home.context.set(GLOBAL, "cat", "Minka")
    assert refused.value.code == "unreadable_file"
    assert path.is_dir()


async def test_a_write_that_was_killed_leaves_nothing(hass: HomeAssistant, disk: Path) -> None:
    """What a power cut left half written holds nothing that was forgotten later."""
    first = Home(hass)
    first.context.set(KITCHEN, "code", "4711")
    await first.storage.async_load()
    await first.storage.async_flush()
    left = [disk / "tmpabc123", disk / "entries" / "tmpxyz789"]
    for path in left:
        await hass.async_add_executor_job(path.write_text, "4711")
    await Home(hass).storage.async_load()
    assert not [path for path in left if path.exists()]
