"""How the server says no: one exception that carries what the `error` event needs."""

from typing import Any, Self


class RefusedError(Exception):
    """A client event that is refused as a whole and has no effect."""

    def __init__(
        self,
        *,
        code: str | None,
        says: str,
        param: str | None = None,
        kind: str = "invalid_request_error",
        names_event: bool = True,
    ) -> None:
        """Keep what the error event will say.

        `code` is None where the provider sends none. `names_event` is False for the few refusals
        that never say which client event they answer.
        """
        super().__init__(says)
        self.code = code
        self.says = says
        self.param = param
        self.kind = kind
        self.names_event = names_event

    @classmethod
    def missing(cls, param: str) -> Self:
        """Return the refusal of an event that lacks `param`."""
        says = f"Missing required parameter: '{param}'."
        return cls(code="missing_required_parameter", says=says, param=param)

    @classmethod
    def value(cls, param: str, got: object, expected: str) -> Self:
        """Return the refusal of a value that `param` cannot have."""
        says = f"Invalid value: '{got}'. {expected}"
        return cls(code="invalid_value", says=says, param=param)

    def wire(self, event_id: str | None) -> dict[str, Any]:
        """Return the body of the `error` event, naming the client's event where that is done."""
        return {
            "type": self.kind,
            "code": self.code,
            "message": self.says,
            "param": self.param,
            "event_id": event_id if self.names_event else None,
        }
