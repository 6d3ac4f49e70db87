"""The models the server pretends to have: what differs between them on the wire."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    `context` and `output` are tokens; `interleaves`: a call fills while text goes on.
    """

    name: str
    context: int = 128_000
    output: int = 32_000
    voice: str = "marin"
    silence_ms: int = 500
    reasons: bool = True
    interleaves: bool = True


MODELS = {
    model.name: model
    for model in (
        Model("gpt-realtime-2.1"),
        Model("gpt-realtime-2.1-mini"),
        Model("gpt-realtime-2"),
        Model("gpt-realtime-1.5", 32_000, 4_096, "alloy", 200, reasons=False, interleaves=False),
        Model("gpt-realtime", 32_000, 4_096, "alloy", 200, reasons=False, interleaves=False),
        Model("gpt-realtime-mini", 32_000, 4_096, "alloy", 200, reasons=False, interleaves=False),
    )
}
"""Windows and defaults of gpt-realtime and gpt-realtime-2.1 are recorded, the others documented."""
