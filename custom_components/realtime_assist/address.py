"""The address of a provider: its one spelling, and whether a key may travel there."""

import asyncio
import socket
from ipaddress import ip_address
from typing import Final

from homeassistant.util.network import is_local
from yarl import URL

_SCHEMES: Final = {"http": "http", "https": "https", "ws": "http", "wss": "https"}
_RESOLVE_SECONDS: Final = 5.0


class InvalidAddress(ValueError):
    """Not the address of a server."""


def normalise(text: str) -> str:
    """Return the one spelling of a base URL, ending in `/v1`, however it was typed.

    Accepts the WebSocket address too. Raises InvalidAddress; a password in the address is refused,
    since addresses are shown.
    """
    try:
        url = URL(text.strip())
    except ValueError as err:
        raise InvalidAddress from err
    scheme = _SCHEMES.get(url.scheme)
    if scheme is None or not url.host or url.user or url.password:
        raise InvalidAddress
    path = url.path.rstrip("/").removesuffix("/realtime").rstrip("/")
    if path.rpartition("/")[2] != "v1":
        path += "/v1"
    port = None if url.port in (None, 80 if scheme == "http" else 443) else url.port
    return str(URL.build(scheme=scheme, host=url.host, port=port, path=path))


async def is_secure(base_url: str) -> bool:
    """Return whether a key may be sent there: encrypted, or to nowhere but this house's network.

    Raises OSError if the name cannot be resolved in time.
    """
    url = URL(base_url)
    if url.scheme == "https":
        return True
    async with asyncio.timeout(_RESOLVE_SECONDS):
        found = await asyncio.get_running_loop().getaddrinfo(
            url.host, url.port, type=socket.SOCK_STREAM
        )
    return all(is_local(ip_address(str(address[0]).partition("%")[0])) for *_, address in found)
