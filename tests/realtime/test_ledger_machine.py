"""Whatever happens, the provider holds what it should when a response starts."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from custom_components.realtime_assist.realtime import reconcile
from custom_components.realtime_assist.realtime.operations import Gate
from custom_components.realtime_assist.realtime.rules import RULES, Rule

from .ledger_record import Turn
from .ledger_server import PERSONALITIES, Personality
from .ledger_world import House

SPEAKERS = (None, "speaker:anna", "speaker:bert")


class Life(RuleBasedStateMachine):
    """Turns, barge-ins, tools, memory, forgetting, other speakers, drops, idleness, pressure."""

    personality: Personality = PERSONALITIES[0]

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.house = House(self.personality, seed)

    def _idle(self) -> bool:
        return self.house.open is None

    def _asked(self) -> bool:
        return self.house.open is not None and not self.house.server.active

    def _perhaps_reconcile(self) -> None:
        """Others may be faster: a turn that closes is not always looked at before the next."""
        if self.house.random.random() < 0.5:
            self.house.reconcile()

    @precondition(_idle)
    @rule(speaker=st.sampled_from(SPEAKERS), typed=st.booleans(), detected=st.booleans())
    def start(self, speaker: str | None, *, typed: bool, detected: bool) -> None:
        house = self.house
        house.visible = frozenset({speaker} if speaker else ())
        turn = Turn(house.word(), house.visible, house.words(2), typed=typed)
        house.open = turn
        house.ledger.begin(turn.id)
        house.reconcile()
        if detected and not typed:
            house.hear(turn)

    @precondition(_asked)
    @rule(says=st.lists(st.integers(0, 4), max_size=2), calls=st.integers(0, 2))
    def respond(self, says: list[int], calls: int) -> None:
        house = self.house
        if (turn := house.open) is None:
            return
        for call_id, words in turn.calls.items():
            turn.calls[call_id] = words or house.word()
        house.barrier()
        if house.open is None:
            return  # the turn could not survive what had to be forgotten
        if not turn.typed and turn.item_id is None:
            house.hear(turn)
        house.check()
        house.server.active = turn.responded = True
        for count in says:
            house.reply(turn, count, more=house.random.randrange(3))
        for _ in range(calls):
            house.call(turn)

    @precondition(lambda self: self.house.server.active)
    @rule()
    def finish_response(self) -> None:
        if turn := self.house.open:
            self.house.finish_response(turn)
            self.house.reconcile()

    @precondition(lambda self: self.house.server.active)
    @rule(unheard=st.integers(0, 6))
    def barge_in(self, unheard: int) -> None:
        if turn := self.house.open:
            received = sum(said.received for said in turn.says.values())
            self.house.barge_in(turn, max(0, received - unheard))
            self._perhaps_reconcile()

    @precondition(_asked)
    @rule(wanted=st.sampled_from((True, True, True, False)))
    def close(self, *, wanted: bool) -> None:
        house = self.house
        if (turn := house.open) is None:
            return
        if wanted:
            house.close(turn)
        else:
            house.release(turn)
        self._perhaps_reconcile()

    @precondition(_idle)
    @rule(speaker=st.sampled_from(SPEAKERS), typed=st.booleans(), rounds=st.integers(1, 3))
    def whole_turn(self, speaker: str | None, *, typed: bool, rounds: int) -> None:
        random = self.house.random
        self.start(speaker, typed=typed, detected=random.random() < 0.5)
        for _ in range(rounds):
            self.respond(says=[random.randrange(5)], calls=random.randrange(2))
            if self.house.open is None:
                return
            if random.random() < 0.4:
                self.barge_in(random.randrange(7))
                return
            self.finish_response()
        self.close(wanted=random.random() < 0.8)

    @rule(
        change=st.sampled_from(("remember", "forget_fact", "forget_turn", "elsewhere", "noise")),
        key=st.sampled_from("abc"),
        speaker=st.sampled_from(SPEAKERS),
    )
    def change(self, change: str, key: str, speaker: str | None) -> None:
        house, audience = self.house, frozenset({speaker} if speaker else ())
        if change == "remember":
            house.remember(key, audience)
        elif change == "forget_fact" and key in house.facts:
            house.forget_fact(key)
        elif change == "forget_turn" and house.turns:
            house.forget_turn(house.random.choice(house.turns))
        elif change == "elsewhere":
            house.turn_elsewhere(audience)
        elif change == "noise":
            house.make_noise()
        house.reconcile()

    @rule(most=st.integers(0, 4), seconds=st.sampled_from((0, 1, 2)))
    def time_passes(self, most: int, seconds: int) -> None:
        self.house.deliver(most)
        self.house.pass_time(seconds)
        self.house.reconcile()

    @rule(
        what=st.sampled_from(("drop", "cold", "hard", "speaker")), speaker=st.sampled_from(SPEAKERS)
    )
    def upheaval(self, what: str, speaker: str | None) -> None:
        house = self.house
        if what == "drop":
            house.reopen()
        elif house.open is not None:
            return
        elif what == "speaker":
            house.visible = frozenset({speaker} if speaker else ())
            house.reconcile()
        else:
            house.converge(Gate(cold=what == "cold", hard=what == "hard"))
            house.check()
            assert not house.replaced, "replaced notes are kept"
            if what == "cold":
                assert not house.server.words & house.noise, "nobody's words are kept"
            else:
                assert not house.ledger.natives, "the conversation is as long as before"


def live(personality: Personality, examples: int, *phases: Phase) -> None:
    """Let a house live many lives with such a server."""
    run_state_machine_as_test(
        type("OneLife", (Life,), {"personality": personality}),
        settings=settings(
            max_examples=examples,
            stateful_step_count=50,
            derandomize=True,
            database=None,
            deadline=None,
            phases=phases or (Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("personality", PERSONALITIES, ids=lambda p: p.name)
def test_the_provider_holds_what_it_should(personality: Personality) -> None:
    """Nobody hears what was forgotten or is not theirs, and nothing that was said is lost."""
    live(personality, 60)


@pytest.mark.parametrize("rule_left_out", RULES, ids=lambda r: r.__name__)
def test_every_rule_is_needed(rule_left_out: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken rule is found before a user finds it."""
    rules = tuple(r for r in RULES if r is not rule_left_out)
    monkeypatch.setattr(reconcile, "RULES", rules)
    with pytest.raises(AssertionError):
        live(PERSONALITIES[0], 200, Phase.generate)
