"""Debian's archive, as this machine reaches it: read from apt's own sources."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

EVERYWHERE = "http://deb.debian.org/debian"

_KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)
_ONE_LINE = re.compile(r"^deb\s+(?:\[[^\]]*\]\s+)?(?P<uri>\S+)\s", re.MULTILINE)
_STANZA_URIS = re.compile(r"^URIs:(?P<uris>.*(?:\n[ \t].*)*)", re.MULTILINE | re.IGNORECASE)


def mirrors(directory: Path = Path("/etc/apt")) -> tuple[str, ...]:
    """Return the addresses to try, this machine's own mirror first."""
    own = [uri for text in _sources(directory) for uri in archives_in(text)]
    return tuple(dict.fromkeys([*own, EVERYWHERE]))


def archives_in(sources: str) -> Iterator[str]:
    """Yield the addresses of Debian's main archive in a text of either of apt's formats.

    Others (security, backports of a vendor, local folders) hold no Python, so only addresses
    that end like the main archive's count.
    """
    text = "\n".join(line for line in sources.splitlines() if not line.startswith("#"))
    uris = [match["uri"] for match in _ONE_LINE.finditer(text)]
    for match in _STANZA_URIS.finditer(text):
        uris.extend(match["uris"].split())
    for uri in uris:
        if re.fullmatch(r"https?://.+/debian/?", uri):
            yield uri.rstrip("/")


def keyring(known: Iterable[Path] = _KEYRINGS) -> Path | None:
    """Return the file with the keys that sign Debian's archive, if it is installed."""
    return next((path for path in known if path.is_file()), None)


def _sources(directory: Path) -> Iterator[str]:
    """Yield the text of each file that tells apt where packages come from."""
    parts = directory / "sources.list.d"
    for path in [
        directory / "sources.list",
        *sorted(parts.glob("*.sources")),
        *sorted(parts.glob("*.list")),
    ]:
        if path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace")
