"""How much of the integration the tests must cover, and whether they do.

The report is coverage's own JSON, combined from the runs on every supported Home Assistant:
a line that only one release reaches counts.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INTEGRATION = "custom_components/realtime_assist"


@dataclass(frozen=True)
class Bar:
    """The least share of lines, in percent, that must run in a file, or in all (None)."""

    percent: float
    file: str | None = None


BARS = (Bar(95.0), Bar(100.0, f"{INTEGRATION}/config_flow.py"))


def complaints(report: Mapping[str, Any], bars: Iterable[Bar] = BARS) -> list[str]:
    """Return a line for each bar that a report does not reach."""
    return [line for bar in bars if (line := _complaint(report, bar))]


def read(path: Path) -> Mapping[str, Any]:
    """Return a report that `coverage json` wrote."""
    report: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def _complaint(report: Mapping[str, Any], bar: Bar) -> str | None:
    """Return what is wrong with one bar's part of a report."""
    name = bar.file or "all files"
    part = report["files"].get(bar.file, {}).get("summary") if bar.file else report["totals"]
    if part is None:
        return f"{name}: not measured"
    covered = float(part["percent_covered"])
    if covered >= bar.percent:
        return None
    missing = part["missing_lines"]
    return f"{name}: {covered:.2f} % of {bar.percent:.0f} % covered, {missing} lines did not run"


def summary(report: Mapping[str, Any]) -> str:
    """Return the one number of a report."""
    return f"coverage of all files: {float(report['totals']['percent_covered']):.2f} %"
