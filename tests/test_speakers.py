"""Who speaks: only what is proved counts, and what is a person's own is for that person only."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.memory.scopes import Scope, ScopeKey
from custom_components.realtime_assist.pipeline.origin import Origin, resolve
from custom_components.realtime_assist.projection import _Place
from custom_components.realtime_assist.satellites import SatelliteOptions, async_satellite_options
from custom_components.realtime_assist.speakers import async_speakers, find, labels
from custom_components.realtime_assist.who import async_who
from tests.loopback import Call
from tests.people import People, act, person_scope
from tests.pipeline.engines import Tool, register
from tests.satellite import Satellite, speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

SOURCE: Final = "sensor.voice"
SECRET: Final = "violins are hidden in the attic"
FACT: Final = "pistachio"


def satellite_id(satellite: Satellite) -> str:
    """Return what a satellite is known by."""
    assert satellite.registry_entry is not None
    return satellite.registry_entry.id


@pytest.fixture
def account(hass: HomeAssistant) -> MockConfigEntry:
    """Have an account that is not set up."""
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    return entry


def add(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    kind: str,
    title: str = "one",
    **data: Any,  # noqa: ANN401
) -> ConfigSubentry:
    """Add a subentry to an account."""
    subentry = ConfigSubentry(
        data=MappingProxyType(data), subentry_type=kind, title=title, unique_id=None
    )
    hass.config_entries.async_add_subentry(entry, subentry)
    return subentry


@pytest.fixture
def kitchen(hass: HomeAssistant) -> er.RegistryEntry:
    """Have a satellite in the registry."""
    return er.async_get(hass).async_get_or_create("assist_satellite", "test", "kitchen")


def speaker(hass: HomeAssistant, satellite: er.RegistryEntry) -> ScopeKey | None:
    """Return who speaks at a satellite, as a turn would find it."""
    return resolve(hass, satellite.entity_id, None).speaker


# Who there is


def test_persons_and_speakers_are_one_list(
    hass: HomeAssistant, account: MockConfigEntry, people: People
) -> None:
    """Everybody is known once, by each name, whichever account names them."""
    other = MockConfigEntry(domain=DOMAIN, data={"base_url": "other"})
    other.add_to_hass(hass)
    gran = add(hass, account, "speaker", "Gran", name="Gran", aliases=["Oma", " "])
    anna = person_scope(hass, people.anna)
    add(hass, other, "speaker", "Anna", name="Anna", person="person.anna", aliases=["Annie"])
    speakers = async_speakers(hass)
    assert [each.name for each in speakers] == ["Anna", "Gran", "Tom"]
    for text in ("person.anna", anna.id, "ANNA", "annie"):
        found = find(speakers, text)
        assert found is not None
        assert found.key == anna
    found = find(speakers, "oma")
    assert found is not None
    assert found.key == ScopeKey(Scope.SPEAKER, gran.subentry_id)
    nobody: list[object] = ["", "   ", "nobody", None, 7, ["Anna"]]
    assert not any(find(speakers, text) for text in nobody)


def test_a_name_of_two_proves_neither(
    hass: HomeAssistant, account: MockConfigEntry, people: People
) -> None:
    """Two of one name are not taken for each other, and both can be chosen."""
    assert people.anna.id
    add(hass, account, "speaker", "Anna", name="Anna")
    speakers = async_speakers(hass)
    assert find(speakers, "Anna") is None
    assert find(speakers, "person.anna") is not None
    assert list(labels(speakers, ("Tom",))) == ["Anna", "Anna (2)", "Tom (2)"]


def test_a_speaker_without_sense_in_its_data(hass: HomeAssistant, account: MockConfigEntry) -> None:
    """A subentry that something else wrote harms nobody."""
    add(hass, account, "speaker", "Gran", name=7, person=["x"], aliases="Oma")
    [gran] = async_speakers(hass)
    assert gran.name == "Gran"
    assert find([gran], "Oma") is None


def test_options_of_a_satellite(
    hass: HomeAssistant, account: MockConfigEntry, kitchen: er.RegistryEntry
) -> None:
    """What is not understood is as usual; who switched remembering off anywhere means it."""
    assert async_satellite_options(hass, kitchen.id) == SatelliteOptions()
    odd: dict[str, Any] = {"speaker_source": 3, "speaker_confidence": 7, "speaker_seconds": True}
    odd |= {"leading_silence_ms": -1, "trailing_silence_ms": float("nan")}
    assert SatelliteOptions.from_subentry(odd) == SatelliteOptions()
    add(hass, account, "satellite", satellite=kitchen.id, leading_silence_ms=200.0)
    assert async_satellite_options(hass, kitchen.id).leading_silence_ms == 200
    add(hass, account, "satellite", satellite=kitchen.entity_id, remember=False)
    assert not async_satellite_options(hass, kitchen.id).remember
    assert async_satellite_options(hass, "another").remember


# Proof by a source


@pytest.fixture
def source(
    hass: HomeAssistant, account: MockConfigEntry, kitchen: er.RegistryEntry, people: People
) -> ScopeKey:
    """Have a satellite with a source; return who Anna is."""
    add(hass, account, "satellite", satellite=kitchen.id, speaker_source=SOURCE)
    add(hass, account, "speaker", "Gran", name="Gran", aliases=["speaker 3"])
    return person_scope(hass, people.anna)


@pytest.mark.parametrize(
    ("state", "attributes"),
    [
        ("person.anna", {}),
        ("anna", {"confidence": 0.8}),
        (" Anna ", {"confidence": "0.95"}),
        ("Anna", {"confidence": 93}),
        ("on", {"speaker": "Anna"}),
        ("2026-11-30T20:00:00", {"person": "person.anna", "confidence": 1}),
        ("on", {"speaker": "Anna", "person_id": "person.anna", "name": "Tom"}),
    ],
)
def test_a_source_that_knows(
    hass: HomeAssistant,
    kitchen: er.RegistryEntry,
    source: ScopeKey,
    state: str,
    attributes: dict[str, Any],
) -> None:
    """Who is recognised is known, however the recogniser says it."""
    hass.states.async_set(SOURCE, state, attributes)
    assert speaker(hass, kitchen) == source


@pytest.mark.parametrize(
    ("state", "attributes"),
    [
        ("unknown", {"speaker": "Anna"}),
        ("unavailable", {"speaker": "Anna"}),
        ("nobody", {}),
        ("", {}),
        ("Anna", {"confidence": 0.79}),
        ("Anna", {"confidence": 79}),
        ("Anna", {"confidence": None}),
        ("Anna", {"confidence": "high"}),
        ("Anna", {"confidence": float("nan")}),
        ("Anna", {"confidence": float("inf")}),
        ("Anna", {"confidence": 1000}),
        ("Anna", {"confidence": -1}),
        ("on", {"speaker": "Anna", "person": "Tom"}),
        ("on", {"speaker": "Anna", "person": "a stranger"}),
        ("on", {"speaker": ["Anna"]}),
        ("on", {"previous": "Anna"}),
    ],
)
def test_a_source_that_does_not_know(
    hass: HomeAssistant,
    kitchen: er.RegistryEntry,
    source: ScopeKey,
    state: str,
    attributes: dict[str, Any],
) -> None:
    """In doubt nobody is recognised."""
    assert source.id
    hass.states.async_set(SOURCE, state, attributes)
    assert speaker(hass, kitchen) is None


def test_what_a_source_said_gets_old(
    hass: HomeAssistant,
    kitchen: er.RegistryEntry,
    source: ScopeKey,
    freezer: FrozenDateTimeFactory,
) -> None:
    """Who spoke a while ago is not taken for who speaks now, even if a sensor repeats itself."""
    hass.states.async_set(SOURCE, "Anna")
    freezer.tick(59)
    assert speaker(hass, kitchen) == source
    freezer.tick(1)
    hass.states.async_set(SOURCE, "Anna")
    assert speaker(hass, kitchen) is None


def test_a_renamed_source(
    hass: HomeAssistant, account: MockConfigEntry, kitchen: er.RegistryEntry, people: People
) -> None:
    """A recogniser may be renamed."""
    registry = er.async_get(hass)
    entry = registry.async_get_or_create("sensor", "test", "voice")
    add(hass, account, "satellite", satellite=kitchen.id, speaker_source=entry.id)
    registry.async_update_entity(entry.entity_id, new_entity_id="sensor.ear")
    hass.states.async_set("sensor.ear", "Anna")
    assert speaker(hass, kitchen) == person_scope(hass, people.anna)


# The latest proof


def test_the_latest_proof_wins(
    hass: HomeAssistant,
    kitchen: er.RegistryEntry,
    source: ScopeKey,
    people: People,
    freezer: FrozenDateTimeFactory,
) -> None:
    """Whatever was said last counts, also that it is nobody; what it replaced never comes back."""
    who, tom = async_who(hass), person_scope(hass, people.tom)
    hass.states.async_set(SOURCE, "Anna")
    freezer.tick(1)
    who.choose(kitchen.id, tom)
    assert speaker(hass, kitchen) == tom
    freezer.tick(1)
    hass.states.async_set(SOURCE, "Anna", {"confidence": 0.9})
    assert speaker(hass, kitchen) == source
    freezer.tick(100)
    assert speaker(hass, kitchen) is None
    hass.states.async_remove(SOURCE)
    assert speaker(hass, kitchen) is None
    who.choose(kitchen.id, tom)
    freezer.tick(1)
    hass.states.async_set(SOURCE, "unknown")
    assert speaker(hass, kitchen) is None
    who.choose(kitchen.id, tom)
    freezer.tick(1)
    who.choose(kitchen.id, None, guest=True)
    assert speaker(hass, kitchen) is None
    assert who.standing(kitchen.id).guest


def test_a_choice_expires(
    hass: HomeAssistant, kitchen: er.RegistryEntry, people: People, freezer: FrozenDateTimeFactory
) -> None:
    """Nobody is taken for a person who was chosen long ago."""
    anna = person_scope(hass, people.anna)
    async_who(hass).choose(kitchen.id, anna, expires_in=timedelta(seconds=10))
    freezer.tick(9)
    assert speaker(hass, kitchen) == anna
    freezer.tick(1)
    assert speaker(hass, kitchen) is None


def test_a_person_who_left(hass: HomeAssistant, kitchen: er.RegistryEntry, people: People) -> None:
    """Who is no person of this home any more is nobody who is known."""
    async_who(hass).choose(kitchen.id, person_scope(hass, people.anna))
    er.async_get(hass).async_remove("person.anna")
    hass.states.async_remove("person.anna")
    assert speaker(hass, kitchen) is None


# The action


async def test_an_automation_says_who_speaks(house: Home, people: People) -> None:
    """An automation that knows who speaks can say so, for a time, by any name."""
    hass, kitchen = house.hass, house.kitchen
    response = await act(
        hass, "set_speaker", entity_id=kitchen.entity_id, speaker="anna", expires_in=60
    )
    [told] = response["satellites"]
    assert told["satellite"] == kitchen.entity_id
    assert told["speaker"] == "Anna"
    until = dt_util.parse_datetime(told["until"])
    assert until is not None
    assert timedelta(seconds=55) < until - dt_util.utcnow() <= timedelta(seconds=60)
    assert resolve(hass, kitchen.entity_id, None).speaker == person_scope(hass, people.anna)
    assert resolve(hass, house.bedroom.entity_id, None).speaker is None
    assert kitchen.registry_entry is not None
    response = await act(hass, "set_speaker", device_id=kitchen.registry_entry.device_id)
    assert response["satellites"][0]["speaker"] is None
    assert resolve(hass, kitchen.entity_id, None).speaker is None


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        ({"entity_id": "light.none", "speaker": "Anna"}, "no_satellite"),
        ({"entity_id": "assist_satellite.gone", "speaker": "Anna"}, "no_satellite"),
        ({"entity_id": "assist_satellite.kitchen", "speaker": "Zoe"}, "unknown_speaker"),
        ({"entity_id": "assist_satellite.kitchen", "speaker": "Tim"}, "ambiguous_speaker"),
    ],
)
async def test_an_action_that_names_nobody(
    house: Home, people: People, data: dict[str, Any], refusal: str
) -> None:
    """A mistake in an automation is told, and proves nothing."""
    assert people.anna.id
    for title in ("one", "two"):
        add(house.hass, house.entry, "speaker", title, name=title, aliases=["Tim"])
    await house.hass.async_block_till_done()
    with pytest.raises(ServiceValidationError) as raised:
        await act(house.hass, "set_speaker", **data)
    assert raised.value.translation_key == refusal


async def test_nobody_can_pass_for_another(house: Home, people: People) -> None:
    """Who is no administrator says of nobody but themselves that they speak."""
    hass, at = house.hass, house.kitchen.entity_id
    with pytest.raises(ServiceValidationError) as raised:
        await act(hass, "set_speaker", user=people.tom, entity_id=at, speaker="Anna")
    assert raised.value.translation_key == "not_your_voice"
    with pytest.raises(ServiceValidationError):
        await act(hass, "set_speaker", user=people.system, entity_id=at, speaker="Anna")
    for user in (people.anna, people.admin):
        await act(hass, "set_speaker", user=user, entity_id=at, speaker="Anna")
        assert resolve(hass, at, None).speaker == person_scope(hass, people.anna)
        await act(hass, "set_speaker", user=people.tom, entity_id=at)
        assert resolve(hass, at, None).speaker is None


# On the wire


async def say(house: Home, words: str, reply: str = "Fine.") -> None:
    """Say something in the kitchen and hear the reply to its end; no two sound alike."""
    house.hears.append(words)
    house.replies.append(reply)
    await house.kitchen.hear(speech(120 - len(house.brain.requests)))
    await house.kitchen.play()
    await house.settled()


def told(house: Home) -> str:
    """Return all that the model knew when it gave its last answer."""
    request = house.brain.requests[-1]
    return "\n".join([*request.texts(), *(house.brain.words(view) for view in request.context)])


def choose(house: Home, name: str | None) -> None:
    """Take it that somebody speaks in the kitchen."""
    found = find(async_speakers(house.hass), name)
    async_who(house.hass).choose(satellite_id(house.kitchen), found.key if found else None)


@pytest.mark.parametrize("scope", ["device", "speaker"])
@pytest.mark.parametrize("other", ["Tom", None])
async def test_what_is_a_persons_own_goes_and_comes_with_the_person(
    house: Home, people: People, scope: str, other: str | None
) -> None:
    """What Anna said, and what is remembered of her, is not there when somebody else speaks."""
    subentry = next(iter(house.entry.subentries.values()))
    house.hass.config_entries.async_update_subentry(
        house.entry, subentry, data={"history_scope": scope}
    )
    await house.hass.async_block_till_done()
    house.memory.context.set(person_scope(house.hass, people.anna), "favourite", FACT)
    choose(house, "Anna")
    await say(house, SECRET, "I keep quiet about the attic.")
    assert FACT in told(house)
    assert "Speaker: Anna" in told(house)
    for _ in range(2):
        choose(house, other)
        await say(house, "where is the music")
        for secret in ("attic", FACT, "Anna"):
            assert secret not in told(house)
        choose(house, "Anna")
        await say(house, "what did I say")
        assert FACT in told(house)
        assert SECRET in told(house)
    said = [turn.audience for key in await _keys(house) for turn in house.memory.thread(key).turns]
    assert sum(map(bool, said)) == (3 if other is None else 5)


async def _keys(house: Home) -> Any:  # noqa: ANN401
    return await house.memory.storage.async_thread_keys()


async def test_a_new_session_tells_each_only_their_own(house: Home, people: People) -> None:
    """Also what is resumed after the connection was lost is for those who may hear it."""
    assert people.anna.id
    choose(house, "Anna")
    await say(house, SECRET)
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    choose(house, "Tom")
    await say(house, "what was said before")
    assert "attic" not in told(house)
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    choose(house, "Anna")
    await say(house, "what was said before")
    assert SECRET in told(house)


async def test_who_speaks_is_fixed_when_the_words_are_complete(house: Home, people: People) -> None:
    """Who is recognised while the answer is given is not taken for who asked."""
    assert people.anna.id
    house.memory.context.set(person_scope(house.hass, people.anna), "favourite", FACT)
    house.memory.context.set(person_scope(house.hass, people.tom), "gift", "telescope")
    choose(house, "Anna")
    house.replies.append([Call(f"{DOMAIN}__recall", '{"about": "telescope gift favourite"}')])
    house.hears.append("what do you know")
    running = house.hass.async_create_task(house.kitchen.hear(speech()))
    await house.until(lambda: house.brain.requests)
    choose(house, "Tom")
    await running
    await house.kitchen.play()
    await house.settled()
    assert "telescope" not in told(house)
    assert FACT in told(house)
    [record] = house.records(house.kitchen)
    assert record.speaker == "Anna"
    assert "telescope" not in str(record.calls)


async def test_proof_while_speaking_counts(house: Home, people: People) -> None:
    """A recogniser that needs the first words of a sentence is in time for its end."""
    assert people.anna.id
    house.memory.context.set(person_scope(house.hass, people.anna), "favourite", FACT)
    house.hears.append("what do I like")

    async def recognised() -> Any:  # noqa: ANN401
        async for chunk in speech(25):
            yield chunk
        choose(house, "Anna")
        async for chunk in speech(25):
            yield chunk

    await house.kitchen.hear(recognised())
    await house.kitchen.play()
    await house.settled()
    assert FACT in told(house)


# Nothing is remembered


async def test_a_satellite_that_remembers_nothing(house: Home) -> None:
    """Where remembering is off a conversation goes on, and nothing of it is ever kept or told."""
    await say(house, "the cat is called Momo")
    add(house.hass, house.entry, "satellite", satellite=satellite_id(house.kitchen), remember=False)
    await house.hass.async_block_till_done()
    await say(house, SECRET)
    assert "Momo" not in told(house)
    house.replies.append(
        [Call(f"{DOMAIN}__remember", '{"about": "violins", "fact": "in the attic"}')]
    )
    await say(house, "remember that")
    assert "attic" in told(house)
    await house.memory.storage.async_flush()
    assert not house.memory.context.scopes()
    threads = [house.memory.thread(key) for key in await _keys(house)]
    assert "attic" not in str([[*turn.texts()] for each in threads for turn in each.turns])
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    await say(house, "where are they")
    assert "attic" not in told(house)


async def test_forgetting_reaches_what_is_not_written(house: Home, people: People) -> None:
    """Who has something forgotten is not told it again where only the conversation knows it."""
    assert people.anna.id
    add(house.hass, house.entry, "satellite", satellite=satellite_id(house.kitchen), remember=False)
    await house.hass.async_block_till_done()
    await say(house, SECRET)
    await house.memory.changes.async_forget_words([SECRET])
    await say(house, "where are they")
    assert "attic" not in told(house)


async def test_silence_around_an_answer(house: Home) -> None:
    """A speaker that swallows the first syllable or stops too early gets silence to swallow."""
    await say(house, "hello")
    plain = len(await _answer(house))
    add(
        house.hass,
        house.entry,
        "satellite",
        satellite=satellite_id(house.kitchen),
        leading_silence_ms=300,
        trailing_silence_ms=200,
    )
    await house.hass.async_block_till_done()
    wav = await _answer(house)
    assert not any(wav[44 : 44 + 290 * 32])
    assert not any(wav[-190 * 32 :])
    assert abs(len(wav) - plain - 500 * 32) < 100 * 32


async def _answer(house: Home) -> bytes:
    house.hears.append("hello")
    house.replies.append("Fine.")
    await house.kitchen.hear(speech())
    wav = await house.kitchen.play()
    await house.settled()
    return wav


def test_an_origin_says_who_speaks_only_where_it_is_known(hass: HomeAssistant) -> None:
    """A name without proof is never shown to a model."""
    assert Origin().speaker_name is None
    assert resolve(hass, "assist_satellite.gone", "a user").speaker_name is None


async def test_a_turn_that_is_not_over_is_no_part_of_anothers(house: Home, people: People) -> None:
    """While a slow tool still runs for Anna, Tom's answer is given without what Anna asked."""
    go = asyncio.Event()

    async def slow(_: llm.ToolInput) -> llm.ToolResult:
        await go.wait()
        return llm.ToolResult(data={"attic": "violins"})

    register(house, Tool("slow", slow))
    choose(house, "Anna")
    house.hears.append(SECRET)
    house.replies.append([Call("slow", "{}")])
    run = asyncio.create_task(house.kitchen.hear(speech(130)))
    await house.until(lambda: "slow" in str(house.kitchen.events))
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    choose(house, "Tom")
    house.hears.append("hello")
    await house.kitchen.hear(speech(60))
    assert "attic" not in told(house)
    go.set()
    await house.kitchen.play()
    await house.settled()
    choose(house, "Anna")
    await say(house, "and now")
    assert "violins" in told(house)
    speakers = {turn.heard_text: turn.audience for turn in house.records(house.kitchen)}
    assert speakers[SECRET] == {str(person_scope(house.hass, people.anna))}
    assert speakers["hello"] == {str(person_scope(house.hass, people.tom))}


async def test_a_turn_joins_a_history_that_was_not_read_yet(house: Home) -> None:
    """What was said while the provider was away is not lost, though its history is not read."""
    await say(house, "the cat is called Momo")
    [projection] = house.assistant.projections()
    [before] = house.memory.thread(projection.key).turns
    house.memory.storage._threads.clear()
    place = _Place(projection.key, projection.visible, remember=True)
    projection._keep(replace(before, id="other"), place)
    await house.hass.async_block_till_done()
    assert [turn.id for turn in house.memory.thread(projection.key).turns][-1] == "other"
