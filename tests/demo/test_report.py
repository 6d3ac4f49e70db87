"""What scripts/demo prints: steps for machines or for people, progress elsewhere."""

import io
import json

from .report import Reporter, StepResult


def _reporter(*, as_json: bool) -> tuple[Reporter, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Reporter(as_json=as_json, out=out, err=err), out, err


def test_json_has_one_object_a_line_and_nothing_else() -> None:
    """A script reads the demo's output line by line, whatever else is told meanwhile."""
    reporter, out, err = _reporter(as_json=True)
    reporter.progress("starting")
    reporter.step(StepResult(step="install", ok=True, evidence={"seconds": 1.5}))
    reporter.step(StepResult(step="light", ok=False, evidence={"heard": "line\nbreak é"}))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines == [
        {"step": "install", "ok": True, "seconds": 1.5},
        {"step": "light", "ok": False, "heard": "line\nbreak é"},
    ]
    assert "starting" in err.getvalue()


def test_text_shows_the_same_facts() -> None:
    """A person sees which step failed, and why."""
    reporter, out, _ = _reporter(as_json=False)
    reporter.step(StepResult(step="light", ok=False, evidence={"error": "dark", "items": [1, 2]}))
    assert "FAIL light" in out.getvalue()
    assert "error: dark" in out.getvalue()
    assert "items: [1, 2]" in out.getvalue()


def test_only_success_of_all_is_success() -> None:
    """The exit status can be trusted: nothing told is no success, and one failure is enough."""
    reporter, _, _ = _reporter(as_json=True)
    told = [reporter.all_well]
    reporter.step(StepResult(step="install", ok=True))
    told.append(reporter.all_well)
    reporter.step(StepResult(step="light", ok=False))
    told.append(reporter.all_well)
    assert told == [False, True, False]
    assert [result.step for result in reporter.results] == ["install", "light"]
