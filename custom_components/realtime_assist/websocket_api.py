"""The memory over Home Assistant's websocket API, for pages and apps.

    {"type": "realtime_assist/memory/set", "scope": "global", "key": "bins", "value": "Thursday"}

Each command is one of the actions: its fields, its rules and its response. But it is no call of an
action, whose data Home Assistant's recorder would keep for its own time; and nothing is logged.
"""

from typing import Any, Final

import probatio as vol
from homeassistant.components.websocket_api import (
    ActiveConnection,
    AsyncWebSocketCommandHandler,
    async_register_command,
    async_response,
)
from homeassistant.components.websocket_api.const import (
    ERR_HOME_ASSISTANT_ERROR,
    ERR_INVALID_FORMAT,
    ERR_SERVICE_VALIDATION_ERROR,
)
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv

from .const import DOMAIN
from .house import async_get_house
from .services import ACTIONS

COMMANDS: Final = {
    f"{DOMAIN}/memory/{name.removesuffix('_memory')}": name
    for name in (
        "get_memory",
        "set_memory",
        "delete_memory",
        "clear_memory",
        "search_memory",
        "update_memory",
    )
}
"""Command -> the action whose work it does."""

_MESSAGE: Final = vol.Schema(
    {vol.Required("id"): cv.positive_int, vol.Required("type"): cv.string}, extra=vol.ALLOW_EXTRA
)
"""What the action checks is not checked here: Home Assistant would log what is wrong with it."""


@callback
def async_setup_websocket_api(hass: HomeAssistant) -> None:
    """Register the commands, once for the house."""
    for command, action in COMMANDS.items():
        async_register_command(hass, command, async_response(_handler(action)), _MESSAGE)


def _handler(name: str) -> AsyncWebSocketCommandHandler:
    """Return what does the work of an action, as the user of a connection."""
    action = ACTIONS[name]

    async def handle(
        hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]
    ) -> None:
        asked = {field: value for field, value in msg.items() if field not in ("id", "type")}
        try:
            call = ServiceCall(
                hass,
                DOMAIN,
                name,
                action.schema(asked),
                context=connection.context(msg),
                return_response=True,
            )
            connection.send_result(msg["id"], await action.run(async_get_house(hass), call))
        except vol.Invalid as err:
            connection.send_error(msg["id"], ERR_INVALID_FORMAT, str(err))
        except HomeAssistantError as err:
            invalid = isinstance(err, ServiceValidationError)
            connection.send_error(
                msg["id"],
                ERR_SERVICE_VALIDATION_ERROR if invalid else ERR_HOME_ASSISTANT_ERROR,
                str(err),
                translation_domain=err.translation_domain,
                translation_key=err.translation_key,
                translation_placeholders=err.translation_placeholders,
            )

    return handle
