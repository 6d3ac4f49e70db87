"""What takes how long outside of what is measured. Every number names its source.

The same numbers hold for everything that is compared, and none of them is thrown by dice: what is
left when they are taken off is what the programs themselves take.
"""

from dataclasses import dataclass
from typing import Final

from tests.loopback import Switches

FRAME_MS: Final = 20
"""What a satellite sends at once: Wyoming's and ESPHome's size is near it."""
SPEECH_FRAMES: Final = 20
END_OF_TURN: Final = 0.25
"""Seconds from the last word until the satellite's audio ends: Home Assistant's own detection at
its quickest (`assist_pipeline/vad.py`, "aggressive"). It is the same for all."""

LENGTHS: Final = (2, 20, 60, 600)
"""Characters of a reply."""

REALTIME: Final = Switches().but(
    # Time to first audio of gpt-realtime-1.5 is 0.82 s (Artificial Analysis, April 2026, by way of
    # softcery.com); 0.8 s is the upper end of the loopback server's own dice.
    think=(0.8, 0.8),
    # Network and server for each client event: assumed, the middle of the dice.
    handling=(0.01, 0.01),
    # Recorded: the transcript is complete after 4 to 9 audio deltas (`openai-*`, `azure-*`).
    transcript_after=(6, 6),
)


@dataclass(frozen=True, slots=True)
class Classic:
    """The engines of a classic pipeline, in seconds.

    The middle of the budget that callingscout publishes for cascades: speech to text 80 to 150 ms,
    first token 200 to 350 ms, first audio 150 to 250 ms. Letters a second: assumed, 60 tokens.
    """

    transcribe: float = 0.115
    first_token: float = 0.275
    letters: float = 240.0
    first_audio: float = 0.2


def reply_of(length: int) -> str:
    """Return a reply of that many characters, made of short sentences."""
    if length < 4:
        return "OK"[:length]
    words = "The light in the hall is on now. "
    return (words * (length // len(words) + 1))[: length - 1].rstrip(" .").ljust(
        length - 1, "n"
    ) + "."
