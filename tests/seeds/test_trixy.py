"""What Trixy's ConversationContext has, row by row of the feature table, from outside; and better.

Each test says which row it is about. `trixy_defects.py` says of each of its 43 defects which tests
would see it here.
"""

import asyncio
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from freezegun import freeze_time
from homeassistant.exceptions import ServiceValidationError
from homeassistant.util import dt as dt_util

from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.diagnostics import async_get_config_entry_diagnostics
from custom_components.realtime_assist.house import async_get_house
from custom_components.realtime_assist.memory.held import MAX_BYTES, MAX_ENTRIES
from tests.on_disk import hass_config_dir, hass_storage
from tests.people import People, act, device_id
from tests.satellite import speech

from .quiet import HOME, Quiet, quiet
from .trixy_defects import DEFECTS, NOTHING_LIKE_IT

if TYPE_CHECKING:
    from tests.home import Home

pytest_plugins = ("tests.home", "tests.people")

__all__ = ["hass_config_dir", "hass_storage", "quiet"]

TESTS = Path(__file__).resolve().parents[1]


async def test_row_scopes(quiet: Quiet, people: People) -> None:
    """Scopes: who, where and what something is about are its address, not a label on it."""
    places: dict[str, dict[str, Any]] = {
        "home": HOME,
        "kitchen": {"area_id": "kitchen"},
        "bedroom": {"area_id": "bedroom"},
        "device": {"device_id": quiet.devices[0]},
        "garden": {"scope": "plugin", "scope_id": "garden"},
        "cellar": {"scope": "plugin", "scope_id": "cellar"},
    }
    for name, where in places.items():
        await quiet.set("what", name, **where)
    own: dict[str, Any] = {"entity_id": "person.anna"}
    await act(quiet.hass, "set_memory", user=people.anna, **own, key="what", value="anna")
    for again in (False, True):
        for name, where in places.items():
            assert (await quiet.get(**where))["what"]["value"] == name
        (entry,) = (await act(quiet.hass, "get_memory", user=people.anna, **own))["entries"]
        assert entry["value"] == "anna"
        if not again:
            await quiet.restart()


async def test_row_scope_lookup_order(house: Home) -> None:
    """Scope lookup order: the narrowest scope answers, also where its answer is nothing."""
    for value, where in (
        ("loud", HOME),
        (None, {"area_id": "kitchen"}),
        ("quiet", {"device_id": device_id(house.bedroom)}),
    ):
        await act(house.hass, "set_memory", key="radio", value=value, **where)
    for satellite, told in ((house.kitchen, "null"), (house.bedroom, "quiet")):
        await satellite.hear(speech())
        await satellite.play()
        await house.settled()
        facts = next(t for t in house.server.session.texts() if 'kind="facts"' in t)
        assert f"radio: {told}" in facts
        assert "loud" not in facts


async def test_row_retention(house: Home) -> None:
    """Retention: each of the six policies is kept to, the scope's own turns are counted."""
    where: dict[str, Any] = {"device_id": device_id(house.kitchen)}
    kept: dict[str, dict[str, Any]] = {
        "turn": {"retention": "immediate"},
        "talk": {"retention": "session_end"},
        "hour": {"expires_in": 3600},
        "twice": {"max_turns": 2},
        "until": {"retention": "manual"},
        "always": {"retention": "persistent"},
        "usual": {},
    }
    for key, options in kept.items():
        await act(house.hass, "set_memory", **where, key=key, value=key, **options)

    async def left() -> set[str]:
        found = await act(house.hass, "get_memory", **where)
        return {entry["key"] for entry in found["entries"]}

    async def turn(place: Any) -> None:  # noqa: ANN401
        await place.hear(speech())
        await place.play()
        await house.settled()

    await turn(house.bedroom)
    assert await left() == set(kept)
    await turn(house.kitchen)
    assert await left() == set(kept) - {"turn"}
    await turn(house.kitchen)
    assert await left() == set(kept) - {"turn", "twice"}
    await act(house.hass, "reset_session", **where)
    assert await left() == {"hour", "until", "always", "usual"}
    with freeze_time(dt_util.utcnow() + timedelta(hours=2)):
        assert await left() == {"until", "always", "usual"}
    written = (await act(house.hass, "set_memory", **where, key="twice", value=1))["entries"][0]
    assert (written["retention"], written["turns"], written["version"]) == ("manual", 0, 1)


async def test_row_priority_and_capacity(quiet: Quiet) -> None:
    """Priority in eviction, capacity: what is over goes first, then the least important."""
    await quiet.set("over", 1, expires_in=0, priority=9)
    await quiet.set("pinned", 1, pinned=True, priority=-5)
    await quiet.set("always", 1, retention="persistent", priority=-5)
    await quiet.set("wanted", 1, priority=5)
    many = {f"key {number}": number for number in range(MAX_ENTRIES - 4)}
    await act(quiet.hass, "update_memory", **HOME, entries=many)
    await quiet.set("trifle", 1, priority=-1)
    assert len(await quiet.get()) == MAX_ENTRIES
    await quiet.set("one more", 1)
    assert {"pinned", "always", "wanted", "one more"} <= (found := await quiet.get()).keys()
    assert "trifle" not in found
    large = {f"large {number}": "x" * 10_000 for number in range(40)}
    await act(quiet.hass, "update_memory", **HOME, entries=large)
    found = await quiet.get()
    assert sum(len(json.dumps(entry["value"])) for entry in found.values()) <= MAX_BYTES
    assert {"pinned", "always", "large 39"} <= found.keys()
    await quiet.restart()
    assert (await quiet.get()).keys() == found.keys()


async def test_row_versions(quiet: Quiet) -> None:
    """Versions and previous values: only changes count, all can be read, and gone back to."""
    for day in ("Monday", "Monday", "Tuesday", "Wednesday"):
        await quiet.set("bins", day)
    await quiet.restart()
    entry = (await quiet.get())["bins"]
    assert entry["version"] == 3
    assert [(old["version"], old["value"]) for old in entry["previous"]] == [
        (1, "Monday"),
        (2, "Tuesday"),
    ]
    back = await act(quiet.hass, "set_memory", **HOME, key="bins", version=2)
    assert (back["entries"][0]["value"], back["entries"][0]["version"]) == ("Tuesday", 4)


async def test_row_tags_source_metadata(quiet: Quiet) -> None:
    """Tags, source, metadata: found by, replaced and cleared, and nobody's own object."""
    metadata = {"from": ["calendar"]}
    await quiet.set("bins", "Thursday", tags=["home", "rubbish"], metadata=metadata, priority=4)
    metadata["from"].append("later")
    for query in ({"tags": ["rubbish"]}, {"source": "action"}, {"key": "bin*"}):
        (hit,) = (await act(quiet.hass, "search_memory", **HOME, **query))["hits"]
        assert hit["entry"]["metadata"] == {"from": ["calendar"]}
    await quiet.set("bins", "Thursday", tags=["home"], metadata={}, priority=0)
    entry = (await quiet.get())["bins"]
    assert (entry["tags"], entry["metadata"], entry["priority"]) == (["home"], {}, 0)
    assert entry["version"] == 1
    assert not (await act(quiet.hass, "search_memory", **HOME, tags=["rubbish"]))["hits"]


async def test_row_persistence(quiet: Quiet) -> None:
    """Persistence: every lasting scope, whole or not at all, however broken a neighbour is."""
    await quiet.set("radio", {"station": ["SWR3"]}, area_id="kitchen", max_turns=9)
    await quiet.set("lamp", 1, area_id="bedroom")
    refused: tuple[object, ...] = ({1, 2}, float("nan"), b"x")
    for bad in refused:
        with pytest.raises(ServiceValidationError) as caught:
            await quiet.set("bad", bad, area_id="kitchen")
        assert caught.value.translation_key == "invalid_value"
    before = await quiet.get(area_id="kitchen")
    await async_get_house(quiet.hass).storage.async_flush()
    folder = quiet.folder / ".storage" / DOMAIN / "entries"
    broken = next(each for each in folder.iterdir() if "area:bedroom" in each.read_text())
    broken.write_text('{"version": 1, "data": {"scope": ')
    await quiet.restart()
    assert await quiet.get(area_id="kitchen") == before
    assert await quiet.get(area_id="bedroom") == {}
    await quiet.set("lamp", 2, area_id="bedroom")
    await quiet.restart()
    assert (await quiet.get(area_id="bedroom"))["lamp"]["value"] == 2


@pytest.mark.parametrize("how", ["delete", "clear", "expiry", "eviction"])
async def test_row_durable_forget(quiet: Quiet, how: str) -> None:
    """Durable clear and forget: what is gone is gone from the disk, and stays gone."""
    over = {"expires_in": 0.01} if how == "expiry" else {}
    await quiet.set("code", "violins", priority=-1, **over)
    await quiet.set("cat", "Miezi", area_id="kitchen")
    assert "violins" in await quiet.on_disk()
    if how == "delete":
        await act(quiet.hass, "delete_memory", **HOME, keys=["code"])
    elif how == "clear":
        await act(quiet.hass, "clear_memory", **HOME)
    elif how == "expiry":
        await asyncio.sleep(0.02)
        async_get_house(quiet.hass).context.expire()
    else:
        many = {f"key {number}": number for number in range(MAX_ENTRIES)}
        await act(quiet.hass, "update_memory", **HOME, entries=many)
    assert "violins" not in await quiet.on_disk()
    await quiet.restart()
    assert "code" not in await quiet.get()
    assert "violins" not in await quiet.on_disk()
    assert (await quiet.get(area_id="kitchen"))["cat"]["value"] == "Miezi"


async def test_row_speaker_known(house: Home, people: People) -> None:
    """Speaker known: what is Anna's comes and goes with her, in one conversation at one place."""
    own: dict[str, Any] = {"entity_id": "person.anna"}
    await act(house.hass, "set_memory", user=people.anna, **own, key="tea", value="Assam")
    for who in ("anna", "tom", None, "anna"):
        await act(house.hass, "set_speaker", entity_id=house.kitchen.entity_id, speaker=who)
        await house.kitchen.hear(speech())
        await house.kitchen.play()
        await house.settled()
        told = any("Assam" in text for text in house.brain.requests[-1].texts())
        assert told is (who == "anna")


async def test_row_several_rooms(house: Home) -> None:
    """Several satellites and rooms: each knows its own and the home's, and nothing of the other."""
    facts: tuple[tuple[str, dict[str, Any]], ...] = (
        ("oven", {"area_id": "kitchen"}),
        ("pillow", {"area_id": "bedroom"}),
        ("cat", HOME),
    )
    for fact, where in facts:
        await act(house.hass, "set_memory", **where, key=fact, value=f"the {fact} is new")
    for satellite, knows in ((house.kitchen, {"oven", "cat"}), (house.bedroom, {"pillow", "cat"})):
        await satellite.hear(speech())
        await satellite.play()
        await house.settled()
        texts = "\n".join(house.server.session.texts())
        assert {fact for fact, _ in facts if f"the {fact} is new" in texts} == knows


async def test_row_concurrency(quiet: Quiet) -> None:
    """Concurrency: many who write at once lose nothing of each other, in no lock."""
    await asyncio.gather(*(quiet.set(f"key {number}", number) for number in range(60)))
    await asyncio.gather(*(quiet.set("same", number) for number in range(12)))
    found = await quiet.get()
    assert {found[f"key {number}"]["value"] for number in range(60)} == set(range(60))
    assert (found["same"]["value"], found["same"]["version"]) == (11, 12)
    await quiet.restart()
    assert await quiet.get() == found


async def test_row_observability(quiet: Quiet, caplog: pytest.LogCaptureFixture) -> None:
    """Observability: changes are told as they happen, counts leave out what is over, in JSON."""
    changed: list[str] = []
    stop = async_get_house(quiet.hass).context.subscribe(lambda scope: changed.append(str(scope)))
    await quiet.set("bins", "secret")
    await quiet.set("bins", "secret")
    await quiet.set("over", "secret", expires_in=0)
    await act(quiet.hass, "delete_memory", **HOME, keys=["bins"])
    stop()
    assert changed == ["global:home"] * 3
    await quiet.set("cat", "secret", area_id="kitchen")
    told = await async_get_config_entry_diagnostics(quiet.hass, quiet.entry)
    assert told["memory"]["entries"] == 1
    assert "secret" not in json.dumps(told)
    assert not [
        each
        for each in caplog.records
        if "secret" in each.getMessage() and each.name.startswith(f"custom_components.{DOMAIN}")
    ]


def test_each_defect_is_seen_by_tests_that_there_are() -> None:
    """Whoever renames a test keeps the list of what Trixy does wrong in order."""
    sources = [path.read_text() for path in TESTS.rglob("test_*.py")]
    there = {name for source in sources for name in re.findall(r"def (test_\w+)\(", source)}
    assert sorted(DEFECTS) == list(range(1, 44))
    for number, (what, tests) in DEFECTS.items():
        assert what
        assert tests or number in NOTHING_LIKE_IT
        assert set(tests) <= there, number
