"""No sequence of speakers shows anybody what belongs to somebody else."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.items import View, hear_key
from custom_components.realtime_assist.memory.compose import compose
from custom_components.realtime_assist.memory.compression import checkpoint, committed
from custom_components.realtime_assist.memory.context import ContextStore
from custom_components.realtime_assist.memory.scopes import (
    GLOBAL,
    Scope,
    ScopeKey,
    audience,
    visible_keys,
)
from custom_components.realtime_assist.memory.transcript import (
    Called,
    Said,
    Thread,
    ThreadKey,
    TurnRecord,
)
from custom_components.realtime_assist.speakers import async_speakers, find
from custom_components.realtime_assist.who import async_who
from tests.people import People, act
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

PEOPLE: Final = ("anna", "tom", None)
BEGAN: Final = dt_util.utcnow()

type Step = tuple[str, str | None, int]

STEPS: Final = st.lists(
    st.tuples(
        st.sampled_from(["turn", "turn", "turn", "open", "summarise", "fact"]),
        st.sampled_from(PEOPLE),
        st.integers(0, 400),
    ),
    max_size=14,
)


def spoken(number: int, who: str | None) -> TurnRecord:
    """Return a turn with words of its own in each of its parts."""
    mark = f"<{who}-{number}>"
    return TurnRecord(
        id=f"t{number}",
        at=BEGAN + timedelta(minutes=number),
        heard_text=f"My name is {mark}, and I always like tea.",
        said=(Said(index=0, text=f"I promise to remember that you like {mark} tea."),),
        calls=(Called(call_id=f"c{number}", name="look", arguments=mark, output=mark),),
        audience=audience(ScopeKey(Scope.SPEAKER, who)) if who else frozenset(),
        speaker=who,
    )


@given(STEPS)
def test_no_history_shows_anybody_what_belongs_to_another(steps: list[Step]) -> None:
    """Whoever speaks is told nothing, in any note, that was said by or kept of somebody else."""
    place = ScopeKey(Scope.DEVICE, "kitchen")
    context = ContextStore(lambda: BEGAN)
    context.set(GLOBAL, "for all", "<None-fact>")
    thread = base = Thread(key=ThreadKey("one", place))
    view = View()
    owners: dict[str, str | None] = {}
    for number, (kind, who, tokens) in enumerate(steps):
        if kind == "turn":
            thread = thread.joined(spoken(number, who))
            owners[f"t{number}"] = who
            if tokens % 2:
                view = View(natives=view.natives | {f"t{number}"}, recap_upto=view.recap_upto)
        elif kind == "open":
            base, view = thread, View(recap_upto=thread.next_number - 1)
        elif kind == "summarise":
            if made := checkpoint(thread, tokens, BEGAN):
                thread = committed(thread, made)
        else:
            scope = ScopeKey(Scope.SPEAKER, who) if who else place
            context.set(scope, f"fact {number}", f"<{who}-{number}>")
        for reader in PEOPLE:
            visible = visible_keys(device="kitchen", speaker=reader)
            told = compose(
                thread=thread,
                entries=context.visible(visible),
                now=None,
                visible=visible,
                view=view,
                resume_tokens=tokens,
                base=base,
            )
            words = "\n".join(item.body for item in told.desired)
            for other in {"anna", "tom"} - {reader}:
                assert other not in words
            keys = {item.key for item in told.desired}
            assert all(
                owner in (None, reader) or hear_key(turn) not in keys
                for turn, owner in owners.items()
            )
            assert "&lt;None-fact>" in words or "<None-fact>" in words


async def say(house: Home, words: str, number: int, *, finish: bool) -> str:
    """Say something in the kitchen; return all that the model knew when it answered."""
    house.hears.append(words)
    house.replies.append(f"{words}.")
    before = len(house.brain.requests)
    await house.kitchen.hear(speech(240 - number))
    await house.until(lambda: len(house.brain.requests) > before)
    if finish:
        await house.kitchen.play()
        await house.settled()
    request = house.brain.requests[before]
    return "\n".join([*request.texts(), *(house.brain.words(view) for view in request.context)])


async def prove(house: Home, how: str, who: str | None) -> None:
    """Prove who speaks in the kitchen, in one of the ways that there are."""
    hass = house.hass
    if how == "action":
        await act(hass, "set_speaker", entity_id=house.kitchen.entity_id, speaker=who)
        return
    found = find(async_speakers(hass), who)
    assert house.kitchen.registry_entry is not None
    async_who(hass).choose(
        house.kitchen.registry_entry.id, found.key if found else None, guest=how == "guest"
    )


@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(PEOPLE),
            st.sampled_from(["action", "choice", "guest"]),
            st.sampled_from(["finish", "finish", "interrupt", "drop"]),
        ),
        min_size=3,
        max_size=7,
    )
)
async def test_no_session_holds_what_belongs_to_another(
    house: Home, people: People, steps: list[tuple[str | None, str, str]]
) -> None:
    """In whatever order people speak, each hears only of their own, and has it again when back."""
    assert people.anna.id
    spoken_by: dict[str, str | None] = getattr(house, "spoken_by", {})
    for who, how, then in steps:
        name = who if how != "guest" else None
        await prove(house, how, name)
        number = len(house.brain.requests)
        told = await say(house, f"word{number}x", number, finish=then != "interrupt")
        for word, owner in spoken_by.items():
            if owner not in (None, name):
                assert word not in told
        mine = [word for word, owner in spoken_by.items() if owner == name and owner]
        assert not mine or mine[-1] in told
        spoken_by[f"word{number}x"] = name
        if then == "drop":
            house.server.session.close(1006)
            await house.until(lambda: not house.server.open_sessions)
    await house.settled()
    house.__dict__["spoken_by"] = spoken_by


async def test_two_satellites_of_one_history(house: Home, people: People) -> None:
    """What one says in the kitchen reaches the bedroom only while the same one speaks there."""
    assert people.anna.id
    subentry = next(iter(house.entry.subentries.values()))
    house.hass.config_entries.async_update_subentry(
        house.entry, subentry, data={"history_scope": "global"}
    )
    await house.hass.async_block_till_done()
    await house.bedroom.hear(speech(30))
    await house.bedroom.play()
    await house.settled()
    bedroom = house.server.session
    await prove(house, "action", "anna")
    await say(house, "violins in the attic", 1, finish=True)
    await asyncio.sleep(0.3)
    assert "attic" not in "\n".join(bedroom.texts())
    await act(house.hass, "set_speaker", entity_id=house.bedroom.entity_id, speaker="anna")
    await house.bedroom.hear(speech(29))
    await house.bedroom.play()
    await house.settled()
    assert "attic" in "\n".join(house.brain.requests[-1].texts())
    await act(house.hass, "set_speaker", entity_id=house.bedroom.entity_id, speaker="tom")
    await house.bedroom.hear(speech(28))
    await house.bedroom.play()
    assert "attic" not in "\n".join(house.brain.requests[-1].texts())
