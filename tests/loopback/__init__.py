"""A loopback realtime server: an honest stand-in for OpenAI's Realtime API (GA) on 127.0.0.1.

Tests, benchmarks and the demo share it. It was written from the protocol's documents and
recordings, not from the client under test, and each behaviour says where it is known from.
"""

from .audio import BYTES_PER_MS, RATE, duration_ms, silence, tone
from .brain import (
    Brain,
    Call,
    Failure,
    ItemView,
    Reply,
    Request,
    ScriptedBrain,
    Speech,
    Text,
    Transcript,
)
from .clock import Clock, RealClock, VirtualClock
from .faults import (
    Change,
    Delay,
    Drop,
    Duplicate,
    Error,
    Fault,
    Garbage,
    Hang,
    Insert,
    Reorder,
    Swallow,
)
from .models import MODELS, Model
from .personalities import (
    AZURE,
    HUGGING_FACE,
    INWORLD,
    LOCALAI,
    MUTE,
    NO_DELETE,
    OPENAI,
    PERSONALITIES,
    SPEACHES,
    VOICE_LIVE,
    XAI,
    Personality,
)
from .server import LoopbackServer
from .session import LoopbackSession
from .switches import Switches

__all__ = [
    "AZURE",
    "BYTES_PER_MS",
    "HUGGING_FACE",
    "INWORLD",
    "LOCALAI",
    "MODELS",
    "MUTE",
    "NO_DELETE",
    "OPENAI",
    "PERSONALITIES",
    "RATE",
    "SPEACHES",
    "VOICE_LIVE",
    "XAI",
    "Brain",
    "Call",
    "Change",
    "Clock",
    "Delay",
    "Drop",
    "Duplicate",
    "Error",
    "Failure",
    "Fault",
    "Garbage",
    "Hang",
    "Insert",
    "ItemView",
    "LoopbackServer",
    "LoopbackSession",
    "Model",
    "Personality",
    "RealClock",
    "Reorder",
    "Reply",
    "Request",
    "ScriptedBrain",
    "Speech",
    "Swallow",
    "Switches",
    "Text",
    "Transcript",
    "VirtualClock",
    "duration_ms",
    "silence",
    "tone",
]
