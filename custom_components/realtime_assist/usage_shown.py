"""What is shown of an assistant's use: in sensors, in diagnostics, in the system's health."""

import time
from collections.abc import Mapping
from typing import Any, Final

from homeassistant.util import dt as dt_util

from .hub import Assistant
from .memory.gauge import Gauge, Reading
from .memory.spending import Kind, Total
from .metering import SessionMeter
from .models import PREFIX_LIMIT, PREFIX_WARNING, PRICES_AT

UNRECORDED: Final = frozenset(
    {"provenance", "reported", "reported_at", "limit", "share", "pressed_by", "prices_of"}
    | {"unpriced", "warning_from", "responses", "transcripts", *(kind.value for kind in Kind)}
)
"""Attributes that are of no use in a history."""

_DIGITS: Final = 6
"""Of a sum of dollars: a response may cost less than a hundredth of a cent."""


def no_attributes(_assistant: Assistant) -> Mapping[str, Any]:
    """Return that there is nothing more to say."""
    return {}


def context_tokens(assistant: Assistant) -> int:
    """Return how many tokens the fullest open session holds."""
    return _fullest(assistant)[0].tokens


def context_attributes(assistant: Assistant) -> Mapping[str, Any]:
    """Return where that number comes from, how old it is, and how much there may be."""
    reading, meter = _fullest(assistant)
    told: dict[str, Any] = {
        "provenance": reading.provenance.value,
        "reported": reading.reported,
        "reported_at": dt_util.utc_from_timestamp(reading.reported_at).isoformat()
        if reading.reported_at is not None
        else None,
        "limit": assistant.options.context_limit,
    }
    if meter is not None:
        pressure = meter.pressure()
        told["share"] = round(pressure.share, 2)
        told["pressed_by"] = pressure.limit.value if pressure.limit else None
    return told


def prefix_tokens(assistant: Assistant) -> int | None:
    """Return how many tokens the newest session was told in advance, None before there was one."""
    return assistant.usage.prefix_tokens


def prefix_attributes(_assistant: Assistant) -> Mapping[str, Any]:
    """Return that it is an estimate, and what is too much."""
    return {
        "provenance": "estimated",
        "warning_from": PREFIX_WARNING,
        "limit": PREFIX_LIMIT,
    }


def tokens_used(assistant: Assistant) -> int | None:
    """Return what was used since the assistant was loaded, None if it is not known."""
    total = assistant.usage.total
    return total.tokens if total.responses else 0


def used_attributes(assistant: Assistant) -> Mapping[str, Any]:
    """Return what the sum is made of since the assistant was loaded, as far as it is known."""
    return total_counts(assistant.usage.total)


def cost(assistant: Assistant) -> float | None:
    """Return what it cost in US dollars since the assistant was loaded, None if it is not known."""
    total = assistant.usage.total
    if total.cost is None:
        return None if total.responses else 0.0
    return round(total.cost, _DIGITS)


def cost_attributes(assistant: Assistant) -> Mapping[str, Any]:
    """Return how old the prices are, and of how many responses the price is not known."""
    return {"prices_of": PRICES_AT, "unpriced": assistant.usage.total.unpriced}


def total_counts(total: Total) -> dict[str, Any]:
    """Return the numbers of a total; what is unknown is left out."""
    return {
        "responses": total.responses,
        "transcripts": total.transcripts,
        **{kind.value: amount.tokens for kind, amount in total.amounts.items()},
        "provenance": provenance.value if (provenance := total.provenance) else None,
    }


def total_report(total: Total) -> dict[str, Any]:
    """Return a total with where each number comes from: for a report of a fault."""
    now = time.time()
    return {
        "responses": total.responses,
        "transcripts": total.transcripts,
        "cost_usd": None if total.cost is None else round(total.cost, _DIGITS),
        "unpriced": total.unpriced,
        "tokens": {
            kind.value: {
                "tokens": amount.tokens,
                "provenance": amount.provenance.value,
                "age_seconds": round(amount.age(now)),
            }
            for kind, amount in total.amounts.items()
        },
    }


def session_report(meter: SessionMeter) -> dict[str, Any]:
    """Return how full a session is: for a report of a fault."""
    reading, pressure = meter.reading(), meter.pressure()
    age = None if reading.reported_at is None else round(time.time() - reading.reported_at)
    return {
        "tokens": reading.tokens,
        "provenance": reading.provenance.value,
        "reported": reading.reported,
        "reported_age_seconds": age,
        "factor": round(meter.gauge.factor, 2),
        "prefix_tokens": meter.prefix_tokens,
        "share": round(pressure.share, 2),
        "pressed_by": pressure.limit.value if pressure.limit else None,
    }


def _fullest(assistant: Assistant) -> tuple[Reading, SessionMeter | None]:
    """Return the reading of the fullest session; of none, that nothing is held."""
    read = [(one.meter.reading(), one.meter) for one in assistant.projections()]
    return max(read, key=lambda one: one[0].tokens, default=(Gauge().reading(0), None))
