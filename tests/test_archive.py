"""What was summarised away is still there, word for word, for those who may know it."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.compaction import Compacted
from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey, audience
from custom_components.realtime_assist.memory.transcript import (
    LineKind,
    Said,
    SummaryLine,
    ThreadKey,
    TurnRecord,
)
from tests.llm_tools.calling import caller, use
from tests.on_disk import hass_config_dir, hass_storage  # noqa: F401 - fixtures
from tests.people import People, act, device_id, person_scope
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

SENTENCE = "the spare key hangs behind the marzipan poster"


@pytest.fixture
def options() -> dict[str, Any]:
    """Let little be enough for a summary."""
    return {"resume_tokens": 150, "summarizer": "extractive"}


async def say(house: Home, words: str) -> None:
    """Say something in the kitchen and hear the reply to its end."""
    house.hears.append(words)
    house.replies.append("Fine.")
    # No two sound alike: the server knows words by their audio.
    await house.kitchen.hear(speech(20 + len(house.brain.requests)))
    await house.kitchen.play()
    await house.settled()


def thread_key(house: Home, scope: ScopeKey | None = None) -> ThreadKey:
    """Return the history of the kitchen's satellite, or of another scope."""
    kitchen = ScopeKey(Scope.DEVICE, device_id(house.kitchen))
    return ThreadKey(house.assistant.subentry_id, scope or kitchen)


async def filled(
    house: Home, *said: str, scope: ScopeKey | None = None, person: ScopeKey | None = None
) -> ThreadKey:
    """Have sentences in the archive, and in no other place word for word."""
    key = thread_key(house, scope)
    thread = await house.memory.storage.async_load_thread(key)
    begin = dt_util.now() - timedelta(hours=2)
    for number, words in enumerate((*said, *(f"Lamp {n} is on, and so on." for n in range(30)))):
        record = TurnRecord(
            id=f"{key.scope.id}{thread.next_number}",
            at=begin + timedelta(minutes=number),
            heard_text=words,
            said=(Said(index=0, text="Good to know. I keep that in mind for you, of course."),),
            audience=audience(person) if person and words in said else frozenset(),
        )
        thread = thread.joined(record)
    house.memory.storage.save_thread(thread)
    assert await house.memory.compaction.async_compact(key, 150) is Compacted.SUMMARIZED
    thread = house.memory.thread(key)
    assert not thread.leaving
    assert not any(words in (turn.heard_text or "") for turn in thread.turns for words in said)
    return key


def words_on_disk(hass: HomeAssistant) -> str:
    """Return all that stands in any file of ours."""
    folder = Path(hass.config.path(".storage", DOMAIN))
    return "\n".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def without_summary(house: Home, key: ThreadKey) -> None:
    """Let the summary say nothing, so that only the archive can tell."""
    thread = house.memory.thread(key)
    assert thread.summary is not None
    house.memory.storage.save_thread(replace(thread, summary=replace(thread.summary, lines=())))


async def recalled(house: Home, who: Any, about: str) -> list[str]:  # noqa: ANN401
    """Return what was said that the model is told of."""
    return [each["said"] for each in (await use(house.hass, "recall", who, about=about))["said"]]


async def test_an_old_sentence_is_recalled_after_a_restart_and_can_be_forgotten(
    house: Home,
) -> None:
    """What was said long ago is found in its own words, and is gone everywhere when forgotten."""
    await say(house, f"please note that {SENTENCE}, nobody else knows it")
    for number in range(2):
        await say(house, f"and lamp number {number} in the long hall is broken " + "again " * 70)
    key = thread_key(house)
    await house.until(
        lambda: house.memory.thread(key).summary and not house.memory.thread(key).leaving
    )
    assert not any(SENTENCE in (turn.heard_text or "") for turn in house.memory.thread(key).turns)
    without_summary(house, key)
    await house.restart()
    who = caller(at=house.kitchen)
    assert any(SENTENCE in said for said in await recalled(house, who, "marzipan poster"))
    assert not await recalled(house, caller(at=house.bedroom), "marzipan poster")
    found = await act(
        house.hass, "search_memory", device_id=device_id(house.kitchen), query="marzipan poster"
    )
    assert found["hits"][0]["kind"] == "archive"
    assert SENTENCE in found["hits"][0]["text"]
    assert "marzipan" in words_on_disk(house.hass)

    asked = await use(house.hass, "forget", who, about="marzipan poster")
    meant = [each["number"] for each in asked["would_forget"] if SENTENCE in each["said"]]
    done = await use(house.hass, "forget", who, confirm=asked["confirm"], only=meant)
    assert done == {"forgotten": 1}
    assert "marzipan" not in words_on_disk(house.hass)
    assert not any("marzipan" in said for said in await recalled(house, who, "marzipan poster"))
    await house.restart()
    await say(house, "what did I say of the poster")
    assert not any("marzipan" in text for text in house.server.session.texts())
    assert not any("marzipan" in said for said in await recalled(house, who, "marzipan poster"))


async def test_a_fact_that_is_forgotten_is_gone_from_the_archive(house: Home) -> None:
    """Deleting an entry also takes out what was said in its words, months ago as well."""
    await filled(house, SENTENCE, "the hedgehog is called Ferdinand")
    await act(house.hass, "set_memory", scope="global", key="key", value=SENTENCE)
    await act(house.hass, "delete_memory", scope="global", keys=["key"])
    assert "marzipan" not in words_on_disk(house.hass)
    assert "Ferdinand" in words_on_disk(house.hass)
    assert await recalled(house, caller(at=house.kitchen), "what is the hedgehog called")


async def test_a_turn_that_is_in_two_files_is_found_once(house: Home) -> None:
    """A power cut between two files shows nobody the same words twice."""
    key = await filled(house, SENTENCE)
    without_summary(house, key)
    archived = await house.memory.storage.archive.async_turns(key)
    thread = house.memory.thread(key)
    for where in ({"leaving": archived[:1]}, {"turns": (archived[0], *thread.turns)}):
        house.memory.storage.save_thread(replace(thread, **where))
        found = await recalled(house, caller(at=house.kitchen), "marzipan poster")
        assert sum(SENTENCE in said for said in found) == 1


async def test_clearing_the_history_clears_the_archive(house: Home) -> None:
    """Who clears what was said in the kitchen finds nothing of it; the bedroom keeps its own."""
    bedroom = ScopeKey(Scope.DEVICE, device_id(house.bedroom))
    await filled(house, SENTENCE)
    await filled(house, "the hedgehog is called Ferdinand", scope=bedroom)
    cleared = await act(
        house.hass, "clear_memory", device_id=device_id(house.kitchen), history=True
    )
    assert cleared["turns"] == 31
    assert "marzipan" not in words_on_disk(house.hass)
    assert not await recalled(house, caller(at=house.kitchen), "marzipan poster")
    assert await recalled(house, caller(at=house.bedroom), "hedgehog")


async def test_what_was_for_one_person_alone_stays_so(house: Home, people: People) -> None:
    """Anna's words of last month are found by Anna, and by nobody else; and go with her."""
    anna = person_scope(house.hass, people.anna)
    key = await filled(house, SENTENCE, scope=anna, person=anna)
    without_summary(house, key)
    assert await recalled(house, caller(user=people.anna), "marzipan poster")
    for who in (caller(user=people.tom), caller(user=people.admin), caller(at=house.kitchen)):
        assert not await recalled(house, who, "marzipan poster")
    await house.memory.leftovers.async_delete(anna)
    assert "marzipan" not in words_on_disk(house.hass)
    assert not await recalled(house, caller(user=people.anna), "marzipan poster")


async def test_what_one_person_said_in_a_shared_room_goes_with_the_person(
    house: Home, people: People
) -> None:
    """In the archive of the kitchen, too, only what was Anna's goes when she does."""
    anna, tom = (person_scope(house.hass, who) for who in (people.anna, people.tom))
    key = await filled(house, SENTENCE, person=anna)
    without_summary(house, key)
    archive = house.memory.storage.archive
    assert audience(anna) in await archive.async_audiences()
    assert not await recalled(house, caller(at=house.kitchen), "marzipan poster")
    await house.memory.leftovers.async_move(anna, tom)
    assert await archive.async_audiences() == {frozenset(), audience(tom)}
    await house.memory.leftovers.async_delete(tom)
    assert await archive.async_audiences() == {frozenset()}
    assert "marzipan" not in words_on_disk(house.hass)
    assert len(await archive.async_turns(key)) > 10


async def test_the_archive_moves_with_the_memory_of_a_room(house: Home) -> None:
    """A satellite that is replaced hands down all that was ever said to the old one."""
    old = ScopeKey(Scope.DEVICE, "gone")
    await filled(house, SENTENCE, scope=old)
    await filled(house, "the hedgehog is called Ferdinand")
    target = thread_key(house).scope
    await house.memory.leftovers.async_move(old, target)
    archived = await house.memory.storage.archive.async_turns(thread_key(house))
    whole = [*archived, *house.memory.thread(thread_key(house)).turns]
    assert len({turn.id for turn in whole}) == len(whole) == 62
    assert len({turn.number for turn in whole}) == 62
    await house.restart()
    who = caller(at=house.kitchen)
    assert await recalled(house, who, "marzipan poster")
    assert await recalled(house, who, "hedgehog")
    assert {key.thread for key in await house.memory.storage.archive.async_keys()} == {
        thread_key(house)
    }


async def test_an_export_carries_the_archive(house: Home, people: People) -> None:
    """A home that moves takes along what was said long ago, and finds it there."""
    key = await filled(house, SENTENCE)
    copy = await act(house.hass, "export_memory", user=people.admin, everything=True, history=True)
    assert SENTENCE in str(copy)
    await act(house.hass, "clear_memory", device_id=device_id(house.kitchen), history=True)
    assert not await house.memory.storage.archive.async_turns(key)
    for _ in range(2):
        await act(house.hass, "import_memory", user=people.admin, data=copy, mode="replace")
        assert not house.memory.thread(key).leaving
        archived = await house.memory.storage.archive.async_turns(key)
        assert len(archived) + len(house.memory.thread(key).turns) == 31
    await house.restart()
    assert any(
        SENTENCE in said
        for said in await recalled(house, caller(at=house.kitchen), "marzipan poster")
    )


async def test_a_line_of_a_summary_brings_the_words_that_it_cites(house: Home) -> None:
    """Found in the summary's own words, a thing is told in those of the people as well."""
    key = await filled(house, SENTENCE)
    thread = house.memory.thread(key)
    assert thread.summary is not None
    cited = (await house.memory.storage.archive.async_turns(key))[0]
    line = SummaryLine(kind=LineKind.FACT, text="How to enter without one", turns=(cited.number,))
    house.memory.storage.save_thread(
        replace(thread, summary=replace(thread.summary, lines=(line,)))
    )
    found = await use(house.hass, "recall", caller(at=house.kitchen), about="enter without")
    assert found["said"][0]["said"] == line.text
    assert SENTENCE in found["said"][0]["from"][0]
    await house.memory.changes.async_forget_turns({key: [cited.id]})
    found = await use(house.hass, "recall", caller(at=house.kitchen), about="enter without")
    assert line.text not in str(found)
    assert "marzipan" not in str(found)


async def test_each_recalls_what_is_for_them_and_nothing_else(house: Home, people: People) -> None:
    """Whatever is in the archives: who asks finds all that they may know, and no word more."""
    scopes = {
        "kitchen": ScopeKey(Scope.DEVICE, device_id(house.kitchen)),
        "bedroom": ScopeKey(Scope.DEVICE, device_id(house.bedroom)),
        "anna": person_scope(house.hass, people.anna),
        "tom": person_scope(house.hass, people.tom),
        "home": GLOBAL,
    }
    words: dict[str, set[str]] = {}
    for place, scope in scopes.items():
        for person in (None, "anna", "tom"):
            word = f"zebra{place}{person}"
            words[word] = {place, *([person] if person else [])}
            key = await filled(
                house,
                f"the word is {word}",
                scope=scope,
                person=scopes[person] if person else None,
            )
            without_summary(house, key)
    for who, seen in (
        (caller(at=house.kitchen), {"kitchen", "home"}),
        (caller(at=house.bedroom), {"bedroom", "home"}),
        (caller(user=people.anna), {"anna", "home"}),
        (caller(user=people.tom), {"tom", "home"}),
        (caller(), {"home"}),
    ):
        for word, needs in words.items():
            found = "\n".join(await recalled(house, who, word))
            assert (word in found) is (needs <= seen), (who, word)
            assert not any(other in found for other, need in words.items() if not need <= seen)


async def test_what_is_archived_is_forgotten_in_a_session_that_goes_on(house: Home) -> None:
    """A provider that still holds an old turn has to drop it before its next answer."""
    await say(house, f"please note that {SENTENCE}, nobody else knows it")
    for number in range(2):
        await say(house, f"and lamp number {number} in the long hall is broken " + "again " * 70)
    key = thread_key(house)
    archive = house.memory.storage.archive
    await house.until(lambda: house.memory.thread(key).summary)
    await house.until(lambda: not house.memory.thread(key).leaving)
    assert any(SENTENCE in str(turn.heard_text) for turn in await archive.async_turns(key))

    def heard() -> str:
        return "\n".join(map(house.brain.words, house.brain.requests[-1].context))

    assert SENTENCE in heard()
    await house.memory.changes.async_forget_words([SENTENCE])
    await say(house, "what else")
    assert len(house.server.sessions) == 1
    assert SENTENCE not in heard()
    assert "lamp number 1" in heard()


async def test_what_is_archived_is_forgotten_in_a_recap_that_told_it(house: Home) -> None:
    """A session that was told of a turn when it opened is told anew, without it."""
    await say(house, f"please note that {SENTENCE}, nobody else knows it")
    house.server.session.close(1006)
    await house.until(lambda: not house.server.open_sessions)
    for number in range(2):
        await say(house, f"and lamp number {number} in the long hall is broken " + "again " * 70)
    key = thread_key(house)
    await house.until(lambda: house.memory.thread(key).summary)
    await house.until(lambda: not house.memory.thread(key).leaving)
    archived = await house.memory.storage.archive.async_turns(key)
    assert SENTENCE in str(archived[0].heard_text)
    assert any(SENTENCE in text for text in house.brain.requests[-1].texts())
    without_summary(house, key)
    await house.memory.changes.async_forget_words([SENTENCE])
    await say(house, "what else")
    assert not any(SENTENCE in text for text in house.brain.requests[-1].texts())


async def test_what_is_too_old_goes_by_itself(house: Home) -> None:
    """Where nobody speaks any more, what was said is gone in time as well."""
    key = await filled(house, SENTENCE)
    without_summary(house, key)
    archive = house.memory.storage.archive
    await archive.async_revise(lambda _: lambda _turn: None)
    old = TurnRecord(id="old", at=dt_util.now() - timedelta(days=500), heard_text=SENTENCE)
    assert await archive.async_add(key, lambda: [old], old.at)
    await house.memory.storage.async_flush()
    assert "marzipan" in words_on_disk(house.hass)
    house.memory._archive_day = None
    house.memory.expire()
    await house.until(lambda: "marzipan" not in words_on_disk(house.hass))


async def test_the_last_account_takes_the_archive_along(house: Home) -> None:
    """Who removes the integration leaves no words behind."""
    await filled(house, SENTENCE)
    assert "marzipan" in words_on_disk(house.hass)
    await house.hass.config_entries.async_remove(house.entry.entry_id)
    await house.hass.async_block_till_done()
    assert not words_on_disk(house.hass)
