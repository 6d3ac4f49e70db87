"""What is over is let go of, and while nothing will be, the house sleeps."""

from datetime import timedelta
from typing import TYPE_CHECKING

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.realtime_assist.house import House
from custom_components.realtime_assist.memory.scopes import GLOBAL, Scope, ScopeKey
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home",)

KITCHEN = ScopeKey(Scope.DEVICE, "kitchen")


def in_a_moment(house: House, seconds: float) -> bool:
    """Whether the house looks by then, and not long before."""
    assert house.expiry.at is not None
    left = (house.expiry.at - dt_util.utcnow()).total_seconds()
    return seconds - 1 <= left <= seconds + 1


def looks(house: House) -> bool:
    """Whether the house waits for anything."""
    return house.expiry.at is not None


async def test_one_timer_waits_for_what_ends_next(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    """Nothing wakes up the house but the end of something; then it is gone from memory, too."""
    freezer.move_to("2026-11-30 12:00:00+00:00")
    house = House(hass)
    midnight = dt_util.start_of_local_day(dt_util.now() + timedelta(days=1))
    house.context.set(GLOBAL, "early", 1, expires_in=20)
    house.expiry.start()
    assert in_a_moment(house, 20)
    house.context.set(KITCHEN, "late", 1, expires_in=300)
    house.context.set(KITCHEN, "for good", 1)
    assert in_a_moment(house, 20)
    house.context.set(KITCHEN, "soon", 1, expires_in=10)
    assert in_a_moment(house, 10)
    for seconds, left in ((11, {"early", "late", "for good"}), (10, {"late", "for good"})):
        freezer.tick(seconds)
        async_fire_time_changed(hass)
        await hass.async_block_till_done()
        held = [*house.context.dump(GLOBAL)["entries"], *house.context.dump(KITCHEN)["entries"]]
        assert {entry["key"] for entry in held} == left
    house.context.forget(KITCHEN, ["late"])
    freezer.tick(300)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert house.expiry.at == midnight
    house.expiry.stop()
    house.context.set(KITCHEN, "unheard", 1, expires_in=10)
    assert not looks(house)
    house.storage.close()
    await house.storage.async_flush()


async def test_a_conversation_is_looked_after_while_it_goes_on(house: Home) -> None:
    """Somebody may have left in the middle of a conversation: what is its own ends soon."""
    house.hears.append("Hello.")
    house.replies.append("Hello.")
    await house.kitchen.hear(speech())
    await house.kitchen.play()
    await house.settled()
    at = house.memory.expiry.at
    assert at is not None
    assert at - dt_util.utcnow() <= timedelta(minutes=1)
