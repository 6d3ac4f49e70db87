"""Whatever a server answers, and whether it does, the ledger knows what that can mean."""

from custom_components.realtime_assist.items import (
    FACTS,
    RECAP,
    hear_key,
    native,
    note,
    say_key,
)
from custom_components.realtime_assist.realtime.events import ItemKind
from custom_components.realtime_assist.realtime.ledger import Ledger
from custom_components.realtime_assist.realtime.operations import (
    Counts,
    Create,
    Delete,
    ItemState,
    NewSession,
    Reason,
)

from .ledger_desk import NAMELESS, OPEN, Desk, turn, want


def test_three_refusals_and_an_item_is_lost() -> None:
    """A provider that refuses is not asked for ever; what may not be seen is left behind."""
    desk = Desk()
    (held,) = desk.hold(note(FACTS, "code"))
    desk.ledger.revoke({FACTS})
    for number in (2, 3, 4):
        assert desk.send() == [Delete(held)]
        assert desk.ledger.settle_error(f"e{number}")
    assert desk.item(held).state is ItemState.LOST
    assert desk.ledger.plan(want(), OPEN) == [NewSession(Reason.REVOKED)]
    assert desk.ledger.counts == Counts(created=1, refused=3, failed=1)


def test_a_note_that_is_refused_three_times_is_given_up() -> None:
    """A note that a provider does not like costs a few frames, and no turn."""
    desk = Desk()
    for number in (1, 2, 3):
        assert len(desk.send(note(FACTS, "f"))) == 1
        desk.ledger.settle_error(f"e{number}")
    assert desk.send(note(FACTS, "f")) == []
    assert len(desk.send(note(FACTS, "other"))) == 1
    assert desk.ledger.counts.failed == 1


def test_what_a_provider_does_not_know_is_gone_if_we_made_it() -> None:
    """A server that dropped an old note by itself needs no new session to forget it."""
    desk = Desk()
    (held,) = desk.hold(note(FACTS, "code"))
    desk.spoken("t1")
    desk.ledger.revoke({FACTS, "turn:t1"})
    assert Delete(held) in desk.send(*turn("t1"))
    assert desk.ledger.settle_error("e2", unknown=True)
    assert held not in {item.remote_id for item in desk.ledger.items}
    assert desk.ledger.counts == Counts(created=1, deleted=1)
    # Under which id a server keeps what was born there is its own affair.
    assert desk.ledger.settle_error("e3", unknown=True)
    assert desk.ledger.counts.refused == 1
    assert desk.item("t1_user").state is ItemState.HELD


def test_an_error_of_something_else_settles_nothing() -> None:
    """A refused commit does not undo a note."""
    desk = Desk()
    desk.send(note(FACTS, "f"))
    assert not desk.ledger.settle_error("commit_1")
    assert desk.ledger.outstanding == 1


def test_an_error_without_an_id_is_taken_for_the_oldest_operation() -> None:
    """Servers that do not say what they mean are still understood."""
    desk = Desk(NAMELESS)
    desk.hold(note(FACTS, "code"))
    desk.ledger.revoke({FACTS})
    desk.send(note(FACTS, "none"))
    assert desk.ledger.settle_error(None)
    states = [item.state for item in desk.ledger.items]
    assert states == [ItemState.HELD, ItemState.SENT]
    assert not Ledger(NAMELESS).settle_error(None)


def test_a_create_that_was_refused_by_a_guess_is_tried_again_and_not_believed_gone() -> None:
    """A wrong guess neither loses a memory nor keeps one that was forgotten."""
    desk = Desk(NAMELESS)
    (create,) = desk.send(note(FACTS, "code"))
    assert isinstance(create, Create)
    desk.ledger.settle_error(None)
    assert len(desk.hold(note(FACTS, "code"))) == 1
    desk.ledger.revoke({FACTS})
    assert desk.ledger.plan(want(), OPEN) == [NewSession(Reason.REVOKED)]
    desk.ledger.settle_added(create.remote_id, ItemKind.USER)
    assert desk.item(create.remote_id).state is ItemState.HELD


def test_removals_go_one_by_one_where_acknowledgements_name_nothing() -> None:
    """A server that acknowledges anonymously is never misunderstood."""
    desk = Desk(NAMELESS)
    first, second = desk.hold(note(FACTS, "code"), note(RECAP, "code"))
    desk.ledger.revoke({FACTS, RECAP})
    assert desk.send() == [Delete(first)]
    assert desk.send() == []
    desk.ledger.settle_deleted("")
    assert desk.send() == [Delete(second)]
    desk.ledger.settle_deleted("")
    assert desk.ledger.items == ()
    assert desk.ledger.counts.deleted == 2


def test_an_anonymous_removal_that_is_never_answered_ends_the_trust() -> None:
    """A late answer cannot make a forgotten thing look gone that is still there."""
    desk = Desk(NAMELESS)
    desk.hold(note(FACTS, "code"), note(RECAP, "code"))
    desk.ledger.revoke({FACTS, RECAP})
    desk.send()
    due = desk.ledger.deadline
    assert due == 3.0
    assert [desk.ledger.settle_expired(now) for now in (2.9, due)] == [0, 1]
    assert desk.ledger.plan(want(), OPEN) == [NewSession(Reason.REVOKED)]


def test_a_create_that_is_never_acknowledged_is_taken_as_done() -> None:
    """A slow server is not told everything twice."""
    desk = Desk()
    (create,) = desk.send(note(FACTS, "f"))
    assert isinstance(create, Create)
    desk.ledger.settle_expired(10)
    assert desk.send(note(FACTS, "f")) == []
    desk.ledger.settle_added(create.remote_id, ItemKind.SYSTEM)
    assert desk.ledger.counts == Counts(created=1, expired=1)


def test_acknowledgements_may_come_in_any_order() -> None:
    """A server that takes its time with one thing does not confuse the others."""
    desk = Desk()
    first, second = desk.send(note(RECAP, "r"), note(FACTS, "f"))
    assert isinstance(first, Create)
    assert isinstance(second, Create)
    desk.ledger.settle_added(second.remote_id, ItemKind.SYSTEM)
    assert desk.item(first.remote_id).state is ItemState.SENT
    assert desk.item(second.remote_id).state is ItemState.HELD


def test_an_answer_that_comes_twice_changes_nothing() -> None:
    """A server that repeats itself is harmless."""
    desk = Desk()
    (held,) = desk.hold(note(FACTS, "f"))
    desk.ledger.settle_added(held, ItemKind.SYSTEM)
    desk.ledger.revoke({FACTS})
    desk.send()
    for _ in range(2):
        desk.ledger.settle_deleted(held)
    assert not desk.ledger.settle_error("e2")
    assert desk.ledger.counts == Counts(created=1, deleted=1)


def test_everything_outstanding_of_an_item_ends_with_it() -> None:
    """An item that the server dropped by itself leaves nothing to wait for."""
    desk = Desk()
    desk.spoken("7")
    desk.send(native(hear_key("7")), native(say_key("7"), cut_ms=300))
    desk.ledger.settle_deleted("7_reply")
    assert desk.ledger.outstanding == 0
    assert desk.ledger.settle_expired(10) == 0
