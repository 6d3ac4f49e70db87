"""What is remembered stays as long as it should, for whom it should, and no longer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory import context as context_module
from custom_components.realtime_assist.memory import held as held_module
from custom_components.realtime_assist.memory.context import ContextStore, ScopeRefused
from custom_components.realtime_assist.memory.entries import NotJson, Retention
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey, visible_keys

KITCHEN = ScopeKey(Scope.DEVICE, "kitchen")
ANNA = ScopeKey(Scope.SPEAKER, "anna")
SESSION = ScopeKey(Scope.SESSION, "s1")
TEMPORARY = ScopeKey(Scope.TEMPORARY, "s1")


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        """Start at some moment."""
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def pass_(self, **time: float) -> None:
        """Move it forward."""
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


@pytest.fixture
def store(clock: Clock) -> ContextStore:
    """Return an empty memory."""
    return ContextStore(clock)


def value(store: ContextStore, scope: ScopeKey, key: str) -> object:
    """Return a value, or what says that there is none."""
    entry = store.get([scope], key)
    return entry.value if entry else "nothing"


def reloaded(store: ContextStore, clock: Clock, *scopes: ScopeKey) -> ContextStore:
    """Return the memory as it is after a restart."""
    again = ContextStore(clock)
    for scope in scopes:
        assert again.load(scope, store.dump(scope)) == 0
    return again


def test_the_narrowest_scope_answers(store: ContextStore) -> None:
    """What is said of the kitchen counts there more than what is said of the home."""
    store.set(GLOBAL, "radio", "SWR3")
    store.set(KITCHEN, "radio", None)
    assert store.get(visible_keys(device="kitchen"), "radio") == store.get([KITCHEN], "radio")
    assert value(store, KITCHEN, "radio") is None
    assert store.get(visible_keys(device="hall"), "radio") == store.get([GLOBAL], "radio")


def test_nobody_reads_what_is_not_theirs(store: ContextStore) -> None:
    """What is Anna's is not found by a turn in which nobody is known."""
    store.set(ANNA, "diet", "vegan")
    assert store.get(visible_keys(device="kitchen"), "diet") is None
    assert store.visible(visible_keys(speaker="ben")) == ()
    assert [e.key for e in store.visible(visible_keys(speaker="anna"))] == ["diet"]


def test_values_are_copies(store: ContextStore) -> None:
    """A script that changes its own list later does not change the memory, nor its past."""
    mine: dict[str, Any] = {"list": [1]}
    store.set(GLOBAL, "a", mine, metadata=mine, tags=["x"])
    mine["list"].append(2)
    entry = store.get([GLOBAL], "a")
    assert entry is not None
    entry.value["list"].append(3)
    entry.metadata["list"].append(3)
    store.set(GLOBAL, "a", 5)
    again = store.get([GLOBAL], "a")
    assert again is not None
    assert (entry.value, entry.metadata) == ({"list": [1]}, {"list": [1]})
    assert [old.value_json for old in again.previous] == ['{"list":[1]}']


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        ({1}, "set"),
        (b"x", "bytes"),
        (float("nan"), "number that is not finite"),
        ({"a": [{"b": datetime.now(UTC)}]}, "datetime"),
        ({1: 2}, "mapping with a key of type int"),
        (2**70, "integer of more than 64 bits"),
        ("\ud800", "text with lone surrogates"),
    ],
)
def test_what_the_disk_cannot_keep_is_refused_at_the_door(
    store: ContextStore, bad: object, kind: str
) -> None:
    """A script that stores something impossible learns it at once, and nothing else is lost."""
    store.set(GLOBAL, "good", 1)
    with pytest.raises(NotJson) as error:
        store.set(GLOBAL, "bad", bad)
    assert (error.value.key, error.value.kind) == ("bad", kind)
    assert [e.key for e in store.visible([GLOBAL])] == ["good"]


def test_endless_nesting_is_refused(store: ContextStore) -> None:
    """A value that contains itself ends in an error, not in a crash."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(NotJson):
        store.set(GLOBAL, "a", endless)


@pytest.mark.parametrize("key", ["", "x" * 201, "\ud800"])
def test_impossible_keys_are_refused(store: ContextStore, key: str) -> None:
    """A key that could not be kept is an error."""
    with pytest.raises(ValueError, match="a key has"):
        store.set(GLOBAL, key, 1)


def test_a_huge_value_is_refused(store: ContextStore) -> None:
    """One script cannot push everything else out with one value."""
    with pytest.raises(ValueError, match="larger than"):
        store.set(GLOBAL, "a", "x" * 20_000)


def test_versions_tell_the_past_and_can_be_rolled_back(store: ContextStore, clock: Clock) -> None:
    """A wrong change can be undone; writing the same again is no change."""
    seen: list[ScopeKey] = []
    store.set(GLOBAL, "alarm", "7:00")
    store.subscribe(seen.append)
    clock.pass_(minutes=1)
    assert store.set(GLOBAL, "alarm", "7:00").version == 1
    assert not seen
    for minute in range(15):
        clock.pass_(minutes=1)
        store.set(GLOBAL, "alarm", f"8:{minute}")
    entry = store.get([GLOBAL], "alarm")
    assert entry is not None
    assert (entry.version, len(entry.previous)) == (16, 10)
    assert [old.value_json for old in entry.previous[-2:]] == ['"8:12"', '"8:13"']
    assert all(a.at < b.at for a, b in zip(entry.previous, entry.previous[1:], strict=False))
    rolled = store.roll_back(GLOBAL, "alarm")
    assert rolled is not None
    assert (rolled.value, rolled.version) == ("8:13", 17)
    store.set(GLOBAL, "new", 1)
    assert store.roll_back(GLOBAL, "new") is None
    assert store.roll_back(GLOBAL, "missing") is None


def test_old_versions_are_bounded(store: ContextStore) -> None:
    """Changing a large value often does not fill the memory with its past."""
    made = [store.set(GLOBAL, "a", f"{count}" + "x" * 10_000) for count in range(5)]
    assert len(made[-1].previous) == 1


def test_options_can_be_changed_and_cleared(store: ContextStore, clock: Clock) -> None:
    """What was once said of an entry can be taken back."""
    store.set(GLOBAL, "a", 1, tags=["b", "a", "a"], metadata={"x": 1}, priority=3, expires_in=60)
    kept = store.set(GLOBAL, "a", 2)
    assert (kept.tags, kept.priority, kept.retention) == (("a", "b"), 3, Retention.TIME_BASED)
    assert kept.expires_at == clock.now + timedelta(seconds=60)
    changed = store.set(
        GLOBAL, "a", 2, tags=(), metadata={}, priority=0, retention=Retention.PERSISTENT
    )
    assert (changed.tags, changed.metadata, changed.priority) == ((), {}, 0)
    assert (changed.retention, changed.expires_at) == (Retention.PERSISTENT, None)
    assert changed.version == 2
    turns = store.set(GLOBAL, "a", 2, max_turns=3)
    assert turns.retention is Retention.TURN_BASED
    assert store.set(GLOBAL, "a", 2, retention=Retention.MANUAL).max_turns is None


@pytest.mark.parametrize(
    ("scope", "options"),
    [
        (GLOBAL, {"retention": Retention.PERSISTENT, "expires_in": 5}),
        (GLOBAL, {"retention": Retention.MANUAL, "max_turns": 5}),
        (GLOBAL, {"retention": Retention.TIME_BASED}),
        (GLOBAL, {"retention": Retention.TURN_BASED}),
        (GLOBAL, {"expires_in": -1}),
        (GLOBAL, {"expires_in": float("nan")}),
        (GLOBAL, {"max_turns": -1}),
        (SESSION, {"retention": Retention.PERSISTENT}),
        (TEMPORARY, {"retention": Retention.MANUAL}),
    ],
)
def test_contradictions_are_refused(
    store: ContextStore, scope: ScopeKey, options: dict[str, Any]
) -> None:
    """Nobody believes something to be kept that is not; checking alone changes nothing."""
    with pytest.raises(ValueError, match=r"\w"):
        store.check(scope, "a", 1, **options)
    with pytest.raises(ValueError, match=r"\w"):
        store.set(scope, "a", 1, **options)
    assert store.scopes() == ()


def test_time_ends_what_has_a_time(store: ContextStore, clock: Clock) -> None:
    """What was for an hour is gone after it, and `at once` is at once."""
    store.set(GLOBAL, "hour", 1, expires_in=3600)
    store.set(GLOBAL, "now", 1, expires_in=0)
    store.set(TEMPORARY, "moment", 1)
    store.set(TEMPORARY, "brief", 1, retention=Retention.SESSION_END)
    assert value(store, GLOBAL, "now") == "nothing"
    clock.pass_(minutes=16)
    assert value(store, GLOBAL, "hour") == 1
    assert store.visible([TEMPORARY]) == ()
    clock.pass_(minutes=45)
    assert store.visible([GLOBAL]) == ()
    changed: list[ScopeKey] = []
    store.subscribe(changed.append)
    store.expire()
    assert set(changed) == {GLOBAL, TEMPORARY}
    assert store.dump(GLOBAL)["entries"] == []
    changed.clear()
    store.expire()
    assert not changed


def test_use_renews_what_slides(store: ContextStore, clock: Clock) -> None:
    """What is used every day stays; what is not goes."""
    for key in ("used", "unused"):
        store.set(GLOBAL, key, 1, expires_in=60, sliding=True)
    for _ in range(5):
        clock.pass_(seconds=50)
        assert value(store, GLOBAL, "used") == 1
    assert value(store, GLOBAL, "unused") == "nothing"
    assert value(reloaded(store, clock, GLOBAL), GLOBAL, "used") == 1
    kept = store.set(GLOBAL, "used", 2, sliding=False)
    clock.pass_(seconds=50)
    store.get([GLOBAL], "used")
    clock.pass_(seconds=50)
    assert kept.sliding is None
    assert value(store, GLOBAL, "used") == "nothing"
    store.set(GLOBAL, "late", 1, expires_in=60)
    assert store.set(GLOBAL, "late", 1, sliding=True).sliding == 60


def test_an_expired_key_is_a_fresh_entry(store: ContextStore, clock: Clock) -> None:
    """Writing to a key whose time was over is not lost, and does not bring its past back."""
    store.set(GLOBAL, "a", "old", expires_in=60, tags=["x"])
    store.set(GLOBAL, "b", "old", max_turns=1)
    clock.pass_(seconds=61)
    store.new_turn([GLOBAL])
    for key in ("a", "b"):
        entry = store.set(GLOBAL, key, "new")
        assert (entry.version, entry.previous, entry.tags) == (1, (), ())
        assert entry.retention is Retention.MANUAL
        assert value(store, GLOBAL, key) == "new"


def test_turns_count_in_their_own_scope(store: ContextStore, clock: Clock) -> None:
    """What is for two turns in the kitchen is not used up by turns in the hall."""
    store.set(KITCHEN, "hint", 1, max_turns=2, owner="turn 1")
    store.new_turn(visible_keys(device="kitchen"), "turn 1")
    store.new_turn(visible_keys(device="hall"), "turn 2")
    store.new_turn(visible_keys(device="kitchen"), "turn 3")
    assert value(store, KITCHEN, "hint") == 1
    again = reloaded(store, clock, KITCHEN)
    again.new_turn(visible_keys(device="kitchen"), "turn 4")
    assert value(again, KITCHEN, "hint") == "nothing"
    assert store.set(KITCHEN, "hint", 2).turns == 0
    store.set(KITCHEN, "never", 1, max_turns=0)
    assert value(store, KITCHEN, "never") == "nothing"


def test_immediate_ends_with_its_turn(store: ContextStore) -> None:
    """What was for one answer only is gone with it, and only with that one."""
    store.set(GLOBAL, "mine", 1, retention=Retention.IMMEDIATE, owner="turn 1")
    store.set(GLOBAL, "anyone's", 1, retention=Retention.IMMEDIATE)
    store.new_turn([GLOBAL], "turn 2")
    assert [e.key for e in store.visible([GLOBAL])] == ["mine"]
    store.new_turn([GLOBAL], "turn 1")
    assert store.visible([GLOBAL]) == ()


def test_a_session_takes_its_own_with_it(store: ContextStore) -> None:
    """After a conversation what belonged to it is gone, everything else stays, and it is over."""
    store.set(SESSION, "a", 1)
    store.set(TEMPORARY, "b", 1)
    store.set(GLOBAL, "own", 1, retention=Retention.SESSION_END, owner=str(SESSION))
    store.set(KITCHEN, "seen", 1, retention=Retention.SESSION_END)
    store.set(ANNA, "other", 1, retention=Retention.SESSION_END, owner="session:s2")
    store.set(GLOBAL, "kept", 1, retention=Retention.PERSISTENT)
    store.end_session(SESSION, [KITCHEN, GLOBAL])
    assert [e.key for e in store.visible([SESSION, TEMPORARY, KITCHEN, ANNA, GLOBAL])] == [
        "other",
        "kept",
    ]
    for scope in (SESSION, TEMPORARY):
        with pytest.raises(ScopeRefused) as refused:
            store.set(scope, "late", 1)
        assert refused.value.code == "session_ended"
    for count in range(context_module.MAX_ENDED):
        store.end_session(ScopeKey(Scope.SESSION, f"x{count}"))
    assert len(store._ended) == context_module.MAX_ENDED


def test_forget_is_for_good_until_somebody_asks(store: ContextStore, clock: Clock) -> None:
    """A summary cannot bring back what was forgotten; the user can."""
    store.set(GLOBAL, "code", "1234")
    assert store.forget(GLOBAL, ["code", "unknown"]) == ["code"]
    assert store.learn(GLOBAL, "code", "1234") is None
    assert store.learn(GLOBAL, "unknown", 1) is None
    again = reloaded(store, clock, GLOBAL)
    assert again.learn(GLOBAL, "code", "1234") is None
    again.set(GLOBAL, "code", "5678")
    learned = again.learn(GLOBAL, "code", "9")
    assert learned is not None
    assert (learned.value, len(learned.previous)) == ("9", 1)
    assert not again.forgotten(GLOBAL, "code")
    assert again.forgotten(GLOBAL, "unknown")


def test_clear_takes_one_scope_and_never_all(store: ContextStore) -> None:
    """Clearing the kitchen leaves the rest of the house alone; an empty filter clears nothing."""
    store.set(KITCHEN, "a", 1)
    store.set(KITCHEN, "b", 1)
    store.set(GLOBAL, "a", 1)
    nothing: tuple[Any, ...] = ([], (), "a")
    for empty in nothing:
        with pytest.raises(ValueError, match="list of keys"):
            store.forget(KITCHEN, empty)
    assert store.clear(KITCHEN) == ["a", "b"]
    assert store.clear(KITCHEN) == []
    assert store.scopes() == (GLOBAL,)
    assert store.learn(KITCHEN, "a", 1) is None


def test_what_is_over_is_not_counted_as_forgotten(store: ContextStore, clock: Clock) -> None:
    """Whoever clears a room is told of what was there, not of what was over before; both go."""
    store.set(GLOBAL, "today", 1, expires_in=60)
    store.set(GLOBAL, "always", 2)
    clock.pass_(minutes=2)
    assert store.forget(GLOBAL, ["today"]) == []
    store.set(GLOBAL, "today", 1, expires_in=60)
    clock.pass_(minutes=2)
    assert store.clear(GLOBAL) == ["always"]
    assert store.scopes() == ()


def test_tombstones_are_bounded(store: ContextStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgetting for years does not fill the memory."""
    monkeypatch.setattr(held_module, "MAX_TOMBSTONES", 3)
    for count in range(5):
        store.forget(GLOBAL, [f"k{count}"])
    assert [store.forgotten(GLOBAL, f"k{count}") for count in range(5)] == [False] * 2 + [True] * 3


def test_a_full_scope_loses_the_least_important_first(
    store: ContextStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expired things go first, then the least important and used; pinned ones last."""
    monkeypatch.setattr(held_module, "MAX_ENTRIES", 6)
    store.set(GLOBAL, "pinned", 1, pinned=True, priority=-9)
    store.set(GLOBAL, "persistent", 1, retention=Retention.PERSISTENT, priority=-9)
    store.set(GLOBAL, "important", 1, priority=5)
    for key in ("used", "unused"):
        clock.pass_(seconds=1)
        store.set(GLOBAL, key, 1)
    store.set(GLOBAL, "brief", 1, expires_in=5, priority=99)
    clock.pass_(seconds=10)
    store.get([GLOBAL], "used")
    gone = []
    for count in range(6):
        before = {e.key for e in store.visible([GLOBAL])}
        store.set(GLOBAL, f"new{count}", 1, priority=50)
        gone += sorted(before - {e.key for e in store.visible([GLOBAL])})
    assert gone[:3] == ["unused", "used", "important"]
    assert {"pinned", "persistent"} <= {e.key for e in store.visible([GLOBAL])}
    monkeypatch.setattr(held_module, "MAX_ENTRIES", 2)
    store.set(GLOBAL, "last", 1, priority=-99)
    assert value(store, GLOBAL, "last") == 1


def test_a_scope_is_bounded_in_bytes(store: ContextStore, clock: Clock) -> None:
    """No automation can fill the disk, however large its values are."""
    for count in range(60):
        clock.pass_(seconds=1)
        store.set(ScopeKey(Scope.PLUGIN, "p"), f"k{count}", "x" * 10_000)
    held = store._held[ScopeKey(Scope.PLUGIN, "p")]
    assert held.size == sum(e.size for e in held.entries.values()) <= held_module.MAX_BYTES
    assert "k59" in held.entries
    assert "k0" not in held.entries


def test_changes_are_told_once(store: ContextStore) -> None:
    """A live session learns of every change, and of nothing else."""
    seen: list[ScopeKey] = []
    end = store.subscribe(seen.append)
    store.set(GLOBAL, "a", 1)
    store.set(GLOBAL, "a", 2)
    store.get([GLOBAL], "a")
    store.visible([GLOBAL])
    store.new_turn([GLOBAL])
    store.forget(GLOBAL, ["a"])
    assert seen == [GLOBAL] * 3
    end()
    store.set(GLOBAL, "a", 3)
    assert len(seen) == 3


def test_reading_is_written_down_now_and_then(store: ContextStore, clock: Clock) -> None:
    """What is used stays known as used after a restart, without a write at each read.

    Above all what is read so often that there is never an hour in between.
    """
    store.set(GLOBAL, "a", 1)
    store.set(GLOBAL, "b", 1)
    seen: list[ScopeKey] = []
    store.subscribe(seen.append)
    for minutes in range(10, 250, 10):
        clock.pass_(minutes=10)
        store.get([GLOBAL], "a")
        store.get([GLOBAL], "b")
        assert len(seen) == minutes // 60
    clock.pass_(hours=2)
    store.get([GLOBAL], "a")
    assert len(seen) == 5


def test_what_was_only_read_is_known_as_such(store: ContextStore, clock: Clock) -> None:
    """At its end the house can write down when what was read was used last."""
    store.set(GLOBAL, "a", 1)
    store.set(KITCHEN, "a", 1)
    store.dump(GLOBAL)
    store.dump(KITCHEN)
    assert store.used() == ()
    clock.pass_(minutes=10)
    store.visible([KITCHEN])
    assert store.used() == ()
    store.set(KITCHEN, "a", 1)
    store.get([GLOBAL], "a")
    assert store.used() == (GLOBAL, KITCHEN)
    store.dump(KITCHEN)
    again = reloaded(store, clock, GLOBAL)
    assert store.used() == ()
    assert [e.accessed for e in again.visible([GLOBAL])] == [clock.now]


def test_what_happened_before_loading_wins(store: ContextStore, clock: Clock) -> None:
    """A file that is read late does not undo what was written or forgotten meanwhile."""
    store.set(GLOBAL, "a", "old")
    store.set(GLOBAL, "b", "old")
    store.set(GLOBAL, "c", "old")
    store.forget(GLOBAL, ["z"])
    early = ContextStore(clock)
    early.set(GLOBAL, "a", "new")
    early.forget(GLOBAL, ["b"])
    early.set(GLOBAL, "z", "again")
    assert early.load(GLOBAL, store.dump(GLOBAL)) == 0
    assert early.forgotten(GLOBAL, "b")
    assert not early.forgotten(GLOBAL, "z")
    assert {e.key: e.value for e in early.visible([GLOBAL])} == {
        "a": "new",
        "c": "old",
        "z": "again",
    }


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["Grüße", "猫が好き", "مرحبا", "👩‍👧", "\u2028", "\x00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON, metadata=st.dictionaries(st.text(), JSON, max_size=2), tags=st.sets(st.text()))
def test_everything_comes_back_from_the_disk(
    value: object, metadata: dict[str, Any], tags: set[str]
) -> None:
    """What was kept is the same after a restart, in every script, down to the last sign."""
    clock = Clock()
    store = ContextStore(clock)
    entry = store.set(GLOBAL, "k", value, metadata=metadata, tags=tags, expires_in=60, max_turns=2)
    assert entry.value == value
    again = reloaded(store, clock, GLOBAL)
    assert again.get([GLOBAL], "k") == entry
    assert again.dump(GLOBAL) == store.dump(GLOBAL)


@given(data=st.dictionaries(st.text(), JSON, max_size=4), entries=st.lists(JSON, max_size=3))
def test_garbage_on_the_disk_is_counted(data: dict[str, Any], entries: list[Any]) -> None:
    """A damaged file is noticed and does not stop the start."""
    store = ContextStore(Clock())
    assert store.load(GLOBAL, {**data, "entries": entries, "tombstones": {}}) == len(entries)
    assert store.visible([GLOBAL]) == ()
