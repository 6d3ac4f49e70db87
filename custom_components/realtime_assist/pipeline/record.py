"""What a closed turn leaves behind: its record, with what of the answers was heard."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from ..items import EVERYBODY
from ..memory.scopes import audience
from ..memory.transcript import Called, Said, Source, TurnRecord
from ..realtime.answer import SaidItem
from ..realtime.exchange import ExchangeRecord
from .origin import Origin
from .playout import Ended, Heard

UNSURE: Final = 0.5
"""Below this confidence a transcript is kept as unclear, and never learned."""


def turn_record(  # noqa: PLR0913 - the parts of a turn, all by name
    *,
    turn_id: str,
    at: datetime,
    origin: Origin,
    wire: ExchangeRecord,
    heard: Heard | None,
    local: str | None,
    source: Source,
) -> TurnRecord:
    """Return the record of a turn.

    `heard` is None where nobody could tell: then all that was said counts as heard. `local` is what
    Home Assistant answered by itself.
    """
    if local is not None:
        said: tuple[Said, ...] = (Said(index=0, text=local),)
    else:
        said = tuple(said_items(wire.said, None if heard is None else heard.ms))
    cut = heard is not None and heard.ended not in (Ended.IDLE, Ended.TIME)
    return TurnRecord(
        id=turn_id,
        at=at,
        source=Source.LOCAL if local is not None else source,
        heard_text=wire.heard_text,
        unclear=wire.heard_text is None or (wire.confidence or 1.0) < UNSURE,
        said=said,
        calls=tuple(
            Called(
                call_id=call.call_id, name=call.name, arguments=call.arguments, output=call.output
            )
            for call in wire.calls
        ),
        audience=audience(origin.speaker) if origin.speaker else EVERYBODY,
        device_id=origin.device_key,
        area_id=origin.area_id,
        place=origin.area_name,
        speaker=origin.speaker_name if origin.speaker else None,
        interrupted=cut or wire.interrupted or (wire.failure is not None and bool(said)),
        uncertainty_ms=heard.uncertainty_ms if heard else 0,
    )


def said_items(items: Iterable[SaidItem], heard_ms: int | None) -> Iterable[Said]:
    """Share out what was heard of a turn over its replies, in the order of playing."""
    left = heard_ms
    for item in items:
        ms = int(item.received_ms)
        part = None if left is None or left >= ms else max(left, 0)
        if left is not None:
            left -= ms
        yield Said(index=item.index, text=item.text, audio_ms=ms, heard_ms=part, phase=item.phase)
