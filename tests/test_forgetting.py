"""Proposals to forget: good once, for who asked, for a few minutes."""

from datetime import UTC, datetime, timedelta

from custom_components.realtime_assist.forgetting import (
    LIFETIME,
    MAX_PROPOSALS,
    Proposals,
    ShownEntry,
)
from custom_components.realtime_assist.memory.scopes import GLOBAL

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SHOWN = (ShownEntry(GLOBAL, "bins", 1, NOW),)


def test_a_proposal_is_good_once_and_for_who_asked() -> None:
    """Nobody confirms what another was asked, and no yes counts twice."""
    proposals = Proposals()
    word = proposals.propose("anna", SHOWN, NOW)
    assert proposals.take(word, "tom", NOW) is None
    assert proposals.take("other", "anna", NOW) is None
    found = proposals.take(word, "anna", NOW)
    assert found is not None
    assert found.shown == SHOWN
    assert proposals.take(word, "anna", NOW) is None


def test_a_proposal_ends_by_itself() -> None:
    """A yes that comes much later means something else."""
    proposals = Proposals()
    word = proposals.propose("anna", SHOWN, NOW)
    assert proposals.take(word, "anna", NOW + LIFETIME) is None
    word = proposals.propose("anna", SHOWN, NOW)
    assert proposals.take(word, "anna", NOW + LIFETIME - timedelta(seconds=1)) is not None


def test_proposals_do_not_pile_up() -> None:
    """A model that asks again and again costs no memory."""
    proposals = Proposals()
    first = proposals.propose("anna", SHOWN, NOW)
    words = {proposals.propose("anna", SHOWN, NOW) for _ in range(MAX_PROPOSALS)}
    assert len(words) == MAX_PROPOSALS
    assert proposals.take(first, "anna", NOW) is None
