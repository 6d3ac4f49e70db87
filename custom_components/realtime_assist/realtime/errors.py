"""Failures that end a connection, or a turn. Their texts are codes, never content."""

from typing import Final


class RealtimeError(Exception):
    """Something went wrong with the provider. Its text is a code, never content."""

    def __init__(self, code: str) -> None:
        """Keep the provider's code, or ours."""
        super().__init__(code)
        self.code: Final = code


class AuthenticationFailed(RealtimeError):
    """The key is refused: a person must act."""


class ModelNotFound(RealtimeError):
    """The provider does not know the model, or this account may not use it."""


class QuotaExceeded(RealtimeError):
    """The account has no money or no quota left: a person must act."""


class RateLimited(RealtimeError):
    """Too much at once; it passes by itself."""


class CannotConnect(RealtimeError):
    """The server cannot be reached in time."""


class NotRealtime(RealtimeError):
    """Something answers, but it speaks no realtime protocol."""


class ConnectionLost(RealtimeError):
    """The socket ended in the middle."""


class ResponseFailed(RealtimeError):
    """The provider could not answer this turn."""
