"""An entry as JSON: checked where it comes in, and short where it stays.

The disk does without what goes without saying: most entries are a key, a value and a time there,
and a start has less than half as much to read. The long form is read as well.
"""

from datetime import datetime
from typing import Annotated, Any, Final, NotRequired, TypedDict

from pydantic import Field, TypeAdapter

from .retention import Retention

MAX_KEY_LENGTH: Final = 200


class StoredVersion(TypedDict):
    """An earlier value, and until when it was so."""

    value: Any
    at: str


class StoredEntry(TypedDict):
    """An entry as JSON. Fields that a newer version added are ignored.

    Whether values are JSON and times are times is seen where they are made.
    """

    key: Annotated[str, Field(min_length=1, max_length=MAX_KEY_LENGTH)]
    value: Any
    created: str
    updated: NotRequired[str]
    accessed: NotRequired[str]
    retention: NotRequired[Retention]
    expires_at: NotRequired[str | None]
    sliding: NotRequired[float | None]
    max_turns: NotRequired[int | None]
    turns: NotRequired[int]
    version: NotRequired[int]
    previous: NotRequired[list[StoredVersion]]
    source: NotRequired[str]
    tags: NotRequired[list[str]]
    priority: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]
    pinned: NotRequired[bool]
    owner: NotRequired[str | None]


# Thousands are read at a start, and a dictionary is made in a third of the time of a model.
_STORED: Final = TypeAdapter(StoredEntry)


def checked(data: object) -> StoredEntry:
    """Return an entry as JSON of the right shape; raises ValueError if it is not."""
    return _STORED.validate_python(data)


def time_of(text: str) -> datetime:
    """Return a time as it was written; raises ValueError if it is none, or has no zone."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time without its zone")
    return at
