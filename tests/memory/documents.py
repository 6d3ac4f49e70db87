"""Documents for the tests of the search."""

from datetime import UTC, datetime, timedelta

from custom_components.realtime_assist.items import Audience
from custom_components.realtime_assist.memory.scopes import GLOBAL, ScopeKey
from custom_components.realtime_assist.memory.search import SearchIndex
from custom_components.realtime_assist.memory.searching import Document, Kind, Query

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


def said(
    name: str,
    text: str,
    audience: Audience = frozenset(),
    number: int | None = None,
    *,
    minutes: float = 0,
    speaker: str = "",
    group: str = "thread",
) -> Document:
    """Return what somebody said."""
    return Document(
        id=name,
        kind=Kind.TURN,
        text=text,
        audience=audience,
        at=NOON + timedelta(minutes=minutes),
        group=group,
        number=number,
        speaker=speaker,
    )


def index_of(*documents: Document) -> SearchIndex:
    """Return an index of some documents."""
    index = SearchIndex()
    for document in documents:
        index.put(document)
    return index


def ids(index: SearchIndex, text: str, *visible: ScopeKey, limit: int = 1000) -> list[str]:
    """Return the ids of what some words find for a reader; of the home, if none is named."""
    hits = index.find(Query(words=text), visible or (GLOBAL,), limit=limit)
    return [hit.document.id for hit in hits]
