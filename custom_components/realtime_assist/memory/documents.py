"""What of the memory can be found by a search: entries, what was said, and what is left of it."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from ..items import Audience
from .entries import ContextEntry
from .scopes import ScopeKey, audience
from .searching import Document, Kind
from .segments import ArchiveKey, Segment
from .transcript import COMMENTARY, Thread, ThreadKey, TurnRecord

_ENTRIES: Final = "entries/"
_HUMP: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


@lru_cache(maxsize=1024)
def entries_group(scope: ScopeKey) -> str:
    """Return the group of the documents that the entries of a scope are."""
    return f"{_ENTRIES}{scope}"


def is_of_entries(group: str) -> bool:
    """Whether the documents of a group are entries."""
    return group.startswith(_ENTRIES)


def thread_group(key: ThreadKey) -> str:
    """Return the group of the documents that a thread is."""
    return f"thread/{key}"


def archive_group(key: ArchiveKey) -> str:
    """Return the group of the documents that the turns of an archive's segment are.

    It is another than the thread's: each is filled from a place of its own.
    """
    return f"archive/{key}"


def entry_document(entry: ContextEntry) -> Document:
    """Return an entry as a document: the words of its key and of its value."""
    said = (_HUMP.sub(" ", entry.key), *_texts(entry.value))
    group = entries_group(entry.scope)
    return Document(
        id=f"{group}/{entry.key}",
        kind=Kind.ENTRY,
        text=" ".join(said),
        audience=audience(entry.scope),
        at=entry.updated,
        group=group,
        key=entry.key,
        tags=entry.tags,
        source=entry.source,
        expires_at=entry.expires_at,
    )


def turn_document(key: ThreadKey | ArchiveKey, turn: TurnRecord) -> Document | None:
    """Return a turn as a document: what was said, and what was heard of the answers.

    None if nobody said anything. `key` is of its thread, or of its place in the archive.
    """
    replies = (said.heard_words for said in turn.said if said.phase != COMMENTARY)
    text = "\n".join(part for part in (turn.heard_text, *replies) if part)
    if not text:
        return None
    if isinstance(key, ArchiveKey):
        kind, group, thread = Kind.ARCHIVE, archive_group(key), key.thread
    else:
        kind, group, thread = Kind.TURN, thread_group(key), key
    return Document(
        id=f"{group}/turn/{turn.id}",
        kind=kind,
        text=text,
        audience=_heard_by(thread, turn.audience),
        at=turn.at,
        group=group,
        number=turn.number,
        key=turn.id,
        source=turn.source,
        speaker=turn.speaker or "",
    )


def thread_documents(thread: Thread) -> Iterator[Document]:
    """Yield what a thread says: the lines of its summary, then its turns."""
    group = thread_group(thread.key)
    if summary := thread.summary:
        for place, line in enumerate(summary.lines):
            yield Document(
                id=f"{group}/summary/{summary.upto}/{place}",
                kind=Kind.SUMMARY,
                text=line.text,
                audience=_heard_by(thread.key, line.audience),
                at=line.at or summary.at,
                group=group,
                source=summary.made_by,
            )
    for turn in (*thread.leaving, *thread.turns):
        if document := turn_document(thread.key, turn):
            yield document


def segment_documents(segment: Segment) -> Iterator[Document]:
    """Yield what was said in a segment of the archive."""
    for turn in segment.turns:
        if document := turn_document(segment.key, turn):
            yield document


@lru_cache(maxsize=1024)  # thousands have the same, and then they share it
def _heard_by(key: ThreadKey, who: Audience) -> Audience:
    """Return who may find something of a thread: who may see the thread, and that."""
    return who | audience(key.scope)


def _texts(value: object) -> Iterable[str]:
    """Yield the texts and numbers in a JSON value, names of fields included."""
    match value:
        case str():
            yield value
        case bool() | None:
            pass
        case int() | float():
            yield str(value)
        case dict():
            for name, inner in value.items():
                yield _HUMP.sub(" ", name)
                yield from _texts(inner)
        case list():
            for inner in value:
                yield from _texts(inner)
