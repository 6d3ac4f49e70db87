"""The life of one home's memory, and of a simple model of it: starts, restarts, power cuts.

The real files, the real `Store` of Home Assistant, and a time of their own. What happens between
is in `test_store_machine.py`.

What a kill may take: for each scope and thread what is there afterwards is what was there at some
moment of the last second, or was acknowledged as written; never anything older, or anything else.
"""

import shutil
import tempfile
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Final

from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.entries import ContextEntry
from custom_components.realtime_assist.memory.problems import StorageProblem
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.storage import MemoryStorage
from custom_components.realtime_assist.memory.transcript import ThreadKey

from .history import ANNA, KITCHEN
from .store_model import MAX_BYTES, MAX_ENTRIES, Held, Model, known
from .virtual import Machine

DURABLE: Final = (GLOBAL, KITCHEN, ANNA, ScopeKey(Scope.PLUGIN, "../x"))
SESSIONS: Final = tuple(ScopeKey(Scope.SESSION, name) for name in ("s1", "s2"))
SCOPES: Final = (*DURABLE, *SESSIONS, ScopeKey(Scope.TEMPORARY, "s1"))
THREADS: Final = (ThreadKey("assistant", KITCHEN), ThreadKey("*", GLOBAL))
KEYS: Final = ("a", "b", "c", "d", "ключ", "f")
SECOND: Final = 1.0

type History[T] = list[tuple[float, T]]
type Words = tuple[tuple[str, str], ...]
type Early = Sequence[tuple[ScopeKey, str, int | None]]
"""What is written (or, None, forgotten) before the disk is read."""


class StoreLife(RuleBasedStateMachine):
    """One home, its memory, and what it should remember."""

    def __init__(self) -> None:
        """Begin with an empty disk."""
        super().__init__()
        memory = Path("/dev/shm")  # noqa: S108 - only to be quick, where there is one
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.machine = Machine(self.folder)
        self.model = Model(self.machine.now)
        self.said: dict[ThreadKey, Words] = dict.fromkeys(THREADS, ())
        self.count = 0
        self.problems: list[StorageProblem] = []
        self.scopes: dict[ScopeKey, History[Held]] = {scope: [(0.0, Held())] for scope in DURABLE}
        self.threads: dict[ThreadKey, History[Words]] = {key: [(0.0, ())] for key in THREADS}
        self.start()

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.machine.close()
        shutil.rmtree(self.folder)

    def start(self) -> None:
        """Start what is tested, with nothing read yet."""
        self.context = ContextStore(self.machine.now)
        self.storage = MemoryStorage(self.machine.hass, self.context, self.problems.append)

    @initialize()
    def load(self) -> None:
        """Read what there is."""
        self.machine.run(self._load())

    async def _load(self) -> None:
        await self.storage.async_load()
        for key in THREADS:
            await self.storage.async_load_thread(key)

    def die(self, early: Early) -> None:
        """Start anew with what is on the disk; some is written before that is read."""
        self.machine.kill()
        self.start()
        for scope, key, value in early:
            if value is None:
                self.context.forget(scope, [key])
            else:
                self.context.set(scope, key, value)
        new = {scope: {k: v for where, k, v in early if where == scope} for scope in DURABLE}
        written = {scope: {e.key: e for e in self.context.visible([scope])} for scope in DURABLE}
        self.machine.run(self._load())
        # What was being forgotten is forgotten by now.
        assert not (self.folder / ".storage/realtime_assist/forgetting").exists()
        self.model.restart(
            {scope: self._recovered(scope, new[scope].keys(), written[scope]) for scope in DURABLE}
        )
        for name in THREADS:
            thread = self.storage.thread(name)
            assert thread is not None
            self.said[name] = tuple((turn.id, turn.heard_text or "") for turn in thread.turns)
            assert self.said[name] in self.possible(self.threads[name])
            self.threads[name] = [(0.0, self.said[name])]

    def _recovered(
        self, scope: ScopeKey, new: AbstractSet[str], written: dict[str, ContextEntry]
    ) -> Held:
        """Return what a scope holds now, and see that it may: some state it had, and what is new.

        `new`: keys that were written or forgotten before the file was read.
        """
        now = self.machine.now()
        found = {entry.key: known(entry) for entry in self.context.visible([scope])}
        stones = {key for key in KEYS if self.context.forgotten(scope, key)}
        assert stones & new == new - written.keys()
        assert all(found[key] == known(entry) for key, entry in written.items() if key in found)
        old = {key: replace(e, accessed=e.created) for key, e in found.items() if key not in new}
        fitting = []
        for state in self.possible(self.scopes[scope]):
            left = state.purged(now)
            expected = {key: entry for key, entry in left.entries.items() if key not in new}
            missing = expected.keys() - old.keys() | written.keys() - found.keys()
            held = [*expected.values(), *map(known, written.values())]
            full = len(held) > MAX_ENTRIES or sum(each.size for each in held) > MAX_BYTES
            if (
                all(expected.get(key) == entry for key, entry in old.items())
                and left.stones - new == stones - new
                and (full or not missing)
            ):
                fitting.append(state)
        assert fitting, f"{scope} is nothing that it was: {found}, {stones}"
        self.scopes[scope] = [(self.machine.seconds, state) for state in fitting]
        assert all(entry.updated <= entry.accessed <= now for entry in found.values())
        return Held(found, stones)

    def possible[T](self, history: History[T]) -> list[T]:
        """Return what may be there after a kill now: the last safe state, and all later ones."""
        safe = [n for n, (at, _) in enumerate(history) if at < self.machine.seconds - SECOND]
        return [state for _, state in history[max(safe, default=0) :]]

    def committed(self) -> None:
        """Take it that all is on the disk."""
        self.note()
        self.scopes = {scope: [(0.0, past[-1][1])] for scope, past in self.scopes.items()}
        self.threads = {key: [(0.0, past[-1][1])] for key, past in self.threads.items()}

    def note(self) -> None:
        """Note what is so now, where it is something else than before."""
        now = self.machine.seconds
        for scope, past in self.scopes.items():
            state = self.model.of(scope).saved()
            if past[-1][1] != state:
                past.append((now, state))
        for key, told in self.threads.items():
            if told[-1][1] != self.said[key]:
                told.append((now, self.said[key]))

    @invariant()
    def is_as_the_model_says(self) -> None:
        """Whatever happened: each scope and each thread holds just what it should."""
        for scope in SCOPES:
            held = self.model.of(scope)
            found = {entry.key: known(entry) for entry in self.context.visible([scope])}
            assert found == held.entries, scope
            assert {k for k in KEYS if self.context.forgotten(scope, k)} == held.stones, scope
        for key in THREADS:
            thread = self.storage.thread(key)
            turns = thread.turns if thread else ()
            assert tuple((turn.id, turn.heard_text) for turn in turns) == self.said[key]
        assert not self.problems
        self.note()
