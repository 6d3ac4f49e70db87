"""A memory as one run of Home Assistant has it, for the tests of what is on the disk."""

from pathlib import Path

from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.problems import StorageProblem
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.storage import MemoryStorage
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord

KITCHEN = ScopeKey(Scope.DEVICE, "kitchen")
EVIL = ScopeKey(Scope.PLUGIN, "../../../etc/passwd\x00" + "x" * 400)
THREAD = ThreadKey("assistant", KITCHEN)


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
