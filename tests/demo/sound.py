"""Speech as data: made by a synthesiser, read from files, measured and cut."""

import asyncio
import io
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

RATE = 16_000
"""The rate at which everything here is kept, in samples a second: Home Assistant's own."""

_FRAME_MS = 10
_LOUD = 300.0
"""Above this root mean square (of 32,768) a frame counts as sound; a codec's silence is below."""
_GAP_MS = 250
"""Sounds that are no farther apart than this are one."""
_ALIKE = 0.5
"""How much of a tone must be found again, as a correlation, for it to count as found."""


class SoundMissing(Exception):
    """A program or a file that speech needs is not there, or failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of sound, in milliseconds from the beginning."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Sound:
    """PCM of 16 bits, one channel, 16,000 samples a second."""

    pcm: bytes

    @classmethod
    def silence(cls, ms: int) -> Self:
        """Return `ms` milliseconds of silence."""
        return cls(bytes(2 * (RATE * ms // 1000)))

    @classmethod
    def of_wav(cls, data: bytes) -> Self:
        """Read a WAV of the right format.

        Raises:
            SoundMissing: it is of another format, or none.

        """
        try:
            with wave.open(io.BytesIO(data), "rb") as reader:
                shape = (reader.getframerate(), reader.getsampwidth(), reader.getnchannels())
                if shape == (RATE, 2, 1):
                    return cls(reader.readframes(reader.getnframes()))
        except (wave.Error, EOFError) as err:
            raise SoundMissing(f"not a WAV: {err}") from err
        raise SoundMissing(f"a WAV of another format: {shape}")

    @property
    def ms(self) -> int:
        """How long it lasts."""
        return len(self.pcm) // 2 * 1000 // RATE

    def __add__(self, other: Sound) -> Sound:
        """Return this sound and then the other."""
        return Sound(self.pcm + other.pcm)

    def part(self, start_ms: int, end_ms: int | None = None) -> Sound:
        """Return what lies between two moments."""
        end = None if end_ms is None else 2 * (RATE * end_ms // 1000)
        return Sound(self.pcm[2 * (RATE * start_ms // 1000) : end])

    def save(self, path: Path) -> None:
        """Write it as a WAV."""
        with wave.open(str(path), "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(RATE)
            writer.writeframes(self.pcm)

    def segments(self) -> tuple[Segment, ...]:
        """Return the stretches that are not silent."""
        size = RATE * _FRAME_MS // 1000
        samples = _samples(self.pcm)
        frames = samples[: len(samples) // size * size].reshape(-1, size)
        loud = np.sqrt((frames**2).mean(axis=1)) > _LOUD
        found: list[Segment] = []
        for index in np.flatnonzero(loud):
            start, end = int(index) * _FRAME_MS, (int(index) + 1) * _FRAME_MS
            if found and start - found[-1].end_ms <= _GAP_MS:
                start = found.pop().start_ms
            found.append(Segment(start_ms=start, end_ms=end))
        return tuple(found)

    def find(self, tone: Sound, after_ms: int = 0) -> Segment | None:
        """Return where `tone` is heard best after a moment, or None if it is not heard."""
        here, there = _samples(self.part(after_ms).pcm), _samples(tone.pcm)
        if len(there) == 0 or len(here) < len(there):
            return None
        size = 1 << (len(here) + len(there)).bit_length()
        spectrum = np.fft.rfft(here, size) * np.conj(np.fft.rfft(there, size))
        match = np.fft.irfft(spectrum, size)[: len(here) - len(there) + 1]
        energy = np.concatenate(([0.0], np.cumsum(here**2)))
        around = energy[len(there) :] - energy[: -len(there)]
        likeness = match / np.sqrt(np.maximum(around * (there**2).sum(), 1.0))
        best = int(likeness.argmax())
        if likeness[best] < _ALIKE:
            return None
        start = after_ms + best * 1000 // RATE
        return Segment(start_ms=start, end_ms=start + tone.ms)


async def speak(text: str) -> Sound:
    """Say a text in the synthesiser's clearest voice.

    Raises:
        SoundMissing: flite is not installed, or failed.

    """
    # It cannot write to a pipe: a WAV's header holds its length.
    return await converted(
        await _output("sh", "-c", 'flite -voice rms -t "$1" -o /dev/stdout', "sh", text)
    )


async def converted(data: bytes, *, raw: bool = False) -> Sound:
    """Bring any sound file to the format kept here.

    Args:
        data: the file's bytes.
        raw: the bytes are PCM of this format already, without a header, but not trusted to be.

    """
    source = ["-f", "s16le", "-ar", str(RATE), "-ac", "1"] if raw else []
    target = ["-f", "s16le", "-ar", str(RATE), "-ac", "1", "-"]
    return Sound(await _ffmpeg(*source, "-i", "-", *target, given=data))


async def save_at(sound: Sound, path: Path, rate: int) -> None:
    """Write a sound as a WAV of another rate, for programs that do not convert."""
    source = ["-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "-"]
    await _ffmpeg(*source, "-ar", str(rate), "-y", str(path), given=sound.pcm)


async def pcm_at(sound: Sound, rate: int) -> bytes:
    """Return a sound as PCM of another rate."""
    source = ["-f", "s16le", "-ar", str(RATE), "-ac", "1", "-i", "-"]
    return await _ffmpeg(*source, "-f", "s16le", "-ar", str(rate), "-", given=sound.pcm)


async def _ffmpeg(*arguments: str, given: bytes) -> bytes:
    quiet = ("-hide_banner", "-loglevel", "error", "-nostats")
    return await _output("ffmpeg", *quiet, *arguments, given=given)


async def _output(*command: str, given: bytes = b"") -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as err:
        raise SoundMissing(f"{command[0]} cannot be run: {err.strerror}") from err
    try:
        async with asyncio.timeout(30):
            out, errors = await process.communicate(given)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise SoundMissing(f"{command[0]} failed: {errors.decode(errors='replace')[-300:]}")
    return out


def _samples(pcm: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.float64)
