"""The store against a simple model of it, over any sequence of writes, time, restarts and kills.

The real files, the real `Store` of Home Assistant, and a time of their own. In the suite it is
short and always the same; `REALTIME_ASSIST_LONGER=20 scripts/test
tests/memory/test_store_machine.py` tries 20 times as many sequences, new ones each time.
"""

from collections.abc import Iterator
from typing import Any, Final
from unittest.mock import patch

import pytest
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CoreState
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    rule,
    run_state_machine_as_test,
)

from custom_components.realtime_assist.memory import held as held_module
from custom_components.realtime_assist.memory import writing
from custom_components.realtime_assist.memory.context import ScopeRefused
from custom_components.realtime_assist.memory.entries import Retention
from custom_components.realtime_assist.memory.scopes import GLOBAL, ScopeKey
from custom_components.realtime_assist.memory.transcript import ThreadKey, TurnRecord
from custom_components.realtime_assist.memory.writing import EntryOptions
from tests.longer import LONGER

from .store_life import DURABLE, KEYS, SCOPES, SESSIONS, THREADS, Early, StoreLife, Words
from .store_model import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_PREVIOUS,
    Refused,
    known,
)

WORDS: Final = ("lamp", "Minka", "tea")

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


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    """Let scopes be full soon."""
    with (
        patch.object(held_module, "MAX_ENTRIES", MAX_ENTRIES),
        patch.object(held_module, "MAX_BYTES", MAX_BYTES),
        patch.object(writing, "MAX_PREVIOUS", MAX_PREVIOUS),
    ):
        yield


class StoreMachine(StoreLife):
    """All that may happen to a home and its memory."""

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
        """Forget all of a scope; what was over already as well, though that was not there."""
        if scope.id in self.model.ended:
            return
        there = set(self.model.of(scope).entries)
        assert set(self.context.clear(scope)) == there
        self.model.forget(scope, there)
        self.model.of(scope).stones |= {key for key in KEYS if self.context.forgotten(scope, key)}

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
        self.committed()

    @rule(word=st.sampled_from(WORDS), steps=st.integers(1, 40))
    def forget_words_and_die(self, word: str, steps: int) -> None:
        """Cut the power while something is forgotten: all of it is gone, or nothing."""
        held = {
            key
            for key, past in self.threads.items()
            if all(_clean(said, word) != said for said in self.possible(past))
        }
        done = self.machine.run_steps(self.storage.async_forget_words([word]), steps)
        self._without(word)
        if done:
            self.committed()
        else:
            self.note()
            # What was said last may be lost; what is left is forgotten all the same.
            for past in self.threads.values():
                at = self.machine.seconds
                past += [(at, _clean(said, word)) for said in self.possible(past)]
        self.die(())
        left = {key for key in THREADS if _clean(self.said[key], word) != self.said[key]}
        assert not left or not done
        assert held <= left or not held & left

    def _without(self, word: str) -> None:
        self.said = {key: _clean(said, word) for key, said in self.said.items()}

    # The disk

    @rule()
    def flush(self) -> None:
        """Write all: it is there, whatever comes."""
        self.machine.run(self.storage.async_flush())
        self.committed()

    @rule(early=EARLY, events=st.booleans(), last=SOME)
    def restart(self, early: Early, *, events: bool, last: list[ScopeKey]) -> None:
        """Home Assistant stops as it should, and starts again: also what was used is known then."""
        for scope in last:
            for key in KEYS:
                self.read([scope], key)
        used = {
            (scope, key): entry.accessed
            for scope in DURABLE
            for key, entry in self.model.of(scope).entries.items()
        }
        if events:
            hass = self.machine.hass
            hass.set_state(CoreState.stopping)
            hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
            self.machine.sleep(0.01)
            hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
            self.machine.sleep(0.01)
        else:
            self.machine.run(self.storage.async_flush())
        self.committed()
        self.die(early)
        new = {(scope, key) for scope, key, _ in early}
        for (scope, key), at in used.items():
            entry = self.model.of(scope).entries.get(key)
            if events and entry and (scope, key) not in new:
                assert entry.accessed == at

    @rule(early=EARLY)
    def kill(self, early: Early) -> None:
        """Cut the power."""
        self.die(early)


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
