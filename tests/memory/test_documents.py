"""What of the memory a search can find, for whom, and under which words."""

from dataclasses import replace

from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.documents import (
    archive_group,
    entries_group,
    entry_document,
    thread_documents,
    thread_group,
    turn_document,
)
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.searching import Kind, Query
from custom_components.realtime_assist.memory.segments import ArchiveKey
from custom_components.realtime_assist.memory.transcript import (
    COMMENTARY,
    LineKind,
    Said,
    Summary,
    SummaryLine,
    Thread,
)

from .documents import ids, index_of
from .history import ANNA, KEY, KITCHEN, START, turn

ARCHIVED = ArchiveKey(KEY, "2026-11")


def test_an_entry_is_found_by_its_key_and_anything_in_its_value() -> None:
    """A fact is found by its name and by all that it says, also deep inside."""
    store = ContextStore(lambda: START)
    store.set(
        GLOBAL,
        "garageDoor_code",
        {"keypad": [4711, "left side", None, True], "backupLocation": {"drawer": "hallway"}},
        tags=("security",),
        source="user",
        expires_in=60,
    )
    document = entry_document(store.visible((GLOBAL,))[0])
    index = index_of(document)
    for asked in ("garage", "door", "4711", "left", "hallways", "security", "location"):
        assert ids(index, asked, GLOBAL) == [document.id], asked
    assert ids(index, "true none", GLOBAL) == []
    assert ids(index, "garage", KITCHEN) == []
    assert index.find(Query(key="garageDoor_code"), (GLOBAL,))[0].document.expires_at
    assert (document.kind, document.source) == (Kind.ENTRY, "user")
    assert document.group == entries_group(GLOBAL)


def test_a_turn_is_found_by_what_was_said_and_heard() -> None:
    """The question and the answer lead to a turn; words that nobody heard do not."""
    thread = Thread(key=KEY).joined(
        turn("01k7", "Any milk?", "Two bottles. Also honey", heard_ms=1200)
    )
    record = replace(
        thread.turns[0],
        said=(*thread.turns[0].said, Said(index=1, text="Let me see", phase=COMMENTARY)),
        speaker="Anna",
    )
    document = turn_document(KEY, record)
    assert document is not None
    assert (document.number, document.speaker, document.source) == (1, "Anna", "voice")
    index = index_of(document)
    assert ids(index, "milk", KITCHEN) == ids(index, "bottle", KITCHEN) == [document.id]
    assert ids(index, record.id, KITCHEN) == []
    assert ids(index, "honey", KITCHEN) == ids(index, "see", KITCHEN) == []


def test_a_thread_is_only_found_by_who_may_see_it() -> None:
    """What was said in the kitchen stays there, and what was Anna's stays hers."""
    thread = Thread(key=KEY).joined(turn("a", "tulips")).joined(turn("c", None, None))
    summary = Summary(
        lines=(
            SummaryLine(kind=LineKind.FACT, text="Likes tulips", audience=frozenset({str(ANNA)})),
            SummaryLine(kind=LineKind.GIST, text="Talked of roses", at=START),
        ),
        upto=0,
        made_by="extractive",
        at=START,
    )
    documents = list(thread_documents(replace(thread, summary=summary)))
    assert [document.kind for document in documents] == [Kind.SUMMARY, Kind.SUMMARY, Kind.TURN]
    assert {document.group for document in documents} == {thread_group(KEY)}
    index = index_of(*documents)
    assert ids(index, "tulip", GLOBAL) == ids(index, "tulip", ANNA) == []
    assert len(ids(index, "tulip", KITCHEN)) == 1
    assert len(ids(index, "tulip", KITCHEN, ANNA)) == 2


def test_an_archived_turn_is_another_document() -> None:
    """What was summarised away is found in the archive, apart from the thread."""
    document = turn_document(ARCHIVED, turn("a", "tulips"))
    assert document is not None
    assert document.group == archive_group(ARCHIVED) != thread_group(KEY)
    assert document.kind is Kind.ARCHIVE
    assert turn_document(KEY, turn("b", None, None)) is None
