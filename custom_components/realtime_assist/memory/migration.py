"""What earlier versions of ours wrote, as this one writes it: pure, file by file.

Home Assistant's `Store` calls this where a file is of another version, and writes what comes of it
at once. A newer file is never changed, and not even read.
"""

from typing import Any, Final

from .kept import kept_shortly
from .problems import Kind

VERSIONS: Final[dict[Kind, int]] = {Kind.ENTRIES: 2}
"""Of each kind of file; 1 where it is not named.

Entries: 1 told each entry in full; 2 leaves out what goes without saying.
"""


def migrated(kind: Kind, version: int, data: dict[str, Any]) -> dict[str, Any]:
    """Return what a file of an earlier version holds, as the present one does.

    Raises AttributeError, KeyError, TypeError or ValueError if that is no such thing at all.
    """
    if kind is Kind.ENTRIES and version == 1:
        return kept_shortly(data)
    return data
