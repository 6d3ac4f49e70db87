"""The store against a simple model of it, over any sequence of writes, time, restarts and kills.

The real files, the real `Store` of Home Assistant, and a time of their own. In the suite it is
short and always the same; `REALTIME_ASSIST_LONGER=20 scripts/test
tests/memory/test_store_machine.py` tries 20 times as many sequences, new ones each time.

What a kill may take: for each scope and thread what is there afterwards is what was there at some
moment of the last second, or was acknowledged as written; never anything older, or anything else.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import CoreState
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from custom_components.realtime_assist.memory import held as held_module
from custom_components.realtime_assist.memory import writing
from custom_components.realtime_assist.memory.context import ContextStore, ScopeRefused
from custom_components.realtime_assist.memory.entries import ContextEntry, Retention
from custom_components.realtime_assist.memory.problems import StorageProblem
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from custom_components.realtime_assist.memory.storage import MemoryStorage
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord
from custom_components.realtime_assist.memory.writing import EntryOptions
from tests.longer import LONGER

from .history import ANNA, KITCHEN
from .store_model import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_PREVIOUS,
    Held,
    Model,
    Refused,
    known,
)
from .virtual import Machine

DURABLE: Final = (GLOBAL, KITCHEN, ANNA, ScopeKey(Scope.PLUGIN, "../x"))
SESSIONS: Final = tuple(ScopeKey(Scope.SESSION, name) for name in ("s1", "s2"))
SCOPES: Final = (*DURABLE, *SESSIONS, ScopeKey(Scope.TEMPORARY, "s1"))
THREADS: Final = (ThreadKey("assistant", KITCHEN), ThreadKey("*", GLOBAL))
KEYS: Final = ("a", "b", "c", "d", "ключ", "f")
WORDS: Final = ("lamp", "Minka", "tea")
SECOND: Final = 1.0

SCOPE = st.sampled_from((*[GLOBAL] * 6, *DURABLE, *SCOPES))
"""Mostly one, so that it becomes full."""
KEY = st.sampled_from(KEYS)
VALUES = st.sampled_from((None, True, 1, "one", "two", {"x": [1.5, "ü"]}, "long " * 40))
SOME = st.lists(st.sampled_from(SCOPES), unique=True) | st.just([GLOBAL])
OWNER = st.sampled_from((None, "t1", "t2", *map(str, SESSIONS)))
ANY_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "retention": st.sampled_from(Retention),
        "expires_in": st.sampled_from((None, 0, 2, 60, -1)),
        "sliding": st.booleans(),
        "max_turns": st.sampled_from((None, 0, 1, 3, -1)),
        "tags": st.sampled_from(((), ("x", "y", "x"))),
        "priority": st.integers(-1, 1),
        "metadata": st.sampled_from(({}, {"from": ["calendar"]})),
        "pinned": st.booleans(),
        "source": st.sampled_from(("", "tool")),
        "owner": OWNER,
    },
)
OPTIONS: st.SearchStrategy[Any] = (
    st.just({})
    | st.fixed_dictionaries({"expires_in": st.sampled_from((2, 60)), "sliding": st.booleans()})
    | st.fixed_dictionaries({"max_turns": st.integers(1, 3), "owner": OWNER})
    | st.fixed_dictionaries(
        {
            "retention": st.sampled_from((Retention.IMMEDIATE, Retention.SESSION_END)),
            "owner": OWNER,
        }
    )
    | st.fixed_dictionaries({"priority": st.integers(-1, 1), "pinned": st.booleans()})
    | ANY_OPTIONS
)
EARLY = st.lists(
    st.tuples(st.sampled_from(DURABLE), KEY, st.none() | st.integers(0, 3)), max_size=3
)

type History[T] = list[tuple[float, T]]
type Words = tuple[tuple[str, str], ...]


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    """Let scopes be full soon."""
    with (
        patch.object(held_module, "MAX_ENTRIES", MAX_ENTRIES),
        patch.object(held_module, "MAX_BYTES", MAX_BYTES),
        patch.object(writing, "MAX_PREVIOUS", MAX_PREVIOUS),
    ):
        yield


class StoreMachine(RuleBasedStateMachine):
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

    # Writing

    @rule(scope=SCOPE, key=KEY, value=VALUES, options=OPTIONS, learned=st.booleans())
    def write(
        self, scope: ScopeKey, key: str, value: object, options: EntryOptions, *, learned: bool
    ) -> None:
        """Set an entry, as somebody asked for or as a summary finds it."""
        self.machine.sleep(0.001)
        write = self.context.learn if learned else self.context.set
        if learned and key in self.model.of(scope).stones:
            assert write(scope, key, value, **options) is None
            return
        try:
            expected = self.model.write(scope, key, value, options)
        except Refused:
            with pytest.raises((ValueError, ScopeRefused)):
                self.context.check(scope, key, value, **options)
            with pytest.raises((ValueError, ScopeRefused)):
                write(scope, key, value, **options)
            return
        entry = write(scope, key, value, **options)
        assert entry is not None
        assert known(entry) == expected

    @rule(scope=SCOPE, key=KEY)
    def roll_back(self, scope: ScopeKey, key: str) -> None:
        """Take an earlier value again."""
        before = self.model.of(scope).entries.get(key)
        if scope.id in self.model.ended:
            return
        found = self.context.roll_back(scope, key)
        if before is None or not before.previous:
            assert found is None
            return
        assert found is not None
        assert known(found) == self.model.write(scope, key, found.value, {})
        assert known(found).value == before.previous[-1]

    @rule(scope=SCOPE, keys=st.sets(KEY, min_size=1, max_size=3))
    def forget(self, scope: ScopeKey, keys: set[str]) -> None:
        """Forget some keys."""
        if scope.id in self.model.ended:
            with pytest.raises(ScopeRefused):
                self.context.forget(scope, keys)
            return
        there = self.model.forget(scope, keys)
        assert there <= set(self.context.forget(scope, keys)) <= keys

    @rule(scope=SCOPE)
    def clear(self, scope: ScopeKey) -> None:
        """Forget all of a scope. What is over may be forgotten, too: that was there."""
        if scope.id in self.model.ended:
            return
        there = set(self.model.of(scope).entries)
        gone = set(self.context.clear(scope))
        assert there <= gone
        self.model.forget(scope, gone)

    # Using

    @rule(scopes=SOME, key=KEY)
    def read(self, scopes: list[ScopeKey], key: str) -> None:
        """Read what is visible first."""
        self.machine.sleep(0.001)
        found = self.context.get(scopes, key)
        assert (known(found) if found else None) == self.model.get(scopes, key)

    @rule(scopes=SOME, turn=st.sampled_from((None, "t1", "t2")))
    def end_turn(self, scopes: list[ScopeKey], turn: str | None) -> None:
        """End a turn."""
        self.context.new_turn(scopes, turn)
        self.model.new_turn(scopes, turn)

    @rule(session=st.sampled_from(SESSIONS), scopes=SOME)
    def end_session(self, session: ScopeKey, scopes: list[ScopeKey]) -> None:
        """End a session."""
        self.context.end_session(session, scopes)
        self.model.end_session(session, scopes)

    @rule()
    def expire(self) -> None:
        """Clean up: nobody sees a difference."""
        self.context.expire()

    @rule(seconds=st.sampled_from((0.05, 0.3, 0.79, 0.81, 0.95, 1.05, 2, 61, 4000)))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.machine.sleep(seconds)

    # What is said

    @rule(key=st.sampled_from(THREADS), word=st.sampled_from(WORDS))
    def say(self, key: ThreadKey, word: str) -> None:
        """Let a turn join a thread."""
        self.count += 1
        name, said = f"turn{self.count}", f"The {word}."
        turn = TurnRecord(id=name, at=self.machine.now(), heard_text=said)
        thread = self.storage.thread(key)
        assert thread is not None
        self.storage.save_thread(thread.joined(turn))
        self.said[key] = (*self.said[key], (name, said))

    @rule(key=st.sampled_from(THREADS))
    def remove_thread(self, key: ThreadKey) -> None:
        """Remove a thread, for good."""
        self.machine.run(self._remove(key))
        self.said[key] = ()
        self.threads[key] = [(self.machine.seconds, ())]

    async def _remove(self, key: ThreadKey) -> None:
        await self.storage.async_remove_thread(key)
        await self.storage.async_load_thread(key)

    @rule(word=st.sampled_from(WORDS))
    def forget_words(self, word: str) -> None:
        """Forget what was said in a word, on the disk as well."""
        self.machine.run(self.storage.async_forget_words([word]))
        self._without(word)
        self._committed()

    @rule(word=st.sampled_from(WORDS), steps=st.integers(1, 40))
    def forget_words_and_die(self, word: str, steps: int) -> None:
        """Cut the power while something is forgotten: all of it is gone, or nothing."""
        done = self.machine.run_steps(self.storage.async_forget_words([word]), steps)
        before = dict(self.said)
        self._without(word)
        if done:
            self._committed()
        self._note()
        self._kill(())
        after = {key: self.said[key] for key in THREADS if _clean(before[key], word) != before[key]}
        whole = [key for key, said in after.items() if any(word in text for _, text in said)]
        assert not whole or not done
        assert not whole or all(after.values())

    def _without(self, word: str) -> None:
        self.said = {key: _clean(said, word) for key, said in self.said.items()}

    # The disk

    @rule()
    def flush(self) -> None:
        """Write all: it is there, whatever comes."""
        self.machine.run(self.storage.async_flush())
        self._committed()

    @rule(early=EARLY, events=st.booleans())
    def restart(self, early: list[tuple[ScopeKey, str, int | None]], *, events: bool) -> None:
        """Home Assistant stops as it should, and starts again."""
        if events:
            hass = self.machine.hass
            hass.set_state(CoreState.stopping)
            hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
            self.machine.sleep(0.01)
        else:
            self.machine.run(self.storage.async_flush())
        self._committed()
        self._kill(early)

    @rule(early=EARLY)
    def kill(self, early: list[tuple[ScopeKey, str, int | None]]) -> None:
        """Cut the power."""
        self._kill(early)

    def _kill(self, early: Sequence[tuple[ScopeKey, str, int | None]]) -> None:
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
            assert self.said[name] in self._possible(self.threads[name])
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
        for state in self._possible(self.scopes[scope]):
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

    def _possible[T](self, history: History[T]) -> list[T]:
        """Return what may be there after a kill now: the last safe state, and all later ones."""
        safe = [n for n, (at, _) in enumerate(history) if at < self.machine.seconds - SECOND]
        return [state for _, state in history[max(safe, default=0) :]]

    def _committed(self) -> None:
        """Take it that all is on the disk."""
        self._note()
        self.scopes = {scope: [(0.0, past[-1][1])] for scope, past in self.scopes.items()}
        self.threads = {key: [(0.0, past[-1][1])] for key, past in self.threads.items()}

    def _note(self) -> None:
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
        self._note()


def _clean(said: Words, word: str) -> Words:
    return tuple(turn for turn in said if word not in turn[1])


@pytest.mark.timeout(600 + 60 * LONGER)
def test_the_store_does_what_it_should_whatever_happens() -> None:
    """Nothing forgotten comes back, nothing kept is lost, and all is in its place, always."""
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=200 * LONGER,
            stateful_step_count=40,
            deadline=None,
            derandomize=LONGER == 1,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
