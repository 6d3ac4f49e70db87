"""Steps say how they ended, and keep what was printed together."""

import sys

from .steps import Outcome, Step, run, run_all


def code(text: str) -> tuple[str, str, str]:
    """Return a command that runs a Python program."""
    return sys.executable, "-c", text


def test_a_step_fails_with_any_of_its_commands_and_runs_them_all() -> None:
    step = Step(
        name="two",
        commands=(code("print('one'); raise SystemExit(5)"), code("print('two')")),
    )
    outcome = run(step, keep=True)
    assert not outcome.ok
    assert outcome.output == "one\ntwo\n"


def test_variables_reach_the_commands_and_errors_are_kept() -> None:
    text = "import os, sys; sys.stderr.write(os.environ['GIVEN'])"
    outcome = run(Step(name="env", commands=(code(text),), env={"GIVEN": "hello"}), keep=True)
    assert outcome.ok
    assert outcome.output == "hello"


def test_what_goes_through_is_not_kept() -> None:
    outcome = run(Step(name="quiet", commands=(code("pass"),)), keep=False)
    assert outcome.ok
    assert outcome.output == ""


def test_each_step_has_an_outcome() -> None:
    steps = [Step(name=name, commands=(code(f"print('{name}')"),)) for name in ("a", "b", "c")]
    assert sorted(outcome.output for outcome in run_all(steps, at_once=2)) == [
        *("a\n", "b\n", "c\n")
    ]


def test_outcome_in_one_line() -> None:
    assert Outcome(name="lint", ok=True, seconds=1.4).line() == "ok   lint (1 s)"
    assert Outcome(name="lint", ok=False, seconds=61.0).line() == "FAIL lint (61 s)"
