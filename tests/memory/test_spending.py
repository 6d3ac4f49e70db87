"""What responses used and cost: reported or estimated, and never zero where nobody knows."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.memory.money import (
    Prices,
    response_cost,
    transcript_cost,
)
from custom_components.realtime_assist.memory.spending import (
    Amount,
    Kind,
    Provenance,
    Total,
    Use,
    completed,
    reported,
)
from custom_components.realtime_assist.memory.usage import Load

PRICES: Final = Prices(
    text_in=4, text_cached=0.4, text_out=24, audio_in=32, audio_cached=0.4, audio_out=64
)
COUNTS: Final = st.dictionaries(st.sampled_from(Kind), st.none() | st.integers(0, 10_000))


def test_what_is_not_reported_is_not_zero() -> None:
    """A count that is missing is unknown; a count of zero is known."""
    use = reported(5.0, {Kind.INPUT: 0, Kind.CACHED: None})
    assert use.get(Kind.INPUT) == 0
    assert use.get(Kind.CACHED) is None
    assert use.amounts[Kind.INPUT].age(7.5) == 2.5


def test_what_is_missing_is_estimated_and_says_so() -> None:
    """A server that reports nothing still has a bill, and nobody takes it for the server's."""
    use = completed(Use(at=1.0), Load(text_tokens=90, heard_ms=1000), Load(said_ms=2000))
    assert {kind: use.get(kind) for kind in use.amounts} == {
        Kind.INPUT: 100,
        Kind.INPUT_TEXT: 90,
        Kind.INPUT_AUDIO: 10,
        Kind.OUTPUT: 40,
        Kind.OUTPUT_TEXT: 0,
        Kind.OUTPUT_AUDIO: 40,
    }
    assert {amount.provenance for amount in use.amounts.values()} == {Provenance.ESTIMATED}


def test_a_total_without_parts_is_split_as_estimated() -> None:
    """Text and speech cost differently, so a sum of both is shared out."""
    told = reported(1.0, {Kind.INPUT: 200, Kind.OUTPUT: 30, Kind.OUTPUT_TEXT: 10})
    use = completed(told, Load(text_tokens=90, heard_ms=1000), Load(said_ms=2000))
    assert (use.get(Kind.INPUT_TEXT), use.get(Kind.INPUT_AUDIO)) == (180, 20)
    assert use.get(Kind.OUTPUT_AUDIO) == 20
    assert use.amounts[Kind.INPUT].provenance is Provenance.REPORTED
    assert use.amounts[Kind.INPUT_AUDIO].provenance is Provenance.ESTIMATED


@given(counts=COUNTS)
def test_what_is_reported_stays(counts: dict[Kind, int | None]) -> None:
    """No estimate replaces a number that the provider has told."""
    told = reported(1.0, counts)
    use = completed(told, Load(text_tokens=5, heard_ms=300), Load(text_tokens=7))
    assert told.amounts.items() <= use.amounts.items()
    assert Kind.CACHED in use.amounts or counts.get(Kind.CACHED) is None


def test_a_response_costs_what_its_parts_cost() -> None:
    """Cached and fresh, text and speech, in and out have prices of their own."""
    use = reported(
        1.0,
        {
            Kind.INPUT_TEXT: 1_000_000,
            Kind.INPUT_AUDIO: 1_000_000,
            Kind.CACHED: 750_000,
            Kind.CACHED_TEXT: 500_000,
            Kind.CACHED_AUDIO: 250_000,
            Kind.OUTPUT_TEXT: 100_000,
            Kind.OUTPUT_AUDIO: 100_000,
        },
    )
    assert response_cost(use, PRICES) == pytest.approx(2 + 0.2 + 24 + 0.1 + 2.4 + 6.4)


def test_a_cached_total_is_text_first() -> None:
    """What is cached is the beginning, and that is instructions: never more than there is."""
    use = reported(1.0, {Kind.INPUT_TEXT: 100, Kind.INPUT_AUDIO: 50, Kind.CACHED: 1000})
    assert response_cost(use, PRICES) == pytest.approx(150 * 0.4 / 1_000_000)


def test_an_unknown_price_is_not_nothing() -> None:
    """A model that is in no table costs an unknown sum, and so does a picture without a price."""
    use = reported(1.0, {Kind.INPUT_TEXT: 100, Kind.INPUT_AUDIO: 0})
    assert response_cost(use, None) is None
    assert response_cost(Use(at=1.0), PRICES) is None
    assert (
        response_cost(reported(1.0, {Kind.INPUT_TEXT: 1, Kind.INPUT_AUDIO: 0}), PRICES) is not None
    )
    picture = reported(1.0, {Kind.INPUT_TEXT: 1, Kind.INPUT_AUDIO: 0, Kind.INPUT_IMAGE: 100})
    assert response_cost(picture, PRICES) is None


def test_a_transcript_costs_by_the_minute() -> None:
    """Writing down what was said has a price of its own, if that is known."""
    use = Use(at=1.0, seconds=90.0)
    assert transcript_cost(use, 0.02) == pytest.approx(0.03)
    assert transcript_cost(use, None) is None
    assert transcript_cost(Use(at=1.0), 0.02) is None


def test_totals_add_up_and_keep_what_is_unknown() -> None:
    """A sum is reported only if all of it was, and says how much of it has no price."""
    total = Total()
    assert total.tokens is None
    assert total.cost is None
    total = total.plus(reported(1.0, {Kind.INPUT: 10, Kind.OUTPUT: 5}), 0.5)
    total = total.plus(completed(Use(at=3.0), Load(text_tokens=7), Load()), None)
    total = total.plus(Use(at=4.0, seconds=2.0), 0.25, transcript=True)
    assert (total.responses, total.transcripts, total.unpriced) == (2, 1, 1)
    assert total.tokens == 22
    assert total.cost == pytest.approx(0.75)
    assert total.amounts[Kind.INPUT] == Amount(tokens=17, provenance=Provenance.ESTIMATED, at=3.0)
    assert Kind.CACHED not in total.amounts
