"""Results of tools as JSON: whatever a tool returns can be sent, stored and shown."""

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final

MAX_DEPTH: Final = 24


def json_safe(value: object, _depth: int = 0) -> Any:  # noqa: ANN401, PLR0911 - a case for each kind
    """Return what `value` means in JSON's own types; never raises, never endless."""
    if _depth > MAX_DEPTH:
        return "..."
    if isinstance(value, Enum):
        return json_safe(value.value, _depth + 1)
    if value is None or isinstance(value, bool | int | float | Decimal):
        return _number(value)
    if isinstance(value, str | bytes | bytearray | memoryview):
        return _text(value)
    if isinstance(value, dt.datetime | dt.date | dt.time | dt.timedelta):
        return _moment(value)
    if isinstance(value, Mapping):
        return {_key(key): json_safe(item, _depth + 1) for key, item in list(value.items())}
    if isinstance(value, set | frozenset):
        return sorted((json_safe(item, _depth + 1) for item in value), key=repr)
    return _object(value, _depth)


def json_text(value: object) -> str:
    """Return JSON text of anything."""
    return json.dumps(json_safe(value), ensure_ascii=False, separators=(",", ":"))


def json_object(value: object) -> dict[str, Any]:
    """Return a JSON object; what is none is put under `result`."""
    safe = json_safe(value)
    return safe if isinstance(safe, dict) else {"result": safe}


def _number(value: float | Decimal | None) -> bool | int | float | str | None:
    if isinstance(value, Decimal):
        value = float(value) if value.is_finite() else None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _text(value: str | bytes | bytearray | memoryview) -> str:
    if isinstance(value, str):
        # Half of a surrogate pair is valid Python, but not valid UTF-8.
        return value.encode("utf-8", "replace").decode()
    return bytes(value).decode("utf-8", "replace")


def _moment(value: dt.date | dt.time | dt.timedelta) -> str | float:
    return value.total_seconds() if isinstance(value, dt.timedelta) else value.isoformat()


def _key(key: object) -> str:
    safe = json_safe(key)
    return safe if isinstance(safe, str) else json.dumps(safe)


def _object(value: object, depth: int) -> Any:  # noqa: ANN401 - JSON has no better type
    as_dict = getattr(value, "as_dict", None)
    try:
        if callable(as_dict):
            return json_safe(as_dict(), depth + 1)
        if is_dataclass(value) and not isinstance(value, type):
            return json_safe(asdict(value), depth + 1)
        if isinstance(value, Iterable):
            return [json_safe(item, depth + 1) for item in value]
        return _text(str(value))
    except Exception:  # noqa: BLE001 - a tool's own object may do anything
        return f"<{type(value).__name__}>"
