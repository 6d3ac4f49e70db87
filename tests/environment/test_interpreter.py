"""The first Python that will do is taken, and none without saying why."""

import json
import shutil
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from . import interpreter, tools, unpacked
from .interpreter import Interpreter, first_of, problem
from .shell import SetupError


def answering(version: tuple[int, int, int], include: Path) -> Mock:
    """Return a `run` in which a Python tells its version and its headers' place."""
    return Mock(return_value=json.dumps([version, str(include)]))


@pytest.mark.parametrize(
    ("version", "headers", "reason"),
    [
        ((3, 14, 2), True, None),
        ((3, 14, 8), True, None),
        ((3, 14, 1), True, "it is 3.14.1"),
        ((3, 13, 9), True, "it is 3.13.9"),
        ((3, 15, 0), True, "it is 3.15.0"),
        ((3, 14, 8), False, "has no Python.h"),
    ],
)
def test_what_is_wrong_with_a_python(
    version: tuple[int, int, int],
    headers: bool,  # noqa: FBT001
    reason: str | None,
) -> None:
    found = problem(version, headers)
    if reason is None:
        assert found is None
    else:
        assert found is not None
        assert reason in found


def test_sources_are_asked_in_order_until_one_has_a_python() -> None:
    wanted = Interpreter(Path("/usr/bin/python3.14"))
    without = Mock(side_effect=SetupError("none here"))
    last = Mock()
    assert first_of({"a": without, "b": Mock(return_value=wanted), "c": last}) is wanted
    without.assert_called_once()
    last.assert_not_called()


def test_every_reason_is_told_with_the_way_out() -> None:
    sources = {
        "path": Mock(side_effect=SetupError("too old")),
        "download": Mock(side_effect=SetupError("no network")),
    }
    with pytest.raises(SetupError) as raised:
        first_of(sources)
    message = str(raised.value)
    assert "- path: too old" in message
    assert "- download: no network" in message
    assert "put it on PATH as python3.14" in message


def test_the_order_is_own_then_download_then_unpacked() -> None:
    with patch.object(interpreter, "first_of") as chosen:
        interpreter.find()
    assert list(chosen.call_args[0][0].values()) == [
        interpreter._on_path,
        interpreter._managed,
        interpreter._unpacked,
    ]


def test_own_python_is_used(tmp_path: Path) -> None:
    (tmp_path / "Python.h").touch()
    with (
        patch.object(shutil, "which", return_value="/opt/python3.14"),
        patch.object(interpreter, "run", answering((3, 14, 3), tmp_path)),
    ):
        assert interpreter._on_path() == Interpreter(Path("/opt/python3.14"))


def test_own_python_without_headers_is_not(tmp_path: Path) -> None:
    with (
        patch.object(shutil, "which", return_value="/opt/python3.14"),
        patch.object(interpreter, "run", answering((3, 14, 3), tmp_path)),
        pytest.raises(SetupError, match=r"/opt/python3.14: 3.14.3 has no Python.h"),
    ):
        interpreter._on_path()


def test_python_of_an_environment_is_not_the_persons_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))
    ours = tmp_path / "python/debian/usr/bin/python3.14"
    ours.parent.mkdir(parents=True)
    ours.touch()
    link = tmp_path / "venvs/ha/bin/python3.14"
    link.parent.mkdir(parents=True)
    link.symlink_to(ours)
    with (
        patch.object(shutil, "which", return_value=str(link)),
        pytest.raises(SetupError, match="belongs to an environment made here"),
    ):
        interpreter._on_path()


def test_downloaded_python_that_is_missing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))
    with (
        patch.object(tools, "uv", return_value=Path("/uv")),
        patch.object(interpreter, "run"),
        pytest.raises(SetupError, match="uv installed none"),
    ):
        interpreter._managed()


def test_unpacked_python_compiles_with_its_own_headers(tmp_path: Path) -> None:
    (tmp_path / "Python.h").touch()
    tree = unpacked.tree(Path("/tree"), "x86_64")
    with (
        patch.object(unpacked, "prepare", return_value=tree),
        patch.object(interpreter, "run", answering((3, 14, 8), tmp_path)),
    ):
        found = interpreter._unpacked()
    assert found.build_environment() == {
        "CPATH": "/tree/usr/include:/tree/usr/include/x86_64-linux-gnu"
    }


def test_other_pythons_know_their_headers() -> None:
    assert Interpreter(Path("/usr/bin/python3.14")).build_environment() == {}
