"""The ear that judges the resampler hears what is there."""

import numpy as np
import pytest

from .audio import figures, level, resampled, snr, tone


def test_a_tone_is_found_and_nothing_else() -> None:
    """An image is told from the tone it belongs to."""
    samples = np.frombuffer(tone(24_000, 1000), "<i2").astype(np.float64)
    assert level(samples, 24_000, 1000) == pytest.approx(16384, rel=1e-4)
    assert level(samples, 24_000, 9000) < 1
    assert snr(samples, 24_000, 1000) > 90
    clicks = samples.copy()
    clicks[6::480] = 0
    assert snr(clicks, 24_000, 1000) < 40


def test_audio_is_as_long_as_it_was() -> None:
    """Pieces of 20 ms leave no gap where they meet."""
    assert len(resampled(tone(16_000, 440, 0.5), 16_000, 24_000)) == 24_000


def test_every_figure_of_the_audio_is_told() -> None:
    """Quality has aims, and every step has its cost."""
    told = {figure.name: figure for figure in figures(seconds=0.02)}
    for name in ("up.snr_1khz", "down.snr_1khz", "up.image_rejection", "down.alias_rejection"):
        assert told[f"audio.{name}"].met
    for step in ("up", "down", "float", "recording", "encode", "decode"):
        assert f"audio.{step}.cpu" in told
