"""Debian's archive is found in what apt was told, in both of its formats."""

from pathlib import Path

import pytest

from .archive import EVERYWHERE, archives_in, keyring, mirrors

STANZAS = """\
# URIs: http://old.example/debian
Types: deb
# http://snapshot.example/archive/debian/20250520T000000Z
URIs: http://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
"""

MANY = """\
Types: deb
URIs: https://one.example/debian
  https://two.example/pub/debian
Suites: trixie
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STANZAS, ["http://mirror.example/debian"]),
        (MANY, ["https://one.example/debian", "https://two.example/pub/debian"]),
        ("deb http://m.example/debian bookworm main\n", ["http://m.example/debian"]),
        (
            "deb [arch=amd64 signed-by=/k.gpg] http://m.example/debian/ sid main\n",
            ["http://m.example/debian"],
        ),
        ("#deb http://m.example/debian bookworm main\n", []),
        ("deb-src http://m.example/debian bookworm main\n", []),
        ("deb https://packages.vendor.example/apt stable main\n", []),
        ("deb http://snapshot.example/archive/debian/20250520T000000Z sid main\n", []),
        ("deb file:/srv/debian bookworm main\n", []),
        ("", []),
    ],
)
def test_only_the_main_archive_counts(text: str, expected: list[str]) -> None:
    assert list(archives_in(text)) == expected


def test_own_mirror_comes_before_the_one_that_works_everywhere(tmp_path: Path) -> None:
    parts = tmp_path / "sources.list.d"
    parts.mkdir()
    (parts / "debian.sources").write_text(STANZAS)
    (parts / "vendor.list").write_text("deb https://vendor.example/apt stable main\n")
    assert mirrors(tmp_path) == ("http://mirror.example/debian", EVERYWHERE)


def test_a_mirror_is_tried_once(tmp_path: Path) -> None:
    line = f"deb {EVERYWHERE}/ bookworm main\n"
    (tmp_path / "sources.list").write_text(line * 2)
    assert mirrors(tmp_path) == (EVERYWHERE,)


def test_system_without_apt_still_has_an_archive(tmp_path: Path) -> None:
    assert mirrors(tmp_path / "missing") == (EVERYWHERE,)


def test_keyring_is_the_first_that_is_there(tmp_path: Path) -> None:
    old, new = tmp_path / "old.gpg", tmp_path / "new.pgp"
    assert keyring((old, new)) is None
    new.touch()
    assert keyring((old, new)) == new
