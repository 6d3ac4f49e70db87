"""An environment is rebuilt when, and only when, it is to hold something else."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from . import interpreter, tools, venvs
from .catalogue import ENVIRONMENTS, FFMPEG, Environment
from .interpreter import Interpreter
from .shell import SetupError

PLAIN = Environment(name="plain", requirements=("aiohttp",), files=("more.txt",))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the cache of each test in its own folder."""
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a file of requirements."""
    (tmp_path / "more.txt").write_text("pytest\n")
    return tmp_path


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAIN, requirements=("aiohttp==3.0",)),
        replace(PLAIN, alone=("x",)),
        replace(PLAIN, first="homeassistant"),
        replace(PLAIN, constraints="constraints.txt"),
        replace(PLAIN, name="other"),
    ],
)
def test_key_changes_with_what_is_held(repository: Path, other: Environment) -> None:
    assert venvs.digest(other, repository) != venvs.digest(PLAIN, repository)


def test_key_changes_with_the_text_of_a_file(repository: Path) -> None:
    before = venvs.digest(PLAIN, repository)
    assert venvs.digest(PLAIN, repository) == before
    (repository / "more.txt").write_text("pytest==9\n")
    assert venvs.digest(PLAIN, repository) != before


def test_key_does_not_change_with_system_packages(repository: Path) -> None:
    other = replace(PLAIN, system=(FFMPEG,))
    assert venvs.digest(other, repository) == venvs.digest(PLAIN, repository)


def test_unknown_name_tells_the_known_ones() -> None:
    with pytest.raises(SetupError, match=r"no environment nowhere. Known: ha-"):
        venvs.named("nowhere")


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda each: each.name)
def test_each_of_the_catalogue_is_found(environment: Environment) -> None:
    assert venvs.named(environment.name) is environment


class Uv:
    """Stands in for uv: notes how it was called, and lays out what it would have made."""

    def __init__(self) -> None:
        """Begin with no calls."""
        self.calls: list[list[str]] = []
        self.variables: list[dict[str, str]] = []

    def __call__(
        self, command: list[str | Path], *, env: dict[str, str] | None = None, **_: object
    ) -> str:
        """Note a call."""
        words = [str(word) for word in command]
        self.calls.append(words[1:])
        self.variables.append(env or {})
        if words[1] == "venv":
            python = Path(words[-1]) / "bin/python"
            python.parent.mkdir(parents=True)
            python.touch()
        if words[-1].startswith("homeassistant"):
            pinned = Path(words[-2]).parents[1] / "lib/python3.14/site-packages/ha/pinned.txt"
            pinned.parent.mkdir(parents=True)
            pinned.touch()
        return ""


@pytest.fixture
def uv() -> Iterator[Uv]:
    """Return a uv that installs nothing, and a Python with headers of its own."""
    stand_in = Uv()
    python = Interpreter(Path("/python"), (Path("/include"),))
    with (
        patch.object(venvs, "run", stand_in),
        patch.object(tools, "uv", return_value=Path("/uv")),
        patch.object(interpreter, "find", return_value=python),
    ):
        yield stand_in


def test_environment_is_installed_in_three_steps(uv: Uv) -> None:
    environment = Environment(
        name="all",
        first="homeassistant==1",
        constraints="ha/pinned.txt",
        requirements=("aiohttp",),
        files=("requirements_test.txt",),
        alone=("plugin",),
    )
    python = venvs.ensure(environment)
    directory = python.parents[1]
    install = ["pip", "install", "-q", "--python", str(python)]
    constraints = f"{directory}/lib/python3.14/site-packages/ha/pinned.txt"
    assert uv.calls == [
        ["venv", "-q", "--python", "/python", "--clear", str(directory)],
        [*install, "homeassistant==1"],
        [*install, "-c", constraints, "-r", "requirements_test.txt", "aiohttp"],
        [*install, "--no-deps", "plugin"],
    ]
    assert {each["CPATH"] for each in uv.variables[1:]} == {"/include"}


def test_second_time_nothing_is_done(uv: Uv) -> None:
    environment = Environment(name="small", requirements=("aiohttp",))
    first = venvs.ensure(environment)
    done = len(uv.calls)
    assert venvs.ensure(environment) == first
    assert len(uv.calls) == done


def test_environment_whose_python_is_gone_is_made_anew(uv: Uv) -> None:
    environment = Environment(name="small", requirements=("aiohttp",))
    python = venvs.ensure(environment)
    python.unlink()
    venvs.ensure(environment)
    assert python.exists()
    assert [call[0] for call in uv.calls].count("venv") == 2


def test_short_path_leads_to_the_newest(uv: Uv, own_cache: Path) -> None:
    old = venvs.ensure(Environment(name="small", requirements=("a",)))
    link = own_cache / "venvs/small"
    assert link.resolve() == old.parents[1].resolve()
    new = venvs.ensure(Environment(name="small", requirements=("b",)))
    assert new != old
    assert link.resolve() == new.parents[1].resolve()
    assert uv.calls


@pytest.mark.usefixtures("uv")
def test_missing_constraints_are_told() -> None:
    with pytest.raises(SetupError, match=r"homeassistant==1 has no ha/other.txt"):
        venvs.ensure(
            Environment(
                name="x",
                first="homeassistant==1",
                constraints="ha/other.txt",
                requirements=("a",),
            )
        )
