"""A satellite that nobody here wrote: the SIP phone `baresip` calls Home Assistant's `voip`."""

import asyncio
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from .client import Client, CommandFailed, Subscription
from .ports import free_udp_block, free_udp_port
from .processes import Processes, Running
from .sound import Sound, SoundMissing, converted, save_at

_MODULES = "lib*/baresip/modules", "lib/*/baresip/modules"
_LEAD_MS, _TAIL_MS = 400, 60_000
"""Silence before the words, and after them: a file that ends makes the phone fall silent on the
wire, which Home Assistant takes for a hang-up."""

_CONFIG = """\
sip_listen 127.0.0.1:{sip}
net_interface 127.0.0.1
rtp_ports {first}-{last}
audio_source aufile,{folder}/in.wav
audio_player aubridge,nowhere
audio_alert aufile,{folder}/none.wav
ausrc_srate 48000
auplay_srate 48000
ausrc_channels 1
auplay_channels 1
module_path {modules}
module account.so
module menu.so
module opus.so
module aufile.so
module aubridge.so
module sndfile.so
module uuid.so
snd_path {folder}
opus_bitrate 28000
opus_stereo no
opus_sprop_stereo no
"""
_ACCOUNT = "<sip:kitchen@127.0.0.1:{sip};transport=udp>;regint=0;audio_codecs=opus/48000/2\n"


class NoAnswer(Exception):
    """The phone called, and no spoken answer came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: what was said, what the phone recorded of the answer, and when."""

    said: Sound
    heard: Sound
    """What came after the beep that ends listening, up to the hang-up."""
    delay_ms: int | None
    """From the last frame of speech to the first of the answer; None if it cannot be told."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Satellite:
    """How Home Assistant knows the phone."""

    entity_id: str
    device_id: str
    allow: str
    pipeline: str


class Phone:
    """Calls Home Assistant, says one thing a call, and records what comes back."""

    def __init__(self, *, folder: Path, processes: Processes, server_port: int) -> None:
        """Keep the phone's files in `folder`; Home Assistant listens for calls on `server_port`."""
        self._folder = folder
        self._processes = processes
        self._server = server_port
        self._sip = free_udp_port()

    def prepare(self) -> None:
        """Write the phone's configuration.

        The SIP port stays the same from call to call, since Home Assistant knows the phone by it.

        Raises:
            SoundMissing: baresip is not installed.

        """
        self._folder.mkdir(parents=True, exist_ok=True)
        modules = next((path for way in _MODULES for path in Path("/usr").glob(way)), None)
        if modules is None:
            raise SoundMissing("baresip's modules are missing: install the package baresip-core")
        first, last = free_udp_block()
        (self._folder / "config").write_text(
            _CONFIG.format(
                sip=self._sip, first=first, last=last, folder=self._folder, modules=modules
            )
        )
        (self._folder / "accounts").write_text(_ACCOUNT.format(sip=self._sip))
        (self._folder / "contacts").write_text("")

    async def introduce(self, client: Client) -> Satellite:
        """Call once, so that Home Assistant makes the satellite, and hang up.

        Raises:
            CommandFailed: no satellite appeared.

        """
        running = await self._dial(Sound.silence(1000))
        try:
            return await self._appeared(client)
        finally:
            await self._processes.stop(running, seconds=5)

    async def call(self, client: Client, entity_id: str, said: Sound, *, seconds: float) -> Call:
        """Call, say something, wait until the answer was played, and hang up.

        Raises:
            NoAnswer: the run failed, or no answer was played within `seconds`.

        """
        begun = monotonic()
        for old in self._folder.glob("dump-*.wav"):
            old.unlink()
        spoken = Sound.silence(_LEAD_MS) + said
        watch = {"platform": "state", "entity_id": entity_id}
        async with client.subscribed("subscribe_trigger", trigger=watch) as changes:
            running = await self._dial(spoken)
            try:
                await _until_played(changes, seconds)
            finally:
                # Before its next run listens: silence would only earn an error tone.
                await self._processes.stop(running, seconds=5)
        sent, received = await self._recording("enc"), await self._recording("dec")
        answer, delay_ms = answer_of(sent, received, said)
        return Call(
            said=said, heard=answer, delay_ms=delay_ms, seconds=round(monotonic() - begun, 2)
        )

    async def _dial(self, said: Sound) -> Running:
        await save_at(said + Sound.silence(_TAIL_MS), self._folder / "in.wav", 48_000)
        address = f"sip:house@127.0.0.1:{self._server}"
        return await self._processes.start(
            "phone", ["baresip", "-f", str(self._folder), "-e", f"/dial {address}"]
        )

    async def _appeared(self, client: Client) -> Satellite:
        for _ in range(100):
            found = await _find(client)
            if found is not None:
                return found
            await asyncio.sleep(0.1)
        raise CommandFailed("the phone called, and Home Assistant made no satellite of it")

    async def _recording(self, way: str) -> Sound:
        files = sorted(self._folder.glob(f"dump-*-{way}.wav"))
        if not files:
            raise NoAnswer("the phone recorded nothing")
        return await converted(await asyncio.to_thread(files[-1].read_bytes))


async def _until_played(changes: Subscription, seconds: float) -> None:
    """Return when the satellite has finished its answer."""
    responded, deadline = False, monotonic() + seconds
    while True:
        try:
            event = await changes.next(max(0.0, deadline - monotonic()))
        except TimeoutError:
            raise NoAnswer(f"no answer was played within {seconds:.0f} s") from None
        state = event["variables"]["trigger"]["to_state"]["state"]
        if state == "responding":
            responded = True
        elif state == "idle" and responded:
            return
        elif state == "idle":
            raise NoAnswer("the run ended without an answer")


async def _find(client: Client) -> Satellite | None:
    found: dict[str, str] = {}
    device = ""
    for entry in await client.command("config/entity_registry/list"):
        if entry["platform"] == "voip":
            full = await client.command("config/entity_registry/get", entity_id=entry["entity_id"])
            found[str(full["unique_id"]).rsplit("-", 1)[-1]] = entry["entity_id"]
            device = entry["device_id"]
    if not {"assist_satellite", "allow_call", "pipeline"} <= found.keys():
        return None
    return Satellite(
        entity_id=found["assist_satellite"],
        device_id=device,
        allow=found["allow_call"],
        pipeline=found["pipeline"],
    )


def answer_of(sent: Sound, received: Sound, said: Sound) -> tuple[Sound, int | None]:
    """Cut the answer out of what the phone recorded, and tell how long it let wait.

    Both recordings begin with the call. The beep that ends listening is known, and the answer is
    what follows it.
    """
    spoken = sent.find(said)
    stop = spoken.end_ms if spoken else 0
    if spoken and (uttered := said.segments()):
        stop = spoken.start_ms + uttered[-1].end_ms
    heard = received.find(beep("processing.pcm"), stop)
    begin = heard.end_ms if heard else stop
    rest = received.part(begin)
    words = rest.segments()
    if not words:
        raise NoAnswer("the phone recorded silence")
    delay = begin + words[0].start_ms - stop if spoken and heard else None
    return rest, delay


def beep(name: str) -> Sound:
    """Return one of the beeps of Home Assistant's `voip`."""
    where = importlib.util.find_spec("homeassistant.components.voip")
    if where is None or where.origin is None:
        raise SoundMissing("Home Assistant's voip is not installed")
    return Sound((Path(where.origin).parent / name).read_bytes())
