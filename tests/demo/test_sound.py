"""Speech is measured and cut to the frame, so that what is claimed of it is true."""

import math
import shutil
import struct
from pathlib import Path

import pytest

from .sound import RATE, Segment, Sound, SoundMissing, converted, pcm_at, save_at, speak

_SPEAKS = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
_CONVERTS = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")


def tone(ms: int, hertz: float = 440.0, rising: float = 0.0) -> Sound:
    """Return a tone, which may rise by so many hertz a second."""
    samples = range(RATE * ms // 1000)
    values = (
        round(9000 * math.sin(2 * math.pi * (hertz + rising * n / RATE / 2) * n / RATE))
        for n in samples
    )
    return Sound(struct.pack(f"<{len(samples)}h", *values))


def test_sounds_join_and_part_to_the_millisecond() -> None:
    """A recording can be cut where the answer begins."""
    whole = Sound.silence(120) + tone(80)
    assert whole.ms == 200
    assert whole.part(120).pcm == tone(80).pcm
    assert whole.part(20, 50).pcm == Sound.silence(30).pcm


def test_segments_are_what_can_be_heard() -> None:
    """The delay of an answer is counted from the last word to the first, not between files."""
    sound = Sound.silence(300) + tone(200) + Sound.silence(100) + tone(100) + Sound.silence(500)
    assert sound.segments() == (Segment(start_ms=300, end_ms=700),)
    later = sound + tone(50)
    assert later.segments()[1] == Segment(start_ms=1200, end_ms=1250)
    assert Sound.silence(1000).segments() == ()


def test_a_known_beep_is_found_among_other_sounds() -> None:
    """Home Assistant's beep is not mistaken for its answer."""
    beep = tone(200, 500, rising=2000)
    sound = tone(400, 300) + Sound.silence(100) + beep + tone(300, 800)
    found = sound.find(beep, after_ms=100)
    assert found is not None
    assert abs(found.start_ms - 500) <= 1
    assert found.end_ms - found.start_ms == 200


def test_a_beep_that_is_not_there_is_not_found() -> None:
    """Where no beep was played, none is cut away."""
    beep = tone(200, 500, rising=2000)
    assert (Sound.silence(1000) + tone(300, 1700)).find(beep) is None
    assert Sound.silence(100).find(beep) is None
    assert Sound.silence(1000).find(beep, after_ms=990) is None


def test_a_wav_comes_back_as_it_was(tmp_path: Path) -> None:
    """The recordings that are kept can be played anywhere."""
    tone(100).save(tmp_path / "a.wav")
    assert Sound.of_wav((tmp_path / "a.wav").read_bytes()) == tone(100)


def test_another_format_is_refused() -> None:
    """A file that is no such recording is named as that."""
    with pytest.raises(SoundMissing, match="not a WAV"):
        Sound.of_wav(b"RIFF nonsense")


@_CONVERTS
async def test_rates_are_converted_without_changing_the_length(tmp_path: Path) -> None:
    """The phone and the provider get the rates that they want, at the right speed."""
    await save_at(tone(500), tmp_path / "fast.wav", 48_000)
    back = await converted((tmp_path / "fast.wav").read_bytes())
    assert abs(back.ms - 500) <= 2
    assert abs(len(await pcm_at(tone(500), 24_000)) - 24_000) <= 100
    assert (await converted(tone(40).pcm, raw=True)).pcm == tone(40).pcm


@_CONVERTS
async def test_what_cannot_be_converted_is_said() -> None:
    """A broken recording is an error with words, not silence."""
    with pytest.raises(SoundMissing, match="ffmpeg failed"):
        await converted(b"no audio at all")


@_SPEAKS
@_CONVERTS
async def test_words_become_sound() -> None:
    """The demo can say anything without a recording."""
    said = await speak("turn on the kitchen light")
    assert 1000 < said.ms < 4000
    assert said.segments()
