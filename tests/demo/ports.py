"""Free ports on the loopback interface."""

import random
import socket
from contextlib import ExitStack

_RTP_FIRST, _RTP_LAST, _RTP_BLOCK = 20_000, 30_000, 20
"""Where a phone's media ports are looked for: below the range that the kernel hands out."""


class NoFreePort(Exception):
    """The machine has no free port left where one is needed."""


def free_tcp_port() -> int:
    """Return a TCP port of 127.0.0.1 that nothing listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def free_udp_port() -> int:
    """Return a UDP port that is free on every IPv4 interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def udp_port_is_free(port: int) -> bool:
    """Tell whether a UDP port can be taken on every IPv4 interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True


def free_udp_block() -> tuple[int, int]:
    """Return the first and last of a run of free UDP ports, the first one even, as RTP wants it.

    Raises:
        NoFreePort: fifty blocks were tried and none was free.

    """
    for _ in range(50):
        # Chance keeps two demonstrations apart; nothing secret depends on it.
        first = random.randrange(_RTP_FIRST, _RTP_LAST, _RTP_BLOCK)  # noqa: S311
        with ExitStack() as taken:
            try:
                for port in range(first, first + _RTP_BLOCK):
                    probe = taken.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                    probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return first, first + _RTP_BLOCK - 1
    message = "no free block of UDP ports for the phone's audio"
    raise NoFreePort(message)
