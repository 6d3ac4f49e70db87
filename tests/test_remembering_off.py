"""Where remembering is off nothing is written anywhere, whatever is said, called or learned."""

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from homeassistant.config_entries import ConfigSubentry

from custom_components.realtime_assist.const import DOMAIN
from tests.loopback import Call, Speech
from tests.on_disk import hass_config_dir, hass_storage  # noqa: F401 - fixtures
from tests.people import People, act
from tests.satellite import speech

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

SECRET = "violins"


async def test_nothing_reaches_the_disk(house: Home, people: People, tmp_path: Path) -> None:
    """A guest room that keeps nothing keeps nothing: no word, no fact, no summary, in no file."""
    assert people.anna.id
    assert house.kitchen.registry_entry is not None
    house.hass.config_entries.async_add_subentry(
        house.entry,
        ConfigSubentry(
            data=MappingProxyType(
                {"satellite": house.kitchen.registry_entry.entity_id, "remember": False}
            ),
            subentry_type="satellite",
            title="kitchen",
            unique_id=None,
        ),
    )
    await house.hass.async_block_till_done()
    await act(house.hass, "set_speaker", entity_id=house.kitchen.entity_id, speaker="anna")
    remember = '{"about": "violins", "fact": "The violins are in the attic", "scope": "home"}'
    house.hears.extend([f"the {SECRET} are in the attic"] * 2)
    house.replies.extend(
        [
            [Speech("Yes?", ms=200), Call(f"{DOMAIN}__remember", remember)],
            Speech(f"I could not keep the {SECRET}.", ms=200),
            [Speech("Hm.", ms=200), Call(f"{DOMAIN}__recall", '{"about": "violins"}')],
            Speech(f"Of {SECRET} I know only from you.", ms=200),
        ]
    )
    for _ in range(2):
        await house.kitchen.hear(speech())
        await house.kitchen.play()
        await house.settled()
    assert any(SECRET in house.brain.words(item) for item in house.brain.requests[-1].context)
    device: dict[str, Any] = {"device_id": house.kitchen.registry_entry.device_id}
    await act(house.hass, "summarize", **device)
    await house.memory.storage.async_flush()
    # An entity that tells how many turns there were tells no word of them.
    states = [f"{state.state} {state.attributes}" for state in house.hass.states.async_all()]
    assert not [each for each in states if SECRET in each]
    files = [path for path in (tmp_path / ".storage").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if SECRET in path.read_text(errors="replace")]
    assert house.memory.context.scopes() == ()
