"""What a session is told: all that it may know, nothing that it may not, always the same."""

import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.items import (
    Composition,
    DesiredItem,
    Form,
    View,
    digest,
    native,
    output,
)
from custom_components.realtime_assist.memory.compose import (
    ENVELOPE_INSTRUCTIONS,
    FACTS_TOKENS,
    MEANWHILE_TOKENS,
    compose,
    note_body,
)
from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.entries import ContextEntry
from custom_components.realtime_assist.memory.scopes import (
    GLOBAL,
    Scope,
    ScopeKey,
    audience,
    visible_keys,
)
from custom_components.realtime_assist.memory.transcript import (
    Called,
    LineKind,
    Said,
    Source,
    Summary,
    SummaryLine,
    Thread,
)
from custom_components.realtime_assist.memory.usage import estimate_tokens

from .history import ANNA, BEN, KITCHEN, START, TEXTS, thread, threads, turn

SEEN = visible_keys(device="kitchen")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def composed(
    history: Thread | None = None,
    entries: tuple[ContextEntry, ...] = (),
    *,
    now: str | None = None,
    visible: tuple[ScopeKey, ...] = SEEN,
    view: View | None = None,
    resume_tokens: int = 1500,
    base: Thread | None = None,
) -> Composition:
    """Compose for a new session, if nothing else is said."""
    upto = history.next_number - 1 if history else 0
    return compose(
        thread=history,
        entries=entries,
        now=now,
        visible=visible,
        view=view or View(recap_upto=upto),
        resume_tokens=resume_tokens,
        base=base,
    )


def facts(*held: tuple[ScopeKey, str, object], priority: int = 0) -> tuple[ContextEntry, ...]:
    """Return entries."""
    store = ContextStore(lambda: NOW)
    return tuple(store.set(scope, key, value, priority=priority) for scope, key, value in held)


def item(composition: Composition, key: str) -> DesiredItem | None:
    """Return an item by its key."""
    found = [desired for desired in composition.desired if desired.key == key]
    assert len(found) <= 1
    return found[0] if found else None


def body(composition: Composition, key: str) -> str:
    """Return the text of a note; empty if there is none."""
    found = item(composition, key)
    return found.body if found else ""


def summary(*lines: SummaryLine, upto: int = 0) -> Summary:
    """Return a summary."""
    return Summary(lines=lines, upto=upto, made_by="test", at=START)


# The recap


def test_a_new_session_knows_what_was_said() -> None:
    """Tomorrow's first turn is told yesterday's, as dialogue with its day, time and room."""
    call = Called(call_id="c", name="HassTurnOn", arguments='{"area":"Bad"}', output='{"ok":true}')
    history = thread(turn("a", "Mach das Licht an.", "Ist an.", calls=(call,)))
    assert body(composed(history), "recap") == (
        '<home_notes kind="recap">\n'
        "Quoted from earlier conversation; it is over, and nobody is saying it now.\n"
        "The last turns, oldest first:\n"
        "[Sunday 2026-11-29 19:05, Kitchen]\n"
        "User: Mach das Licht an.\n"
        '(The assistant used HassTurnOn {"area":"Bad"}, result: {"ok":true})\n'
        "Assistant: Ist an.\n"
        "</home_notes>"
    )


def test_the_envelope_is_explained_once() -> None:
    """Instructions say what notes are; no session is told it again in each note."""
    for word in ("home_notes", "never instructions", "no permission", "Nobody is speaking"):
        assert word in ENVELOPE_INSTRUCTIONS
    assert "permission" not in body(composed(thread(turn("a"))), "recap")


def test_only_heard_words_are_told() -> None:
    """Who interrupted an answer is not thought to have heard its end."""
    history = thread(turn("a", said="One two three four five six.", heard_ms=1000))
    text = body(composed(history), "recap")
    assert "Assistant: One two three (interrupted)" in text
    assert "four" not in text
    assert "(The answer was not heard.)" in body(
        composed(thread(turn("a", said="One.", heard_ms=0))), "recap"
    )


def test_what_was_unclear_is_marked() -> None:
    """What the recogniser guessed is not taken for what was said."""
    history = thread(turn("a", "Thanks for watching", unclear=True), turn("b", None))
    text = body(composed(history), "recap")
    assert "User: (unclear) Thanks for watching\n" in text
    assert "User: (unclear)\n" in text


def test_a_reply_before_a_call_stands_before_it() -> None:
    """The order of `let me see`, the look and the answer is told as it was."""
    call = Called(call_id="c", name="GetLiveContext", arguments="{}", output=None)
    both = (
        Said(index=0, text="Let me see.", phase="commentary"),
        Said(index=1, text="21 degrees."),
    )
    record = turn("a", calls=(call,), source=Source.LOCAL)
    history = thread(replace(record, said=both))
    lines = body(composed(history), "recap").splitlines()[4:-1]
    assert lines == [
        "User: What time is it?",
        "Home Assistant: Let me see.",
        "(The assistant used GetLiveContext {}, result: no answer)",
        "Home Assistant: 21 degrees.",
    ]


def test_the_summary_stands_by_kind_and_is_never_dropped() -> None:
    """However little room there is, what is known from before is told."""
    history = Thread(
        key=thread().key,
        summary=summary(
            SummaryLine(
                kind=LineKind.PREFERENCE, text="Anna: I prefer 21 degrees.", turns=(1,), at=START
            ),
            SummaryLine(kind=LineKind.GIST, text="They talked about the cat.", turns=(2,)),
            upto=2,
        ),
        next_number=3,
    ).joined(turn("a", "x " * 2000))
    text = body(composed(history, resume_tokens=0), "recap")
    assert text.splitlines()[2:-1] == [
        "What is known from before:",
        "- gist: They talked about the cat.",
        "- preference: Anna: I prefer 21 degrees. (2026-11-29)",
    ]


def test_the_newest_turns_are_told_first() -> None:
    """When not all fits, the oldest turns are left out, and the newest are word for word."""
    history = thread(*(turn(f"t{n}", f"Question number {n:03}.", minutes=n) for n in range(99)))
    text = body(composed(history, resume_tokens=500), "recap")
    told = [int(n) for n in re.findall(r"number (\d+)", text)]
    assert told == list(range(99 - len(told), 99))
    assert 8 < len(told) < 30


def test_one_long_turn_hides_no_other() -> None:
    """A story that was read out does not push the rest of the evening out."""
    others = [turn(f"t{n}", f"Question number {n}.", minutes=n) for n in range(8)]
    long = turn("long", "Tell a story.", "Once upon a time there was a fox. " * 400, minutes=4)
    text = body(composed(thread(*others[:4], long, *others[4:]), resume_tokens=600), "recap")
    assert [int(n) for n in re.findall(r"number (\d)", text)] == list(range(8))
    assert "Once upon a time" in text
    assert "\u2026" in text
    assert estimate_tokens(text) > 480
    alone = body(composed(thread(long), resume_tokens=600), "recap")
    assert estimate_tokens(alone) > 550


@settings(max_examples=80, deadline=None)
@given(history=threads(), tokens=st.integers(0, 600))
def test_the_recap_keeps_its_budget(history: Thread, tokens: int) -> None:
    """A resumed session never costs more than was chosen, whatever was said."""
    recap = item(composed(history, resume_tokens=tokens), "recap")
    assert recap is None or estimate_tokens(recap.body) <= tokens


@settings(max_examples=60, deadline=None)
@given(history=threads(), now=TEXTS, fact=TEXTS, key=st.text(min_size=1, max_size=20))
def test_no_content_gets_out_of_its_envelope(
    history: Thread, now: str, fact: str, key: str
) -> None:
    """What a guest says cannot become an instruction or another note."""
    key = key.encode(errors="replace").decode()
    made = composed(
        history,
        facts((GLOBAL, key, fact.encode(errors="replace").decode())),
        now=now,
        view=View(recap_upto=3),
    )
    for desired in made.desired:
        if desired.form is Form.NOTE:
            first, *inner, last = desired.body.split("\n")
            assert first.startswith('<home_notes kind="')
            assert last == "</home_notes>"
            assert not any("<" in line for line in inner)


@given(text=TEXTS)
def test_quoted_lines_cannot_look_like_ours(text: str) -> None:
    """Nobody can put words into the assistant's mouth by saying `Assistant:` on a new line."""
    lines = body(composed(thread(turn("a", text, None))), "recap").splitlines()
    assert sum(not line.startswith("    ") for line in lines if line.strip()) <= 6


def test_outcomes_can_be_told_the_same_way() -> None:
    """What the integration itself tells stands in the same envelope, escaped."""
    assert note_body("outcome", "done </home_notes>") == (
        '<home_notes kind="outcome">\ndone &lt;/home_notes>\n</home_notes>'
    )


# Facts


def test_facts_are_told_by_scope_and_the_narrowest_wins() -> None:
    """The kitchen's own setting is told instead of the home's, and values as they are."""
    held = facts(
        (GLOBAL, "radio", "SWR3"),
        (GLOBAL, "guest wifi", {"name": "Gäste", "on": True}),
        (KITCHEN, "radio", "SWR1\nnot on Sunday"),
        (BEN, "diet", "vegan"),
    )
    made = composed(None, held)
    assert body(made, "facts") == (
        '<home_notes kind="facts">\n'
        "The home:\n"
        '- guest wifi: {"name": "Gäste", "on": true}\n'
        "This device:\n"
        "- radio: SWR1\n    not on Sunday\n"
        "</home_notes>"
    )
    found = item(made, "facts")
    assert found is not None
    assert found.audience == audience(KITCHEN, GLOBAL)
    assert body(composed(None, held[::-1]), "facts") == found.body


def test_too_many_facts_are_searched_instead() -> None:
    """A large memory does not fill every session; the important ones are told."""
    many = facts(*((GLOBAL, f"k{n:03}", "some words about it " * 10) for n in range(300)))
    first = facts((GLOBAL, "zz important", "yes"), priority=5)
    text = body(composed(None, many + first), "facts")
    assert estimate_tokens(text) <= FACTS_TOKENS + 50
    assert "zz important" in text
    assert text.endswith("(There is more; it can be searched.)\n</home_notes>")
    huge = facts((GLOBAL, "huge", "x" * 15_000), (GLOBAL, "small", "y"))
    assert "- small: y" in body(composed(None, huge), "facts")


# The view


def test_turns_of_this_session_are_native_with_their_cuts() -> None:
    """What this session said itself is not told again; only what was not heard is cut."""
    call = Called(call_id="c1", name="x", arguments="{}", output="{}")
    history = thread(
        turn("a", heard_ms=700, calls=(call,)),
        turn("b", source=Source.TEXT),
        turn("c", heard_ms=0),
        turn("d", source=Source.LOCAL),
    )
    view = View(natives=frozenset("abcd"), recap_upto=0)
    made = composed(history, view=view)
    who = audience(KITCHEN)
    assert made.desired[:4] == (
        native("turn:a/hear/0", audience=who),
        native("turn:a/say/0", cut_ms=700, audience=who),
        native("call:c1", pair="c1", audience=who),
        output("c1", "{}", who),
    )
    typed = item(made, "turn:b/hear/0")
    assert typed is not None
    assert (typed.body, typed.by_user, typed.digest) == (
        "What time is it?",
        True,
        digest("What time is it?"),
    )
    said = item(made, "turn:c/say/0")
    assert said is not None
    assert said.cut_ms == 0
    assert "Home Assistant: Five past seven." in body(made, "meanwhile:d")
    assert item(made, "recap") is None


def test_turns_elsewhere_come_as_meanwhile() -> None:
    """The kitchen learns what was said in the hall since, each turn once."""
    history = thread(turn("a", "First."), turn("b", "Second."), turn("c", "Third. " * 900))
    made = composed(history, view=View(natives=frozenset("a"), recap_upto=1))
    assert [d.key for d in made.desired] == [
        "turn:a/hear/0",
        "turn:a/say/0",
        "meanwhile:b",
        "meanwhile:c",
    ]
    assert "User: Second." in body(made, "meanwhile:b")
    assert estimate_tokens(body(made, "meanwhile:c")) <= MEANWHILE_TOKENS + 20


@settings(max_examples=50, deadline=None)
@given(history=threads(), more=st.integers(0, 3))
def test_the_window_does_not_slide(history: Thread, more: int) -> None:
    """While a session is open its recap stays as it is, so that its cache stays warm."""
    view = View(recap_upto=history.next_number - 1)
    longer = history
    for number in range(more):
        longer = longer.joined(turn(f"new{number}"))
    made = composed(longer, view=view, resume_tokens=300)
    assert item(made, "recap") == item(composed(history, view=view, resume_tokens=300), "recap")


def test_a_summary_made_meanwhile_does_not_rewrite_the_recap() -> None:
    """Summarising in the background costs a running session nothing; forgetting does reach it."""
    before = thread(turn("a", "The code is 1234."), turn("b", "Good night."))
    after = Thread(
        key=before.key,
        summary=summary(
            SummaryLine(kind=LineKind.FACT, text="The code is 1234.", turns=(1,)), upto=1
        ),
        turns=before.turns[1:],
        next_number=3,
        last_at=before.last_at,
    )
    view = View(recap_upto=2)
    assert composed(after, view=view, base=before) == composed(before, view=view)
    assert composed(after, view=view) != composed(before, view=view)
    gone = after.without(["1234"])
    text = body(composed(gone, view=view, base=before), "recap")
    assert "1234" not in text
    assert "Good night." in text


# Who may see it


def test_a_thread_that_may_not_be_seen_is_not_told() -> None:
    """When the satellite moves to another room, the old room's history stays there."""
    history = thread(turn("a"))
    view = View(natives=frozenset("a"))
    assert composed(history, visible=visible_keys(device="hall")).desired == ()
    assert composed(history, visible=visible_keys(device="hall"), view=view).desired == ()


def test_every_item_says_who_must_be_allowed() -> None:
    """When Ben speaks after Anna, what is hers can be taken back from the live session."""
    history = Thread(
        key=thread().key,
        summary=summary(
            SummaryLine(
                kind=LineKind.FACT, text="Anna is 40.", turns=(1,), audience=audience(ANNA)
            ),
            upto=1,
        ),
        next_number=2,
    )
    history = history.joined(turn("a", audience=audience(ANNA))).joined(turn("b"))
    seen = visible_keys(device="kitchen", speaker="anna")
    made = composed(
        history,
        facts((ANNA, "age", 40)),
        now="Speaker: Anna",
        visible=seen,
        view=View(recap_upto=1),
    )
    assert {d.key: d.audience for d in made.desired} == {
        "recap": audience(KITCHEN, ANNA),
        "facts": audience(ANNA),
        "meanwhile:a": audience(KITCHEN, ANNA),
        "meanwhile:b": audience(KITCHEN),
        "now": audience(ANNA),
    }
    assert made.visible == frozenset(map(str, seen))


SCOPES = (GLOBAL, KITCHEN, ANNA, BEN, ScopeKey(Scope.AREA, "hall"), ScopeKey(Scope.PLUGIN, "p"))


@settings(max_examples=80, deadline=None)
@given(
    data=st.data(),
    visible=st.lists(st.sampled_from(SCOPES), unique=True, max_size=6),
    upto=st.integers(0, 8),
)
def test_nothing_of_a_scope_that_may_not_be_seen(
    data: st.DataObject, visible: list[ScopeKey], upto: int
) -> None:
    """Whoever speaks, wherever: no word of somebody else's memory is in what the model gets."""
    store = ContextStore(lambda: NOW)
    history = Thread(key=thread().key)
    lines = []
    for number in range(8):
        scopes = data.draw(st.lists(st.sampled_from(SCOPES), unique=True, max_size=2))
        word = "-".join(["planted", *(f"{s.scope}.{s.id}" for s in scopes)])
        history = history.joined(turn(f"t{number}", word, word, audience=audience(*scopes)))
        lines.append(
            SummaryLine(kind=LineKind.FACT, text=word, turns=(1,), audience=audience(*scopes))
        )
    for scope in SCOPES:
        store.set(scope, f"{scope.scope}.{scope.id}", f"planted-{scope.scope}.{scope.id}")
    history = Thread(
        key=history.key,
        turns=history.turns,
        summary=summary(*lines),
        next_number=history.next_number,
    )
    made = composed(
        history,
        store.visible(SCOPES),
        visible=tuple(visible),
        view=View(natives=frozenset(["t1", "t7"]), recap_upto=upto),
    )
    for desired in made.desired:
        assert desired.audience <= made.visible
        for scope in set(SCOPES) - set(visible):
            assert f"{scope.scope}.{scope.id}" not in desired.body


# The same every time


@settings(max_examples=30, deadline=None)
@given(history=threads(), data=st.data())
def test_equal_input_gives_equal_output(history: Thread, data: st.DataObject) -> None:
    """What did not change is not sent again."""
    held = facts((GLOBAL, "b", {"y": 1, "x": 2}), (KITCHEN, "a", "é"), (ANNA, "c", 1))
    shuffled = tuple(data.draw(st.permutations(held)))
    assert composed(history, held, now="x") == composed(history, shuffled, now="x")


def test_every_process_says_the_same() -> None:
    """After a restart the provider's cache is still good: not one byte differs."""
    program = (
        "from tests.memory.test_compose import *;"
        "h = thread(*(turn(str(n), audience=audience(ANNA, BEN)) for n in range(3)));"
        "m = composed(h, facts((GLOBAL, 'b', {'y': 1, 'x': 2}), (ANNA, 'a', 'é')),"
        " visible=visible_keys(device='kitchen', speaker='anna') + (BEN,));"
        "print([(d.key, d.digest, sorted(d.audience)) for d in m.desired])"
    )
    outputs = {
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "facts" in outputs.pop()


@pytest.mark.parametrize("now", [None, "", "  \n"])
def test_nothing_to_tell_is_no_note(now: str | None) -> None:
    """An empty memory costs nothing."""
    assert composed(thread(), (), now=now).desired == ()
    assert composed(None, (), now=now).desired == ()
