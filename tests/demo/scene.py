"""Sets the scene: the server that speaks, the house, the phone in the kitchen, and an ear."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from .client import Client, CommandFailed
from .house import INTEGRATION, House, Started, kitchen, light
from .listener import Listener
from .phone import Call, Phone, Satellite
from .ports import free_tcp_port, free_udp_port
from .processes import Processes
from .server import Provider, served
from .sound import Sound
from .wire import Frame, Wire

REPOSITORY = Path(__file__).resolve().parents[2]

RESUME_TOKENS = 150
"""The least that shows it; an assistant has ten times as many by default."""

_ANSWER_SECONDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A turn by phone: what was said, what the house understood, what was heard back."""

    said: str
    understood: str
    heard: str
    """The answer as a recogniser hears it in the phone's recording."""
    wav: Path
    """That recording, for people."""
    delay_ms: int | None
    seconds: float
    frames: tuple[Frame, ...]
    """What passed between the house and the server meanwhile."""


class Scene:
    """Everything that runs, and what is known of it."""

    def __init__(
        self,
        *,
        processes: Processes,
        http: aiohttp.ClientSession,
        scratch: Path,
        keep: Path,
        speech: Path,
    ) -> None:
        """Use `set_up`."""
        self.processes = processes
        self.http = http
        self.keep = keep
        self.wire = Wire(scratch / "wire.jsonl")
        self.sip_port = free_udp_port()
        self.house = House(
            folder=scratch / "config",
            components=REPOSITORY / "custom_components",
            port=free_tcp_port(),
            processes=processes,
            http=http,
        )
        self.phone = Phone(folder=scratch / "phone", processes=processes, server_port=self.sip_port)
        self.pipeline = ""
        self.area = ""
        self.light = ""
        self._speech = speech
        self._scratch = scratch
        self._stack = AsyncExitStack()
        self._client: Client | None = None
        self._listener: Listener | None = None
        self._satellite: Satellite | None = None

    @property
    def client(self) -> Client:
        """The connection to the house; another one after a restart."""
        assert self._client is not None
        return self._client

    @property
    def satellite(self) -> Satellite:
        """How the house knows the phone."""
        assert self._satellite is not None
        return self._satellite

    @property
    def _ear(self) -> Listener:
        assert self._listener is not None
        return self._listener

    async def serve(self, provider: Provider) -> str:
        """Start whom the house talks to; return the address.

        Raises:
            ProcessFailed: it does not start.

        """
        return await self._stack.enter_async_context(
            served(
                provider,
                processes=self.processes,
                python=self._speech,
                repository=REPOSITORY,
                log=self.wire.path,
            )
        )

    async def listen(self) -> None:
        """Load the recogniser that hears the answers again."""
        self._listener = await Listener.start(self.processes, self._speech, REPOSITORY)

    async def start_house(self) -> Started:
        """Start Home Assistant and connect to it."""
        started = await self.house.start()
        self._client = await self._stack.enter_async_context(
            Client.connect(self.http, self.house.base, self.house.token)
        )
        return started

    async def stop_house(self) -> tuple[int, float]:
        """Stop Home Assistant; return its exit code and the seconds it took."""
        return await self.house.stop()

    async def install(self, base_url: str, provider: Provider) -> dict[str, Any]:
        """Install the integration as a user does: its config flow, with a pipeline of its own."""
        before = {one["id"] for one in await self._pipelines()}
        entry = await self.client.flow(
            INTEGRATION,
            {
                "provider": "openai",
                "base_url": base_url,
                "api_key": provider.key,
                "create_pipeline": True,
            },
        )
        made = [one for one in await self._pipelines() if one["id"] not in before]
        if len(made) != 1:
            raise CommandFailed(f"the config flow made {len(made)} pipelines, not one")
        self.pipeline = made[0]["id"]
        await self._resume_with(entry["result"]["entry_id"], RESUME_TOKENS)
        return {"state": entry["result"]["state"], "pipeline": made[0]}

    async def _resume_with(self, entry_id: str, tokens: int) -> None:
        """Let a resumed session be told so little that a few turns are worth a summary."""
        listed = await self.client.command("config_entries/subentries/list", entry_id=entry_id)
        await self.client.flow(
            (entry_id, "assistant"),
            {
                "model": "gpt-realtime-2.1",
                "llm_hass_api": ["assist"],
                "remembering": {"resume_tokens": tokens},
            },
            kind="subentries/flow",
            subentry_id=listed[0]["subentry_id"],
        )

    async def connect_phone(self) -> Satellite:
        """Have the phone call, let it in, give it a place and the pipeline."""
        entry = (await self.client.flow("voip", {}))["result"]
        await self.client.flow(
            entry["entry_id"],
            {"sip_port": self.sip_port},
            kind="options/flow",
        )
        # The default port may have been another program's; with its own one it works.
        if entry["state"] != "loaded":
            path = f"/api/config/config_entries/entry/{entry['entry_id']}/reload"
            await self.client.post(path, {})
        self.phone.prepare()
        self._satellite = await self.phone.introduce(self.client)
        self.light, self.area = await light(self.client), await kitchen(self.client)
        await self.client.command(
            "config/device_registry/update",
            device_id=self.satellite.device_id,
            area_id=self.area,
        )
        await self.client.act("switch", "turn_on", {"entity_id": self.satellite.allow})
        named = {one["id"]: one["name"] for one in await self._pipelines()}
        await self.client.act(
            "select",
            "select_option",
            {"entity_id": self.satellite.pipeline, "option": named[self.pipeline]},
        )
        return self.satellite

    async def say(self, name: str, text: str, sound: Sound) -> Spoken:
        """Say something by phone, keep the answer as NAME.wav and hear it again.

        Raises:
            NoAnswer: none came.

        """
        mark = self.wire.mark()
        call: Call = await self.phone.call(
            self.client, self.satellite.entity_id, sound, seconds=_ANSWER_SECONDS
        )
        wav, heard = await self.hear_again(name, call.heard)
        return Spoken(
            said=text,
            understood=await self._understood(),
            heard=heard,
            wav=wav,
            delay_ms=call.delay_ms,
            seconds=call.seconds,
            frames=self.wire.since(mark),
        )

    async def hear_again(self, name: str, answer: Sound) -> tuple[Path, str]:
        """Keep an answer as NAME.wav; return its place and the words in it.

        It is heard from the scratch folder: another demonstration may keep its own answers in the
        same place.
        """
        own, kept = self._scratch / f"{name}.wav", self.keep / f"{name}.wav"
        await asyncio.to_thread(answer.save, own)
        await asyncio.to_thread(shutil.copyfile, own, kept)
        return kept, await self._ear.words(own)

    def house_log(self) -> list[str]:
        """Return the lines that Home Assistant has logged in all its starts."""
        return self.house.log.read_text(errors="replace").splitlines()

    def stored_thread(self) -> dict[str, Any]:
        """Return what lies on disk of all that was said in the kitchen.

        Raises:
            CommandFailed: nothing does.

        """
        for path in (self._scratch / "config/.storage" / INTEGRATION / "threads").glob("*"):
            thread: dict[str, Any] = json.loads(path.read_text())["data"]
            if str(thread["key"]).endswith(f"device:{self.satellite.device_id}"):
                return thread
        raise CommandFailed("no thread of the phone is stored")

    async def close(self) -> None:
        """End the connections."""
        await self._stack.aclose()

    async def _pipelines(self) -> list[dict[str, Any]]:
        listed = await self.client.command("assist_pipeline/pipeline/list")
        found: list[dict[str, Any]] = listed["pipelines"]
        return found

    async def _understood(self) -> str:
        """Return the words of the newest run that has any, as the house itself keeps them."""
        kind = "assist_pipeline/pipeline_debug"
        listed = await self.client.command(f"{kind}/list", pipeline_id=self.pipeline)
        for run in reversed(listed["pipeline_runs"]):
            events = await self.client.command(
                f"{kind}/get", pipeline_id=self.pipeline, pipeline_run_id=run["pipeline_run_id"]
            )
            for event in events["events"]:
                if event["type"] == "stt-end":
                    return str(event["data"]["stt_output"]["text"])
        return ""


@asynccontextmanager
async def set_up(
    *, processes: Processes, http: aiohttp.ClientSession, scratch: Path, keep: Path, speech: Path
) -> AsyncIterator[Scene]:
    """Prepare an empty scene, and leave nothing of it."""
    scene = Scene(processes=processes, http=http, scratch=scratch, keep=keep, speech=speech)
    await asyncio.to_thread(scene.house.prepare)
    try:
        yield scene
    finally:
        await scene.close()
