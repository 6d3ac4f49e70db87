"""How full a session is: reported where it is, estimated since, and falling when it empties."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.gauge import (
    LEAST_FACTOR,
    MOST_FACTOR,
    Gauge,
    Reading,
)
from custom_components.realtime_assist.memory.spending import Provenance
from custom_components.realtime_assist.memory.usage import GEMINI_RATES, Load, load_of

HELD: Final = st.integers(min_value=0, max_value=200_000)
REPORTS: Final = st.lists(st.tuples(HELD, HELD), max_size=12)


def after(reports: list[tuple[int, int]]) -> Gauge:
    """Return the gauge after these reports, each with what we thought was held."""
    gauge = Gauge()
    for at, (tokens, held) in enumerate(reports):
        gauge = gauge.reported(tokens, held, float(at))
    return gauge


def test_without_a_report_all_is_estimated() -> None:
    """A server that reports nothing still has a gauge, and nobody takes it for a report."""
    assert Gauge().reading(1234) == Reading(tokens=1234, provenance=Provenance.ESTIMATED)


def test_a_report_is_what_counts() -> None:
    """What the provider says stands as it is until something is added, which is then estimated."""
    gauge = Gauge().reported(1500, 1000, 7.0)
    read = gauge.reading(1000)
    assert (read.tokens, read.provenance) == (1500, Provenance.REPORTED)
    more = gauge.reading(1100)
    assert (more.tokens, more.provenance) == (1650, Provenance.ESTIMATED)
    assert (more.reported, more.reported_at) == (1500, 7.0)


def test_a_reported_nothing_is_a_report() -> None:
    """Zero is a number like any other, and not the absence of one."""
    read = Gauge().reported(0, 500, 1.0).reading(500)
    assert (read.tokens, read.provenance, read.reported) == (0, Provenance.REPORTED, 0)


def test_reports_replace_each_other() -> None:
    """A long conversation is not counted once for each of its answers."""
    gauge = after([(1000, 1000), (1100, 1100), (1200, 1200)])
    assert gauge.reading(1200).tokens == 1200


def test_a_new_session_is_nearly_empty() -> None:
    """After a summary the gauge shows the summary, on the scale that was learned."""
    gauge = after([(30_000, 20_000)]).fresh()
    assert gauge.reading(2000) == Reading(tokens=3000, provenance=Provenance.ESTIMATED)


def test_one_odd_report_is_no_loss() -> None:
    """A single number far too small starts no new session, and is not believed."""
    gauge = after([(5000, 5000), (900, 5100)])
    assert not gauge.lost
    assert gauge.reading(5100).tokens == 5100
    assert not gauge.reported(5200, 5200, 9.0).misses


def test_two_odd_reports_are_a_loss() -> None:
    """A server that drops what was said is found out, and how much it can hold is learned."""
    gauge = after([(5000, 5000), (3000, 5100), (3100, 5200)])
    assert gauge.lost
    assert gauge.ceiling == 5000
    assert not gauge.fresh().lost
    assert gauge.fresh().ceiling == 5000


def test_what_we_took_away_is_no_loss() -> None:
    """A smaller report after a deletion of our own is what was to be expected."""
    assert not after([(5000, 5000), (1500, 2000), (1500, 2000)]).misses


def test_audio_that_a_server_does_not_count_is_no_loss() -> None:
    """Where replies cost nothing to keep, a report that stands still is right."""
    assert not after([(1500, 1500), (1500, 2100), (1520, 2700), (1530, 3300)]).misses


def test_speech_that_a_server_lets_go_is_no_loss() -> None:
    """A server that keeps a long answer only in writing has not forgotten what was said."""
    gauge = Gauge().reported(2500, 2500, 1.0, loose=1200)
    for at in (2.0, 3.0):
        gauge = gauge.reported(1400, 2600, at, loose=1200)
    assert not gauge.lost
    assert gauge.reading(2600).tokens == 1400


@given(reports=REPORTS)
def test_the_factor_stays_between_half_and_double(reports: list[tuple[int, int]]) -> None:
    """However odd its reports are, a provider cannot make the estimate meaningless."""
    assert LEAST_FACTOR <= after(reports).factor <= MOST_FACTOR


@given(reports=REPORTS, held=HELD, gone=HELD)
def test_it_falls_when_the_context_falls(
    reports: list[tuple[int, int]], held: int, gone: int
) -> None:
    """Nothing that is taken away makes a session look fuller, and none has less than nothing."""
    gauge = after(reports)
    assert 0 <= gauge.reading(max(0, held - gone)).tokens <= gauge.reading(held).tokens


@given(reports=REPORTS, last=st.tuples(HELD, HELD))
def test_it_never_sums_reports(reports: list[tuple[int, int]], last: tuple[int, int]) -> None:
    """Right after a report that is believed the gauge shows that report, whatever came before."""
    before = after(reports)
    gauge = before.reported(*last, 99.0)
    if not gauge.misses:
        assert gauge.reading(last[1]).tokens == last[0]
    else:
        assert gauge.base == before.base


@given(reports=REPORTS, held=HELD)
def test_a_new_session_forgets_reports(reports: list[tuple[int, int]], held: int) -> None:
    """What another session held is not in this one: nothing held is nothing shown."""
    gauge = after(reports).fresh()
    assert gauge.reading(0).tokens == 0
    assert gauge.reading(held).tokens <= MOST_FACTOR * held
    assert gauge.reading(held).reported is None


@pytest.mark.parametrize(
    ("load", "tokens"),
    [
        (Load(heard_ms=1000, said_ms=1000), 30),
        (Load(heard_ms=1), 1),
        (Load(text_tokens=5, said_ms=49), 6),
        (Load(), 0),
    ],
)
def test_speech_costs_by_the_second(load: Load, tokens: int) -> None:
    """What a session of speech costs can be told before the bill comes."""
    assert load.tokens() == tokens


def test_other_providers_count_otherwise() -> None:
    """A second of speech is not as long everywhere."""
    assert Load(heard_ms=1000, said_ms=1000).tokens(GEMINI_RATES) == 64
    both = load_of([Load(text_tokens=1, heard_ms=5), Load(text_tokens=2, said_ms=7)])
    assert both == Load(text_tokens=3, heard_ms=5, said_ms=7)
    assert Load(heard_ms=1500, said_ms=500).audio_seconds == 2.0
