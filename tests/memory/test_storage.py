"""What is remembered survives: restarts, power cuts, broken and newer files."""

import asyncio
import json
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.context import ContextStore, ScopeRefused
from custom_components.realtime_assist.memory.entries import Retention
from custom_components.realtime_assist.memory.files import file_name
from custom_components.realtime_assist.memory.problems import Kind, StorageProblem, Trouble
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.storage import MAX_FLEETING, MemoryStorage
from custom_components.realtime_assist.memory.transcript import Thread, ThreadKey, TurnRecord

KITCHEN = ScopeKey(Scope.DEVICE, "kitchen")
EVIL = ScopeKey(Scope.PLUGIN, "../../../etc/passwd\x00" + "x" * 400)
THREAD = ThreadKey("assistant", KITCHEN)
BROKEN_ENTRIES = json.dumps(
    {
        "version": 1,
        "minor_version": 1,
        "key": "k",
        "data": {"scope": "global:home", "entries": 5, "tombstones": []},
    }
)


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Let Home Assistant use the disk: what is tested is what a restart finds."""
    return {}


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Give it a folder of its own."""
    return str(tmp_path)


@pytest.fixture
def disk(hass: HomeAssistant) -> Path:
    """Return our part of the storage folder."""
    return Path(hass.config.path(".storage", "realtime_assist"))


class Home:
    """A memory, as one run of Home Assistant has it."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start."""
        self.problems: list[StorageProblem] = []
        self.context = ContextStore(dt_util.utcnow)
        self.storage = MemoryStorage(hass, self.context, self.problems.append)

    def value(self, scope: ScopeKey, key: str) -> object:
        """Return a value, None if there is none."""
        entry = self.context.get([scope], key)
        return entry and entry.value


def texts(folder: Path) -> str:
    """Return all that stands in the files of a folder."""
    return "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())


async def restarted(hass: HomeAssistant) -> Home:
    """Return the memory as the next start has it."""
    home = Home(hass)
    await home.storage.async_load()
    return home


async def with_facts(hass: HomeAssistant) -> Home:
    """Return a memory with something in two scopes and a thread, all on the disk."""
    home = await restarted(hass)
    home.context.set(GLOBAL, "cat", "Minka")
    home.context.set(KITCHEN, "radio", "SWR3")
    thread = await home.storage.async_load_thread(THREAD)
    home.storage.save_thread(thread.joined(turn("t1")))
    await home.storage.async_flush()
    return home


def turn(name: str) -> TurnRecord:
    """Return a turn."""
    return TurnRecord(id=name, at=dt_util.now(), heard_text="Wie heißt die Katze? 猫の名前は 🐈")


async def test_restart_keeps_facts_and_history(hass: HomeAssistant) -> None:
    """After a restart the house knows what it was told, in every script."""
    await with_facts(hass)
    home = await restarted(hass)
    assert home.value(GLOBAL, "cat") == "Minka"
    assert home.value(KITCHEN, "radio") == "SWR3"
    thread = await home.storage.async_load_thread(THREAD)
    assert [t.heard_text for t in thread.turns] == [turn("t1").heard_text]
    assert thread.next_number == 2
    assert not home.problems


async def test_steady_changes_reach_the_disk_within_a_second(
    hass: HomeAssistant, disk: Path
) -> None:
    """A power cut loses at most a second, even when something changes all the time."""
    home = await restarted(hass)
    path = disk / "entries" / file_name(GLOBAL)
    began = time.monotonic()
    behind = 0.0
    for count in range(30):
        home.context.set(GLOBAL, "count", count)
        written_at = time.monotonic()
        await asyncio.sleep(0.1)
        seen = json.loads(path.read_text())["data"]["entries"][0]["value"] if path.exists() else -1
        behind = max(behind, (count - seen) * 0.1 if seen >= 0 else written_at + 0.1 - began)
    assert behind <= 1.05
    await asyncio.sleep(1)
    assert json.loads(path.read_text())["data"]["entries"][0]["value"] == 29


async def test_stop_writes_what_is_behind(hass: HomeAssistant) -> None:
    """What was said in the last second before a restart is not lost."""
    home = await restarted(hass)
    home.context.set(GLOBAL, "cat", "Minka")
    hass.set_state(CoreState.stopping)
    home.context.set(KITCHEN, "radio", "SWR3")
    hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await hass.async_block_till_done()
    hass.set_state(CoreState.running)
    again = await restarted(hass)
    assert (again.value(GLOBAL, "cat"), again.value(KITCHEN, "radio")) == ("Minka", "SWR3")


async def test_any_name_stays_in_the_folder_and_private(hass: HomeAssistant, disk: Path) -> None:
    """A namespace that an automation makes up cannot write elsewhere, and nobody else reads it."""
    home = await restarted(hass)
    home.context.set(EVIL, "key", 1)
    await home.storage.async_flush()
    path = disk / "entries" / file_name(EVIL)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (await restarted(hass)).value(EVIL, "key") == 1


async def test_fleeting_memory_never_reaches_the_disk(hass: HomeAssistant, disk: Path) -> None:
    """What was meant for this conversation only is in no file."""
    home = await restarted(hass)
    home.context.set(ScopeKey(Scope.SESSION, "s"), "a", "planted")
    home.context.set(ScopeKey(Scope.TEMPORARY, "s"), "b", "planted")
    home.context.set(GLOBAL, "c", "planted", retention=Retention.IMMEDIATE)
    home.context.set(GLOBAL, "d", "planted", retention=Retention.SESSION_END)
    key = ThreadKey("a", ScopeKey(Scope.SESSION, "s"))
    thread = await home.storage.async_load_thread(key)
    home.storage.save_thread(
        thread.joined(TurnRecord(id="t", at=dt_util.now(), heard_text="planted"))
    )
    await home.storage.async_flush()
    assert home.storage.thread(key) != thread
    for count in range(MAX_FLEETING):
        other = ThreadKey("a", ScopeKey(Scope.SESSION, f"s{count}"))
        home.storage.save_thread(Thread(key=other).joined(turn("t")))
    assert home.storage.thread(key) is None
    assert "planted" not in texts(disk)


async def test_forgotten_is_gone_from_the_disk_and_stays_gone(
    hass: HomeAssistant, disk: Path
) -> None:
    """Forget means forget: no file has it, and no summary brings it back after a restart."""
    home = await restarted(hass)
    home.context.set(GLOBAL, "secret key", "planted")
    home.context.set(GLOBAL, "secret key", "planted again")
    await home.storage.async_flush()
    home.context.forget(GLOBAL, ["secret key"])
    await home.storage.async_flush()
    assert "planted" not in texts(disk)
    assert "secret" not in texts(disk)
    again = await restarted(hass)
    assert again.context.learn(GLOBAL, "secret key", "planted") is None


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


async def test_an_early_write_does_not_overwrite_what_is_not_read_yet(hass: HomeAssistant) -> None:
    """An action right at the start adds to the memory instead of replacing it."""
    await with_facts(hass)
    before = await restarted(hass)
    before.context.set(GLOBAL, "bird", "Hansi")
    await before.storage.async_flush()
    home = Home(hass)
    home.context.set(GLOBAL, "dog", "Rex")
    home.context.set(GLOBAL, "cat", "Mohrle")
    await home.storage.async_flush()
    await home.storage.async_load_scopes([GLOBAL, ScopeKey(Scope.SESSION, "s")])
    await home.storage.async_flush()
    again = await restarted(hass)
    held = {entry.key: entry.value for entry in again.context.visible([GLOBAL])}
    assert held == {"bird": "Hansi", "cat": "Mohrle", "dog": "Rex"}


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


async def test_remove_all_leaves_nothing(hass: HomeAssistant, disk: Path) -> None:
    """Who removes the integration removes its memory, also what was about to be written."""
    home = await with_facts(hass)
    home.context.set(GLOBAL, "dog", "Rex")
    (disk / "entries" / "copy.aside.x").write_text("old")
    await home.storage.async_remove_all()
    home.context.set(GLOBAL, "dog", "Bello")
    await asyncio.sleep(1)
    assert not texts(disk)


async def test_a_removed_thread_is_gone(hass: HomeAssistant, disk: Path) -> None:
    """A removed history leaves no file, and the others stay."""
    home = await with_facts(hass)
    await home.storage.async_remove_thread(THREAD)
    await home.storage.async_flush()
    assert not texts(disk / "threads")
    assert await home.storage.async_load_thread(THREAD) == Thread(key=THREAD)
    assert await (await restarted(hass)).storage.async_thread_keys() == ()


async def test_a_thread_must_be_read_before_it_is_written(hass: HomeAssistant) -> None:
    """A history is never replaced by one that begins today."""
    home = await restarted(hass)
    with pytest.raises(LookupError):
        home.storage.save_thread(Thread(key=THREAD).joined(turn("t")))


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


async def test_threads_are_found_without_an_index(hass: HomeAssistant, disk: Path) -> None:
    """A lost or forged index hides no history from a forget."""
    await with_facts(hass)
    index = json.loads((disk / "index").read_text())
    index["data"]["threads"] = {file_name(THREAD): "somebody/device:else"}
    (disk / "index").write_text(json.dumps(index))
    home = await restarted(hass)
    assert await home.storage.async_thread_keys() == (THREAD,)
    thread = home.storage.thread(THREAD)
    assert thread is not None
    home.storage.save_thread(thread.without(["Katze"]))
    await home.storage.async_flush()
    assert "Katze" not in texts(disk)


async def test_words_are_forgotten_in_every_history(hass: HomeAssistant, disk: Path) -> None:
    """Forget the cat, and no history of any room tells of it, on the disk or in memory."""
    home = await with_facts(hass)
    other = ThreadKey("assistant", GLOBAL)
    thread = (await home.storage.async_load_thread(other)).joined(
        TurnRecord(id="x", at=dt_util.now(), heard_text="Guten Morgen")
    )
    home.storage.save_thread(thread.joined(turn("y")))
    await home.storage.async_flush()
    again = await restarted(hass)
    assert await again.storage.async_forget_words(["katze", " "]) == {
        THREAD: ("t1",),
        other: ("y",),
    }
    assert "Katze" not in texts(disk)
    assert "katze" not in texts(disk)
    assert "Guten Morgen" in texts(disk)
    assert await again.storage.async_forget_words([]) == {}


@pytest.mark.parametrize("lazily", [True, False])
async def test_an_interrupted_forgetting_is_ended(
    hass: HomeAssistant, disk: Path, *, lazily: bool
) -> None:
    """A power cut in the middle of forgetting brings nothing back."""
    await with_facts(hass)
    (disk / "forgetting").write_text(
        json.dumps({"version": 1, "minor_version": 1, "key": "k", "data": {"words": ["Katze", 5]}})
    )
    home = Home(hass)
    if lazily:
        assert (await home.storage.async_load_thread(THREAD)).turns == ()
    await home.storage.async_load()
    assert "Katze" not in texts(disk)
    assert not (disk / "forgetting").exists()
    assert (await home.storage.async_load_thread(THREAD)).turns == ()


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


async def test_after_closing_nothing_is_followed(hass: HomeAssistant) -> None:
    """A memory that was closed leaves the next one alone; what it knew is still written."""
    home = await with_facts(hass)
    home.context.set(GLOBAL, "dog", "Rex")
    home.storage.close()
    home.context.set(KITCHEN, "radio", "late")
    await home.storage.async_flush()
    again = await restarted(hass)
    assert (again.value(GLOBAL, "dog"), again.value(KITCHEN, "radio")) == ("Rex", "SWR3")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["set", "set", "forget", "clear", "flush", "restart"]),
        st.sampled_from([GLOBAL, KITCHEN, EVIL]),
        st.sampled_from(["a", "b", "ключ"]),
        st.integers() | st.text(),
    ),
    max_size=12,
)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
async def test_any_history_of_changes_survives_any_restart(
    hass: HomeAssistant, disk: Path, steps: list[tuple[str, ScopeKey, str, Any]]
) -> None:
    """Whatever was set, forgotten and restarted in whatever order: the disk agrees."""
    home, known = await restarted(hass), dict[tuple[ScopeKey, str], Any]()
    for what, scope, key, value in [*steps, ("restart", GLOBAL, "", 0)]:
        storable = not isinstance(value, int) or -(2**63) <= value < 2**64
        match what:
            case "set" if storable:
                home.context.set(scope, key, value)
                known[scope, key] = value
            case "forget":
                home.context.forget(scope, [key])
                known.pop((scope, key), None)
            case "clear":
                home.context.clear(scope)
                known = {held: v for held, v in known.items() if held[0] != scope}
            case "flush":
                await home.storage.async_flush()
            case "restart":
                await home.storage.async_flush()
                home.storage.close()
                home = await restarted(hass)
        held = home.context.visible([GLOBAL, KITCHEN, EVIL])
        assert {(e.scope, e.key): e.value for e in held} == known
    await home.storage.async_remove_all()
    assert not texts(disk)


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
