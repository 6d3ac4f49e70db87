"""Sound goes from satellites to models and back without being spoiled."""

import math
import struct
import wave
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from custom_components.realtime_assist.realtime.audio import (
    Resampler,
    duration_ms,
    failure_tone,
    pcm_to_float,
    silence,
    wav_header,
)

type Samples = NDArray[np.float64]

FULL = 32767.0
HALF = FULL / 2


def tone(hertz: float, rate: int, seconds: float = 2) -> bytes:
    """Return a tone at half of full scale."""
    time = np.arange(int(rate * seconds)) / rate
    return bytes(np.rint(HALF * np.sin(2 * np.pi * hertz * time)).astype("<i2").tobytes())


def samples(pcm: bytes) -> Samples:
    """Return PCM16 as numbers."""
    return np.frombuffer(pcm, "<i2").astype(np.float64)


def convert(pcm: bytes, rate_in: int, rate_out: int, chunk: int = 640) -> bytes:
    """Resample in chunks, as audio comes."""
    resampler = Resampler(rate_in, rate_out)
    parts = [resampler.feed(pcm[i : i + chunk]) for i in range(0, len(pcm), chunk)]
    return b"".join((*parts, resampler.flush()))


def level(pcm: bytes, hertz: float, rate: int) -> tuple[float, float]:
    """Return a tone's level, and how far it stands over all else, both in dB."""
    heard = samples(pcm)[500:-500]
    angle = 2 * np.pi * hertz * np.arange(len(heard)) / rate
    basis = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    weights = np.linalg.lstsq(basis, heard)[0]
    amplitude = float(np.hypot(*weights))
    rest = float(np.std(heard - basis @ weights))
    if amplitude == 0 or rest == 0:
        return -200.0, 200.0
    return 20 * math.log10(amplitude / HALF), 20 * math.log10(amplitude / math.sqrt(2) / rest)


@pytest.mark.parametrize(
    ("rate_in", "rate_out"),
    [(16_000, 24_000), (24_000, 16_000), (24_000, 48_000), (24_000, 22_050), (44_100, 16_000)],
)
def test_a_tone_stays_a_tone(rate_in: int, rate_out: int) -> None:
    """Voices sound the same at every rate."""
    heard = convert(tone(1000, rate_in), rate_in, rate_out)
    assert len(heard) == 2 * math.ceil(2 * rate_in * rate_out / rate_in)
    loudness, purity = level(heard, 1000, rate_out)
    assert abs(loudness) < 0.05
    assert purity > 85


def test_it_comes_when_it_should() -> None:
    """What was heard can be counted in the same milliseconds on both sides."""
    heard = samples(convert(tone(1000, 16_000), 16_000, 24_000))
    expected = samples(tone(1000, 24_000))
    assert np.abs(heard - expected)[200:-200].max() <= 2


def test_no_image_appears_when_the_rate_is_raised() -> None:
    """A satellite's microphone does not hiss in the model's ear."""
    heard = convert(tone(7000, 16_000), 16_000, 24_000)
    assert level(heard, 9000, 24_000)[0] < -80
    assert level(heard, 7000, 24_000)[0] > -0.5


@pytest.mark.parametrize(("hertz", "alias"), [(9000, 7000), (10_500, 5500)])
def test_no_alias_appears_when_the_rate_is_lowered(hertz: int, alias: int) -> None:
    """Sharp sounds of a voice do not become false ones."""
    assert level(convert(tone(hertz, 24_000), 24_000, 16_000), alias, 16_000)[0] < -80


@settings(max_examples=40, derandomize=True, deadline=None)
@given(chunks=st.lists(st.integers(1, 1000), min_size=1, max_size=40))
def test_chunks_of_any_size_give_the_same_sound(chunks: list[int]) -> None:
    """Nothing clicks, however the network cuts the audio."""
    pcm = tone(440, 16_000, 0.2)
    resampler = Resampler(16_000, 24_000)
    parts, start = [], 0
    for size in chunks:
        parts.append(resampler.feed(pcm[start : start + size]))
        start += size
    parts += [resampler.feed(pcm[start:]), resampler.flush()]
    difference = samples(b"".join(parts)) - samples(convert(pcm, 16_000, 24_000, len(pcm)))
    assert np.abs(difference).max() <= 1


def test_single_bytes_are_enough() -> None:
    """Half a sample waits for its other half."""
    pcm = tone(440, 24_000, 0.05)
    whole = samples(convert(pcm, 24_000, 16_000, len(pcm)))
    assert np.abs(samples(convert(pcm, 24_000, 16_000, 1)) - whole).max() <= 1


def test_equal_rates_change_nothing() -> None:
    """What fits already is passed on as it is."""
    assert convert(b"\x01\x02\x03\x04\x05", 16_000, 16_000, 3) == b"\x01\x02\x03\x04"


def test_a_stream_may_follow_another() -> None:
    """The end of one utterance is not heard at the beginning of the next."""
    resampler = Resampler(16_000, 24_000)
    resampler.feed(tone(440, 16_000, 0.1) + b"\x01")
    resampler.flush()
    quiet = resampler.feed(silence(100, 16_000)) + resampler.flush()
    assert quiet == silence(100, 24_000)
    assert resampler.flush() == b""


def test_the_loudest_sound_does_not_turn_over() -> None:
    """A shout is cut off, not turned into noise."""
    square = struct.pack("<8h", *[32767] * 4, *[-32768] * 4) * 400
    heard = samples(convert(square, 16_000, 24_000))
    assert heard.max() == 32767
    assert heard.min() == -32768
    assert np.abs(np.diff(heard)).max() < 50_000


@pytest.mark.parametrize("rates", [(0, 24_000), (16_000, -1)])
def test_rates_that_cannot_be_are_refused(rates: tuple[int, int]) -> None:
    """A mistake is found where it was made."""
    with pytest.raises(ValueError, match="positive"):
        Resampler(*rates)


def test_a_wav_stream_can_be_read() -> None:
    """Every player understands what we send."""
    with wave.open(BytesIO(wav_header(22_050) + silence(100, 22_050))) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (
            22_050,
            1,
            2,
        )
    header = wav_header(24_000, float32=True)
    assert len(header) == 44
    assert struct.unpack("<HHIIHH", header[20:36]) == (3, 1, 24_000, 96_000, 4, 32)
    assert header.endswith(b"data\xff\xff\xff\xff")


def test_floats_are_between_minus_one_and_one() -> None:
    """The loudest sample stays the loudest sample."""
    floats = struct.unpack("<3f", pcm_to_float(struct.pack("<3h", -32768, 0, 16384)))
    assert floats == (-1.0, 0.0, 0.5)


def test_silence_and_its_length() -> None:
    """Time is counted in the same way everywhere."""
    assert silence(250, 24_000) == bytes(12_000)
    assert duration_ms(12_000, 24_000) == 250
    assert silence(0.5, 16_000) == bytes(16)


@pytest.mark.parametrize("rate", [16_000, 24_000])
def test_the_sound_of_failure_is_short_and_gentle(rate: int) -> None:
    """When something went wrong you hear so, and nobody in the next room wakes up."""
    sound = samples(failure_tone(rate))
    assert duration_ms(2 * len(sound), rate) == 500
    assert 1000 < np.abs(sound).max() < FULL / 6
    assert abs(sound[0]) < 10
    assert abs(sound[-1]) < 10
    assert np.abs(np.diff(sound)).max() < 1000
