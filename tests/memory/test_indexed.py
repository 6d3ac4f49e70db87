"""What is searched is entered once, and makes room for other things when nobody asks any more."""

import asyncio
from collections.abc import Iterator

import pytest

from custom_components.realtime_assist.memory import indexed as indexed_module
from custom_components.realtime_assist.memory.indexed import Indexed
from custom_components.realtime_assist.memory.scopes import GLOBAL
from custom_components.realtime_assist.memory.search import SearchIndex
from custom_components.realtime_assist.memory.searching import Document, Kind, Query

from .history import START


def documents(group: str, *texts: str) -> list[Document]:
    """Return documents of a group."""
    return [
        Document(
            id=f"{group}/{number}",
            kind=Kind.TURN,
            text=text,
            audience=frozenset({str(GLOBAL)}),
            at=START,
            group=group,
        )
        for number, text in enumerate(texts)
    ]


def found(index: SearchIndex, word: str) -> list[str]:
    """Return the texts in which a word is found."""
    return [hit.document.text for hit in index.find(Query(words=word), [GLOBAL])]


async def test_what_did_not_change_is_left_alone() -> None:
    """The second search costs nothing but the search."""
    index = SearchIndex()
    indexed = Indexed(index)
    assert not indexed.current("a", 1)
    await indexed.enter("a", 1, documents("a", "the cat"))
    assert indexed.current("a", 1)
    assert not indexed.current("a", 2)
    indexed.changed("a")
    indexed.changed("never heard of")
    assert not indexed.current("a", 1)
    await indexed.enter("a", 1, documents("a", "the dog"))
    assert (found(index, "cat"), found(index, "dog")) == ([], ["the dog"])


async def test_a_change_while_it_is_entered_is_not_forgotten() -> None:
    """What is said during a search is found by the next one."""
    indexed = Indexed(SearchIndex())

    def changing() -> Iterator[Document]:
        yield from documents("a", "the cat")
        indexed.changed("a")

    await indexed.enter("a", 1, changing())
    assert not indexed.current("a", 1)


async def test_a_search_that_was_given_up_leaves_no_half_entered_group() -> None:
    """Whoever hangs up in the middle of a search takes nothing from the next one."""
    index = SearchIndex()
    indexed = Indexed(index)

    def interrupted() -> Iterator[Document]:
        yield from documents("a", "the cat")
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await indexed.enter("a", 1, interrupted())
    assert not indexed.current("a", 1)
    await indexed.enter("a", 1, documents("a", "the cat", "the dog"))
    assert found(index, "dog") == ["the dog"]


async def test_the_index_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large memory is not held twice: what was not asked for longest goes first."""
    monkeypatch.setattr(indexed_module, "MAX_BESIDE", 3)
    index = SearchIndex()
    indexed = Indexed(index)
    for name in "abcd":
        assert not indexed.current(name, name)
        await indexed.enter(name, name, documents(name, "one", "two"))
    assert indexed.current("a", "a")
    await indexed.make_room(["d"])
    assert list(indexed) == ["d", "a"]
    assert len(index) == 4
    assert not indexed.current("b", "b")


async def test_what_is_needed_now_is_never_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search may need more than is kept for the next."""
    monkeypatch.setattr(indexed_module, "MAX_BESIDE", 1)
    index = SearchIndex()
    indexed = Indexed(index)
    for name in "ab":
        await indexed.enter(name, name, documents(name, "one", "two"))
    await indexed.make_room(["a", "b"])
    assert len(index) == 4


async def test_what_is_gone_is_taken_out() -> None:
    """Of a history that was removed, and of a conversation that is over, nothing stays."""
    index = SearchIndex()
    indexed = Indexed(index)
    for name, texts in {"a": ["one"], "b": ["two"], "empty": []}.items():
        await indexed.enter(name, name, documents(name, *texts))
    await indexed.make_room(["a", "empty"], gone=["b"])
    assert list(indexed) == ["a"]
    assert len(index) == 1
    indexed.drop("a")
    assert list(indexed) == []
    assert len(index) == 0
