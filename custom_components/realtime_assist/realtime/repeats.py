"""Frames that a server sends twice: the second is no event.

A frame is told again if both its event id and all the rest are the same. Some servers give every
event the same id (LocalAI: `event_TODO`); theirs say nothing, and nothing is left out.
"""

import re
from collections import OrderedDict
from typing import Final

REMEMBERED: Final = 64
"""Frames back in which a repetition is noticed."""
_LOOKED_AT: Final = 512
"""Characters of a frame in which its id is looked for: it stands before the audio."""
_ID: Final = re.compile(r'"event_id"\s*:\s*"([^"\\]{1,128})"')


class Repeats:
    """Tells the frames of one socket that were there before."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self._seen: OrderedDict[str, int] = OrderedDict()
        self._numbered = True

    def has(self, frame: str) -> bool:
        """Return whether this very event was there before; remember it if not."""
        found = _ID.search(frame, 0, _LOOKED_AT) if self._numbered else None
        if found is None:
            return False
        event_id, mark = found[1], hash(frame)
        before = self._seen.get(event_id)
        if before is None:
            self._seen[event_id] = mark
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            return False
        self._numbered = before == mark
        return self._numbered
