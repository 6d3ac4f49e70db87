"""What is shown: the steps, in their order, each with its evidence."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.environment.catalogue import HUMAN_SPEECH

from . import wire
from .house import INTEGRATION, state_of
from .latency import measure
from .report import StepResult
from .scene import Scene, Spoken
from .server import Provider
from .sound import Sound, converted, speak
from .wire import Frame

SUMMARY_SECONDS: Final = 60.0
"""How long the model and then the built-in way may take."""

HUMAN = Path(HUMAN_SPEECH.file or "")
"""A person says "go forward ten meters"."""

type Evidence = dict[str, Any]


@dataclass(slots=True)
class Told:
    """What later steps need to know of earlier ones."""

    provider: Provider
    base_url: str = ""
    spoken: list[Spoken] = field(default_factory=list)
    before_restart: tuple[Frame, ...] = ()
    on_resume: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A part of the story. Without an `essential` one the rest makes no sense."""

    name: str
    show: Callable[[Scene, Told], Awaitable[StepResult]]
    essential: bool = False


async def start(scene: Scene, told: Told) -> StepResult:
    """Start the server, Home Assistant and the ear; install the integration."""
    async with asyncio.TaskGroup() as tasks:
        server = tasks.create_task(scene.serve(told.provider))
        house = tasks.create_task(scene.start_house())
        tasks.create_task(scene.listen())
    told.base_url = server.result()
    installed = await scene.install(told.base_url, told.provider)
    started, pipeline = house.result(), installed["pipeline"]
    return StepResult(
        step="start",
        ok=installed["state"] == "loaded" and not pipeline["prefer_local_intents"],
        evidence={
            "home_assistant": started.version,
            "http_s": started.http_s,
            "running_s": started.running_s,
            "provider": told.provider.upstream or "this repository's speaking server",
            "entry": installed["state"],
            "engines": [
                pipeline[key] for key in ("stt_engine", "conversation_engine", "tts_engine")
            ],
            "prefer_local_intents": pipeline["prefer_local_intents"],
        },
    )


async def phone(scene: Scene, told: Told) -> StepResult:
    """Connect the phone and put it into the kitchen."""
    del told
    satellite = await scene.connect_phone()
    return StepResult(
        step="phone",
        ok=True,
        evidence={
            "satellite": satellite.entity_id,
            "device_id": satellite.device_id,
            "area": scene.area,
            "sip_port": scene.sip_port,
        },
    )


async def light(scene: Scene, told: Told) -> StepResult:
    """Switch on the light of the room by a word."""
    before = (await state_of(scene.client, scene.light))["state"]
    spoken = await _ask(scene, told, "light", "turn on the kitchen light")
    after = (await state_of(scene.client, scene.light))["state"]
    called = wire.calls(spoken.frames)
    evidence = _evidence(spoken) | {
        "light": scene.light,
        "before": before,
        "after": after,
        "tool_calls": [{"name": call.name, "arguments": call.arguments} for call in called],
    }
    well = before != "on" and after == "on" and bool(called) and bool(spoken.heard)
    return StepResult(step="light", ok=well, evidence=evidence)


async def remember(scene: Scene, told: Told) -> StepResult:
    """Tell the house a name and other things, once with a person's own voice."""
    turns = [
        await _ask(scene, told, "remember", "my name is Anna"),
        await _ask(scene, told, "remember-jazz", "I like jazz in the evening"),
    ]
    human = await converted(await asyncio.to_thread(HUMAN.read_bytes), raw=True)
    turns.append(await _say(scene, told, "remember-human", "go forward ten meters", human))
    evidence = {
        "turns": [_evidence(turn) for turn in turns],
        "human_speech": HUMAN.name,
        "items_held": wire.items_held(scene.wire.since()),
    }
    named = f"{turns[0].understood} {turns[0].heard}"
    well = all(turn.heard for turn in turns) and has(named, "anna")
    return StepResult(step="remember", ok=well, evidence=evidence)


async def restart(scene: Scene, told: Told) -> StepResult:
    """Stop Home Assistant and start it again."""
    told.before_restart = scene.wire.since()
    code, stopped = await scene.stop_house()
    started = await scene.start_house()
    evidence = {
        "exit_code": code,
        "stopped_s": stopped,
        "http_s": started.http_s,
        "running_s": started.running_s,
    }
    return StepResult(step="restart", ok=code == 0, evidence=evidence)


async def recall(scene: Scene, told: Told) -> StepResult:
    """Ask for the name."""
    spoken = await _ask(scene, told, "recall", "what is my name")
    told.on_resume = spoken.frames
    return StepResult(
        step="recall",
        ok=has(spoken.heard, "anna"),
        evidence=_evidence(spoken) | resumed(told),
    )


async def update(scene: Scene, told: Told) -> StepResult:
    """Change the memory from outside, twice, while a session is live."""
    first = await _update(scene, {"bins": "The bins go out on Wednesday", "door": "It is 4711"})
    mark = scene.wire.mark()
    second = await _update(scene, {"bins": "The bins go out on Thursday"}, forget=["door"])
    frames = scene.wire.since(mark)
    spoken = await _ask(scene, told, "update", "when do the bins go out")
    followed = [one for one in second["sessions"] if one["state"] == "updated"]
    evidence = _evidence(spoken) | {
        "first": first,
        "second": second,
        "items_created": wire.count(frames, "conversation.item.create"),
        "items_deleted": wire.count(frames, "conversation.item.delete"),
        "items_held": wire.items_held(scene.wire.since()),
    }
    changed = any(one["rebuilt"] or (one["created"] and one["deleted"]) for one in followed)
    well = changed and has(spoken.heard, "thursday") and not has(spoken.heard, "wednesday")
    return StepResult(step="update", ok=well, evidence=evidence)


async def _summarised(scene: Scene) -> dict[str, Any]:
    """Return the stored thread once it has a summary; as it is, if none comes.

    The model is asked for it between two turns, and a call that comes goes first.
    """
    thread: dict[str, Any] = {"summary": None}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SUMMARY_SECONDS):
            # A file tells nobody that it was written.
            while not (thread := await asyncio.to_thread(scene.stored_thread))["summary"]:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
    return thread


async def summary(scene: Scene, told: Told) -> StepResult:
    """Show what is stored, and what a resumed session costs beside all that was said."""
    thread = await _summarised(scene)
    stored = thread["summary"]
    lines = [line["text"] for line in stored["lines"]] if stored else []
    evidence = {
        "summary": lines,
        "made_by": stored["made_by"] if stored else None,
        "turns_in_summary": stored["upto"] if stored else 0,
        "turns_verbatim": len(thread["turns"]),
        **resumed(told),
    }
    return StepResult(step="summary", ok=bool(lines), evidence=evidence)


async def latency(scene: Scene, told: Told) -> StepResult:
    """Measure how long an answer takes, over the websocket API and by phone."""
    said = "what can you do for me"
    sound = await speak(said)
    measured = await measure(scene.client, scene.http, scene.pipeline, sound)
    wav, heard = await scene.hear_again("latency", await converted(measured.audio))
    phones = sorted(one.delay_ms for one in told.spoken if one.delay_ms is not None)
    evidence = {
        "said": said,
        "understood": measured.words,
        "heard": heard,
        "wav": str(wav),
        "end_of_speech_ms": measured.end_of_speech_ms,
        "transcript_ms": measured.transcript_ms,
        "first_byte_ms": measured.first_byte_ms,
        "content_type": measured.kind,
        "phone_first_sound_ms": phones[len(phones) // 2] if phones else None,
        "phone": "Home Assistant's voip plays an answer when it is complete, after a beep",
    }
    well = measured.first_byte_ms > 0 and bool(heard)
    return StepResult(step="latency", ok=well, evidence=evidence)


async def end(scene: Scene, told: Told) -> StepResult:
    """Stop Home Assistant, and see whether the integration complained."""
    del told
    code, stopped = await scene.stop_house()
    log = await asyncio.to_thread(scene.house_log)
    complaints = [line for line in log if "ERROR" in line and INTEGRATION in line]
    evidence = {"exit_code": code, "stopped_s": stopped, "errors_logged": complaints}
    return StepResult(step="end", ok=code == 0 and not complaints, evidence=evidence)


STEPS = (
    Step(name="start", show=start, essential=True),
    Step(name="phone", show=phone, essential=True),
    Step(name="light", show=light),
    Step(name="remember", show=remember),
    Step(name="restart", show=restart, essential=True),
    Step(name="recall", show=recall),
    Step(name="update", show=update),
    Step(name="summary", show=summary),
    Step(name="latency", show=latency),
    Step(name="end", show=end),
)


async def _update(scene: Scene, entries: dict[str, str], *, forget: Sequence[str] = ()) -> Evidence:
    """Call `memory.update` for the phone's own scope and return its response."""
    data: dict[str, Any] = {
        "scope": "device",
        "scope_id": scene.satellite.device_id,
        "entries": entries,
    }
    if forget:
        data["forget"] = list(forget)
    response: Evidence = await scene.client.act("memory", "update", data, response=True)
    return response


async def _ask(scene: Scene, told: Told, name: str, text: str) -> Spoken:
    return await _say(scene, told, name, text, await speak(text))


async def _say(scene: Scene, told: Told, name: str, text: str, sound: Sound) -> Spoken:
    spoken = await scene.say(name, text, sound)
    told.spoken.append(spoken)
    return spoken


def _evidence(spoken: Spoken) -> Evidence:
    """Return what shows a turn."""
    return {
        "said": spoken.said,
        "understood": spoken.understood,
        "heard": spoken.heard,
        "wav": str(spoken.wav),
        "answer_after_ms": spoken.delay_ms,
        "call_s": spoken.seconds,
    }


def resumed(told: Told) -> Evidence:
    """Return what the resumed session was told, beside what the whole history would cost.

    The history is what the last response before the restart read besides instructions and tools:
    all turns, as audio. Each session reads those two as well.
    """
    fixed = wire.about_tokens(wire.instructions(told.before_restart))
    whole = wire.input_tokens(told.before_restart)
    resumed = wire.input_tokens(told.on_resume)
    return {
        "resume_tokens": sum(wire.about_tokens(note) for note in wire.notes(told.on_resume)),
        "history_tokens": max(0, whole[-1] - fixed) if whole else None,
        "instructions_tokens": fixed,
        "input_tokens_before_restart": whole[-1] if whole else None,
        "input_tokens_on_resume": resumed[0] if resumed else None,
    }


def has(text: str, word: str) -> bool:
    """Tell whether a text has a word, or one that begins with it, in whatever case."""
    return re.search(rf"\b{word}", text.casefold()) is not None
