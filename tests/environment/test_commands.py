"""The commands that the scripts call, and the programs that they call in turn."""

import importlib.util
import os
import shutil
import stat
from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from . import __main__ as command
from . import develop, shell, tools, venvs
from .catalogue import ENVIRONMENTS
from .shell import REPOSITORY, SetupError

PYTHON = Path("/env/bin/python")


def test_only_the_path_is_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with patch.object(venvs, "ensure", return_value=PYTHON):
        assert command.main(["speech"]) == 0
    assert capsys.readouterr().out == "/env/bin/python\n"


def test_all_are_made_if_none_is_named() -> None:
    with patch.object(venvs, "ensure", return_value=PYTHON) as ensure:
        assert command.main([]) == 0
    assert [call.args[0] for call in ensure.call_args_list] == list(ENVIRONMENTS)


def test_failure_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["nowhere"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "There is no environment nowhere" in err


def test_program_gives_its_output() -> None:
    assert shell.run(["sh", "-c", "echo $WORD"], env={"WORD": "hello"}) == "hello\n"


@pytest.mark.parametrize(
    ("words", "timeout", "message"),
    [
        (["sh", "-c", "echo why >&2; exit 3"], None, "(?s)ended with 3:.*why"),
        (["no-such-program"], None, "no-such-program was not found"),
        (["sleep", "5"], 0.05, "sleep 5 took longer than 0 s"),
    ],
)
def test_program_that_fails_says_how(words: list[str], timeout: float | None, message: str) -> None:
    with pytest.raises(SetupError, match=message):
        shell.run(words, timeout=timeout)


def test_tool_is_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))

    def install(words: list[str | Path], **_: object) -> str:
        program = Path(words[-2]) / "bin" / "uv"
        program.parent.mkdir()
        program.touch()
        return ""

    run = Mock(side_effect=install)
    with (
        patch.object(tools, "run", run),
        patch.object(importlib.util, "find_spec", return_value=object()),
    ):
        assert tools.uv() == tools.uv()
        run.assert_called_once()
    # Once it is there, pip need not be: inside an environment there is none.
    with patch.object(importlib.util, "find_spec", return_value=None):
        assert tools.uv() == tmp_path / "tools" / tools.UV.replace("==", "-") / "bin" / "uv"


def test_without_pip_the_uv_that_is_there_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))
    with (
        patch.object(importlib.util, "find_spec", return_value=None),
        patch.object(shutil, "which", return_value="/usr/bin/uv") as which,
    ):
        assert tools.uv() == Path("/usr/bin/uv")
        which.return_value = None
        with pytest.raises(SetupError, match="Neither pip nor uv"):
            tools.uv()


def test_chosen_download_cache_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", "/shared")
    assert tools.uv_environment() == {}
    monkeypatch.delenv("UV_CACHE_DIR")
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", "/cache")
    assert tools.uv_environment() == {"UV_CACHE_DIR": "/cache/uv"}


def test_home_to_click_in_keeps_its_configuration(tmp_path: Path) -> None:
    home = tmp_path / "develop"
    develop.prepare(home)
    assert (home / "configuration.yaml").read_text() == develop.CONFIGURATION
    assert (home / "custom_components").resolve() == REPOSITORY / "custom_components"
    (home / "configuration.yaml").write_text("demo:\n")
    (home / "custom_components").unlink()
    (home / "custom_components").symlink_to(tmp_path)
    develop.prepare(home)
    assert (home / "configuration.yaml").read_text() == "demo:\n"
    assert (home / "custom_components").resolve() == REPOSITORY / "custom_components"


def test_home_to_click_in_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))
    with (
        patch.object(venvs, "ensure", return_value=PYTHON),
        patch.object(os, "execv", return_value=0) as execv,
    ):
        develop.main(["--verbose"])
    config = ["--config", f"{tmp_path}/develop", "--skip-pip", "--verbose"]
    execv.assert_called_once_with(str(PYTHON), [str(PYTHON), "-m", "homeassistant", *config])


def test_home_without_an_environment_fails() -> None:
    with patch.object(venvs, "ensure", side_effect=SetupError("no Python")):
        assert develop.main([]) == 1


@pytest.mark.parametrize("name", ["scripts/setup", "scripts/test", "scripts/lint", ".ci/run"])
def test_scripts_can_be_run_and_are_few_lines(name: str) -> None:
    path = REPOSITORY / name
    assert path.stat().st_mode & stat.S_IXUSR
    assert os.access(path, os.X_OK)
    assert len(path.read_text().splitlines()) <= 10
    shell.run(["bash", "-n", path])
