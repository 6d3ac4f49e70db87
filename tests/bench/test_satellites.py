"""The bench of many satellites says what it means."""

import time

import pytest

from .crowd.load import Heard
from .satellites import figures_of

TOLD = {
    "cpu": 2.0,
    "audio": 400.0,
    "turns": 50,
    "glitches": 1,
    "late_ms": 9.0,
    "idle_late_ms": 1.5,
    "collector_ms": 6.0,
    "memory_mb": 200.0,
    "memory_later_mb": 210.0,
    "memory_each_mb": 0.5,
    "kept_mb": 20.0,
}


def test_what_home_assistant_keeps_is_counted_apart() -> None:
    figures = {one.name: one for one in figures_of("s", TOLD, 100)}
    assert figures["s.memory"].value == pytest.approx(0.3)
    assert figures["s.kept"].value == 20
    assert figures["s.cpu"].value == pytest.approx(5)
    assert figures["s.realtime_per_core"].value == pytest.approx(200)
    assert figures["s.realtime_per_core"].met
    assert figures["s.collector"].value == pytest.approx(6)
    assert figures["s.loop_delay_p99.9"].value == pytest.approx(7.5)


def test_audio_that_comes_after_the_rest_was_played_is_a_glitch() -> None:
    heard = Heard(bytes_per_second=1000)
    heard.take(1000)
    heard.take(10)
    assert heard.glitches == 0
    assert 0.9 < heard.left <= 1.01
    heard.begun = time.perf_counter() - 5
    heard.take(10)
    assert heard.glitches == 1
    assert heard.left <= 0.01
