"""The server's own tests open sockets, on 127.0.0.1 only."""

import pytest


@pytest.fixture(autouse=True)
def sockets(socket_enabled: None) -> None:
    """Allow sockets, which the test plugin otherwise blocks."""
