"""What of the memory is in a search index: of which state, and for how long.

Whoever searches has what he may see entered first. That costs as much as it is long, so what did
not change since is left as it is; and what was not needed for long makes room, so that an index of
a large memory is no second one.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from .search import SearchIndex
from .searching import Document

MAX_BESIDE: Final = 10_000
"""Documents that stay for the next search, beside those that this one needs."""


class Indexed:
    """The groups of documents that are in an index, those last that were needed last."""

    def __init__(self, index: SearchIndex) -> None:
        """Take an index in which nothing is."""
        self._index: Final = index
        self._made_of: Final[dict[str, object]] = {}

    def __iter__(self) -> Iterator[str]:
        """Return the groups."""
        return iter(tuple(self._made_of))

    def made_of(self, group: str) -> object:
        """Return what the documents of a group were made of; None if that has changed since."""
        return self._made_of.get(group)

    def current(self, group: str, made_of: object) -> bool:
        """Whether the documents of a group were made of this; it is needed if one asks."""
        before = self._made_of.pop(group, None)
        self._made_of[group] = before
        return before == made_of

    async def enter(self, group: str, made_of: object, documents: Iterable[Document]) -> None:
        """Enter the documents of a group in place of those that are there."""
        # What changes while they are entered is told by then, and must not be forgotten.
        self._made_of[group] = made_of
        try:
            await self._index.fill(group, documents)
        except BaseException:
            self.changed(group)
            raise

    def changed(self, group: str) -> None:
        """Note that what a group was made of has changed."""
        if group in self._made_of:
            self._made_of[group] = None

    def drop(self, group: str) -> None:
        """Take a small group out at once."""
        self._made_of.pop(group, None)
        self._index.drop(group)

    async def make_room(self, needed: Collection[str], gone: Iterable[str] = ()) -> None:
        """Take out what is gone or empty, and if it is too much what was needed longest ago."""
        out = set(gone)
        counts = {group: self._index.count(group) for group in self._made_of}
        beside = sum(count for group, count in counts.items() if group not in needed)
        for group, count in counts.items():
            too_much = beside > MAX_BESIDE and group not in needed
            if too_much or group in out or not count:
                await self._index.fill(group, ())
                self._made_of.pop(group, None)
                beside -= count if group not in needed else 0
