"""What holds for a search whatever was said, whoever asks, in whatever order it came."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.folding import words
from custom_components.realtime_assist.memory.scopes import GLOBAL, ScopeKey, audience
from custom_components.realtime_assist.memory.searching import Document, Hit, Query
from custom_components.realtime_assist.memory.shard import Shard

from .documents import index_of, said
from .history import ANNA, BEN, KITCHEN, TEXTS

KEYS = (KITCHEN, ANNA, BEN, GLOBAL)
WORDS = (
    "lamp lamps Küchenlampe Lampen the is dentist Anna harbour harbours tulip May 2026 猫の名前 🎂"
)
VOCABULARY = st.sampled_from(WORDS.split())
SENTENCES = st.lists(VOCABULARY, min_size=1, max_size=6).map(" ".join)
QUESTIONS = SENTENCES | TEXTS.filter(lambda text: bool(words(text[:2000])))


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    """Draw some documents of one thread, for various readers."""
    texts = draw(st.lists(SENTENCES | TEXTS, max_size=12))
    return [
        said(
            f"d{number}",
            text,
            audience(*draw(st.sets(st.sampled_from(KEYS), max_size=2))),
            draw(st.sampled_from((number, None))),
            minutes=draw(st.sampled_from((0, 1, 20, 500))),
            speaker=draw(st.sampled_from(("", "Anna", "Ben"))),
        )
        for number, text in enumerate(texts)
    ]


READERS = st.lists(st.sampled_from(KEYS), unique=True)


def find(
    documents: Sequence[Document], text: str, reader: Sequence[ScopeKey], limit: int = 100
) -> tuple[Hit, ...]:
    """Search among documents that were entered in this order."""
    return index_of(*documents).find(Query(words=text), reader, limit=limit)


@given(corpora(), QUESTIONS, READERS)
def test_what_may_not_be_seen_is_as_if_it_was_not_there(
    documents: list[Document], text: str, reader: list[ScopeKey]
) -> None:
    """Nobody learns, by a hit, an order or a score, what was said to others."""
    seen = [document for document in documents if document.audience <= audience(*reader)]
    hits = find(documents, text, reader)
    assert {hit.document.id for hit in hits} <= {document.id for document in seen}
    assert hits == find(seen, text, reader)


@given(corpora(), QUESTIONS, st.randoms(use_true_random=False))
def test_the_same_memory_gives_the_same_answer(
    documents: list[Document], text: str, random: st.DataObject
) -> None:
    """In whatever order it was learned, and however often it was changed in between."""
    shuffled = [*documents]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    index = index_of(*(replace(document, text="something else") for document in documents))
    for document in [*shuffled, said("extra", text)]:
        index.put(document)
    index.discard("extra")
    assert index.find(Query(words=text), KEYS, limit=100) == find(documents, text, KEYS)


@given(corpora(), QUESTIONS)
def test_a_document_with_the_words_of_the_question_is_found(
    documents: list[Document], text: str
) -> None:
    """Who asks with the very words that were said finds them, whatever else there is."""
    before = find(documents, text, KEYS)
    assert "it" in {hit.document.id for hit in find([*documents, said("it", text)], text, KEYS)}
    for hit in before:
        fuller = replace(hit.document, text=f"{hit.document.text} {text}")
        others = [document for document in documents if document.id != fuller.id]
        found = find([*others, fuller], text, KEYS)
        assert fuller.id in {hit.document.id for hit in found}


@given(corpora(), QUESTIONS, st.integers(1, 5))
def test_fewer_hits_are_the_first_of_more(documents: list[Document], text: str, limit: int) -> None:
    """A limit only cuts."""
    hits = find(documents, text, KEYS)
    assert find(documents, text, KEYS, limit) == hits[:limit]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


@given(corpora(), st.sampled_from(("dentist", "harbour")))
def test_more_of_a_word_is_never_worse(documents: list[Document], word: str) -> None:
    """Of two turns that are alike but for a word, the one that has it comes first."""
    more = said("more", f"garden {word}")
    less = said("less", "garden bench", minutes=5)
    place = [hit.document.id for hit in find([*documents, less, more], f"garden {word}", KEYS)]
    assert place.index("more") < place.index("less")


@given(corpora(), st.sets(st.integers(0, 11)))
def test_nothing_is_left_of_what_is_discarded(
    documents: list[Document], forgotten: set[int]
) -> None:
    """Not one word of what was forgotten stays in the index, nor a part of one."""
    index = index_of(*documents)
    for number in forgotten:
        index.discard(f"d{number}")
    left = [doc for number, doc in enumerate(documents) if number not in forgotten]
    fresh = index_of(*left)
    assert {shard.audience: kept(shard) for shard in index._shards.values()} == {
        shard.audience: kept(shard) for shard in fresh._shards.values()
    }
    assert len(index) == len(index._rows) == len(index._slots) == len(left)
    assert index._groups == fresh._groups
    assert {*index._places.get("thread", ())} == {*fresh._places.get("thread", ())}


def kept(shard: Shard) -> tuple[object, ...]:
    """Return what a shard knows, but for the slots' numbers."""
    counts = {term: sorted(slots.values()) for term, slots in shard.postings.items()}
    return counts, shard.kinship, shard.speakers, shard.length, len(shard.slots)
