"""What was forgotten or removed is on no disk."""

import asyncio
import json
from pathlib import Path

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.files import file_name
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.storage import MemoryStorage
from custom_components.realtime_assist.memory.transcript import Thread, ThreadKey, TurnRecord

from .at_home import THREAD, Home, restarted, texts, turn, with_facts
from .virtual import Machine


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


async def test_a_removed_thread_is_gone(hass: HomeAssistant, disk: Path) -> None:
    """A removed history leaves no file, and the others stay."""
    home = await with_facts(hass)
    await home.storage.async_remove_thread(THREAD)
    await home.storage.async_flush()
    assert not texts(disk / "threads")
    assert await home.storage.async_load_thread(THREAD) == Thread(key=THREAD)
    assert await (await restarted(hass)).storage.async_thread_keys() == ()


async def test_remove_all_leaves_nothing(hass: HomeAssistant, disk: Path) -> None:
    """Who removes the integration removes its memory, also what was about to be written."""
    home = await with_facts(hass)
    home.context.set(GLOBAL, "dog", "Rex")
    (disk / "entries" / "copy.aside.x").write_text("old")
    await home.storage.async_remove_all()
    home.context.set(GLOBAL, "dog", "Bello")
    await asyncio.sleep(1)
    assert not texts(disk)


def test_a_power_cut_at_any_moment_leaves_all_or_nothing(tmp_path: Path) -> None:
    """Whatever moment the power goes: what was to be forgotten is gone everywhere, or nowhere."""
    keys = (THREAD, ThreadKey("assistant", GLOBAL))
    machine = Machine(tmp_path)
    outcomes: list[bool] = []
    for steps in range(1, 80):
        storage = MemoryStorage(machine.hass, ContextStore(machine.now))
        for key in keys:
            thread = machine.run(storage.async_load_thread(key))
            if not thread.turns:
                said = TurnRecord(id="t", at=machine.now(), heard_text="The parrot is hungry.")
                storage.save_thread(thread.joined(said))
        machine.run(storage.async_flush())
        done = machine.run_steps(storage.async_forget_words(["parrot"]), steps)
        machine.kill()
        again = MemoryStorage(machine.hass, ContextStore(machine.now))
        machine.run(again.async_load())
        left = [bool(machine.run(again.async_load_thread(key)).turns) for key in keys]
        assert left in ([True, True], [False, False]), steps
        assert not done or not any(left)
        outcomes.append(any(left))
        machine.run(again.async_flush())
        again.close()
    assert outcomes[0]
    assert not outcomes[-1]
    machine.close()
