"""Two demonstrations at once, or a machine that is busy otherwise, do not meet on a port."""

import socket

import pytest

from .ports import free_tcp_port, free_udp_block, free_udp_port


@pytest.mark.usefixtures("socket_enabled")
def test_ports_can_be_taken() -> None:
    """What is called free is free."""
    with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", free_tcp_port()))
        udp.bind(("", free_udp_port()))


@pytest.mark.usefixtures("socket_enabled")
def test_media_ports_are_a_block_of_free_ones() -> None:
    """The phone finds a port for its audio, and the next one for its reports."""
    first, last = free_udp_block()
    assert first % 2 == 0
    assert last - first == 19
    for port in (first, first + 1, last):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", port))
