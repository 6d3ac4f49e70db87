"""What a refusal means: one table for the codes of every provider.

A code decides how far a failure reaches. Providers publish no list, put the code into `code` or
into `type`, and invent their own: what is not in the table ends the turn, and nothing else.
"""

import re
from enum import StrEnum
from typing import Final

from .errors import (
    AuthenticationFailed,
    CannotConnect,
    ConnectionLost,
    ModelNotFound,
    NotRealtime,
    QuotaExceeded,
    RateLimited,
    RealtimeError,
    ResponseFailed,
)


class Severity(StrEnum):
    """How far a failure reaches."""

    BENIGN = "benign"
    """Nothing is lost: the wish came too late, or was met already."""
    TURN = "turn"
    """This turn cannot be answered; the next may."""
    SESSION = "session"
    """The session is over; a new one may do."""
    FATAL = "fatal"
    """A person must act; trying again is useless."""


ALREADY_ACTIVE: Final = "conversation_already_has_active_response"
CANCEL_TOO_LATE: Final = "response_cancel_not_active"
COMMIT_EMPTY: Final = "input_audio_buffer_commit_empty"
NOT_IMPLEMENTED: Final = "not_implemented"
UNKNOWN_ITEM: Final = "conversation_item_not_found"
UNKNOWN_PARAMETER: Final = "unknown_parameter"
SESSION_EXPIRED: Final = "session_expired"
MEMORY_NOT_WITHDRAWN: Final = "memory_not_withdrawn"

_CODES: Final[dict[tuple[Severity, type[RealtimeError]], str]] = {
    (Severity.BENIGN, ResponseFailed): """
        conversation_already_has_active_response response_cancel_not_active
        input_audio_buffer_commit_empty item_create_duplicate_item_id item_delete_invalid_item_id
        item_truncate_invalid_item_id item_retrieve_invalid_item_id conversation_item_not_found
        unknown_or_invalid_event not_implemented
        """,
    (Severity.TURN, RateLimited): """
        rate_limit_exceeded inference_rate_limit_exceeded rate_limit_error tokens requests
        """,
    (Severity.SESSION, ConnectionLost): """
        session_expired session_not_found max_duration idle_timeout
        """,
    (Severity.FATAL, AuthenticationFailed): """
        invalid_api_key incorrect_api_key authentication_error permission_denied permission_error
        account_deactivated invalid_organization
        """,
    (Severity.FATAL, QuotaExceeded): """
        insufficient_quota credit_balance_exhausted billing_hard_limit_reached billing_not_active
        """,
    (Severity.FATAL, ModelNotFound): """
        model_not_found invalid_model deployment_not_found DeploymentNotFound
        OperationNotSupported model_load_error
        """,
    (Severity.FATAL, NotRealtime): "beta_api_shape_disabled",
}
_TABLE: Final = {code: meaning for meaning, codes in _CODES.items() for code in codes.split()}
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def plain(code: str) -> str:
    """Return a code that may be shown and logged; a server may have put words into its place."""
    return code if _PLAIN.fullmatch(code) else "unknown_error"


def severity(code: str) -> Severity:
    """Return how far an error of this code reaches; an unknown one ends the turn."""
    return _TABLE.get(code, (Severity.TURN, ResponseFailed))[0]


def failure(code: str) -> RealtimeError:
    """Return the failure that a code means, ready to be raised."""
    return _TABLE.get(code, (Severity.TURN, ResponseFailed))[1](plain(code))


def is_fatal(error: RealtimeError) -> bool:
    """Tell whether a person must act before anything can work again."""
    return isinstance(error, (AuthenticationFailed, ModelNotFound, QuotaExceeded, NotRealtime))


def refused_handshake(status: int, code: str | None) -> RealtimeError:
    """Return what an HTTP answer means that is not a WebSocket.

    `code` is that of a JSON error body; None if the body is something else.
    """
    if code is not None and severity(code) is Severity.FATAL:
        return failure(code)
    kind: type[RealtimeError] = NotRealtime
    if status in {401, 403}:
        kind = AuthenticationFailed
    elif status == 402:  # noqa: PLR2004 - payment required
        kind = QuotaExceeded
    elif status == 404 and code is not None:  # noqa: PLR2004 - as its own interface says it
        kind = ModelNotFound
    elif status == 429:  # noqa: PLR2004 - too many requests
        kind = RateLimited
    elif status in {408, 425} or status >= 500:  # noqa: PLR2004 - the server's own trouble
        kind = CannotConnect
    return kind(plain(code) if code else f"http_{status}")


def closed(code: int | None, reason: str) -> RealtimeError:
    """Return what the end of a socket means, by its close code and reason."""
    if "maximum duration" in reason or "session_expired" in reason:
        return ConnectionLost(SESSION_EXPIRED)
    match code:
        case 1001:
            return ConnectionLost(SESSION_EXPIRED)
        case 3000:
            return AuthenticationFailed("closed_3000")
        case 4000:
            return NotRealtime("beta_api_shape_disabled")
        case _:
            return ConnectionLost(f"closed_{code or 1006}")
