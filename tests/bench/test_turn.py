"""The timing of turns says what it means; how long a turn takes, no test says."""

import json

import pytest

from .turn import gathered, p95, told_of
from .turns.declared import LENGTHS, reply_of


def line(kind: str, mode: str = "plain", **stamps: float) -> str:
    return json.dumps({"kind": kind, "length": 20, "mode": mode, "stamps": stamps})


def ours(first: float, mode: str = "plain") -> str:
    stamps = {"stream_end": 0.25, "stt_end": 1.0, "intent_start": 1.01, "announced": 1.02}
    return line("ours", mode, **stamps, first=first, last=2.0)


def floor(audio: float, transcript: float) -> str:
    return line("floor", "", audio=audio, transcript=transcript, last=2.0)


def told(*lines: str) -> dict[str, float]:
    return {figure.name: figure.value for figure in told_of("t", gathered(lines))}


def test_ours_is_compared_with_what_home_assistant_waits_for() -> None:
    figures = told(ours(1.03), floor(0.8, 1.0), ours(1.27), floor(1.25, 1.1))
    assert figures["t.ours.20.over_floor"] == pytest.approx(25)
    assert figures["t.ours.20.over_floor.p95"] == pytest.approx(30)
    assert figures["t.floor.20.transcript"] == pytest.approx(1050)


def test_each_turn_of_a_converted_answer_has_its_own_aim() -> None:
    made = told_of("t", gathered([ours(1.06, "converted"), floor(0.8, 1.0)]))
    [over] = [one for one in made if one.name == "t.ours_converted.20.over_floor"]
    assert over.aim == 80
    assert over.met


def test_the_budget_adds_up() -> None:
    figures = told(ours(1.03), floor(0.8, 1.0))
    parts = [value for name, value in figures.items() if ".budget." in name]
    assert sum(parts) == pytest.approx(figures["t.ours.20.first"])


def test_the_slowest_of_a_few_is_their_95th_percentile() -> None:
    assert p95([3.0, 1.0, 2.0]) == 3.0
    assert p95([float(value) for value in range(1, 101)]) == 95.0


@pytest.mark.parametrize("length", LENGTHS)
def test_replies_are_as_long_as_they_say(length: int) -> None:
    assert len(reply_of(length)) == length
