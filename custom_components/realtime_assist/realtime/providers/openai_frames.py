"""Frames of servers of OpenAI's kind: the door that they come through.

Read leniently: unknown fields are ignored, and a field of the wrong type counts as missing, since
servers that call themselves compatible differ in nearly every event. The messages of errors may
quote content: of them nothing is read but a number, and nothing is passed on.
"""

import re
from typing import Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from ..events import ItemKind

UNKNOWN_CODE: Final = "unknown_error"
_RETRY: Final = re.compile(r"try again in (\d{1,4}(?:\.\d{1,6})?) ?(ms|s)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"[\w.:/\[\]-]{1,120}", re.ASCII)


def sane_name(text: str | None) -> str | None:
    """Return a code, a parameter or a type if it looks like one: it goes into logs."""
    return text if text and _NAME.fullmatch(text) else None


class Wire(BaseModel):
    """A part of a frame. A field that cannot be read has its default."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _forgive(
        cls, value: object, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> object:
        try:
            return handler(value)
        except ValidationError:
            return cls.model_fields[str(info.field_name)].get_default()


class Session(Wire):
    """What a server tells of a session."""

    id: str | None = None
    expires_at: float | None = None


class Item(Wire):
    """An item of the conversation or of a response."""

    id: str = ""
    type: str = ""
    role: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    phase: str | None = None

    @property
    def kind(self) -> ItemKind:
        """What the item is; some servers give calls a role."""
        if self.type == "function_call":
            return ItemKind.CALL
        if self.type == "function_call_output":
            return ItemKind.OUTPUT
        roles = {ItemKind.USER, ItemKind.ASSISTANT, ItemKind.SYSTEM}
        return ItemKind(self.role) if self.role in roles else ItemKind.OTHER


class Problem(Wire):
    """An error."""

    code: str | None = None
    type: str | None = None
    event_id: str | None = None
    param: str | None = None
    message: str | None = Field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The code, or the type where a server puts its code there."""
        return sane_name(self.code) or sane_name(self.type) or UNKNOWN_CODE

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait, as its message says: `Please try again in 1.2s.` (documented)."""
        found = _RETRY.search(self.message or "")
        return float(found[1]) * (0.001 if found[2] == "ms" else 1.0) if found else None


class StatusDetails(Wire):
    """Why a response ended as it did; some servers write a word instead."""

    reason: str | None = None
    error: Problem | None = None


class Parts(Wire):
    """Tokens by what they are of."""

    text_tokens: int | None = None
    audio_tokens: int | None = None
    image_tokens: int | None = None


class Details(Parts):
    """What kinds of tokens there were."""

    cached_tokens: int | None = None
    cached_tokens_details: Parts = Parts()


class UsageReport(Wire):
    """Tokens of a response or a transcript, or the seconds of one."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    input_token_details: Details = Details()
    output_token_details: Details = Details()
    seconds: float | None = None


class Response(Wire):
    """A response, without its items."""

    id: str = ""
    status: str | None = None
    status_details: StatusDetails | None = None
    conversation_id: str | None = None
    metadata: dict[str, Any] | None = None
    usage: UsageReport | None = None


class Probability(Wire):
    """How sure the recogniser was of one token."""

    logprob: float | None = None


class Limit(Wire):
    """One thing that is limited, as requests or tokens."""

    remaining: float | None = None
    reset_seconds: float | None = None


class Frame(Wire):
    """The fields of all events together: no two events use one name for different things."""

    item_id: str = ""
    response_id: str = ""
    output_index: int = 0
    delta: str = ""
    transcript: str | None = None
    status: str | None = None
    logprobs: list[Probability] | None = None
    audio_end_ms: int = 0
    call_id: str = ""
    name: str | None = None
    arguments: str | None = None
    item: Item = Item()
    session: Session = Session()
    response: Response = Response()
    usage: UsageReport | None = None
    error: Problem = Problem()
    rate_limits: list[Limit] | None = None
