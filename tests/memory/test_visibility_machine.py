"""Nobody is ever shown what is not for them, over any sequence of what happens in a home.

Rooms, satellites and people are Home Assistant's own registries; memory, threads, summaries and
search are the house's; the disk is real, its time is not. Each thing that is kept holds a word that
is nowhere else, and a simple account says who may see it. After each step everybody who might speak
is told all that they would be told, and it is held against that account.

In the suite it is short and always the same; `REALTIME_ASSIST_LONGER=20 scripts/test
tests/memory/test_visibility_machine.py` tries 20 times as many sequences, new ones each time.
"""

import asyncio

import pytest
from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from custom_components.realtime_assist.assistant import HistoryScope
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.transcript import (
    Called,
    Said,
    Source,
    TurnRecord,
)
from custom_components.realtime_assist.pipeline.origin import resolve
from custom_components.realtime_assist.update import Earlier, MemoryUpdate
from tests.longer import LONGER

from .visibility_account import Told, lasting, words_in
from .visibility_changes import PLACE, ChangingHome, thread_key
from .visibility_look import look

HISTORY = st.sampled_from(HistoryScope)
LASTS = st.sampled_from(("usual", "usual", "time", "turns", "talk", "turn"))
SAID = st.sampled_from((("anna",), ("tom",), (None,), ("anna", None, "tom", "anna", None)))

type Fact = tuple[str, Scope, int, str]
type Turn = tuple[str, HistoryScope, Source, tuple[str | None, ...]]

FACTS = st.lists(
    st.tuples(PLACE, st.sampled_from(Scope), st.integers(0, 2), LASTS), min_size=4, max_size=12
)
TURNS = st.lists(st.tuples(PLACE, HISTORY, st.sampled_from(Source), SAID), min_size=1, max_size=3)


class VisibilityMachine(ChangingHome):
    """A home with two satellites, three rooms, two people and four ways to keep its history."""

    # What is kept

    @initialize(facts=FACTS, more=TURNS)
    def live(self, facts: list[Fact], more: list[Turn]) -> None:
        """Let there be something to remember."""
        self.say(more, opens=False)
        self.remember(facts)

    @rule(facts=FACTS)
    def remember(self, facts: list[Fact]) -> None:
        """Write facts, or write them anew."""
        for name, kind, key, lasts in facts:
            seen = sorted(self.home.sees(self.home.places[name]) | {"plugin:garden"})
            scope = next((k for text in seen if (k := ScopeKey.parse(text)).scope is kind), None)
            if scope is not None:
                self._remember(scope, f"{kind} {key}", lasts)

    def _remember(self, scope: ScopeKey, key: str, lasts: str) -> None:
        for old in self.account.facts(scope, key):
            old.gone, old.unsure, old.at = True, False, self.home.now
        told, options = lasting(scope, key, lasts, self.home.now)
        word = self.account.word(told)
        entries = {key: {"value": f"it is {word}", **options}}
        self.apply(MemoryUpdate(scopes=(scope,), entries=entries))

    @rule(data=st.data())
    def go_back(self, data: st.DataObject) -> None:
        """Give a fact an earlier value of its own again."""
        context = self.home.house.context
        changed = [e for e in context.visible(context.scopes()) if e.previous]
        if not changed:
            return
        entry = data.draw(st.sampled_from(changed), "entry")
        words = [
            words_in(str(entry.value_at(version))).pop()
            for version in range(entry.first_version, entry.version + 1)
        ]
        known = [self.account.told[word] for word in words]
        assert not any(told.forgotten for told in known)
        number = data.draw(st.integers(0, len(words) - 1), "version")
        earlier = Earlier(entry.first_version + number)
        self.apply(MemoryUpdate(scopes=(entry.scope,), entries={entry.key: {"value": earlier}}))
        held, now = known[-1], self.home.now
        for told in self.account.facts(entry.scope, entry.key):
            told.gone, told.unsure, told.at = True, False, now
        again = known[number]
        again.gone, again.until, again.talk = False, held.until, held.talk
        again.fleeting, again.most, again.turns = held.fleeting, held.most, held.most

    @rule(turns=TURNS, opens=st.booleans())
    def say(self, turns: list[Turn], *, opens: bool) -> None:
        """Say something; it joins its history, which is summed up when it is long."""
        for name, history, source, people in turns:
            for who in people:
                self.speak(name, who, guest=False, brief=opens)
                self._say(name, history, source)
            if opens:
                self.begin(name, history)

    def _say(self, name: str, history: HistoryScope, source: Source) -> None:
        place = self.home.places[name]
        origin, seen = self.home.origin(place), self.home.sees(place)
        visible = self.home.visible(place)
        key = thread_key(origin, history)
        people = {text for text in seen if text.startswith("speaker:")}
        needs = frozenset({str(key.scope), *people})
        word = self.account.word(Told(needs=needs, thread=key.scope, at=self.home.now))
        record = TurnRecord(
            id=f"turn-{word}",
            at=dt_util.now(),
            source=source,
            heard_text=f"My name is {word}, and I always like tea.",
            said=(Said(index=0, text=f"I promise to remember {word} tomorrow."),),
            calls=(Called(call_id=word, name="look", arguments=word, output=word),),
            audience=audience(origin.speaker) if origin.speaker else frozenset(),
            speaker=origin.speaker_name,
        )

        async def join() -> None:
            await self.home.house.async_ready(key, origin.visible())
            self.home.house.join(key, record, 200)
            self.home.house.context.new_turn(visible, record.id)

        self.do(join())
        self.account.turn(seen, self.home.now)

    @rule(name=PLACE, history=HISTORY)
    def sum_up(self, name: str, history: HistoryScope) -> None:
        """Put a summary by hand in place of the one that there is."""
        scope = thread_key(self.home.origin(self.home.places[name]), history).scope
        word = self.account.word(
            Told(needs=frozenset({str(scope)}), thread=scope, at=self.home.now)
        )
        self.apply(MemoryUpdate(scopes=(scope,), summary=f"They spoke of {word}."))

    @rule(name=PLACE, history=HISTORY)
    def begin(self, name: str, history: HistoryScope) -> None:
        """Open a session: its recap stays as it is now."""
        key = thread_key(self.home.origin(self.home.places[name]), history)
        self.base[key] = self.home.house.thread(key)

    # What is let go

    @precondition(lambda self: any(not told.gone for told in self.account.told.values()))
    @rule(data=st.data(), by_turn=st.booleans())
    def forget(self, data: st.DataObject, *, by_turn: bool) -> None:
        """Forget one thing."""
        left = [word for word, told in self.account.told.items() if not told.gone]
        word = data.draw(st.sampled_from(left))
        told = self.account.told[word]
        changes = self.home.house.changes
        if told.scope is not None:
            self.apply(MemoryUpdate(scopes=(told.scope,), forget=(told.key,)))
            self.forgotten(self.account.facts(told.scope, told.key))
            return
        turn = f"turn-{word}"
        threads = self.home.house.storage._threads.values()
        where = next((each.key for each in threads if each.turn(turn)), None)
        if by_turn and where is not None:
            self.do(changes.async_forget_turns({where: [turn]}))
        else:
            self.do(changes.async_forget_words([word]))
        self.forgotten([told])

    @rule(name=PLACE, history=HISTORY)
    def clear_history(self, name: str, history: HistoryScope) -> None:
        """Forget all that was said in one history."""
        scope = thread_key(self.home.origin(self.home.places[name]), history).scope
        self.do(self.home.house.changes.async_clear_history([scope]))
        self.forgotten(told for told in self.account.told.values() if told.thread == scope)

    @rule(name=PLACE)
    def end_session(self, name: str) -> None:
        """End a conversation, and what belongs to it alone."""
        place = self.home.places[name]
        seen, visible = self.home.sees(place), self.home.visible(place)
        self.home.house.context.end_session(ScopeKey(Scope.SESSION, place.epoch), visible)
        self.account.end(
            (
                told
                for told in self.account.told.values()
                if told.scope and str(told.scope) in seen and (told.talk or not told.scope.durable)
            ),
            self.home.now,
        )
        place.epoch += "+"

    # Time

    @rule(seconds=st.sampled_from((7.0, 0.3, 1.1, 70.0)))
    def wait(self, seconds: float) -> None:
        """Let time pass; what is over is taken out now and then."""
        self.do(asyncio.sleep(seconds))
        if seconds > 1:
            self.home.house.context.expire()

    @rule(kills=st.booleans())
    def restart(self, *, kills: bool) -> None:
        """Home Assistant starts anew, with what is on the disk."""
        if kills:
            self.account.kill(self.home.now)
        self.home.restart(kills=kills)
        self.base.clear()
        for told in self.account.told.values():
            if told.fleeting or (told.scope and not told.scope.durable):
                told.gone, told.unsure = True, False
        for place in self.home.places.values():
            place.epoch += "+"

    # What is shown

    @invariant()
    def nobody_is_shown_what_is_not_for_them(self) -> None:
        """Whoever speaks, wherever: what they are told is for them, and all of it is told."""
        for place in self.home.places.values():
            visible = self.home.visible(place)
            assert frozenset(map(str, visible)) == self.home.sees(place)
            look(self.home, self.account, self.base, visible)
        for name, person in self.home.people.items():
            visible = resolve(self.home.hass, None, name).visible(plugins=("garden",))
            expected = {f"speaker:{person}", "global:home", "plugin:garden"}
            assert set(map(str, visible)) == expected
            look(self.home, self.account, self.base, visible)


@pytest.mark.timeout(600 + 60 * LONGER)
def test_nobody_is_ever_shown_what_is_not_for_them() -> None:
    """Whatever happens in a home: what is a room's or a person's own is told to no other."""
    run_state_machine_as_test(
        VisibilityMachine,
        settings=settings(
            max_examples=40 * LONGER,
            stateful_step_count=30,
            deadline=None,
            derandomize=LONGER == 1,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
