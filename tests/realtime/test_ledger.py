"""What the provider holds is known, bound to its turns, and changed only as it must be."""

import re

import pytest

from custom_components.realtime_assist.items import (
    FACTS,
    NOW,
    RECAP,
    Form,
    call_key,
    hear_key,
    note,
    output,
    say_key,
)
from custom_components.realtime_assist.realtime.events import ItemKind
from custom_components.realtime_assist.realtime.ledger import Ledger
from custom_components.realtime_assist.realtime.model import Capabilities, Cut
from custom_components.realtime_assist.realtime.operations import (
    Counts,
    Create,
    Delete,
    Gate,
    NewSession,
    Reason,
)

from .ledger_desk import OPEN, Desk, turn, want


def test_ids_are_short_plain_and_never_used_twice() -> None:
    """Every provider takes our ids, and none takes two items for one."""
    ledger = Ledger(Capabilities())
    ids = [ledger.new_id(note(NOW, "same")) for _ in range(50)]
    ledger.renew()
    ids += [ledger.new_id(note(NOW, "same")) for _ in range(50)]
    assert len(set(ids)) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,32}", name) for name in ids)


def test_notes_are_appended_once() -> None:
    """Memory is told to the model once, and again only when it changed."""
    desk = Desk()
    assert len(desk.hold(note(RECAP, "r"), note(FACTS, "f"))) == 2
    assert desk.send(note(RECAP, "r"), note(FACTS, "f")) == []
    operations = desk.send(note(RECAP, "r"), note(FACTS, "g"))
    assert [o.item.body for o in operations if isinstance(o, Create)] == ["g"]
    assert desk.ledger.counts.superseded == 1


@pytest.mark.parametrize("first", ["speech", "commit", "added"])
def test_a_user_item_is_bound_by_whichever_event_comes_first(first: str) -> None:
    """What somebody said belongs to its turn, whatever order a server tells things in."""
    ledger = Ledger(Capabilities())
    ledger.begin("7")
    if first == "added":
        ledger.settle_added("item_1", ItemKind.USER)
    assert ledger.bind_user("item_1", "7") == 0
    ledger.settle_added("item_1", ItemKind.USER)
    assert ledger.bind_user("item_1", "7") == 0
    (item,) = ledger.items
    assert (item.key, item.open, ledger.natives) == (hear_key("7"), True, frozenset({"7"}))


def test_a_turn_may_have_several_items_of_each_kind() -> None:
    """A pause while speaking, or a preamble of the model, loses nothing."""
    ledger = Ledger(Capabilities())
    ledger.begin("7")
    assert [ledger.bind_user(name, "7") for name in ("a", "b", "a")] == [0, 1, 0]
    assert [ledger.bind_reply(name, "7") for name in ("c", "d", "d")] == [0, 1, 1]
    ledger.bind_call("e", "7", "call_1")
    assert [item.key for item in ledger.items] == [
        hear_key("7"),
        hear_key("7", 1),
        say_key("7"),
        say_key("7", 1),
        call_key("call_1"),
    ]


def test_an_item_without_a_name_is_not_bound() -> None:
    """A server that forgets ids confuses nothing."""
    ledger = Ledger(Capabilities())
    ledger.begin("7")
    ledger.bind_user("", "7")
    ledger.bind_call("", "7", "call_1")
    ledger.settle_added("", ItemKind.USER)
    assert ledger.items == ()


def test_what_nobody_claims_goes_when_its_turn_has_closed() -> None:
    """Television and replies that nobody asked for do not stay in the conversation."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.settle_added("stray", ItemKind.ASSISTANT)
    assert desk.send() == []
    desk.ledger.settle("7")
    assert desk.send() == [Delete("stray")]
    desk.ledger.settle_deleted("stray")
    assert desk.ledger.items == ()


def test_nothing_of_a_released_turn_stays_however_late_it_comes() -> None:
    """A false wake leaves no trace."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.bind_user("a", "7")
    desk.ledger.release("7")
    desk.ledger.bind_reply("b", "7")
    desk.ledger.bind_call("c", "7", "call_1")
    assert desk.send() == [Delete("a"), Delete("b"), Delete("c")]


def test_orphans_wait_for_a_new_session_that_costs_nothing_where_they_cannot_go() -> None:
    """A provider without deletion is not reconnected for a bit of noise."""
    ledger = Ledger(Capabilities(delete=False, acks=False))
    ledger.settle_added("stray", ItemKind.USER)
    assert ledger.plan(want(), OPEN) == []
    assert ledger.plan(want(), Gate(cold=True)) == [NewSession(Reason.ORPHANS)]
    ledger.begin("7")
    ledger.bind_user("a", "7")
    assert ledger.plan(want(), Gate(cold=True)) == []


def test_nothing_is_done_while_the_provider_is_busy() -> None:
    """A change of memory never disturbs a reply that is being spoken."""
    desk = Desk()
    desk.hold(note(FACTS, "code 1234"))
    desk.ledger.revoke({FACTS})
    assert desk.ledger.plan(want(note(FACTS, "none")), Gate(busy=True, cold=True, hard=True)) == []


def test_a_forgotten_note_goes_in_all_its_versions() -> None:
    """What was forgotten is not read again in an older note."""
    desk = Desk()
    first, second = (*desk.hold(note(FACTS, "code 1")), *desk.hold(note(FACTS, "code 2")))
    desk.ledger.revoke({FACTS})
    operations = desk.send(note(FACTS, "no code"))
    assert operations[:2] == [Delete(first), Delete(second)]
    assert isinstance(operations[2], Create)
    assert desk.ledger.unfinished(want(note(FACTS, "no code"))).revoked == {first, second}
    desk.ledger.settle_deleted(first)
    desk.ledger.settle_deleted(second)
    assert not desk.ledger.unfinished(want(note(FACTS, "no code")))


def test_a_revoked_note_that_is_still_right_stays() -> None:
    """Forgetting one thing does not take away what has nothing of it."""
    desk = Desk()
    desk.hold(note(FACTS, "f"))
    desk.ledger.revoke({FACTS})
    assert desk.send(note(FACTS, "f")) == []


def test_what_cannot_be_taken_away_needs_a_new_session() -> None:
    """A provider without deletion forgets all the same."""
    desk = Desk(Capabilities(delete=False, cut=Cut.NONE, acks=False))
    desk.send(note(FACTS, "code"))
    desk.ledger.revoke({FACTS})
    assert desk.ledger.plan(want(), OPEN) == [NewSession(Reason.REVOKED)]
    desk.ledger.renew()
    assert desk.ledger.items == ()
    assert (desk.ledger.epoch, desk.ledger.counts.rebuilt) == (2, 1)


def test_somebody_elses_turn_is_taken_away() -> None:
    """The next speaker does not hear of what the one before said in private."""
    desk, anna = Desk(), frozenset({"speaker:anna"})
    desk.spoken("7")
    assert desk.send(*turn("7", anna), visible=anna) == []
    assert desk.send() == [Delete("7_user"), Delete("7_reply")]


def test_a_turn_that_no_composition_ever_listed_is_nobodys_to_see() -> None:
    """A speaker who comes in quickly still learns nothing of the turn before."""
    desk = Desk()
    desk.spoken("7")
    assert desk.ledger.unfinished(want()).revoked == {"7_user", "7_reply"}
    assert desk.send() == [Delete("7_user"), Delete("7_reply")]


def test_a_turn_that_a_summary_swallowed_stays() -> None:
    """Summarising does not touch a conversation that is going on."""
    desk = Desk()
    desk.spoken("7")
    desk.send(*turn("7"))
    assert desk.send(note(NOW, "n"))[0] == desk.sent[-1]
    assert len(desk.sent) == 1


def test_a_turn_goes_as_a_whole_when_part_of_it_may_not_be_seen() -> None:
    """Somebody who comes back hears all of what was said, not the half that was left."""
    desk, anna = Desk(), frozenset({"speaker:anna"})
    desk.spoken("7")
    desk.send(*turn("7", anna), visible=anna)
    desk.send()
    desk.ledger.settle_deleted("7_user")
    desk.ledger.settle_error("e2")
    assert desk.ledger.natives == frozenset()
    assert desk.send(*turn("7", anna), visible=anna) == [Delete("7_reply")]
    desk = Desk()
    desk.spoken("7")
    desk.ledger.revoke({hear_key("7")})
    assert desk.send(*turn("7")) == [Delete("7_user"), Delete("7_reply")]
    desk = Desk()
    desk.spoken("7")
    desk.ledger.revoke({"turn:7"})
    assert desk.send(*turn("7")) == [Delete("7_user"), Delete("7_reply")]


def test_replaced_notes_go_only_when_it_costs_nothing_or_must_be() -> None:
    """A change of memory does not make the next answer slower."""
    desk = Desk()
    (old,) = desk.hold(note(FACTS, "old"))
    (create,) = desk.send(note(FACTS, "new"))
    assert isinstance(create, Create)
    assert desk.ledger.plan(want(note(FACTS, "new")), OPEN) == []
    assert desk.ledger.plan(want(note(FACTS, "new")), Gate(hard=True)) == []
    desk.ledger.settle_added(create.remote_id, ItemKind.SYSTEM)
    new = want(note(FACTS, "new"))
    assert desk.ledger.plan(new, Gate(hard=True)) == [Delete(old)]
    assert desk.ledger.plan(new, Gate(cold=True)) == [NewSession(Reason.SUPERSEDED)]


def test_pressure_begins_anew_only_when_nobody_is_in_a_turn() -> None:
    """A conversation that grew too long is never cut off in the middle of an answer."""
    desk = Desk()
    desk.spoken("7")
    assert desk.send(*turn("7")) == []
    assert desk.ledger.plan(want(*turn("7")), Gate(hard=True)) == [NewSession(Reason.PRESSURE)]
    desk.ledger.begin("8")
    desk.ledger.bind_user("item", "8")
    assert desk.ledger.plan(want(*turn("7")), Gate(hard=True)) == []


def test_a_new_session_keeps_the_numbers_of_the_open_turn() -> None:
    """An answer that goes on in a new session is not mixed with what was said before."""
    ledger = Ledger(Capabilities())
    ledger.begin("7")
    ledger.bind_user("a", "7")
    ledger.bind_reply("b", "7")
    ledger.renew()
    assert ledger.bind_user("c", "7") == 0
    assert ledger.bind_reply("d", "7") == 1


def test_what_was_counted_since_can_be_told() -> None:
    """`memory.update` reports what it did, and nothing that was done before."""
    desk = Desk()
    desk.hold(note(FACTS, "f"))
    before = desk.ledger.counts
    desk.hold(note(FACTS, "g"))
    assert desk.ledger.counts.since(before) == Counts(created=1, superseded=1)


def test_outputs_go_before_notes() -> None:
    """The model has the outcome of its calls before it is told anything else."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.bind_call("call", "7", "c1")
    operations = desk.send(note(FACTS, "f"), output("c1", "on"))
    forms = [o.item.form for o in operations if isinstance(o, Create)]
    assert forms == [Form.OUTPUT, Form.NOTE]
