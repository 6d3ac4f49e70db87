"""What a response costs.

Tokens counted per item, the cached share of the prompt, and the window.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .items import Item, text_tokens
from .switches import Switches

type Json = dict[str, Any]

_CACHE_STEP = 64
"""Recorded cache hits are multiples of 64 tokens, in prompts of 96 already."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a response is made from, in tokens. `parts` are the tokens piece by piece, in order."""

    text: int
    audio: int
    parts: tuple[tuple[str, int, int], ...]

    @property
    def total(self) -> int:
        """All input tokens."""
        return self.text + self.audio


def prompt_of(config: Json, items: Sequence[Item], switches: Switches) -> Prompt:
    """Count the prompt of `config` (its instructions and tools) followed by `items`."""
    head = config["instructions"] or ""
    tools = json.dumps(config["tools"]) if config["tools"] else ""
    parts = [(head + tools, text_tokens(head) + text_tokens(tools), 0)]
    for item in items:
        counted = item.role != "assistant" or switches.assistant_audio_counted
        audio = item.audio_tokens() if counted else 0
        parts.append((f"{item.id}:{len(item.audio)}", item.text_tokens(), audio))
    return Prompt(sum(one[1] for one in parts), sum(one[2] for one in parts), tuple(parts))


def cached_tokens(prompt: Prompt, earlier: Prompt | None, switches: Switches, dice: float) -> Json:
    """Return the cached tokens of `prompt`, split by kind.

    At most what it shares with the `earlier` prompt, in steps of 64; or nothing; or, erratic as
    recorded, one or the other by `dice` (0 to 1).
    """
    text = audio = 0
    wanted = switches.cached_share == "prefix" or (
        switches.cached_share == "erratic" and dice < 0.6
    )
    if earlier is not None and wanted:
        for mine, theirs in zip(prompt.parts, earlier.parts, strict=False):
            if mine != theirs:
                break
            text += mine[1]
            audio += mine[2]
    total = (text + audio) // _CACHE_STEP * _CACHE_STEP
    text = min(text, total)
    return {"text_tokens": text, "audio_tokens": total - text, "image_tokens": 0}


def nothing_used() -> Json:
    """Return the `usage` object of a server that counts nothing and says so with zeros."""
    nothing = Prompt(0, 0, ())
    return usage_of(nothing, {"text_tokens": 0, "audio_tokens": 0, "image_tokens": 0}, 0, 0)


def usage_of(prompt: Prompt, cached: Json, text_out: int, audio_out: int) -> Json:
    """Return the `usage` object of a response, in the recorded form."""
    return {
        "total_tokens": prompt.total + text_out + audio_out,
        "input_tokens": prompt.total,
        "output_tokens": text_out + audio_out,
        "input_token_details": {
            "text_tokens": prompt.text,
            "audio_tokens": prompt.audio,
            "image_tokens": 0,
            "cached_tokens": cached["text_tokens"] + cached["audio_tokens"],
            "cached_tokens_details": cached,
        },
        "output_token_details": {"text_tokens": text_out, "audio_tokens": audio_out},
    }
