"""What a use costs, where the price is known."""

from dataclasses import dataclass
from typing import Final

from .spending import Kind, Use

_MILLION: Final = 1_000_000
_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars for a million tokens of each kind."""

    text_in: float
    text_cached: float
    text_out: float
    audio_in: float
    audio_cached: float
    audio_out: float
    image_in: float | None = None
    image_cached: float | None = None


def response_cost(use: Use, prices: Prices | None) -> float | None:
    """Return what a response costs in US dollars; None if its price or its size is unknown.

    Of a cached total without its parts, text comes first: what is cached is the beginning, and that
    is instructions and tools. Where nothing is known of a cache, nothing counts as cached.
    """
    text, audio = use.get(Kind.INPUT_TEXT), use.get(Kind.INPUT_AUDIO)
    if prices is None or text is None or audio is None:
        return None
    image = use.get(Kind.INPUT_IMAGE) or 0
    if image and (prices.image_in is None or prices.image_cached is None):
        return None
    cached_text, cached_audio, cached_image = _cached(use, text, audio, image)
    dollars = (
        (text - cached_text) * prices.text_in
        + cached_text * prices.text_cached
        + (audio - cached_audio) * prices.audio_in
        + cached_audio * prices.audio_cached
        + (image - cached_image) * (prices.image_in or 0.0)
        + cached_image * (prices.image_cached or 0.0)
        + (use.get(Kind.OUTPUT_TEXT) or 0) * prices.text_out
        + (use.get(Kind.OUTPUT_AUDIO) or 0) * prices.audio_out
    )
    return dollars / _MILLION


def transcript_cost(use: Use, minute: float | None) -> float | None:
    """Return what a transcript costs at US dollars a minute; None if that or its length is open."""
    if minute is None or use.seconds is None:
        return None
    return use.seconds / _SECONDS * minute


def _cached(use: Use, text: int, audio: int, image: int) -> tuple[int, int, int]:
    """Return how much of the input was cached: text, audio, images, each at most what there is."""
    left = use.get(Kind.CACHED) or 0
    parts: list[int] = []
    for kind, there in (
        (Kind.CACHED_TEXT, text),
        (Kind.CACHED_AUDIO, audio),
        (Kind.CACHED_IMAGE, image),
    ):
        told = use.get(kind)
        part = min(left if told is None else told, there)
        left = max(0, left - part)
        parts.append(part)
    return parts[0], parts[1], parts[2]
