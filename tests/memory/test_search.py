"""What was said and set is found again, by words and by what is known of it."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from custom_components.realtime_assist.memory import ranking
from custom_components.realtime_assist.memory.scopes import GLOBAL, audience
from custom_components.realtime_assist.memory.search import SearchIndex
from custom_components.realtime_assist.memory.searching import (
    Document,
    EmptyQuery,
    Kind,
    Query,
)

from .documents import NOON, ids, index_of, said
from .history import ANNA, BEN, KITCHEN


def test_words_find_what_has_them_best_first() -> None:
    """The turn that says most of what was asked comes first, and nothing unasked comes."""
    index = index_of(
        said("both", "The dentist moved to the harbour."),
        said("one", "Our dentist is kind."),
        said("none", "Milk and bread."),
    )
    assert ids(index, "Where is the dentist at the harbour?") == ["both", "one"]
    assert ids(index, "harbour", limit=1) == ["both"]
    assert ids(index, "volcano") == []


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("Wo ist die Küchenlampe?", "Die Kuechenlampen sind im Keller."),
        ("lampe", "Die Küchenlampe flackert."),
        ("niños", "El niño duerme."),
        ("les chevaux", "Un cheval blanc."),
        ("bomen", "De boom in de tuin."),
        ("猫の名前", "うちの猫の名前はタマです。"),
        ("🎂", "Party 🎂 tonight"),
    ],
)
def test_any_language(asked: str, there: str) -> None:
    """Plurals, umlauts and compounds do not hide anything."""
    index = index_of(said("it", there), said("other", "Rain tomorrow."))
    assert ids(index, asked) == ["it"]


def test_the_very_word_comes_before_a_word_like_it() -> None:
    """A compound is found, but after the word itself."""
    index = index_of(said("compound", "Kuchenform"), said("word", "Kuchen"), said("x", "Brot"))
    assert ids(index, "Kuchen") == ["word", "compound"]


def test_an_answer_is_found_by_its_question() -> None:
    """Who asks finds the reply, though it has none of the words; not hours later."""
    index = index_of(
        said("question", "Where did we put the skis?", number=1),
        said("answer", "Behind the shelf.", number=2),
        said("later", "Good night.", number=3, minutes=90),
        said("elsewhere", "Hello.", number=2, group="other"),
    )
    assert ids(index, "skis") == ["question", "answer"]


def test_who_spoke_counts() -> None:
    """What Anna said comes before what was said by others."""
    index = index_of(
        said("ben", "I love tulips.", speaker="Ben", minutes=5),
        said("anna", "I love tulips.", speaker="Anna"),
    )
    assert ids(index, "What does Anna say of tulips?") == ["anna", "ben"]
    assert ids(index, "tulips") == ["ben", "anna"]


def test_when_it_was_said_counts() -> None:
    """A month in the question leads to what was said in it."""
    index = index_of(
        said("june", "We went swimming.", minutes=60 * 24 * 40),
        said("may", "We went swimming."),
    )
    assert ids(index, "Wann waren wir im Mai schwimmen? swimming") == ["may", "june"]
    assert ids(index, "swimming in June") == ["june", "may"]
    assert ids(index, "swimming on 3 May 2026") == ["may", "june"]


def entry(key: str, text: str, **more: object) -> Document:
    """Return an entry of the home."""
    made = Document(
        id=f"entry/{key}",
        kind=Kind.ENTRY,
        text=text,
        at=NOON,
        group="entries/global:home",
        key=key,
        audience=audience(GLOBAL),
    )
    return replace(made, **more)  # type: ignore[arg-type]  # fields by name


ENTRIES = (
    entry("wifi_password", "swordfish", tags=("Network", "guests"), source="user"),
    entry("wifi_name", "Home", tags=("network",), source="automation.net"),
    entry("Größe", "L", source="user"),
)


def found(**query: object) -> list[str]:
    """Return the keys of the entries that a query finds."""
    hits = index_of(*ENTRIES).find(Query(**query), (GLOBAL,))  # type: ignore[arg-type]  # fields by name
    return [hit.document.key for hit in hits]


def test_by_key_tag_and_source() -> None:
    """Whoever knows how something is filed need not remember what it says."""
    assert found(key="wifi_name") == ["wifi_name"]
    assert found(key="WIFI*") == ["wifi_name", "wifi_password"]
    assert found(key="grosse") == ["Größe"]
    assert found(key="wifi") == []
    assert found(tags=("network",)) == ["wifi_name", "wifi_password"]
    assert found(tags=("network", "GUESTS")) == ["wifi_password"]
    assert found(source="user") == ["Größe", "wifi_password"]
    assert found(source="user", tags=("network",)) == ["wifi_password"]


def test_words_and_conditions_together() -> None:
    """Conditions narrow what words find; keys and tags are words, too."""
    assert found(words="wifi") == ["wifi_name", "wifi_password"]
    assert found(words="wifi", source="user") == ["wifi_password"]
    assert found(words="guests") == ["wifi_password"]
    assert found(words="wifi", kinds=frozenset({Kind.TURN})) == []
    assert found(words="wifi", since=NOON, until=NOON + timedelta(seconds=1)) != []
    assert found(words="wifi", until=NOON) == []
    assert found(words="wifi", since=NOON + timedelta(seconds=1)) == []


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"words": " \n\u202e_"},
        {"key": "*"},
        {"key": " "},
        {"tags": ("", " ")},
        {"source": "\t"},
        {"kinds": frozenset(Kind), "since": NOON},
    ],
)
def test_an_empty_query_is_an_error(query: dict[str, object]) -> None:
    """Nothing asked never means everything."""
    with pytest.raises(EmptyQuery):
        Query(**query)  # type: ignore[arg-type]  # fields by name


def test_a_limit_is_positive() -> None:
    """A limit of nothing is a mistake of the caller, who is told."""
    with pytest.raises(ValueError, match="limit"):
        SearchIndex().find(Query(words="a"), (), limit=0)


def test_what_has_expired_is_not_found() -> None:
    """A fact that is over does not come back by a search before it is cleaned away."""
    index = index_of(entry("soup", "on the stove", expires_at=NOON))
    assert index.find(Query(words="soup"), (GLOBAL,), now=NOON) == ()
    assert index.find(Query(words="soup"), (GLOBAL,), now=NOON - timedelta(seconds=1))


def test_only_what_may_be_seen() -> None:
    """A guest finds nothing that Anna said, nor what stands beside it."""
    index = index_of(
        said("annas", "My secret is chess.", audience(KITCHEN, ANNA), 1),
        said("all", "Dinner is ready.", audience(KITCHEN), 2),
    )
    assert ids(index, "chess", KITCHEN, GLOBAL) == []
    assert ids(index, "chess", KITCHEN, BEN, GLOBAL) == []
    assert ids(index, "chess", ANNA, GLOBAL) == []
    assert ids(index, "chess", KITCHEN, ANNA, GLOBAL) == ["annas", "all"]


def test_changed_and_discarded_documents() -> None:
    """A value that was replaced or forgotten cannot be found by its old words."""
    index = index_of(said("a", "tulips", number=1, speaker="Anna"), said("b", "roses", number=2))
    index.put(said("a", "lilies", number=1))
    assert ids(index, "tulips") == []
    assert ids(index, "lilies") == ["a", "b"]
    index.discard("a")
    index.discard("a")
    assert ids(index, "lilies") == []
    assert index.groups() == {"thread"}
    index.drop("thread")
    assert len(index) == 0
    assert index.groups() == frozenset()
    assert not any((index._shards, index._groups, index._places, index._rows, index._slots))


async def test_fill_makes_a_group_what_it_is_now() -> None:
    """What is read from the disk can be found, and what is not there any more cannot."""
    index = index_of(said("old", "tulips"), said("other", "tulips", group="else"))
    await index.fill("thread", [said("new", "tulips")])
    assert sorted(ids(index, "tulips")) == ["new", "other"]
    with pytest.raises(ValueError, match="group"):
        await index.fill("thread", [said("x", "tulips", group="else")])


def many(count: int = 3000) -> Iterator[Document]:
    """Yield what takes several slices to enter."""
    for number in range(count):
        yield said(f"n{number}", f"word{number} lamp kitchen and so on {number * 7}", number=number)


async def test_what_is_forgotten_during_a_fill_stays_forgotten() -> None:
    """Forgetting while the memory is being read is not undone by the reading."""
    index = SearchIndex()
    filling = asyncio.create_task(index.fill("thread", many()))
    await asyncio.sleep(0)
    assert 0 < len(index) < 3000
    index.discard("n2999")
    index.put(said("n2998", "newer"))
    index.put(said("added", "newer"))
    await filling
    assert ids(index, "word2999") == []
    assert {"n2998", "added"} <= set(ids(index, "newer"))
    assert len(index) == 3000
    assert not index._fills


async def test_a_dropped_group_is_not_filled_further() -> None:
    """A thread that is removed while it is read does not come back; a later reading wins."""
    index = SearchIndex()
    first = asyncio.create_task(index.fill("thread", many()))
    await asyncio.sleep(0)
    index.drop("thread")
    await first
    assert len(index) == 0
    first = asyncio.create_task(index.fill("thread", many()))
    await asyncio.sleep(0)
    await index.fill("thread", [said("only", "this")])
    await first
    assert len(index) == 1


async def test_others_run_while_thousands_are_entered() -> None:
    """Nobody waits for a long memory to be indexed: the loop's steps stay short."""
    index = SearchIndex()
    steps: list[float] = []
    filling = asyncio.create_task(index.fill("thread", many()))
    while not filling.done():
        begun = time.thread_time()
        await asyncio.sleep(0)
        steps.append(time.thread_time() - begun)
    assert len(steps) > 5
    assert sorted(steps)[len(steps) // 2] < 0.01
    assert len(index) == 3000


def test_common_words_cost_little() -> None:
    """A question of words that everything has is answered as soon as any other."""
    common = [f"{first}{second}common" for first in "bdfgklmn" for second in "aeio"]
    index = index_of(*(said(f"n{n}", f"{' '.join(common)} {n}") for n in range(2000)))
    begun = time.thread_time()
    assert len(ids(index, f"{' '.join(common)} 1234", limit=10)) == 10
    assert time.thread_time() - begun < 1
    assert ids(index, f"{' '.join(common[:9])} 1234", limit=1) == ["n1234"]
    assert len(ids(index, " ".join(common), limit=2000)) == 2000


def test_no_word_is_left_out_before_there_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only saves time never hides a hit that was asked for."""
    monkeypatch.setattr(ranking, "WORK", 10)
    index = index_of(*(said(f"n{n}", "tulip" if n % 2 else "rose") for n in range(41)))
    assert len(ids(index, "tulips and roses")) == 41


def test_the_same_again_changes_nothing() -> None:
    """Reading the memory anew costs next to nothing."""
    index = index_of(said("a", "tulips"))
    rows = dict(index._rows)
    index.put(said("a", "tulips"))
    assert index._rows == rows


@pytest.mark.parametrize(
    "text",
    [
        "word " * 100_000,
        "a" * 100_000,
        "\u202eabc\x00\x1b[31m" * 50,
        "🎂" * 3000,
        "e\u0301" * 5000,
        "\ufdfa" * 5000,
        "猫" * 5000,
        "*?[a-z](((((((((",
        " ".join(f"w{n:x}q" for n in range(3000)),
    ],
    ids=range(9),
)
def test_hostile_texts_are_only_text(text: str) -> None:
    """Whatever is said or asked, a search answers, soon."""
    index = index_of(*(said(f"n{n}", f"lamp {n} and a word of abc") for n in range(50)))
    begun = time.thread_time()
    index.put(said("it", text))
    index.find(Query(words=text), (GLOBAL,))
    index.find(Query(key=text, tags=(text,), source=text), (GLOBAL,))
    index.discard("it")
    assert time.thread_time() - begun < 0.5
    assert len(index) == 50
