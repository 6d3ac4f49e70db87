"""An address has one spelling, and a key never travels openly through the internet."""

import socket

import pytest

from custom_components.realtime_assist.address import InvalidAddress, is_secure, normalise


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        (" https://API.OpenAI.com/v1/ ", "https://api.openai.com/v1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com:443/v1", "https://api.openai.com/v1"),
        ("wss://api.openai.com/v1/realtime", "https://api.openai.com/v1"),
        ("wss://api.openai.com/v1/realtime?model=x", "https://api.openai.com/v1"),
        ("ws://192.168.1.5:8080/v1/realtime/", "http://192.168.1.5:8080/v1"),
        ("http://localai:8080", "http://localai:8080/v1"),
        ("http://localai:80/", "http://localai/v1"),
        ("http://[fd00::1]:8080/v1", "http://[fd00::1]:8080/v1"),
        ("https://home.openai.azure.com/openai/v1", "https://home.openai.azure.com/openai/v1"),
    ],
)
def test_one_spelling(typed: str, kept: str) -> None:
    """However an address is typed or pasted, the same account is the same account."""
    assert normalise(typed) == kept
    assert normalise(kept) == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "api.openai.com",
        "localai:8080/v1",
        "ftp://localai/v1",
        "https:///v1",
        "https://user:secret@api.openai.com/v1",
        "https://secret@api.openai.com/v1",
        "http://[::1/v1",
        "http://localai:99999/v1",
    ],
)
def test_what_is_no_address(typed: str) -> None:
    """A mistyped address is noticed before anything is sent there."""
    with pytest.raises(InvalidAddress):
        normalise(typed)


@pytest.mark.parametrize(
    ("base_url", "secure"),
    [
        ("https://api.openai.com/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://192.168.1.5/v1", True),
        ("http://10.0.0.7:8000/v1", True),
        ("http://[fd00::1]:8080/v1", True),
        ("http://[fe80::1]:8080/v1", True),
        ("http://8.8.8.8/v1", False),
        ("http://172.32.0.1/v1", False),
        ("http://[2606:4700::1111]/v1", False),
    ],
)
async def test_openly_only_at_home(base_url: str, *, secure: bool) -> None:
    """A key is never sent unencrypted to where strangers could read it."""
    assert await is_secure(base_url) is secure


@pytest.mark.parametrize(
    ("found", "secure"),
    [(["192.168.1.5"], True), (["8.8.8.8"], False), (["192.168.1.5", "8.8.8.8"], False)],
)
async def test_names_are_looked_up(
    monkeypatch: pytest.MonkeyPatch, found: list[str], *, secure: bool
) -> None:
    """A name counts as one's own network only if all of its addresses are there."""

    def answer(*_args: object, **_more: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 80)) for each in found]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    assert await is_secure("http://nas.example/v1") is secure


async def test_a_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that nobody knows is told apart from one that is not allowed."""

    def answer(*_args: object, **_more: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    with pytest.raises(OSError, match="unknown"):
        await is_secure("http://nobody.invalid/v1")
