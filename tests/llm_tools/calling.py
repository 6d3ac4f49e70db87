"""How an agent that is not ours calls the memory tools."""

from typing import Any

from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from custom_components.realtime_assist.const import DOMAIN
from tests.people import device_id
from tests.satellite import Satellite


def caller(
    *, at: Satellite | None = None, user: User | None = None, platform: str = "another_agent"
) -> llm.LLMContext:
    """Return what Home Assistant knows of a run: its device, and its user."""
    return llm.LLMContext(
        platform=platform,
        context=Context(user_id=user.id if user else None),
        language="en",
        assistant="conversation",
        device_id=device_id(at) if at else None,
    )


async def use(
    hass: HomeAssistant,
    tool: str,
    who: llm.LLMContext,
    **arguments: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Call a tool through the Assist API, as every agent does; return what the model gets."""
    instance = await llm.async_get_api(hass, llm.LLM_API_ASSIST, who)
    result = await instance.async_call_tool(
        llm.ToolInput(tool_name=f"{DOMAIN}__{tool}", tool_args=arguments)
    )
    assert isinstance(result, llm.ToolResult)
    assert result.error == ("error" in result.data)
    return dict(result.data)
