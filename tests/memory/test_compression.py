"""A long history becomes a short one, and nothing that matters is lost on the way."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.items import View
from custom_components.realtime_assist.memory.compose import compose
from custom_components.realtime_assist.memory.compression import (
    SETTLING,
    checkpoint,
    committed,
    snapshot,
    summarized,
)
from custom_components.realtime_assist.memory.scopes import audience
from custom_components.realtime_assist.memory.summarizer import (
    HomeSummary,
    Line,
    SummaryFailed,
    SummaryTask,
)
from custom_components.realtime_assist.memory.transcript import (
    Called,
    LineKind,
    Summary,
    SummaryLine,
    Thread,
)
from custom_components.realtime_assist.memory.usage import estimate_tokens

from .history import ANNA, BEN, KITCHEN, START, thread, threads, turn

LATER = START + timedelta(days=1)


def long_history(count: int = 60) -> Thread:
    """Return a thread that does not fit into what a session is told."""
    return thread(
        *(
            turn(f"t{n}", f"Remember that box {n} is in shelf {n * 7}.", minutes=n)
            for n in range(count)
        )
    )


def recap(history: Thread, tokens: int = 1500) -> str:
    """Return what a new session is told of a thread."""
    made = compose(
        thread=history,
        entries=(),
        now=None,
        visible=(KITCHEN, ANNA, BEN),
        view=View(recap_upto=history.next_number - 1),
        resume_tokens=tokens,
    )
    return "".join(item.body for item in made.desired)


def test_a_short_history_stays_word_for_word() -> None:
    """Nothing is summarised as long as all of it can be told."""
    assert snapshot(long_history(5), 1500, LATER) is None
    assert checkpoint(thread(), 1500, LATER) is None


def test_a_long_history_is_folded_and_its_tail_stays() -> None:
    """The last turns stay verbatim, the older ones become lines that cite them."""
    history = long_history()
    made = checkpoint(history, 1500, LATER)
    assert made is not None
    after = committed(history, made)
    assert after.summary is not None
    upto = after.summary.upto
    assert [t.number for t in after.turns] == list(range(upto + 1, 61))
    assert after.turns == history.turns[upto:]
    assert (after.next_number, after.revision, after.key) == (61, 0, history.key)
    assert all(line.turns and max(line.turns) <= upto for line in after.summary.lines)
    text = recap(after)
    assert estimate_tokens(text) <= 1500
    assert all(f"box {n} " in text for n in range(upto, 60))
    assert sum(f"box {n} " in text for n in range(upto)) > 8


def test_no_turn_falls_between_summary_and_tail() -> None:
    """At every moment each turn is either told verbatim or was there to be summarised."""
    history = thread()
    for number in range(120):
        history = history.joined(turn(f"t{number}", f"Box {number} is red.", minutes=number))
        if made := checkpoint(history, 600, LATER):
            history = committed(history, made)
        text = recap(history, 600)
        assert estimate_tokens(text) <= 600
        assert all(f"Box {t.number - 1} " in text for t in history.turns)
    assert history.summary is not None
    assert len(history.turns) < 20


def test_folding_is_not_done_at_each_turn() -> None:
    """A long evening is summarised now and then, not after every sentence."""
    history, runs = thread(), 0
    for number in range(100):
        history = history.joined(turn(f"t{number}", f"Box {number} is red.", minutes=number))
        if made := checkpoint(history, 800, LATER):
            history, runs = committed(history, made), runs + 1
    assert 2 < runs < 15


def test_the_previous_summary_is_folded_in() -> None:
    """What was known last week is known this week, if it still counts."""
    history = thread(turn("a", "My name is Annegret and I am allergic to hazelnuts."))
    for number in range(200):
        history = history.joined(turn(f"t{number}", f"Box {number} is red.", minutes=number))
        if made := checkpoint(history, 800, LATER):
            history = committed(history, made)
    assert history.summary is not None
    (line,) = (line for line in history.summary.lines if "hazelnuts" in line.text)
    assert (line.turns, line.at) == ((1,), START)


def test_what_a_person_wrote_into_the_summary_stays() -> None:
    """A summary that an automation set is not thinned out by the next one."""
    line = SummaryLine(kind=LineKind.GIST, text="Grandma is staying until Sunday.", at=START)
    history = long_history()
    history = replace(history, summary=Summary(lines=(line,), upto=0, made_by="action", at=START))
    made = checkpoint(history, 800, LATER)
    assert made is not None
    assert made.summary.lines[0] == line
    assert len(made.summary.lines) > 3
    assert estimate_tokens(recap(committed(history, made), 800)) <= 800


@pytest.mark.parametrize("tokens", [0, 50])
def test_even_no_room_at_all_works(tokens: int) -> None:
    """Whatever was chosen, the thread stays small and the newest turn stays."""
    history = long_history()
    made = checkpoint(history, tokens, LATER)
    assert made is not None
    after = committed(history, made)
    assert len(after.turns) == 1
    assert estimate_tokens(recap(after, tokens)) <= tokens + 50


def test_a_call_without_its_answer_is_not_folded_yet() -> None:
    """A call and its output are never parted; but one that never ends stops nothing."""
    waiting = (Called(call_id="c", name="x", arguments="{}"),)
    turns = [turn(f"t{n}", f"Box {n} is red.", minutes=n) for n in range(60)]
    turns[3] = replace(turns[3], calls=waiting)
    history = thread(*turns)
    soon = turns[3].at + SETTLING - timedelta(seconds=1)
    early = snapshot(history, 800, soon)
    assert early is not None
    assert early.upto == 3
    late = snapshot(history, 800, LATER)
    assert late is not None
    assert late.upto > 30
    turns[0] = replace(turns[0], calls=waiting)
    assert snapshot(thread(*turns), 800, turns[0].at) is None


def test_audiences_are_never_mixed() -> None:
    """What Anna said is summarised apart, and its lines are hers alone."""
    history = thread()
    for number in range(90):
        who = (audience(), audience(ANNA), audience(BEN))[number % 3]
        word = ("everybody", "annas", "bens")[number % 3]
        text = f"The {word} box {number} is in shelf {number * 7}."
        history = history.joined(turn(f"t{number}", text, None, minutes=number, audience=who))
    found = snapshot(history, 1500, LATER)
    assert found is not None
    assert [task.audience for task in found.tasks] == [audience(), audience(ANNA), audience(BEN)]
    for task in found.tasks:
        assert {t.audience for t in task.turns} == {task.audience}
    made = checkpoint(history, 1500, LATER)
    assert made is not None
    words = {"everybody": audience(), "annas": audience(ANNA), "bens": audience(BEN)}
    for line in made.summary.lines:
        assert line.audience == next(who for word, who in words.items() if word in line.text)
    again = snapshot(replace(committed(history, made), turns=history.turns), 1500, LATER)
    assert again is not None
    for task in again.tasks:
        assert all(line.audience == task.audience for line in task.previous)


def test_what_changed_meanwhile_is_not_overwritten() -> None:
    """A summary that comes too late for its thread is dropped; new turns do not matter."""
    history = long_history()
    made = checkpoint(history, 1500, LATER)
    assert made is not None
    longer = history.joined(turn("new"))
    assert committed(longer, made).turns[-1].id == "new"
    changed = replace(history.turns[2], heard_text="other")
    others = (
        history.without(["box 59 "]),
        replace(history, turns=(*history.turns[:2], changed, *history.turns[3:])),
        replace(history, turns=history.turns[1:]),
        committed(history, made),
        replace(history, key=replace(history.key, assistant="x")),
        history.emptied(),
    )
    for other in others:
        assert committed(other, made) is other


class Way:
    """Another way to summarise, which says what it is told to."""

    name = "told"

    def __init__(self, draft: HomeSummary | None) -> None:
        """Say this, or fail."""
        self._draft = draft

    async def summarize(self, task: SummaryTask) -> HomeSummary:
        """Return what was told."""
        if self._draft is None or not task.turns:
            raise SummaryFailed("no_model")
        return self._draft


async def test_what_a_model_says_is_checked() -> None:
    """A model's summary cannot cite what was not there, fill the memory, or widen who sees it."""
    history = thread(
        *(turn(f"t{n}", f"Box {n} is red.", minutes=n, audience=audience(ANNA)) for n in range(60))
    )
    found = snapshot(history, 800, LATER)
    assert found is not None
    draft = HomeSummary(
        facts=[
            Line(text="Boxes\n are red.", turns=[2, 1, 999]),
            Line(text="Boxes of nobody.", turns=[999]),
            Line(text="Nothing cited."),
            Line(text="Zebras visit Rome.", turns=[4]),
            Line(text="box " * 120, turns=[3]),
        ],
        gist=[Line(text=f"Line {n} of many tells of a red box.", turns=[1]) for n in range(30)],
    )
    made = await summarized(found, Way(draft), LATER)
    lines = made.summary.lines
    assert made.summary.made_by == "told"
    assert (lines[0].text, lines[0].turns) == ("Boxes are red.", (1, 2))
    assert lines[0].at == START + timedelta(minutes=1)
    assert len(lines[1].text) < 400
    assert not any("nobody" in line.text or "Rome" in line.text for line in lines)
    assert {line.audience for line in lines} == {audience(ANNA)}
    assert estimate_tokens("\n".join(line.text for line in lines)) <= 320
    with pytest.raises(SummaryFailed):
        await summarized(found, Way(None), LATER)


@settings(max_examples=40, deadline=None)
@given(history=threads(most=12), tokens=st.integers(0, 400))
def test_folding_always_holds_together(history: Thread, tokens: int) -> None:
    """Whatever was said: the tail is untouched, the rest is cited, the newest turn stays."""
    made = checkpoint(history, tokens, LATER + timedelta(days=30))
    if made is None:
        return
    after = committed(history, made)
    assert after.summary is not None
    assert after.turns == history.turns[after.summary.upto :]
    assert after.turns
    assert made == checkpoint(history, tokens, LATER + timedelta(days=30))
    assert all(
        0 < number <= after.summary.upto for line in after.summary.lines for number in line.turns
    )
    assert committed(after, made) is after
