"""Whatever an automation gives to an action: it is done, or refused in words; nothing else."""

import asyncio
from typing import Any

import probatio
import pytest
from homeassistant.exceptions import HomeAssistantError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.services import ACTIONS
from tests.home import Home

SECONDS = 5

ODD = st.sampled_from(
    ["", " ", "../../etc/passwd", "a" * 5000, "\0", "\n\r\t", "{{ 1 / 0 }}", "\U0001f600", "nan"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | ODD
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(SCALARS.filter(lambda key: key == key), inner, max_size=3)  # noqa: PLR0124 - NaN
    ),
    max_leaves=6,
)
SENSIBLE = {
    "scope": st.sampled_from(["global", "device", "area", "speaker", "plugin", "session"]),
    "scope_id": ODD | st.sampled_from(["home", "kitchen", "assist_satellite.kitchen"]),
    "retention": st.sampled_from(["immediate", "session_end", "turn_based", "persistent"]),
    "entries": st.dictionaries(ODD | st.text(max_size=5), VALUES, max_size=3),
    "keys": st.lists(ODD | st.text(max_size=5), max_size=3),
    "key": ODD | st.text(min_size=1, max_size=5),
    "data": st.fixed_dictionaries({}, optional={"version": SCALARS, "entries": VALUES}),
    "mode": st.sampled_from(["merge", "replace"]),
}


def fields(action: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return data for an action: its own fields, of the right kind or of any other."""
    names = {str(key) for key in ACTIONS[action].schema.schema} | {"unheard_of"}
    made = {name: SENSIBLE.get(name, VALUES) | VALUES for name in sorted(names)}
    return st.fixed_dictionaries({}, optional=made)


CALLS = st.sampled_from(sorted(ACTIONS)).flatmap(
    lambda action: st.tuples(st.just(action), fields(action))
)


@settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(call=CALLS)
async def test_any_input_is_done_or_refused(house: Home, call: tuple[str, dict[str, Any]]) -> None:
    """A mistake in an automation is told to its maker, and never hangs or breaks the house."""
    action, data = call
    try:
        async with asyncio.timeout(SECONDS):
            await house.hass.services.async_call(
                DOMAIN, action, data, blocking=True, return_response=True
            )
    except HomeAssistantError, probatio.Invalid:
        return
    except TimeoutError:
        pytest.fail(f"{action} hangs with {data!r}")
