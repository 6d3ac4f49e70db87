"""System packages are installed only if missing, and only by someone who may."""

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from . import system
from .shell import SetupError
from .system import SystemPackage

SHELL = SystemPackage(name="dash", command="sh")
NOTHING = SystemPackage(name="nothing-like-it", command="no-such-command")
NO_LIBRARY = SystemPackage(name="libnothing", library="no-such-library")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the locks of each test in its own folder."""
    monkeypatch.setenv("REALTIME_ASSIST_CACHE", str(tmp_path))


def test_missing_ones_are_named() -> None:
    assert system.missing((SHELL, NOTHING, NO_LIBRARY)) == ("nothing-like-it", "libnothing")


def test_nothing_is_run_if_nothing_is_missing() -> None:
    with patch.object(system, "run") as run:
        system.ensure((SHELL,))
    run.assert_not_called()


def test_root_installs_after_one_update() -> None:
    calls: list[list[str]] = []
    there = False

    def run(command: list[str], **_: object) -> str:
        nonlocal there
        calls.append(command)
        there = "install" in command
        return ""

    def which(command: str) -> str | None:
        return None if command == "no-such-command" and not there else f"/usr/bin/{command}"

    with (
        patch.object(system, "run", run),
        patch.object(shutil, "which", which),
        patch.object(os, "geteuid", return_value=0),
    ):
        system.ensure((SHELL, NOTHING))
    assert [call[:2] for call in calls] == [
        ["apt-get", "update"],
        ["apt-get", "-oDPkg::Lock::Timeout=300"],
    ]
    assert calls[1][-1] == "nothing-like-it"


def test_others_are_told_what_to_install() -> None:
    with (
        patch.object(system, "run", side_effect=SetupError("a password is required")),
        patch.object(os, "geteuid", return_value=1000),
        pytest.raises(SetupError, match="only root can install them with apt-get: nothing-like"),
    ):
        system.ensure((NOTHING,))


def test_sudo_without_a_password_is_as_good_as_root() -> None:
    with (
        patch.object(system, "run") as run,
        patch.object(os, "geteuid", return_value=1000),
        patch.object(shutil, "which", return_value="/usr/bin/apt-get"),
    ):
        assert system._apt_get() == ["sudo", "-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    run.assert_called_once_with(["sudo", "-n", "true"])


def test_package_that_does_not_bring_what_it_should_is_told() -> None:
    with (
        patch.object(system, "run"),
        patch.object(system, "_apt_get", return_value=["apt-get"]),
        pytest.raises(SetupError, match="still not found: nothing-like-it"),
    ):
        system.ensure((NOTHING,))


def test_failing_update_does_not_stop_the_installation() -> None:
    with patch.object(system, "run", side_effect=SetupError("one source is gone")) as run:
        system._refresh(["apt-get"])
    run.assert_called_once()
