"""A real Home Assistant in a scratch folder: configured, started, onboarded, restarted."""

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import aiohttp

from .client import Client, CommandFailed
from .processes import Processes, ProcessFailed, Running

INTEGRATION = "realtime_assist"
_NAME = "home-assistant"
_START_SECONDS = 120.0
_LIGHT = "Kitchen light"

_CONFIGURATION = """\
homeassistant:
  name: Demonstration
  internal_url: {base}
  external_url: {base}
  time_zone: UTC
  country: US
  language: en
logger:
  default: warning
api:
websocket_api:
config:
conversation:
assist_pipeline:
intent:
template:
  - light:
      - name: {light}
        unique_id: demonstration_kitchen_light
        turn_on: []
        turn_off: []
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """How long a start took, in seconds, and what was started."""

    http_s: float
    running_s: float
    version: str


class House:
    """One Home Assistant: its folder, its address, its process while there is one."""

    def __init__(
        self,
        *,
        folder: Path,
        components: Path,
        port: int,
        processes: Processes,
        http: aiohttp.ClientSession,
    ) -> None:
        """Take the folder for the configuration and the `custom_components` to copy into it."""
        self.base = f"http://127.0.0.1:{port}"
        self.token = ""
        self.log = processes.log_of(_NAME)
        self._folder = folder
        self._components = components
        self._port = port
        self._processes = processes
        self._http = http
        self._running: Running | None = None

    def prepare(self) -> None:
        """Write the configuration and put the integration where HACS would put it."""
        storage = self._folder / ".storage"
        storage.mkdir(parents=True)
        text = _CONFIGURATION.format(base=self.base, light=_LIGHT)
        (self._folder / "configuration.yaml").write_text(text)
        (storage / "http").write_text(json.dumps(_stable_address(self._port)))
        shutil.copytree(
            self._components,
            self._folder / "custom_components",
            ignore=shutil.ignore_patterns("__pycache__", "*.toml"),
        )

    async def start(self) -> Started:
        """Start Home Assistant and return when it answers.

        Raises:
            ProcessFailed: it ended, or did not answer within two minutes.

        """
        begun = monotonic()
        self._running = await self._processes.start(
            _NAME,
            [
                *(sys.executable, "-m", "homeassistant"),
                *("--config", str(self._folder)),
                # The registry has no newer voip-utils than the one that is installed, and that
                # one does all that is needed here.
                *("--skip-pip-packages", "voip-utils"),
            ],
            cwd=self._folder,
        )
        await self._until_answering(begun)
        http_s = monotonic() - begun
        if not self.token:
            self.token = await self._onboard()
        version = await self._until_running(begun)
        return Started(http_s=round(http_s, 2), running_s=_since(begun), version=version)

    async def stop(self) -> tuple[int, float]:
        """Ask Home Assistant to end; return its exit code and the seconds it took."""
        assert self._running is not None
        begun = monotonic()
        code = await self._processes.stop(self._running)
        self._running = None
        return code, _since(begun)

    async def _until_answering(self, begun: float) -> None:
        while True:
            self._check(begun)
            try:
                async with self._http.get(f"{self.base}/api/onboarding") as response:
                    # Once nobody is left to be onboarded, the view is gone.
                    if response.status in (200, 401, 404):
                        return
            except aiohttp.ClientError, TimeoutError:
                pass
            await asyncio.sleep(0.1)

    async def _until_running(self, begun: float) -> str:
        headers = {"Authorization": f"Bearer {self.token}"}
        while True:
            self._check(begun)
            async with self._http.get(f"{self.base}/api/config", headers=headers) as response:
                if response.status == 200:
                    config = await response.json()
                    if config.get("recovery_mode"):
                        raise ProcessFailed(self._report("went into recovery mode"))
                    if config["state"] == "RUNNING":
                        return str(config["version"])
            await asyncio.sleep(0.1)

    def _check(self, begun: float) -> None:
        assert self._running is not None
        if self._running.ended:
            raise ProcessFailed(self._report("ended"))
        if monotonic() - begun > _START_SECONDS:
            raise ProcessFailed(self._report("did not answer"))

    def _report(self, what: str) -> str:
        assert self._running is not None
        return f"Home Assistant {what}:\n{self._running.tail()}"

    async def _onboard(self) -> str:
        """Create the first user, as the first visitor of the web page does; return a token."""
        client = f"{self.base}/"
        user = {
            "client_id": client,
            "name": "Demonstration",
            "username": "demonstration",
            "password": "demonstration",
            "language": "en",
        }
        async with self._http.post(f"{self.base}/api/onboarding/users", json=user) as response:
            if response.status != 200:
                raise CommandFailed(f"onboarding was refused: HTTP {response.status}")
            code = (await response.json())["auth_code"]
        grant = {"client_id": client, "grant_type": "authorization_code", "code": code}
        async with self._http.post(f"{self.base}/auth/token", data=grant) as response:
            return str((await response.json())["access_token"])


async def kitchen(client: Client) -> str:
    """Put the light into the kitchen and return the id of that area."""
    areas = await client.command("config/area_registry/list")
    known = {area["name"].casefold(): area["area_id"] for area in areas}
    area = known.get("kitchen")
    if area is None:
        area = (await client.command("config/area_registry/create", name="Kitchen"))["area_id"]
    entity = await light(client)
    await client.command("config/entity_registry/update", entity_id=entity, area_id=area)
    return str(area)


async def light(client: Client) -> str:
    """Return the entity id of the light that the configuration made."""
    for state in await client.command("get_states"):
        if state["attributes"].get("friendly_name") == _LIGHT:
            return str(state["entity_id"])
    raise CommandFailed("the demonstration's light is missing")


async def state_of(client: Client, entity_id: str) -> dict[str, Any]:
    """Return the state of an entity."""
    state: dict[str, Any] = await client.get(f"/api/states/{entity_id}")
    return state


def _stable_address(port: int) -> Mapping[str, Any]:
    """Return the stored HTTP settings in their confirmed form.

    What stands in configuration.yaml counts only as proposed: Home Assistant goes back to its
    default port when nobody confirms it within five minutes.
    """
    return {
        "version": 3,
        "minor_version": 1,
        "key": "http",
        "data": {
            "stable": {
                "server_port": port,
                "server_host": ["127.0.0.1"],
                "cors_allowed_origins": ["https://cast.home-assistant.io"],
                "login_attempts_threshold": -1,
                "ip_ban_enabled": True,
                "ssl_profile": "intermediate_v6",
                "use_x_frame_options": True,
                "created_at": datetime.now(UTC).isoformat(),
                "error": None,
                "error_message": None,
            },
            "pending": None,
            "yaml_migration_done": True,
        },
    }


def _since(begun: float) -> float:
    return round(monotonic() - begun, 2)
