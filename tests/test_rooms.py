"""The rooms stay apart: who reads one need not know the others."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "custom_components" / "realtime_assist"
DOORS = tuple(ROOT / "memory" / f"{name}.py" for name in ("storage", "disk", "store_file"))
"""The one place where the memory touches Home Assistant: its way to the disk."""


def files(room: str) -> list[Path]:
    """Return the sources of a room."""
    return sorted((ROOT / room).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Yield what a source imports, by absolute name."""
    package = ("custom_components", "realtime_assist", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *((node.module or "").split(".") if node.module else ())))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def reaches(path: Path, name: str) -> bool:
    """Whether a source imports something of a package."""
    return any(found == name or found.startswith(f"{name}.") for found in imported(path))


def test_there_are_rooms() -> None:
    """The tests below look at something."""
    assert len(files("memory")) > 1
    assert len(files("realtime")) > 1
    assert all(reaches(door, "homeassistant") for door in DOORS)
    assert reaches(DOORS[0], "custom_components.realtime_assist.memory.context")


@pytest.mark.parametrize("path", files("memory"), ids=lambda path: path.name)
def test_memory_stands_alone(path: Path) -> None:
    """Memory can be read and reused without a model and, but for its door, without a home."""
    assert not reaches(path, "custom_components.realtime_assist.realtime")
    assert path in DOORS or not reaches(path, "homeassistant")


@pytest.mark.parametrize("path", files("realtime"), ids=lambda path: path.name)
def test_realtime_stands_alone(path: Path) -> None:
    """Talking to a model can be read, tested and reused without a home and without its memory."""
    assert not reaches(path, "custom_components.realtime_assist.memory")
    assert not reaches(path, "homeassistant")


@pytest.mark.parametrize(
    "path",
    [*files("memory"), *files("realtime")],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_what_they_share_is_the_vocabulary(path: Path) -> None:
    """The two rooms meet in `items.py` (and names in `const.py`) and nowhere else."""
    own = f"custom_components.realtime_assist.{path.relative_to(ROOT).parts[0]}"
    shared = ("custom_components.realtime_assist.items", "custom_components.realtime_assist.const")
    for name in imported(path):
        if not name.startswith("custom_components."):
            continue
        assert name.startswith((own, *shared)) or name == "custom_components.realtime_assist"
