"""`python -m tests.demo.record FILE`: what a real provider answers to one fixed script.

Writes its frames and says, act by act, whether this repository's loopback server ends it in the
same way. It needs OPENAI_API_KEY, and is the only thing here that nobody without one can run.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import aiohttp

from tests.loopback import Call, LoopbackServer, ScriptedBrain, Speech

from .report import Reporter, StepResult
from .run import provider_of_environment
from .script import MODEL, Act, Seen, acts
from .sound import pcm_at, speak

type Json = dict[str, Any]

_ACT_SECONDS = 30.0
_SETTLE_SECONDS = 0.5
_AUDIO_KEPT = 64
_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """One event on the wire, and when, in milliseconds from the beginning."""

    direction: Literal["sent", "received"]
    ms: int
    event: Json


@dataclass(slots=True)
class Played:
    """What became of one act."""

    name: str
    passed: list[Passed] = field(default_factory=list)
    end: Json | None = None
    """The event that ended it; None if none came."""

    @property
    def outcome(self) -> str:
        """How it ended, in a word."""
        if self.end is None:
            return "nothing"
        if self.end["type"] == "response.done":
            return f"response.done {self.end['response'].get('status')}"
        return str(self.end["type"])

    @property
    def code(self) -> str | None:
        """The error's code, if it ended with one."""
        error = (self.end or {}).get("error") or {}
        return error.get("code") or error.get("type")


async def play(
    http: aiohttp.ClientSession,
    base_url: str,
    key: str,
    speech: bytes,
    *,
    settle: float = _SETTLE_SECONDS,
    patience: float = _ACT_SECONDS,
) -> list[Played]:
    """Play the script to a server and return what passed.

    Args:
        http: opens the socket.
        base_url: the server's address, ending in /v1.
        key: its API key.
        speech: a question, as PCM at 24 kHz.
        settle: seconds in which more may come after the event that ends an act.
        patience: seconds to wait for that event.

    Raises:
        aiohttp.ClientError: the server cannot be reached, or refuses the key.

    """
    headers = {"Authorization": f"Bearer {key}"}
    async with http.ws_connect(
        f"{base_url}/realtime", params={"model": MODEL}, headers=headers, max_msg_size=_BYTES
    ) as socket:
        player = _Player(socket, Seen(speech), settle, patience)
        opening = Act(name="open", send=lambda _: [], until=("session.created",))
        return [await player.play(act) for act in (opening, *acts())]


class _Player:
    """Plays one act after another on an open socket."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, seen: Seen, settle: float, patience: float
    ) -> None:
        self._socket = socket
        self._seen = seen
        self._settle = settle
        self._patience = patience
        self._begun = monotonic()

    async def play(self, act: Act) -> Played:
        """Send the act's events and wait for its end, and a little longer."""
        played = Played(act.name)
        for number, command in enumerate(act.send(self._seen)):
            named = {"event_id": f"{act.name}_{number}", **command}
            played.passed.append(self._passed("sent", named))
            await self._socket.send_json(named)
        deadline = monotonic() + self._patience
        while (event := await self._event(deadline)) is not None:
            played.passed.append(self._passed("received", event))
            self._seen.take(event)
            if played.end is None and (event["type"] in act.until or event["type"] == "error"):
                played.end = event
                if not act.settles:
                    break
                deadline = monotonic() + self._settle
        return played

    async def _event(self, deadline: float) -> Json | None:
        """Return the next event, or None when the time is up or the server is gone."""
        try:
            message = await self._socket.receive(timeout=max(0.01, deadline - monotonic()))
        except TimeoutError:
            return None
        if message.type is not aiohttp.WSMsgType.TEXT:
            return None
        event: Json = message.json()
        return event

    def _passed(self, direction: Literal["sent", "received"], event: Json) -> Passed:
        ms = round((monotonic() - self._begun) * 1000)
        return Passed(direction=direction, ms=ms, event=event)


def written(played: list[Played]) -> str:
    """Return the frames as YAML, in the form in which other public recordings come.

    Audio is shortened: it is of no use to a reader, and somebody's voice.
    """
    return "\n".join(["version: 1", "interactions:", *_lines(played)]) + "\n"


def _lines(played: list[Played]) -> Iterator[str]:
    for one in played:
        for passed in one.passed:
            told = {
                "kind": "message",
                "act": one.name,
                "ms": passed.ms,
                "direction": passed.direction,
                "data": _shortened(passed.event),
            }
            # JSON is YAML.
            yield f"- {json.dumps(told, ensure_ascii=False)}"


def _shortened(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, dict):
        return {
            key: item[:_AUDIO_KEPT]
            if key in ("audio", "delta") and isinstance(item, str) and len(item) > 4 * _AUDIO_KEPT
            else _shortened(item)
            for key, item in value.items()
        }
    return [_shortened(item) for item in value] if isinstance(value, list) else value


def compare(real: list[Played], loopback: list[Played]) -> Iterator[StepResult]:
    """Yield, for each act, whether both servers end it alike."""
    for ours, theirs in zip(loopback, real, strict=True):
        evidence = {
            "outcome": theirs.outcome,
            "code": theirs.code,
            "loopback": ours.outcome,
            "loopback_code": ours.code,
            "kinds": list(dict.fromkeys(p.event["type"] for p in theirs.passed)),
        }
        yield StepResult(step=theirs.name, ok=ours.outcome == theirs.outcome, evidence=evidence)


async def against_loopback(
    http: aiohttp.ClientSession, speech: bytes, *, settle: float = _SETTLE_SECONDS
) -> list[Played]:
    """Play the script to this repository's server."""
    long = Speech("one, two, three, four, five", ms=60_000)
    brain = ScriptedBrain(
        replies=["On Monday.", "It is evening.", long, Call("lamp", '{"on": true}'), "It is on."],
        hears=["what time is it"],
    )
    async with LoopbackServer(brain) as server:
        return await play(http, server.base_url, "any", speech, settle=settle)


async def _main(arguments: argparse.Namespace) -> int:
    reporter = Reporter(as_json=arguments.json)
    provider = provider_of_environment()
    if provider.upstream is None:
        evidence = {"error": "OPENAI_API_KEY is not set, and there is nobody else to record"}
        reporter.step(StepResult(step="record", ok=False, evidence=evidence))
        return 1
    speech = await pcm_at(await speak("what time is it"), 24_000)
    async with aiohttp.ClientSession() as http:
        reporter.progress("the loopback server plays the script")
        loopback = await against_loopback(http, speech)
        reporter.progress(f"{provider.upstream} plays the script")
        real = await play(http, provider.upstream, provider.key, speech)
    await asyncio.to_thread(arguments.file.write_text, written(real), encoding="utf-8")
    for result in compare(real, loopback):
        reporter.step(result)
    return 0 if reporter.all_well else 1


def main() -> int:
    """Read the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.demo.record", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true")
    return asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
