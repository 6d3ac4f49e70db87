"""What FAULTS.md promises is there."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parent
ROW: Final = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<test>\w+)`")
NAMED: Final = ROW.findall((HERE / "FAULTS.md").read_text(encoding="utf-8"))


def names_in(file: Path) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_every_fault_has_its_test(file: str, test: str) -> None:
    """Who reads what is provoked finds the test that does it."""
    assert test in names_in(HERE / file)


def test_every_row_names_a_test_and_what_is_noticed() -> None:
    """No fault stands there without a test, or without what it means to somebody."""
    lines = (HERE / "FAULTS.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| Fault")]
    assert len(rows) == len(NAMED)
    for row in rows:
        _, fault, test, noticed, seen, _ = (cell.strip() for cell in row.split("|"))
        assert fault
        assert noticed
        assert ROW.search(test)
        assert seen in {"seen", "-"}
