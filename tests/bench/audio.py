"""What a second of audio costs on its way to the model and back, and what becomes of it.

The resampler (SNR of a tone, how far images and aliases are down), and the codec: base64 and JSON
of what a satellite says (20 ms at a time) and of what the model says (250 ms).
"""

import base64
import json
import time
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from custom_components.realtime_assist.realtime.audio import Resampler, pcm_to_float
from custom_components.realtime_assist.realtime.commands import AppendAudio
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel
from custom_components.realtime_assist.realtime.recording import Recording

from .report import Figure

SNR_AIM: Final = 85.0
"""Decibels; rounding to 16 bits leaves about 90 of a tone at half of full scale."""
REJECTION_AIM: Final = 80.0
TRIES: Final = 5
SECONDS: Final = 2.0
"""Of audio, for each of the tries; the quickest counts."""
_SATELLITE: Final = 16_000
_MODEL: Final = 24_000
_FRAME_MS: Final = 20
_DELTA_MS: Final = 250

type _Samples = NDArray[np.float64]


def figures(seconds: float = SECONDS) -> Iterator[Figure]:
    """Measure what is kept of the sound, then what it costs."""
    yield from _quality()
    yield from _costs(seconds)


def tone(rate: int, hertz: float, seconds: float = 1.0) -> bytes:
    """Return a sine at half of full scale as PCM16 mono."""
    t = np.arange(round(rate * seconds)) / rate
    return bytes(np.rint(16384 * np.sin(2 * np.pi * hertz * t)).astype("<i2").tobytes())


def resampled(pcm: bytes, rate_in: int, rate_out: int) -> bytes:
    """Return it at another rate, made in pieces of 20 ms."""
    resampler = Resampler(rate_in, rate_out)
    size = rate_in * _FRAME_MS // 1000 * 2
    pieces = [resampler.feed(pcm[at : at + size]) for at in range(0, len(pcm), size)]
    return b"".join([*pieces, resampler.flush()])


def level(samples: _Samples, rate: int, hertz: float) -> float:
    """Return the amplitude of a tone in samples, by least squares."""
    return float(np.hypot(*_fit(samples, rate, hertz)[0]))


def snr(samples: _Samples, rate: int, hertz: float) -> float:
    """Return by how many decibels a tone is above all that is not it."""
    found, base = _fit(samples, rate, hertz)
    rest = samples - base @ found
    return float(10 * np.log10(np.mean((base @ found) ** 2) / np.mean(rest**2)))


def _fit(samples: _Samples, rate: int, hertz: float) -> tuple[_Samples, _Samples]:
    t = 2 * np.pi * hertz * np.arange(len(samples)) / rate
    base = np.column_stack((np.sin(t), np.cos(t)))
    return np.linalg.lstsq(base, samples)[0], base


def _middle(pcm: bytes) -> _Samples:
    """Return samples without the beginning and the end, where the tone itself begins and ends."""
    samples = np.frombuffer(pcm, "<i2").astype(np.float64)
    edge = len(samples) // 10
    return samples[edge:-edge]


def _quality() -> Iterator[Figure]:
    for name, rate_in, rate_out in (("up", _SATELLITE, _MODEL), ("down", _MODEL, _SATELLITE)):
        made = _middle(resampled(tone(rate_in, 997), rate_in, rate_out))
        yield _decibels(f"audio.{name}.snr_1khz", snr(made, rate_out, 997), SNR_AIM)
    # What must not be there: 7 kHz has an image at 9 kHz, and 9 kHz an alias at 7 kHz. Not quite
    # these, or rounding repeats itself, and cannot be told from them.
    wrong = {
        "audio.up.image_rejection": (_SATELLITE, _MODEL, 7013, 8987),
        "audio.down.alias_rejection": (_MODEL, _SATELLITE, 9013, 6987),
    }
    for name, (rate_in, rate_out, played, found) in wrong.items():
        made = _middle(resampled(tone(rate_in, played), rate_in, rate_out))
        down = 20 * np.log10(16384 / max(level(made, rate_out, found), 1e-3))
        yield _decibels(name, float(down), REJECTION_AIM)


def _costs(seconds: float) -> Iterator[Figure]:
    model = OpenAIModel(base_url="http://127.0.0.1/v1", api_key="", compatible=False)
    said = tone(_SATELLITE, 440, _FRAME_MS / 1000)
    sent = tone(_MODEL, 440, _FRAME_MS / 1000)
    delta = tone(_MODEL, 440, _DELTA_MS / 1000)
    frame = json.dumps(
        {
            "type": "response.output_audio.delta",
            "event_id": "event_1",
            "response_id": "resp_1",
            "item_id": "item_1",
            "output_index": 0,
            "content_index": 0,
            "delta": base64.b64encode(delta).decode(),
        }
    )
    resampler, down = Resampler(_SATELLITE, _MODEL), Resampler(_MODEL, _SATELLITE)
    recording = Recording(_MODEL)

    def record() -> None:
        recording.feed(said)
        recording.take()
        if recording.ms > 30_000:
            recording.discard()

    yield _cost("audio.up.cpu", lambda: resampler.feed(said), _FRAME_MS, seconds)
    yield _cost("audio.down.cpu", lambda: down.feed(delta), _DELTA_MS, seconds)
    yield _cost("audio.float.cpu", lambda: pcm_to_float(delta), _DELTA_MS, seconds)
    yield _cost("audio.recording.cpu", record, _FRAME_MS, seconds)
    yield _cost(
        "audio.encode.cpu", lambda: model.encode(AppendAudio(sent), "e"), _FRAME_MS, seconds
    )
    yield _cost("audio.decode.cpu", lambda: model.decode(frame), _DELTA_MS, seconds)


def _cost(name: str, work: Callable[[], object], ms: int, seconds: float) -> Figure:
    """Return the processor time of one second of audio, in milliseconds."""
    count = max(round(1000 * seconds / ms), 1)
    best = float("inf")
    for _ in range(TRIES):
        since = time.thread_time()
        for _ in range(count):
            work()
        best = min(best, time.thread_time() - since)
    value = round(1000 * best / (count * ms / 1000), 3)
    return Figure(name=name, value=value, unit="ms of CPU for 1 s of audio")


def _decibels(name: str, value: float, aim: float) -> Figure:
    return Figure(name=name, value=round(value, 1), unit="dB", aim=aim)
