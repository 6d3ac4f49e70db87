"""A model that answers, repeats or invents instead of summarising is found out."""

import pytest

from custom_components.realtime_assist.memory.asking import read, record
from custom_components.realtime_assist.memory.checking import checked
from custom_components.realtime_assist.memory.extractive import ExtractiveSummarizer
from custom_components.realtime_assist.memory.summarizer import SummaryFailed, SummaryTask
from custom_components.realtime_assist.memory.transcript import LineKind, SummaryLine

from .history import thread, turn

SAID = (
    "My name is Anna, and I am allergic to hazelnuts.",
    "We call the small lamp Lumi.",
    "Ich mag das Licht am Abend lieber warm.",
    "Please remind me to call Berta on Friday.",
    "Is the front door locked?",
)


def task(*sentences: str, previous: tuple[SummaryLine, ...] = ()) -> SummaryTask:
    """Return the task to summarise these sentences."""
    history = thread(*(turn(f"t{n}", text, minutes=n) for n, text in enumerate(sentences)))
    return SummaryTask(turns=history.turns, previous=previous, tokens=300)


def refusal(asked: SummaryTask, answer: object) -> str | None:
    """Return why an answer is refused; None if it is not."""
    try:
        checked(read(answer), asked)
    except SummaryFailed as err:
        return err.code
    return None


GOOD = {
    "facts": ["Anna is allergic to hazelnuts. [1]"],
    "names": ["The small lamp is called Lumi. [2]"],
    "preferences": ["Anna mag abends lieber warmes Licht. [3]"],
    "requests": ["Anna wants a reminder to call Berta on Friday. [4]"],
    "gist": ["It was asked whether the front door is locked. [5]"],
}


def test_a_summary_is_taken() -> None:
    """What tells briefly what was said, and says where it is from, is what was asked for."""
    assert refusal(task(*SAID), GOOD) is None
    assert checked(read(GOOD), task(*SAID)) == read(GOOD)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({}, "empty"),
        ({"gist": []}, "empty"),
        ({"gist": ["  "]}, "empty"),
        ({"gist": ["The front door is locked."]}, "cites_nothing"),
        ({"gist": ["The front door is locked. [77]"]}, "cites_nothing"),
        ({"gist": ["The front door is locked. [5]"]}, "answers"),
        ({"gist": ["Yes, the front door is locked. [5]", "Sure, hazelnuts. [1]"]}, "answers"),
        ({"gist": ["Ich habe das Licht gedimmt. [3]"]}, "answers"),
        ({"gist": ["Voici un résumé de Lumi. [1, 2]"]}, "answers"),
        ({"gist": ["A dragon lives in Paris. [1]", "Rome burns. [2]"]}, "unfounded"),
        ({"gist": [f"{sentence} [{n}]" for n, sentence in enumerate(SAID * 9, 1)]}, "too_long"),
    ],
)
def test_what_is_no_summary_is_refused(answer: object, code: str) -> None:
    """An answer, nothing, anything without a source, or a copy is not kept as what is known."""
    assert refusal(task(*SAID), answer) == code


def test_a_copy_of_the_record_is_refused() -> None:
    """A model that repeats all that it was given has summarised nothing."""
    asked = task(*SAID)
    assert refusal(asked, {"gist": [f"{record(asked)} [1, 2]"]}) == "too_long"


def test_a_line_from_nowhere_is_left_out_of_a_good_summary() -> None:
    """One invention, or an example taken for real, does not cost the rest."""
    answer = GOOD | {"promises": ["Zeno promised a zebra. [2]"]}
    kept = [line.text for line in checked(read(answer), task(*SAID)).lines()]
    assert "Zeno promised a zebra." not in kept
    assert len(kept) == 5


def test_what_is_known_from_before_counts_as_a_source() -> None:
    """A line that was in the last summary may stay, in other words and with its own turns."""
    known = SummaryLine(kind=LineKind.FACT, text="The bins go out on Thursday.", turns=(1,))
    asked = SummaryTask(turns=task(*SAID).turns[1:], previous=(known,), tokens=300)
    answer = {"facts": ["Bins: Thursday. [1]"], "names": ["The small lamp is Lumi. [2]"]}
    assert refusal(asked, answer) is None


def test_one_short_turn_may_have_one_line() -> None:
    """Where only one thing was said, a summary of one line is no answer."""
    assert refusal(task(SAID[0]), {"facts": ["Anna is allergic to hazelnuts. [1]"]}) is None


def test_the_built_in_way_passes_its_own_checks() -> None:
    """The checks refuse what is wrong, and not what is plain."""
    asked = task(*(f"{sentence} Number {n}." for n, sentence in enumerate(SAID * 8)))
    assert checked(ExtractiveSummarizer().extract(asked), asked).lines()
