"""History holds what was heard, once, and gives up what was forgotten."""

import json
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.thread_file import (
    thread_from_dict,
    thread_to_dict,
    turn_to_dict,
)
from custom_components.realtime_assist.memory.transcript import (
    Called,
    LineKind,
    Said,
    Summary,
    SummaryLine,
    Thread,
    ThreadKey,
)

from .history import ANNA, BEN, KEY, START, thread, threads, turn, turns


@pytest.mark.parametrize(
    ("heard_ms", "words", "cut"),
    [
        (None, "One two three four.", False),
        (2000, "One two three four.", False),
        (9000, "One two three four.", False),
        (1000, "One two", True),
        (10, "", True),
        (0, "", True),
        (-5, "", True),
    ],
)
def test_heard_words_follow_the_share_of_audio(
    heard_ms: int | None, words: str, *, cut: bool
) -> None:
    """History holds the words that came out of the loudspeaker, and whole ones only."""
    said = Said(index=0, text="One two three four.", audio_ms=2000, heard_ms=heard_ms)
    assert (said.heard_words, said.cut) == (words, cut)


def test_text_without_audio_is_read_or_not() -> None:
    """A typed answer is read as a whole."""
    assert Said(index=0, text="Yes.").heard_words == "Yes."
    assert Said(index=0, text="Yes.", heard_ms=0).heard_words == ""


@given(
    text=st.text(),
    audio_ms=st.integers(0, 10_000),
    heard=st.lists(st.integers(0, 12_000), min_size=2),
)
def test_more_heard_is_more_words(text: str, audio_ms: int, heard: list[int]) -> None:
    """Hearing longer never takes words away."""
    words = [
        Said(index=0, text=text, audio_ms=audio_ms, heard_ms=ms).heard_words for ms in sorted(heard)
    ]
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(words))


def test_a_turn_joins_once_at_the_next_number() -> None:
    """A turn that is reported twice is remembered once."""
    history = thread(turn("a"), turn("b", minutes=5))
    assert [t.number for t in history.turns] == [1, 2]
    assert history.joined(turn("a", "again")) == history
    assert history.last_at == turn("b", minutes=5).at
    assert history.turn("b") == history.turns[1]
    assert history.turn("c") is None


def test_broken_text_does_not_keep_a_thread_off_the_disk() -> None:
    """A tool that returns half a sign costs that sign, not the history."""
    call = Called(call_id="c", name="x", arguments="\ud800", output="\udfff ok")
    history = thread(turn("a", "hi \ud800", "so \ud800", calls=(call,)))
    json.dumps(thread_to_dict(history), ensure_ascii=False).encode()
    assert history.turns[0].heard_text == "hi ?"
    assert history.turns[0].calls[0].output == "? ok"


def test_forgetting_takes_turns_and_lines_and_nothing_else() -> None:
    """Forget the code, and no turn or summary tells it, in whatever case it was said."""
    call = Called(call_id="c", name="x", arguments="{}", output="code 1234")
    line = SummaryLine(kind=LineKind.FACT, text="The CODE is 1234", turns=(1,))
    other = SummaryLine(kind=LineKind.FACT, text="The cat is black", turns=(1,))
    history = replace(
        thread(
            turn("a", "1234"),
            turn("b", said="it is Code 1234"),
            turn("c", calls=(call,)),
            turn("d"),
        ),
        summary=Summary(lines=(line, other), upto=0, made_by="x", at=START),
    )
    gone = history.without(["code 1234", "1234", " "])
    assert [t.id for t in gone.turns] == ["d"]
    assert gone.summary is not None
    assert gone.summary.lines == (other,)
    assert (gone.revision, gone.next_number) == (1, 5)
    assert gone.without(["1234"]) is gone
    assert gone.without([]) is gone
    assert gone.joined(turn("e")).turns[-1].number == 5


def test_all_can_be_forgotten() -> None:
    """A new beginning keeps nothing, and does not confuse sessions that are open."""
    gone = thread(turn("a")).emptied()
    assert (gone.turns, gone.summary, gone.next_number, gone.revision) == ((), None, 2, 1)


def test_content_is_not_in_what_is_logged() -> None:
    """An error that shows a turn does not show what was said."""
    call = Called(call_id="c", name="x", arguments="planted", output="planted")
    line = SummaryLine(kind=LineKind.FACT, text="planted")
    assert "planted" not in f"{turn('a', 'planted', 'planted', calls=(call,))} {line}"


@pytest.mark.parametrize("text", ["", "a", "/device:x", "a/house:x", "a/b/device:x"])
def test_what_is_no_thread_is_refused(text: str) -> None:
    """A thread always has an assistant and a place."""
    with pytest.raises(ValueError, match=r"\w"):
        ThreadKey.parse(text)


@given(name=st.text(min_size=1))
def test_a_thread_key_is_read_back(name: str) -> None:
    """Every history is found again."""
    key = ThreadKey("*", ScopeKey(Scope.AREA, name))
    assert ThreadKey.parse(str(key)) == key


# The disk


@settings(max_examples=60, deadline=None)
@given(history=threads(), who=st.sampled_from([audience(), audience(ANNA, BEN)]), text=st.text())
def test_a_thread_comes_back_from_the_disk(history: Thread, who: frozenset[str], text: str) -> None:
    """After a restart the history is the same, in every script and time zone."""
    line = SummaryLine(kind=LineKind.NAME, text=text, turns=(1, 2), audience=who, at=START)
    summary = Summary(lines=(line,), upto=0, made_by="x", at=START)
    history = replace(history, summary=summary, revision=3)
    stored = json.loads(json.dumps(thread_to_dict(history)))
    found, lost = thread_from_dict(stored)
    assert (found, lost) == (history, 0)
    assert [t.at.utcoffset() for t in found.turns] == [t.at.utcoffset() for t in history.turns]
    assert thread_to_dict(found) == thread_to_dict(history)


@settings(max_examples=30, deadline=None)
@given(record=turns(audience=audience(ANNA, BEN)))
def test_equal_turns_are_equal_texts(record: Any) -> None:  # noqa: ANN401 - drawn
    """Whether a turn changed can be told from its text."""
    assert json.dumps(turn_to_dict(record)) == json.dumps(turn_to_dict(replace(record)))


def broken(turns: list[Any], lines: list[Any]) -> dict[str, Any]:
    """Return a thread of the disk with these turns and lines."""
    stored = thread_to_dict(thread(turn("a"), turn("b")))
    summary = {"lines": lines, "upto": 0, "made_by": "x", "at": START.isoformat()}
    return {**stored, "turns": [*stored["turns"], *turns], "summary": summary, "new": 1}


def test_a_broken_turn_takes_no_other_with_it() -> None:
    """Damage to one turn costs that turn."""
    good = turn_to_dict(thread(turn("x")).turns[0])
    bad = [
        5,
        {},
        {**good, "at": "yesterday"},
        {**good, "at": "2026-01-01T00:00:00"},
        {**good, "source": "smell"},
        {key: value for key, value in good.items() if key != "audience"},
    ]
    line = {"kind": "fact", "text": "x", "audience": []}
    bad_lines = [{**line, "kind": "?"}, {"kind": "fact", "text": "for whom?"}]
    found, lost = thread_from_dict(broken(bad, [*bad_lines, line]))
    assert [t.id for t in found.turns] == ["a", "b"]
    assert found.summary is not None
    assert [held.text for held in found.summary.lines] == ["x"]
    assert lost == len(bad) + len(bad_lines)


@pytest.mark.parametrize(
    "change", [{"key": "?"}, {"turns": 5}, {"next_number": 0}, {"revision": "x"}]
)
def test_what_is_no_thread_is_not_read(change: dict[str, Any]) -> None:
    """A file of another shape is reported instead of half read."""
    with pytest.raises(ValueError, match=r"\w"):
        thread_from_dict({**thread_to_dict(thread()), **change})


def test_numbers_are_never_given_twice() -> None:
    """Even if its counter is damaged, a thread goes on after its last turn."""
    stored = {**thread_to_dict(thread(turn("a"), turn("b"))), "next_number": 1}
    found, _ = thread_from_dict(stored)
    assert found.joined(turn("c")).turns[-1].number == 3
    assert found.key == KEY
    assert isinstance(found.last_at, datetime)
