"""What was heard of a reply."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.realtime_assist.pipeline.playout import Ended, Lag, Playout


def clock(*, streams: bool = True, lag: Lag | None = None) -> Playout:
    return Playout(lag or Lag(), streams=streams)


def test_idle_at_the_expected_end_means_all_was_heard() -> None:
    """A reply that was played to its end is remembered whole."""
    playout = clock()
    playout.hand_over(4000, 10.0)
    playout.finish(10.1)
    heard = playout.idle(14.6)
    assert heard is not None
    assert (heard.ms, heard.ended) == (4000, Ended.IDLE)


def test_stop_word_keeps_only_what_was_heard() -> None:
    """Who says stop in the middle is not taken to have heard the rest."""
    playout = clock()
    playout.hand_over(10_000, 0.0)
    playout.finish(0.1)
    heard = playout.idle(4.3)
    assert heard is not None
    assert heard.ended is Ended.STOPPED
    assert heard.ms == 4000


def test_idle_at_once_means_that_a_longer_reply_was_not_played() -> None:
    """A satellite that played nothing does not make the assistant believe it was heard."""
    playout = clock()
    playout.hand_over(10_000, 0.0)
    heard = playout.idle(0.9)
    assert heard is not None
    assert (heard.ms, heard.ended) == (0, Ended.NOT_PLAYED)


def test_new_wake_cuts_a_little_before_it() -> None:
    """The moment in which a person began to interrupt lies before the satellite noticed."""
    playout = clock()
    playout.hand_over(10_000, 0.0)
    heard = playout.interrupt(5.3)
    assert heard.ended is Ended.INTERRUPTED
    assert heard.ms == 4800
    assert heard.uncertainty_ms > 0


def test_new_wake_after_the_end_interrupts_nothing() -> None:
    """The next question, asked after a reply that never reported its end, leaves it whole."""
    playout = clock()
    playout.hand_over(1000, 0.0)
    playout.finish(0.0)
    heard = playout.interrupt(1.4)
    assert (heard.ms, heard.ended) == (1000, Ended.TIME)


def test_clock_stands_still_while_a_reply_has_run_dry() -> None:
    """A pause in which a tool runs is not counted as words."""
    playout = clock()
    playout.hand_over(1000, 0.0)
    assert playout.position(5.0) == 1000
    playout.hand_over(2000, 5.0)
    assert playout.position(5.3) == 1000
    assert playout.position(6.3) == 2000


def test_silence_is_not_speech() -> None:
    """Filled gaps and configured silence do not count as words that were heard."""
    playout = clock()
    playout.hand_over(500, 0.0, speech=False)
    playout.hand_over(1000, 0.0)
    playout.hand_over(3000, 0.0, speech=False)
    playout.finish(0.0)
    assert playout.position(0.3 + 0.5) == 0
    assert playout.position(0.3 + 1.0) == 500
    heard = playout.idle(4.8)
    assert heard is not None
    assert heard.ms == 1000


def test_complete_only_satellite_plays_after_the_end_of_generation() -> None:
    """A phone that plays whole files is not taken to play while the file is made."""
    playout = clock(streams=False)
    playout.hand_over(4000, 0.0)
    assert playout.position(3.0) == 0
    assert playout.idle(3.0) is None
    assert playout.end is None
    playout.finish(3.0)
    assert playout.position(4.3) == 1000
    assert playout.interrupt(5.3).ms == 1800


def test_lag_is_learned_from_replies_that_were_played_whole() -> None:
    """A slow satellite is known after a few replies, and one odd reply does not spoil it."""
    lag = Lag()
    for delay in (1.2, 1.1, 4.9, 1.2):
        playout = clock(lag=lag)
        playout.hand_over(6000, 100.0)
        playout.finish(100.0)
        assert playout.idle(106.0 + delay) is not None
    assert lag.seconds == pytest.approx(1.2)
    assert lag.spread_ms < 200


def test_idle_before_any_audio_means_nothing() -> None:
    """The late 'finished' of an earlier reply does not end this one."""
    assert clock().idle(3.0) is None


def test_reply_without_idle_ends_by_time() -> None:
    """A satellite that never reports its end does not keep the turn open, and heard all."""
    playout = clock()
    playout.hand_over(700, 0.0)
    playout.finish(0.0)
    assert (playout.time_out().ms, playout.time_out().ended) == (700, Ended.TIME)


@given(
    streams=st.booleans(),
    pieces=st.lists(
        st.tuples(st.integers(1, 3000), st.floats(0, 3), st.booleans()), min_size=1, max_size=20
    ),
    ask=st.floats(0, 60),
)
def test_never_more_is_heard_than_was_handed_over(
    pieces: list[tuple[int, float, bool]], ask: float, *, streams: bool
) -> None:
    """Whatever a satellite reports, no word is remembered as heard that did not exist."""
    playout = clock(streams=streams)
    now = 0.0
    speech = 0
    for ms, wait, speaks in pieces:
        now += wait
        playout.hand_over(ms, now, speech=speaks)
        speech += ms if speaks else 0
    playout.finish(now)
    assert 0 <= playout.position(ask) <= playout.position(ask + 1) <= speech
    for heard in (playout.interrupt(ask), playout.idle(ask), playout.time_out()):
        assert heard is None or 0 <= heard.ms <= speech
