"""All checks count, and none is passed over in silence."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from . import lint, suite, venvs
from .catalogue import RELEASES, Environment
from .shell import SetupError
from .steps import Outcome, Step

PYTHON = Path("/env/bin/python")


class Runner:
    """Runs no step, and lets the named ones fail."""

    def __init__(self) -> None:
        """Let everything end well."""
        self.failing: set[str] = set()
        self.covered = 100.0
        self.ran: list[Step] = []

    def run(self, step: Step, *, keep: bool) -> Outcome:
        """End a step as it was told to, and write a report where one is asked for."""
        self.ran.append(step)
        last = [str(word) for word in step.commands[-1]]
        if "json" in last:
            part = {"percent_covered": self.covered, "missing_lines": 0}
            flow = "custom_components/realtime_assist/config_flow.py"
            report = {"totals": part, "files": {flow: {"summary": part}}}
            Path(last[-1]).write_text(json.dumps(report))
        output = f"{step.name} said\n" if keep else ""
        return Outcome(name=step.name, ok=step.name not in self.failing, output=output)

    def run_all(self, steps: Iterable[Step], *, at_once: int) -> Iterator[Outcome]:
        """End all steps."""
        assert at_once == 2
        return (self.run(step, keep=True) for step in steps)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    """Return what runs the steps; there is no demo."""
    stand_in = Runner()
    with (
        patch.object(suite, "run", stand_in.run),
        patch.object(suite, "run_all", stand_in.run_all),
        patch.object(suite, "DEMO", tmp_path / "demo"),
        patch.object(venvs, "ensure", return_value=PYTHON),
    ):
        yield stand_in


def test_all_checks_run_on_every_release(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.main([]) == 0
    assert [step.name for step in runner.ran] == [
        *(f"tests on Home Assistant {release}" for release in RELEASES),
        *("lint", "coverage report"),
    ]
    printed = capsys.readouterr().out
    for step in runner.ran:
        assert f"{step.name} said" in printed
    assert "coverage of all files: 100.00 %" in printed


@pytest.mark.parametrize("name", ["lint", "coverage report"])
def test_one_failure_fails_all(runner: Runner, name: str) -> None:
    runner.failing.add(name)
    assert suite.main([]) == 1


def alone(release: str) -> str:
    """Return the name of the step that repeats what failed."""
    return f"what failed on Home Assistant {release}, alone"


def test_what_a_busy_machine_starved_is_repeated_and_named(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    runner.failing.add(f"tests on Home Assistant {RELEASES[1]}")
    assert suite.main([]) == 0
    assert alone(RELEASES[1]) in [step.name for step in runner.ran]
    assert alone(RELEASES[0]) not in [step.name for step in runner.ran]
    assert "only when repeated alone" in capsys.readouterr().out


def test_what_fails_alone_as_well_fails_all(runner: Runner) -> None:
    runner.failing |= {f"tests on Home Assistant {RELEASES[0]}", alone(RELEASES[0])}
    assert suite.main([]) == 1


def test_only_what_failed_on_that_release_is_repeated(runner: Runner) -> None:
    runner.failing |= {f"tests on Home Assistant {release}" for release in RELEASES}
    assert suite.main([]) == 0
    for release in RELEASES:
        first, again = (
            next(step for step in runner.ran if step.name == name)
            for name in (f"tests on Home Assistant {release}", alone(release))
        )
        notes = [word for word in first.commands[0] if "cache_dir=" in str(word)]
        assert notes
        assert notes == [word for word in again.commands[0] if "cache_dir=" in str(word)]
        assert "--last-failed-no-failures=none" in again.commands[0]


def test_too_little_covered_fails(runner: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    runner.covered = 94.0
    assert suite.main([]) == 1
    assert "94.00 % of 95 %" in capsys.readouterr().out


def test_demo_runs_if_there_is_one(runner: Runner) -> None:
    suite.DEMO.touch()
    assert suite.main([]) == 0
    assert runner.ran[-1].commands == ((suite.DEMO, "--json"),)
    runner.failing.add("demo")
    assert suite.main([]) == 1


def test_releases_do_not_share_a_count(runner: Runner) -> None:
    suite.main([])
    files = [step.env["COVERAGE_FILE"] for step in runner.ran[: len(RELEASES)]]
    assert len(set(files)) == len(RELEASES)
    joined = [str(word) for word in runner.ran[-1].commands[0]]
    assert joined[-len(files) :] == files


def test_arguments_go_to_pytest_on_every_release(runner: Runner) -> None:
    assert suite.main(["tests/memory", "-k", "audience"]) == 0
    command = (PYTHON, "-m", "pytest", "tests/memory", "-k", "audience")
    assert [step.commands for step in runner.ran] == [(command,)] * len(RELEASES)


def test_environment_that_only_some_need_stops_nothing(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    def ensure(environment: Environment) -> Path:
        if environment.name == "speech":
            raise SetupError("no voice")
        return PYTHON

    with patch.object(venvs, "ensure", ensure):
        assert suite.main([]) == 0
    assert "speech: no voice" in capsys.readouterr().err
    assert runner.ran


def test_no_environment_no_success() -> None:
    with patch.object(venvs, "ensure", side_effect=SetupError("no Python")):
        assert suite.main([]) == 1


@pytest.mark.parametrize(("arguments", "names"), [([], ["lint"]), (["--fix"], ["mend", "lint"])])
def test_lint_mends_only_when_asked(arguments: list[str], names: list[str]) -> None:
    run = Mock(return_value=Outcome(name="lint", ok=True))
    with (
        patch.object(lint, "run", run),
        patch.object(venvs, "ensure", return_value=PYTHON),
    ):
        assert lint.main(arguments) == 0
    assert [call.args[0].name for call in run.call_args_list] == names


def test_lint_fails_with_what_it_found() -> None:
    run = Mock(return_value=Outcome(name="lint", ok=False))
    with (
        patch.object(lint, "run", run),
        patch.object(venvs, "ensure", return_value=PYTHON),
    ):
        assert lint.main([]) == 1


def test_lint_without_an_environment_fails() -> None:
    with patch.object(venvs, "ensure", side_effect=SetupError("no Python")):
        assert lint.main([]) == 1
