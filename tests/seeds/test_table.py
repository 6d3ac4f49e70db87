"""The table of what the seeds have, and do wrong, is whole."""

import re
from pathlib import Path
from typing import Final

import pytest

TABLE: Final = Path(__file__).with_name("README.md")
TESTS: Final = Path(__file__).parents[1]
SEEDS: Final = Path(__file__).parents[3] / "shared" / "SEEDS.md"
NOTHING: Final = {"no", "-", "none", "logs, spans"}

_ROW: Final = re.compile(r"^\| (?P<what>[^|]+) \| (?P<rest>.+) \|$", re.MULTILINE)


def rows(text: str, head: str) -> dict[str, str]:
    """Return the rows of the table below a heading: what it says, and the rest."""
    part = text.partition(f"## {head}\n")[2].partition("\n## ")[0]
    found = [match for match in _ROW.finditer(part) if "---" not in match[0]]
    return {match["what"].strip(): match["rest"].strip() for match in found[1:]}


@pytest.mark.parametrize(
    ("head", "least"),
    [("What they have", 39), ("What draive does wrong", 22), ("What AgentScope does wrong", 22)],
)
def test_every_row_names_tests_that_there_are(head: str, least: int) -> None:
    """Whoever renames a test keeps the table in order, and a row without a test says why."""
    sources = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    there = {name for source in sources for name in re.findall(r"def (test_\w+)\(", source)}
    table = rows(TABLE.read_text(encoding="utf-8"), head)
    assert len(table) >= least
    for what, cell in table.items():
        named = set(re.findall(r"`(test_\w+)`", cell))
        assert named or cell.startswith("none: "), what
        assert named <= there, f"{what}: {named - there}"


@pytest.mark.skipif(not SEEDS.is_file(), reason="what was read of the seeds lies beside this")
def test_no_row_is_left_out() -> None:
    """Everything that was found in one of the three systems is in the table."""
    found = rows(SEEDS.read_text(encoding="utf-8"), "4. Feature table")
    known = rows(TABLE.read_text(encoding="utf-8"), "What they have").keys()
    for what, cells in found.items():
        has = [cell.strip(" *") for cell in cells.split("|")]
        if what != "tests seen" and any(cell.lower() not in NOTHING for cell in has):
            assert what in known
