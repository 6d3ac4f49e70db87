"""What is remembered survives restarts and power cuts."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers.storage import Store
from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.disk import AT_ONCE
from custom_components.realtime_assist.memory.entries import Retention
from custom_components.realtime_assist.memory.files import file_name
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.storage import MAX_FLEETING, MemoryStorage
from custom_components.realtime_assist.memory.transcript import Thread, ThreadKey, TurnRecord

from .at_home import EVIL, KITCHEN, THREAD, Home, restarted, texts, turn, with_facts
from .virtual import Machine


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


def test_steady_changes_reach_the_disk_within_a_second(tmp_path: Path) -> None:
    """A power cut loses at most a second, even when something changes all the time."""
    machine = Machine(tmp_path)
    context = ContextStore(machine.now)
    storage = MemoryStorage(machine.hass, context)
    machine.run(storage.async_load())
    path = tmp_path / ".storage/realtime_assist/entries" / file_name(GLOBAL)
    for count in range(60):
        context.set(GLOBAL, "count", count)
        machine.sleep(0.1)
        if count >= 9:
            stored = json.loads(path.read_text())["data"]["entries"]
            assert stored[0]["value"] >= count - 9
    machine.close()


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


async def test_what_is_used_often_is_known_as_such_after_a_restart(hass: HomeAssistant) -> None:
    """A fact that is asked for every day is not the first to go when there is no room."""
    home = await with_facts(hass)
    before = {entry.key: entry.accessed for entry in home.context.visible([GLOBAL, KITCHEN])}
    home.context.get([GLOBAL], "cat")
    hass.set_state(CoreState.stopping)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
    await hass.async_block_till_done()
    hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await hass.async_block_till_done()
    hass.set_state(CoreState.running)
    again = await restarted(hass)
    after = {entry.key: entry.accessed for entry in again.context.visible([GLOBAL, KITCHEN])}
    assert after["cat"] > before["cat"]
    assert after["radio"] == before["radio"]
    for memory in (home, again):
        memory.storage.close()
        memory.storage.close()


async def test_many_files_are_not_written_all_at_once(
    hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change in every room lets the house go on while it is written."""
    home = await restarted(hass)
    writing, most = 0, 0
    write = Store._async_write_data

    async def counted(file: Store[Any], data: dict[str, Any]) -> None:
        nonlocal writing, most
        writing += 1
        most = max(most, writing)
        await write(file, data)
        writing -= 1

    monkeypatch.setattr(Store, "_async_write_data", counted)
    rooms = [ScopeKey(Scope.AREA, f"room {number}") for number in range(30)]
    for room in rooms:
        home.context.set(room, "lamp", "on")
    hass.set_state(CoreState.stopping)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await hass.async_block_till_done()
    hass.set_state(CoreState.running)
    assert most == AT_ONCE
    assert len((await restarted(hass)).context.visible(rooms)) == len(rooms)


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


async def test_a_thread_must_be_read_before_it_is_written(hass: HomeAssistant) -> None:
    """A history is never replaced by one that begins today."""
    home = await restarted(hass)
    with pytest.raises(LookupError):
        home.storage.save_thread(Thread(key=THREAD).joined(turn("t")))


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
