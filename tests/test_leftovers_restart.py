"""Who is gone while Home Assistant is not there leaves memory behind, too, and that is found."""

from typing import TYPE_CHECKING

import pytest
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.memory.scopes import audience
from custom_components.realtime_assist.memory.transcript import TurnRecord
from tests.on_disk import hass_config_dir, hass_storage
from tests.people import People, person_scope
from tests.test_leftovers import device, fix, shown, thread

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

__all__ = ["hass_config_dir", "hass_storage"]


@pytest.mark.parametrize(("how", "left"), [("delete", []), ("move", ["I am anna"])])
async def test_a_person_who_left_while_nobody_looked(
    house: Home, people: People, *, how: str, left: list[str]
) -> None:
    """After a restart, too, what only somebody who is gone may see is found, with their name."""
    hass = house.hass
    anna, tom = person_scope(hass, people.anna), person_scope(hass, people.tom)
    key = thread(house, device(house))
    await house.memory.storage.async_load_thread(key)
    record = TurnRecord(
        id="t", at=dt_util.now(), heard_text="I am anna", audience=audience(anna), speaker="Anna"
    )
    house.memory.join(key, record, 1500)

    def leave() -> None:
        er.async_get(hass).async_remove("person.anna")
        hass.states.async_remove("person.anna")

    await house.restart(leave)
    [issue] = await shown(hass)
    # Whoever looks at all threads keeps none of them: most are not spoken in again soon.
    assert house.memory.storage.thread(key) is None
    assert issue.translation_placeholders == {"name": "Anna"}
    assert await fix(hass, how, {"target": tom.id} if how == "move" else {}) == "create_entry"
    turns = house.memory.thread(key).turns
    assert [turn.heard_text for turn in turns] == left
    assert all(turn.audience == audience(tom) for turn in turns)
    await house.restart()
    assert await shown(hass) == []
