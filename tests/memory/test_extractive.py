"""Without any model, the house still keeps what matters of what was said, word for word."""

from dataclasses import replace

import pytest

from custom_components.realtime_assist.memory.extractive import ExtractiveSummarizer
from custom_components.realtime_assist.memory.sentences import sentences, words
from custom_components.realtime_assist.memory.summarizer import (
    HomeSummary,
    SummaryTask,
    line_cost,
    lines_of,
)
from custom_components.realtime_assist.memory.transcript import (
    Called,
    LineKind,
    Said,
    SummaryLine,
    TurnRecord,
)

from .history import START, thread, turn


def task(
    *turns: TurnRecord, tokens: int = 300, previous: tuple[SummaryLine, ...] = ()
) -> SummaryTask:
    """Return what to summarise."""
    return SummaryTask(turns=thread(*turns).turns, previous=previous, tokens=tokens)


def told(*turns: TurnRecord, tokens: int = 300) -> list[tuple[LineKind, str]]:
    """Return the lines of a summary."""
    work = task(*turns, tokens=tokens)
    return [(line.kind, line.text) for line in lines_of(ExtractiveSummarizer().extract(work), work)]


@pytest.mark.parametrize(
    ("heard", "kind"),
    [
        ("I prefer 21 degrees in the bedroom.", LineKind.PREFERENCE),
        ("Ich mag keine Oliven auf der Pizza.", LineKind.PREFERENCE),
        ("Je préfère le café noir.", LineKind.PREFERENCE),
        ("Prefiero la luz cálida.", LineKind.PREFERENCE),
        ("エアコンは二十一度が好きです。", LineKind.PREFERENCE),
        ("أحب القهوة في الصباح", LineKind.PREFERENCE),
        ("Die Lampe heißt Leuchtturm.", LineKind.NAME),
        ("We call the cellar the dungeon.", LineKind.NAME),
        ("No, not the kitchen, I meant the bathroom.", LineKind.CORRECTION),
        ("Nein, nicht die Küche, ich meinte das Bad.", LineKind.CORRECTION),
        ("Please remind me of the flowers.", LineKind.REQUEST),
        ("Erinnere mich bitte an die Blumen.", LineKind.REQUEST),
        ("Der Zahnarzt ist am 3. Dezember um 14 Uhr.", LineKind.FACT),
        ("Grandmother has her birthday tomorrow.", LineKind.FACT),
        ("Children played outside the house.", LineKind.GIST),
    ],
)
def test_kinds_are_told_apart_in_several_languages(heard: str, kind: LineKind) -> None:
    """A preference is kept as one, whatever language it was said in."""
    assert (kind, f"User: {heard}") in told(turn("a", heard, None))


def test_a_promise_is_kept() -> None:
    """What the assistant said it would do is not forgotten."""
    assert (LineKind.PROMISE, "Assistant: I will tell you when the oven is warm.") in told(
        turn("a", "Okay.", "I will tell you when the oven is warm.")
    )


def test_a_request_that_was_done_is_not_open() -> None:
    """A light that was switched on is not switched on again next week."""
    call = Called(call_id="c", name="HassTurnOn", arguments="{}", output="{}")
    kinds = [kind for kind, _ in told(turn("a", "Please turn on the lantern.", calls=(call,)))]
    assert LineKind.REQUEST not in kinds


def test_what_was_unclear_or_unheard_is_not_learned() -> None:
    """A guess of the recogniser and the unheard end of an answer never become memory."""
    unclear = turn("a", "Zebras live in Antarctica.", None, unclear=True)
    cut = turn(
        "b", None, "The bakery opens at seven. The butcher closes at nineteen.", heard_ms=1500
    )
    comment = replace(
        turn("c", None, None),
        said=(Said(index=0, text="Searching archives now.", phase="commentary"),),
    )
    text = str(told(unclear, cut, comment))
    assert "bakery opens at seven." in text
    for word in ("Zebras", "butcher", "closes", "archives"):
        assert word not in text


def test_the_telling_sentences_win() -> None:
    """In little room a name and a date stay, and small talk goes."""
    talk = [turn(f"t{n}", "Okay, that is nice. Thank you.", "You are welcome.") for n in range(30)]
    fact = turn("f", "Doctor Weber comes on Thursday at 16:30.", "Good.")
    lines = told(*talk[:15], fact, *talk[15:], tokens=24)
    assert lines == [(LineKind.FACT, "User: Doctor Weber comes on Thursday at 16:30.")]


def test_sentences_that_need_each_other_stay_together() -> None:
    """Why somebody wants something is kept beside it, where there is room for both."""
    heard = "The heron at our pond eats the goldfish. We want a net over it by Friday."
    assert told(turn("a", heard, None)) == [(LineKind.FACT, f"User: {heard}")]
    long = " ".join(
        f"On day {n} the lighthouse keeper counted {n}50 ships and geese." for n in range(9)
    )
    texts = [text for _, text in told(turn("b", long, None))]
    assert texts
    assert all(len(text.split()) <= 40 and text.endswith("geese.") for text in texts)


def test_nothing_is_told_twice() -> None:
    """A question that is asked each day takes one line, not thirty."""
    turns = [turn(f"t{n}", "How warm is the bathroom?", None) for n in range(30)]
    work = task(*turns)
    (line,) = lines_of(ExtractiveSummarizer().extract(work), work)
    assert line.turns == (26, 27, 28, 29, 30)


def test_lines_fit_and_are_whole_sentences() -> None:
    """A summary keeps its budget, and no line is a fragment."""
    story = "The old lighthouse stands on a rock in the north. Its keeper has two dogs, Rex and Bo."
    turns = [turn(f"t{n}", f"{story} Visit number {n} was on day {n}.") for n in range(40)]
    lines = told(*turns, tokens=200)
    assert sum(line_cost(text) for _, text in lines) <= 200
    assert len(lines) > 5
    assert all(text.endswith((".", "?")) for _, text in lines)


def test_earlier_lines_compete_with_new_ones() -> None:
    """A summary of summaries keeps the old that still tells something."""
    old = SummaryLine(
        kind=LineKind.NAME, text="User: The cat is called Minka.", turns=(3,), at=START
    )
    work = task(turn("a", "It rains.", None), previous=(old,))
    lines = lines_of(ExtractiveSummarizer().extract(work), work)
    assert old in lines


async def test_nothing_said_is_nothing_told() -> None:
    """An empty thread makes an empty summary, and no error."""
    assert await ExtractiveSummarizer().summarize(task()) == HomeSummary()
    assert told(turn("a", None, None), tokens=0) == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It is 21.5 degrees. Dr. Weber said so.", ["It is 21.5 degrees.", "Dr. Weber said so."]),
        ("猫です。犬も？はい", ["猫です。", "犬も？", "はい"]),  # noqa: RUF001 - their own signs
        ("a\nb", ["a", "b"]),
        ("", []),
        ("well, " * 60, ["well, " * 39 + "well,", "well, " * 19 + "well,"]),
        ("x " * 100, ["x " * 39 + "x"]),
    ],
)
def test_sentences_are_found(text: str, parts: list[str]) -> None:
    """A line of a summary is a sentence as somebody said it, never longer than forty words."""
    assert list(sentences(text)) == parts


def test_words_are_found_without_spaces() -> None:
    """Japanese is compared by its signs, as it has no spaces."""
    assert list(words("猫の名前 Tama")) == ["猫の", "の名", "名前", "tama"]
    assert list(words("猫")) == ["猫"]
