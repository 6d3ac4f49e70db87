"""Replies, calls and typed words: what a turn leaves with the provider."""

import pytest

from custom_components.realtime_assist.items import (
    call_key,
    hear_key,
    native,
    note,
    output,
    say_key,
)
from custom_components.realtime_assist.realtime.events import ItemKind
from custom_components.realtime_assist.realtime.ledger import Ledger
from custom_components.realtime_assist.realtime.model import Capabilities, Cut
from custom_components.realtime_assist.realtime.operations import (
    Create,
    CutTo,
    Delete,
    Gate,
    NewSession,
    Reason,
)

from .ledger_desk import NAMELESS, OPEN, Desk, want


def test_a_reply_is_cut_to_what_was_heard_and_never_beyond_what_arrived() -> None:
    """After a barge-in the model knows what you did not hear."""
    desk = Desk()
    desk.spoken("7", ms=800)
    items = (native(hear_key("7")), native(say_key("7"), cut_ms=950))
    assert desk.send(*items) == [CutTo("7_reply", 800)]
    assert desk.ledger.unfinished(want(*items)).uncut == {"7_reply"}
    desk.ledger.settle_cut("7_reply", 800)
    assert desk.send(*items) == []
    assert not desk.ledger.unfinished(want(*items))
    shorter = (native(hear_key("7")), native(say_key("7"), cut_ms=300))
    assert desk.send(*shorter) == [CutTo("7_reply", 300)]


@pytest.mark.parametrize("listed", [True, False])
def test_a_reply_that_nobody_heard_is_taken_away(listed: bool) -> None:  # noqa: FBT001 - a case
    """The model does not refer to what it never got to say."""
    desk = Desk()
    desk.spoken("7")
    items = [native(hear_key("7"))] + [native(say_key("7"), cut_ms=0)] * listed
    assert desk.send(*items) == [Delete("7_reply")]


def test_a_reply_is_replaced_by_a_new_session_where_it_cannot_be_cut() -> None:
    """Barge-in leaves the same memory behind on every provider."""
    desk = Desk(Capabilities(cut=Cut.REPLACE))
    desk.ledger.begin("7")
    desk.ledger.bind_reply("reply", "7")
    desk.ledger.received("reply", 1000)
    assert desk.ledger.interrupt("7", 400) == []
    cut = (native(hear_key("7")), native(say_key("7"), cut_ms=400))
    assert desk.ledger.plan(want(*cut), OPEN) == []
    desk.ledger.settle("7")
    assert desk.ledger.plan(want(*cut), OPEN) == [NewSession(Reason.CUT)]


def test_an_interruption_cuts_the_replies_in_the_order_in_which_they_were_heard() -> None:
    """A preamble that was heard stays whole, and the answer is cut where you spoke."""
    ledger = Ledger(Capabilities())
    ledger.begin("7")
    for name, ms in (("a", 500), ("b", 700.9), ("c", 300)):
        ledger.bind_reply(name, "7")
        ledger.received(name, ms)
    assert ledger.interrupt("7", 900) == [CutTo("b", 400)]
    assert ledger.interrupt("7", 1200) == []
    assert ledger.interrupt("7", 9000) == [CutTo("c", 300)]
    assert ledger.interrupt("7", 0) == []


def test_a_call_is_answered_once_whatever_the_answer_is_called_later() -> None:
    """A light is not switched twice because a result was shortened in the record."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.bind_call("call", "7", "c1")
    (create,) = desk.send(output("c1", "a long result"))
    assert isinstance(create, Create)
    assert desk.item(create.remote_id).open
    desk.ledger.settle_added(create.remote_id, ItemKind.OUTPUT, "c1")
    desk.ledger.settle("7")
    record = (native(hear_key("7")), native(call_key("c1"), pair="c1"), output("c1", "short"))
    assert desk.send(*record) == []


def test_an_output_of_a_call_that_is_not_here_is_not_sent() -> None:
    """A result that comes after a reconnection does no harm."""
    desk = Desk()
    assert desk.send(output("c1", "done")) == []


def test_a_call_and_its_output_go_together() -> None:
    """The model never sees a wish without its outcome, and so never repeats it."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.bind_call("call", "7", "c1")
    (create,) = desk.send(output("c1", "on"))
    assert isinstance(create, Create)
    desk.ledger.settle_added(create.remote_id, ItemKind.OUTPUT, "c1")
    desk.ledger.settle("7")
    desk.ledger.revoke({call_key("c1")})
    assert desk.send() == [Delete("call"), Delete(create.remote_id)]
    desk.ledger.settle_deleted("call")
    desk.ledger.settle_error("e3")
    assert desk.ledger.unfinished(want()).revoked == {create.remote_id}


def test_a_pair_that_is_going_is_waited_for() -> None:
    """A call whose output may be gone already is not shown to the model."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.bind_call("call", "7", "c1")
    (create,) = desk.send(output("c1", "on"))
    assert isinstance(create, Create)
    desk.ledger.settle_added(create.remote_id, ItemKind.OUTPUT, "c1")
    desk.ledger.release("7")
    assert desk.send() == [Delete("call"), Delete(create.remote_id)]
    assert desk.ledger.unfinished(want()).revoked == {"call", create.remote_id}


def test_a_call_that_was_never_answered_is_taken_away() -> None:
    """A wish from an interrupted turn is not carried out later."""
    desk = Desk()
    desk.ledger.begin("7")
    desk.ledger.bind_user("user", "7")
    desk.ledger.bind_call("call", "7", "c1")
    record = native(hear_key("7"))
    assert desk.send(record) == []
    desk.ledger.settle("7")
    assert desk.ledger.unfinished(want(record)).revoked == {"call"}
    assert desk.send(record) == [Delete("call")]


def test_typed_words_are_sent_once_and_become_part_of_the_turn() -> None:
    """What you type is not told to the model twice."""
    desk = Desk()
    desk.ledger.begin("7")
    words = note(hear_key("7"), "hello")
    (operation,) = desk.ledger.plan(want(), OPEN, [words])
    assert isinstance(operation, Create)
    desk.ledger.issue(operation, "e1", now=0)
    desk.ledger.settle_added(operation.remote_id, ItemKind.USER)
    assert desk.ledger.natives == {"7"}
    desk.ledger.settle("7")
    assert desk.send(native(hear_key("7"))) == []
    assert desk.ledger.plan(want(words), Gate(hard=True)) == [NewSession(Reason.PRESSURE)]


def test_typed_words_that_a_provider_refuses_come_back_with_the_history() -> None:
    """What you typed is known in the next turn, even if the provider refused it in this one."""
    desk = Desk(NAMELESS)
    desk.ledger.begin("7")
    (operation,) = desk.ledger.plan(want(), OPEN, [note(hear_key("7"), "hello")])
    assert isinstance(operation, Create)
    desk.ledger.issue(operation, "e1", now=0)
    desk.ledger.settle_error(None)
    desk.ledger.settle("7")
    assert desk.ledger.natives == frozenset()


def test_typed_words_that_a_provider_may_have_refused_are_sent_again() -> None:
    """What you typed is answered, also where a server does not say what it refuses."""
    desk, words = Desk(NAMELESS), note(hear_key("7"), "hello")
    desk.ledger.begin("7")
    (operation,) = desk.ledger.plan(want(), OPEN, [words])
    assert isinstance(operation, Create)
    desk.ledger.issue(operation, "e1", now=0)
    desk.ledger.settle_error(None)
    (again,) = desk.ledger.plan(want(), OPEN, [words])
    assert isinstance(again, Create)
    assert again.remote_id != operation.remote_id
