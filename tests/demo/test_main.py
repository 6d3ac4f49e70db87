"""scripts/demo as a machine or a person calls it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environment import venvs
from tests.environment.shell import SetupError

from .__main__ import main
from .record import main as record
from .run import provider_of_environment

_REPOSITORY = Path(__file__).resolve().parents[2]


def test_a_part_that_cannot_be_had_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without apt a person reads what to install, and a script reads one failed step."""

    def refuse(_: object) -> Path:
        raise SetupError("These are missing: baresip-core. Install them and run this again.")

    monkeypatch.setattr(venvs, "ensure", refuse)
    assert main(["--json"]) == 1
    out, _ = capsys.readouterr()
    assert json.loads(out) == {
        "step": "install",
        "ok": False,
        "error": "These are missing: baresip-core. Install them and run this again.",
    }


def test_help_says_what_there_is() -> None:
    """Nobody has to read the code to find an option."""
    script = str(_REPOSITORY / "scripts/demo")
    done = subprocess.run(  # noqa: S603 - our own script
        [script, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "--json" in done.stdout
    assert "--record" in done.stdout


def test_a_key_chooses_the_real_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same demo runs against the real provider, for whoever has a key, and never shows it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert not provider_of_environment().real
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-a-user")
    assert provider_of_environment().upstream == "https://api.openai.com/v1"
    assert "secret" not in repr(provider_of_environment())
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert provider_of_environment().upstream == "http://127.0.0.1:1/v1"


def test_recording_without_a_key_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Recording the loopback server would prove nothing, so it is refused."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(sys, "argv", ["record", str(tmp_path / "frames.yaml"), "--json"])
    assert record() == 1
    out, _ = capsys.readouterr()
    assert "OPENAI_API_KEY" in json.loads(out)["error"]
    assert not (tmp_path / "frames.yaml").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C in the middle ends Home Assistant too, and removes the scratch folder."""
    demo = _begun(tmp_path)
    try:
        _until(lambda: bool(_processes_of(tmp_path)))
        demo.send_signal(number)
        out, _ = demo.communicate(timeout=30)
    finally:
        demo.kill()
    assert demo.returncode not in (0, None)
    assert all(json.loads(line)["ok"] is False for line in out.splitlines())
    assert not _processes_of(tmp_path)
    assert not list(tmp_path.glob("realtime-assist-demo-*"))


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_killed_demo_leaves_no_process(tmp_path: Path) -> None:
    """Not even an end that cannot be caught leaves a Home Assistant running."""
    demo = _begun(tmp_path)
    try:
        _until(lambda: bool(_processes_of(tmp_path)))
    finally:
        demo.kill()
        demo.communicate(timeout=30)
    _until(lambda: not _processes_of(tmp_path))


def _begun(folder: Path) -> subprocess.Popen[str]:
    """Begin a demonstration that keeps its scratch folder within `folder`."""
    command = [sys.executable, "-m", "tests.demo.run", "--json"]
    options = ["--keep", str(folder / "keep"), "--speech", sys.executable]
    return subprocess.Popen(  # noqa: S603 - our own module
        [*command, *options],
        cwd=_REPOSITORY,
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _until(condition: Callable[[], bool]) -> None:
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to that")


def _processes_of(folder: Path) -> list[int]:
    """Return the processes that have a path within the demo's scratch folder among their words."""
    wanted = re.compile(re.escape(f"{folder}/realtime-assist-demo-").encode())
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if wanted.search(words):
            found.append(int(process.name))
    return found
