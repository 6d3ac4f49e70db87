"""The demonstration's Home Assistant is configured so that it stays where it is."""

import json
from pathlib import Path

import aiohttp
import yaml

from .house import House
from .processes import Processes

_COMPONENTS = Path(__file__).resolve().parents[2] / "custom_components"


async def test_the_folder_holds_all_that_a_first_start_needs(tmp_path: Path) -> None:
    """The address is confirmed from the start, and the integration lies where HACS puts it."""
    logs = tmp_path / "logs"
    logs.mkdir()
    async with aiohttp.ClientSession() as http, Processes(logs) as processes:
        house = House(
            folder=tmp_path / "config",
            components=_COMPONENTS,
            port=18123,
            processes=processes,
            http=http,
        )
        house.prepare()
    assert house.base == "http://127.0.0.1:18123"
    stored = json.loads((tmp_path / "config/.storage/http").read_text())["data"]
    assert stored["pending"] is None
    assert stored["stable"]["server_port"] == 18123
    assert stored["stable"]["server_host"] == ["127.0.0.1"]
    configuration = yaml.safe_load((tmp_path / "config/configuration.yaml").read_text())
    assert configuration["homeassistant"]["internal_url"] == house.base
    assert configuration["template"][0]["light"][0]["unique_id"]
    manifest = tmp_path / "config/custom_components/realtime_assist/manifest.json"
    assert json.loads(manifest.read_text())["domain"] == "realtime_assist"
    assert not list((tmp_path / "config").rglob("__pycache__"))
