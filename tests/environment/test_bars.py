"""Too little covered is told, file by file."""

import json
from pathlib import Path
from typing import Any

from .bars import BARS, Bar, complaints, read, summary

FLOW = "custom_components/realtime_assist/config_flow.py"


def report(total: float, flow: float | None) -> dict[str, Any]:
    """Return what coverage reports for these percentages."""
    files: dict[str, Any] = {}
    if flow is not None:
        files[FLOW] = {"summary": {"percent_covered": flow, "missing_lines": 3}}
    return {"totals": {"percent_covered": total, "missing_lines": 70}, "files": files}


def test_reached_bars_are_silent() -> None:
    assert complaints(report(95.0, 100.0)) == []


def test_low_total_is_told() -> None:
    assert complaints(report(94.994, 100.0)) == [
        "all files: 94.99 % of 95 % covered, 70 lines did not run"
    ]


def test_config_flow_must_be_whole() -> None:
    assert complaints(report(99.0, 99.5)) == [
        f"{FLOW}: 99.50 % of 100 % covered, 3 lines did not run"
    ]


def test_file_that_was_not_measured_does_not_pass() -> None:
    assert complaints(report(99.0, None)) == [f"{FLOW}: not measured"]


def test_bars_are_ours_to_choose() -> None:
    assert complaints(report(50.0, 10.0), [Bar(50.0), Bar(10.0, FLOW)]) == []
    assert {bar.percent for bar in BARS} == {95.0, 100.0}


def test_report_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report(97.126, 100.0)))
    assert summary(read(path)) == "coverage of all files: 97.13 %"
