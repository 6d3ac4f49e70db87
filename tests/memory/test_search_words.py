"""A word is found in each of its forms, in the languages that homes are spoken to in."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.folding import fold, words
from custom_components.realtime_assist.memory.kinship import grams, kin
from custom_components.realtime_assist.memory.question import MAX_TERMS, Question
from custom_components.realtime_assist.memory.stemming import stem
from custom_components.realtime_assist.memory.word_forms import GROUPS, MONTHS, STOP_WORDS

FORMS = """
    lamp lamps | city cities | box boxes | run runs running | child children | hike hiking hiked
    study studied studies studying | paint painting painted | dance dancing | go went going gone
    church churches | knife knives | photo photos | rose roses
    movie movies | plan planned planning
    Lampe Lampen | Haus Häuser Haeuser Häusern | Küche Kueche Kuche KÜCHEN | Straße Strasse
    Schlüssel Schluessel | kaufen kaufe gekauft | Kind Kinder Kindern
    Mann Männer | gehe ging gegangen | rote roten rotem
    Hose Hosen | Tür Tuer Türen | sagen gesagt | hören hoeren | Uhr Uhren | Gerät Geräte Geräten
    lumière lumières | cheval chevaux | gâteau gâteaux | heureux heureuse | œuf oeufs
    fenêtre fenêtres FENÊTRE | bougie bougies
    luz luces | niño niños niña | canción canciones | ciudad ciudades | rojo roja rojos
    lápiz lápices | llave llaves
    lamp lampen | boom bomen | huis huizen | week weken | brief brieven
    school scholen | kat katten | auto auto's | kind kinderen | gaan ging
"""
APART = "good god | soon son | hat hate | wine win | plan plane | car care | war was | bat bath"


def cases(text: str) -> list[str]:
    """Return the lines of a table, and the parts of each."""
    return [part.strip() for line in text.splitlines() for part in line.split("|") if part.strip()]


@pytest.mark.parametrize("forms", cases(FORMS))
def test_forms_of_a_word_are_one(forms: str) -> None:
    """Whoever asks for lamps finds the lamp, whatever the language."""
    assert len({stem(words(form)[0]) for form in forms.split()}) == 1


@pytest.mark.parametrize("pair", cases(APART))
def test_other_words_stay_others(pair: str) -> None:
    """Whoever asks for wine does not find who won."""
    one, other = pair.split()
    assert stem(one) != stem(other)


def test_tables_of_words_are_in_order() -> None:
    """No form leads to two words, and all are written as a search sees them."""
    forms = Counter(word for group in GROUPS for word in group)
    assert [word for word, count in forms.items() if count > 1] == []
    particles = {word for group in STOP_WORDS.values() for word in group}
    for word in (*forms, *MONTHS, *particles):
        assert words(word) == [word]


def test_scripts_without_spaces_have_words() -> None:
    """A Japanese or Thai home can search, too."""
    assert words("猫の名前") == ["猫の", "の名", "名前"]
    assert words("猫") == ["猫"]
    assert len(words("ครับผม")) == 5
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert words("한국어 검색") == ["한국", "국어", "검색"]


def test_signs_are_no_words() -> None:
    """Dashes, controls and underscores neither hide nor glue words; a picture can be found."""
    assert words("living_room-lamp\x00\u202e!") == ["living", "room", "lamp"]
    assert words("l\u2019été 🎂") == ["l", "ete", "🎂"]
    assert words("\u0301\u202e\n\t_") == []


@given(st.text(max_size=60))
def test_folding_is_done_once(text: str) -> None:
    """What is stored and what is asked are folded alike, however often."""
    assert [fold(word) for word in words(text)] == words(text)
    assert all(stem(word) for word in words(text))
    if text.isascii():
        assert fold(text) == text.lower()


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("lampe", "kuchenlamp"),
        ("dentist", "dentists"),
        ("geburtstag", "geburtstagskuchen"),
        ("dentits", "dentist"),
        ("rote", "rot"),
        ("stoelen", "stol"),
    ],
)
def test_alike_words_are_kin(asked: str, there: str) -> None:
    """A part of a compound, and a slip of the recogniser, still lead there."""
    table = {run: {there} for run in grams(there)}
    assert [word for word, _ in kin(stem(asked), [table, table])] == [there]


def test_kin_are_few_and_sure() -> None:
    """Ids, numbers and unlike words are nobody's kin."""
    table: dict[str, set[str]] = {}
    for word in ["melone", "a" * 40, "12345", *(f"lampen{sign}" for sign in "abcdefghijk")]:
        for run in grams(word):
            table.setdefault(run, set()).add(word)
    assert len(kin("lampen", [table])) == 8
    assert kin("12345", [table]) == []
    assert kin("zucker", [table]) == []
    assert all(0 < likeness <= 1 for _, likeness in kin("lampen", [table]))


def test_question_words_are_left_out_in_their_language_only() -> None:
    """`war` is a particle for a German and a thing for an Englishman."""
    assert list(Question.read("When was the war?").terms) == ["war"]
    assert list(Question.read("Wann war der Zahnarzt da?").terms) == [stem("zahnarzt")]
    assert list(Question.read("¿Dónde están las llaves?").terms) == [stem("llaves")]
    assert list(Question.read("Où est la lampe ?").terms) == [stem("lampe")]
    assert list(Question.read("Waar zijn de sleutels?").terms) == [stem("sleutels")]


def test_a_question_of_particles_only_is_asked_as_it_is() -> None:
    """`What is it?` finds who said just that."""
    assert set(Question.read("what is it").terms) == {stem(word) for word in ("what", "is", "it")}


def test_question_is_bounded() -> None:
    """A whole page as a question costs no more than a long sentence."""
    assert len(Question.read(" ".join(f"w{n}x" for n in range(500))).terms) == MAX_TERMS


def test_dates_are_read_in_several_languages() -> None:
    """A question may name a day, a month and a year."""
    for text in ("on 3 May 2026", "am 3. Mai 2026", "le 3 mai 2026", "el 3 de mayo de 2026"):
        asked = Question.read(text)
        assert [*asked.days, *asked.months, *asked.years] == [3, 5, 2026]
    assert not Question.read("30 degrees").has_date
