"""What is said twice, for the sake of other tools, is said the same way."""

import ast
import re
from pathlib import Path

from . import catalogue
from .shell import REPOSITORY

HERE = Path(__file__).parent


def pins(lines: tuple[str, ...] | list[str]) -> set[str]:
    """Return the requirements of some lines."""
    return {line for line in lines if re.match(r"\w", line)}


def test_both_releases_are_tested_with_the_same_tools() -> None:
    text = (REPOSITORY / "requirements_test.txt").read_text().splitlines()
    assert {catalogue.TEST_PLUGIN, *catalogue.TEST_TOOLS} <= pins(text)


def test_oldest_release_is_the_one_that_hacs_is_told() -> None:
    text = (REPOSITORY / "hacs.json").read_text()
    assert f'"homeassistant": "{catalogue.OLDEST_RELEASE}"' in text


def test_names_are_unique() -> None:
    names = [environment.name for environment in catalogue.ENVIRONMENTS]
    assert len(set(names)) == len(names)


def test_this_folder_needs_nothing_that_is_not_there_yet() -> None:
    known = {"tests", *__import__("sys").stdlib_module_names}
    for path in HERE.glob("[!t]*.py"):
        tree = ast.parse(path.read_text(), feature_version=(3, 11))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert {name.name.partition(".")[0] for name in node.names} <= known, path
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").partition(".")[0] in known, path
