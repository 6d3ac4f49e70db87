"""Debian's Python is laid out for both kinds of machine, and apt's own state stays alone."""

import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from . import archive, tools, unpacked
from .shell import SetupError

ROOT = Path("/tree")


@pytest.mark.parametrize(
    ("machine", "loader"),
    [
        ("x86_64", ROOT / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"),
        ("aarch64", ROOT / "usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1"),
    ],
)
def test_loader_has_the_name_of_its_machine(machine: str, loader: Path) -> None:
    tree = unpacked.tree(ROOT, machine)
    assert tree.loader == loader
    assert tree.libraries == loader.parent
    assert tree.includes == (ROOT / "usr/include", ROOT / "usr/include" / loader.parent.name)
    assert tree.python == ROOT / "usr/bin/python3.14"


def test_other_machines_are_refused() -> None:
    with pytest.raises(SetupError, match="x86_64 and aarch64 only"):
        unpacked.tree(ROOT, "riscv64")


def test_apt_is_private(tmp_path: Path) -> None:
    directory = tmp_path / "apt"
    options = unpacked._private_apt(directory, "http://m.example/debian", Path("/keys.gpg"))
    assert f"-oDir::State::lists={directory}/lists" in options
    assert f"-oDir::Cache={directory}/cache" in options
    assert "-oDir::Etc::sourceparts=-" in options
    assert (directory / "lists/partial").is_dir()
    assert (directory / "debian.sources").read_text().splitlines() == [
        "Types: deb",
        "URIs: http://m.example/debian",
        "Suites: forky",
        "Components: main",
        "Signed-By: /keys.gpg",
    ]


def test_next_mirror_is_tried_when_one_fails(tmp_path: Path) -> None:
    tried: list[str] = []

    def run(command: list[str], **_: object) -> str:
        if command[-1] == "update":
            source = (tmp_path / "apt/debian.sources").read_text()
            tried.append(source.splitlines()[1])
            if len(tried) == 1:
                raise SetupError("no such suite")
        else:
            (tmp_path / "apt/python3.14_1_amd64.deb").touch()
        return ""

    with (
        patch.object(unpacked, "run", run),
        patch.object(archive, "keyring", return_value=Path("/keys.gpg")),
        patch.object(archive, "mirrors", return_value=("http://a/debian", "http://b")),
    ):
        assert [path.name for path in unpacked._download(tmp_path / "apt")] == [
            "python3.14_1_amd64.deb"
        ]
    assert tried == ["URIs: http://a/debian", "URIs: http://b"]


def test_every_mirror_failing_says_why(tmp_path: Path) -> None:
    with (
        patch.object(unpacked, "run", side_effect=SetupError("no route")),
        patch.object(archive, "keyring", return_value=Path("/keys.gpg")),
        patch.object(archive, "mirrors", return_value=("http://a", "http://b")),
        pytest.raises(SetupError, match=r"(?s)http://a: no route.*http://b: no route"),
    ):
        unpacked._download(tmp_path / "apt")


def test_missing_keys_are_named(tmp_path: Path) -> None:
    with (
        patch.object(archive, "keyring", return_value=None),
        pytest.raises(SetupError, match="debian-archive-keyring"),
    ):
        unpacked._download(tmp_path)


def test_other_systems_are_told(tmp_path: Path) -> None:
    with (
        patch.object(shutil, "which", return_value=None),
        pytest.raises(SetupError, match="no apt-get"),
    ):
        unpacked._build(unpacked.tree(tmp_path, "x86_64"))


def test_interpreter_is_bound_to_its_own_libraries(tmp_path: Path) -> None:
    tree = unpacked.tree(tmp_path, "x86_64")
    commands: list[list[str]] = []

    def run(command: list[str | Path]) -> str:
        commands.append([str(word) for word in command])
        return ""

    def download(private: Path) -> list[Path]:
        private.mkdir()
        return [private / "libc6.deb"]

    with (
        patch.object(unpacked, "run", run),
        patch.object(unpacked, "_download", download),
        patch.object(shutil, "which", return_value="/usr/bin/any"),
        patch.object(tools, "patchelf", return_value=Path("/patchelf")),
    ):
        unpacked._build(tree)
    assert commands == [
        ["dpkg-deb", "-x", f"{tmp_path}/apt/libc6.deb", str(tmp_path)],
        [
            *("/patchelf", "--set-interpreter", str(tree.loader)),
            *("--force-rpath", "--set-rpath", str(tree.libraries), str(tree.python)),
        ],
    ]
    assert not (tmp_path / "apt").exists()
