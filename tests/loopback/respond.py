"""One response: thought about, streamed step by step, cancelled or ended."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .brain import Call, Failure, Reply, Request
from .items import Item
from .plan import Planner, Step
from .stream import OutputItem
from .usage import Prompt, nothing_used, usage_of

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One response that was asked for: everything it needs, as it stood when it was asked for."""

    id: str
    config: Json
    request: Request
    prompt: Prompt
    metadata: Json | None
    again: tuple[Call, ...]
    scripted: Reply | None

    @property
    def max_tokens(self) -> float:
        """How many tokens may come out."""
        limit = self.config["max_output_tokens"]
        return float("inf") if limit == "inf" else float(limit)


class ResponseRun:
    """One response being made: the sink of its output items."""

    def __init__(self, session: LoopbackSession, wanted: Wanted) -> None:
        """Prepare it; nothing is sent yet."""
        self.id = wanted.id
        self.wanted = wanted
        self._session = session
        self._switches = session.switches
        self._outputs: list[OutputItem] = []
        self._stopped: asyncio.Event = asyncio.Event()
        self._reason = ""
        self._planner = Planner(session, self)

    @property
    def aside(self) -> bool:
        """Whether it is out of band."""
        return self.wanted.request.aside

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end early."""
        return self._stopped.is_set()

    def begin(self) -> None:
        """Send `response.created`."""
        self.emit("response.created", response=self.wire("in_progress", None, None))

    def stop(self, reason: str) -> None:
        """Ask it to end early; a second time changes nothing."""
        if not self._stopped.is_set():
            self._reason = reason
            self._stopped.set()

    async def run(self) -> None:
        """Think, stream, end."""
        reply = await self._until_stopped(self._think())
        failure = None
        if reply is not None:
            steps = await self._until_stopped(self._planner.plan(reply))
            failure = await self._play(steps or []) or reply.failure
        self._end(failure)

    async def _think(self) -> Reply:
        """Return what to say after the time it takes to find it."""
        session, wanted = self._session, self.wanted
        asked = session.clock.now()
        usual = session.dice.uniform(*self._switches.think)
        if wanted.scripted is not None:
            reply = wanted.scripted
        elif wanted.again:
            reply = Reply(wanted.again)
        else:
            reply = await session.brain.reply(wanted.request)
        took = session.clock.now() - asked
        if reply.after is None:
            await session.clock.sleep(max(0.0, usual - took))
        else:
            await session.clock.lapse(max(0.0, reply.after - took))
        return reply

    async def _until_stopped[T](self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of `work`, or None as soon as the response shall stop."""
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            stop.cancel()
            task.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    async def _play(self, steps: list[Step]) -> Failure | None:
        """Take the steps at their pace; return why it ended early by itself, if it did."""
        trailing = self._switches.trailing_deltas
        for step in steps:
            await self._session.clock.sleep(step.seconds)
            if self._stopped.is_set():
                if not step.delta or not trailing:
                    return None
                trailing -= 1
            step.act()
            if self._planner.tokens > self.wanted.max_tokens:
                return Failure("incomplete", reason="max_output_tokens")
        return None

    def _end(self, failure: Failure | None) -> None:
        """Close what is open and send `response.done`."""
        early = self._stopped.is_set()
        for output in self._outputs:
            if output.is_open:
                output.close("incomplete")
                if self._switches.cancelled_item == "removed" and early and not self.aside:
                    self._session.conversation.discard(output.item)
        status, details = self._outcome(failure)
        cached = self._session.responder.cached(self.wanted.prompt, aside=self.aside)
        usage = usage_of(
            self.wanted.prompt, cached, self._planner.text_tokens, self._planner.audio_tokens
        )
        if self._switches.usage == "zero":
            usage = nothing_used()
        self.emit("response.done", response=self.wire(status, details, usage))
        self._session.responder.ended(self)

    def _outcome(self, failure: Failure | None) -> tuple[str, Json | None]:
        """Return the final status of the response and its details."""
        if self._stopped.is_set():
            return "cancelled", {"type": "cancelled", "reason": self._reason}
        if failure is None:
            return "completed", None
        if failure.status == "incomplete":
            return "incomplete", {"type": "incomplete", "reason": failure.reason}
        error = {"type": failure.kind, "code": failure.code, "message": failure.says}
        return "failed", {"type": "failed", "error": error}

    def wire(self, status: str, details: Json | None, usage: Json | None) -> Json:
        """Return the response object, fields in the recorded order."""
        config = self.wanted.config
        outputs = [output.item.wire() for output in self._outputs if not output.is_open]
        sound = config["audio"]["output"]
        return {
            "object": "realtime.response",
            "id": self.id,
            "status": status,
            "status_details": details,
            "output": outputs if usage is not None else [],
            "conversation_id": None if self.aside else self._session.conversation_id,
            "output_modalities": config["output_modalities"],
            "max_output_tokens": config["max_output_tokens"],
            "audio": {"output": {"format": sound["format"], "voice": sound["voice"]}},
            "usage": usage if self._switches.usage != "none" else None,
            "metadata": self.wanted.metadata,
        }

    # What its planner and its output items ask of it

    @property
    def modality(self) -> str:
        """Whether it shall be `audio` or `text`."""
        return self.wanted.request.modality

    def opened(self, output: OutputItem) -> None:
        """Count an item as part of the response."""
        self._outputs.append(output)

    def emit(self, kind: str, **fields: object) -> None:
        """Send an event, and count audio that was sent."""
        self._session.emit(kind, **fields)
        if kind == "response.output_audio.delta":
            self._session.responder.audio_deltas += 1
            self._session.spoke = self._session.spoke or not self.aside
            self._session.progress.fire()

    def added(self, item: Item) -> None:
        """Put the item into the conversation and announce it."""
        if not self.aside:
            self._session.conversation.append(item)
            self._session.announce_reply(item, "added")

    def done(self, item: Item) -> None:
        """Announce that the item is complete."""
        if not self.aside:
            self._session.announce_reply(item, "done")

    def obfuscation(self) -> Json:
        """Return the padding that hides the length of text-like deltas."""
        return self._session.obfuscation()
