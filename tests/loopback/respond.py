"""Responses: who may have one, what it is made from, and how it is streamed, cancelled and ended."""

import asyncio
import copy
import re
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .audio import BYTES_PER_MS, tone
from .brain import Call, Failure, ItemView, Reply, Request, Speech, Text
from .conversation import Item, text_tokens, unanswered_calls
from .refusal import RefusedError
from .stream import OutputItem
from .usage import Prompt, cached_tokens, prompt_of, usage_of

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]

_WORD = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
_TEXT_STEP = 0.02
"""Seconds between two deltas of a text that is not spoken."""


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


@dataclass(frozen=True, slots=True)
class Step:
    """Something a response does after `seconds`; a `delta` may still come after a cancel."""

    seconds: float
    act: Callable[[], None]
    delta: bool = False


class Responder:
    """All responses of a session: at most one in the conversation, any number beside it."""

    def __init__(self, session: LoopbackSession) -> None:
        """Start with none."""
        self.active: ResponseRun | None = None
        self.started = 0
        self.finished = 0
        self.audio_deltas = 0
        self._session = session
        self._asides: dict[str, ResponseRun] = {}
        self._earlier: Prompt | None = None

    def create(self, options: Json, scripted: Reply | None = None) -> ResponseRun:
        """Begin a response, or raise RefusedError. `scripted` is said without asking the brain."""
        session = self._session
        aside = options.get("conversation") == "none"
        if session.switches.out_of_band == "refused":
            for name in ("conversation", "input", "metadata"):
                if name in options:
                    says = f"Unknown parameter: 'response.{name}'."
                    param = f"response.{name}"
                    raise RefusedError(code="unknown_parameter", says=says, param=param)
        if not aside and self.active is not None:
            says = (
                f"Conversation already has an active response in progress: {self.active.id}. "
                "Wait until the response is finished before creating a new one."
            )
            raise RefusedError(code="conversation_already_has_active_response", says=says)
        session.config.check(options, spoke=session.spoke and not aside, at="response")
        run = ResponseRun(session, self._wanted(options, scripted, aside=aside))
        if aside:
            self._asides[run.id] = run
        else:
            self.active = run
            self.started += 1
        run.begin()
        session.spawn(run.run())
        return run

    def cancel(self, response_id: str | None, reason: str = "client_cancelled") -> None:
        """Stop the active response, or the one named. Raises RefusedError if it does not run."""
        run = self.active if response_id is None else self._running(response_id)
        if run is None:
            if self._session.switches.cancel_idle == "silent":
                return
            says = "Cancellation failed: no active response found"
            raise RefusedError(code="response_cancel_not_active", says=says)
        run.stop(reason)

    def ended(self, run: ResponseRun) -> None:
        """Forget a response that has sent its `done`."""
        self._asides.pop(run.id, None)
        if self.active is run:
            self.active = None
            self.finished += 1
            self._session.response_ended()

    def cached(self, prompt: Prompt, *, aside: bool) -> Json:
        """Return the cached tokens of a prompt, and keep it to compare the next one with."""
        dice = self._session.dice.random()
        cached = cached_tokens(prompt, self._earlier, self._session.switches, dice)
        if not aside:
            self._earlier = prompt
        return cached

    def _running(self, response_id: str) -> ResponseRun | None:
        """Return the running response of that id, or None."""
        if self.active is not None and self.active.id == response_id:
            return self.active
        return self._asides.get(response_id)

    def _wanted(self, options: Json, scripted: Reply | None, *, aside: bool) -> Wanted:
        """Put together what a response is made from. Raises RefusedError for bad input items."""
        session = self._session
        config = copy.deepcopy(session.config.wire)
        overridable = (
            "instructions",
            "tools",
            "tool_choice",
            "output_modalities",
            "max_output_tokens",
        )
        config |= {name: options[name] for name in overridable if name in options}
        config["audio"]["output"].update(options.get("audio", {}).get("output", {}))
        failure = None
        if "input" in options:
            items = self._input(options["input"])
        else:
            failure = self._trim(config)
            items = session.conversation.seen()
        calls = () if aside or "input" in options else unanswered_calls(items)
        ask_again = session.switches.unanswered_calls == "ask_again" and scripted is None
        return Wanted(
            id=session.new_id("resp"),
            config=config,
            request=Request(
                context=views(items),
                instructions=config["instructions"] or "",
                tools=tuple(config["tools"]),
                tool_choice=config["tool_choice"],
                modality=config["output_modalities"][0],
                aside=aside,
                model=session.model.name,
            ),
            prompt=prompt_of(config, items, session.switches),
            metadata=options.get("metadata") if session.switches.metadata_echo else None,
            again=tuple(Call(one.name, one.arguments) for one in calls) if ask_again else (),
            scripted=failure or scripted,
        )

    def _input(self, raw: list[Json]) -> list[Item]:
        """Return the items of `response.create.input`; some servers also keep them."""
        session = self._session
        parse = session.conversation.parse_input
        items = [parse(one, f"response.input[{place}]") for place, one in enumerate(raw)]
        if session.switches.out_of_band == "appends_input":
            for item in items:
                if item.id not in session.conversation:
                    session.conversation.append(item)
        return items

    def _trim(self, config: Json) -> Reply | None:
        """Let the oldest items go if the window is full, or return how the response fails."""
        session = self._session
        truncation = config["truncation"]
        limit = session.context_limit
        keep = 1.0
        if isinstance(truncation, dict):
            keep = truncation["retention_ratio"]
            limits = truncation.get("token_limits") or {}
            limit = min(limit, limits.get("post_instructions") or limit)
        if truncation == "disabled":
            if sum(item.tokens() for item in session.conversation.seen()) <= limit:
                return None
            says = f"The conversation exceeds the model's input token limit of {limit}."
            if session.switches.over_limit == "error_event":
                raise RefusedError(code="input_tokens_exceeded", says=says)
            return Reply(failure=Failure("failed", "input_tokens_exceeded", says))
        session.conversation.trim(limit, keep)
        return None


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
        self._text_out = 0
        self._audio_out = 0

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
            steps = await self._until_stopped(self._plan(reply))
            failure = await self._play(steps or []) or reply.failure
        self._end(failure)

    async def _think(self) -> Reply:
        """Return what to say after the time it takes to find it."""
        session, wanted = self._session, self.wanted
        usual = session.dice.uniform(*self._switches.think)
        if wanted.scripted is not None:
            reply = wanted.scripted
        elif wanted.again:
            reply = Reply(wanted.again)
        else:
            reply = await session.brain.reply(wanted.request)
        await session.clock.sleep(usual if reply.after is None else reply.after)
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
            if self._text_out + self._audio_out > self.wanted.max_tokens:
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
        if early:
            status, details = "cancelled", {"type": "cancelled", "reason": self._reason}
        elif failure is None:
            status, details = "completed", None
        elif failure.status == "incomplete":
            status, details = "incomplete", {"type": "incomplete", "reason": failure.reason}
        else:
            error = {"type": failure.kind, "code": failure.code, "message": failure.says}
            status, details = "failed", {"type": "failed", "error": error}
        cached = self._session.responder.cached(self.wanted.prompt, aside=self.aside)
        usage = usage_of(self.wanted.prompt, cached, self._text_out, self._audio_out)
        self.emit("response.done", response=self.wire(status, details, usage))
        self._session.responder.ended(self)

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

    # What its output items ask of it

    def emit(self, kind: str, **fields: object) -> None:
        """Send an event, and count audio that was sent."""
        self._session.emit(kind, **fields)
        if kind == "response.output_audio.delta":
            self._session.responder.audio_deltas += 1
            self._session.spoke = True
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

    # From a reply to steps

    async def _plan(self, reply: Reply) -> list[Step]:
        """Lay out all events of a reply in their order and pace."""
        opened: list[tuple[OutputItem, list[Step]]] = []
        calls_follow = any(isinstance(part, Call) for part in reply.parts)
        for index, part in enumerate(reply.parts):
            output = self._output(index, part, calls_follow=calls_follow)
            opened.append((output, [step async for step in self._deltas(output, part)]))
        return list(self._ordered(opened))

    def _ordered(self, opened: list[tuple[OutputItem, list[Step]]]) -> Iterator[Step]:
        """Yield the steps of all items: one after the other, or a message around its calls."""
        waiting: OutputItem | None = None
        for output, deltas in opened:
            if waiting is not None and output.kind != "call":
                yield Step(0, waiting.close)
                waiting = None
            yield Step(0, self._opening(output))
            yield from deltas
            if output.kind != "call" and self._session.model.interleaves:
                waiting = output
                continue
            if waiting is not None:
                yield Step(0, waiting.close)
                waiting = None
            yield Step(0, output.close)
        if waiting is not None:
            yield Step(0, waiting.close)

    def _opening(self, output: OutputItem) -> Callable[[], None]:
        """Return what opens an item and makes it part of the response."""

        def act() -> None:
            self._outputs.append(output)
            output.open()

        return act

    def _output(self, index: int, part: Speech | Text | Call, *, calls_follow: bool) -> OutputItem:
        """Return the empty item for one part of a reply."""
        session = self._session
        item_id = session.new_id("item")
        closing = self._switches.audio_close
        if isinstance(part, Call):
            call_id = session.new_id("call")
            item = Item(item_id, "function_call", "in_progress", name=part.name, call_id=call_id)
            return OutputItem(self, index, item, "call", closing)
        item = Item(item_id, "message", "in_progress", role="assistant")
        if session.model.interleaves:
            item.phase = part.phase or ("commentary" if calls_follow else "final_answer")
        aloud = isinstance(part, Speech) and self.wanted.request.modality == "audio"
        return OutputItem(self, index, item, "audio" if aloud else "text", closing)

    async def _deltas(self, output: OutputItem, part: Speech | Text | Call):  # noqa: ANN202
        """Yield the steps that fill one item."""
        if isinstance(part, Call):
            for piece in _WORD.findall(part.arguments):
                yield Step(_TEXT_STEP / 2, self._letters(output, piece), delta=True)
            return
        words: list[str] = _WORD.findall(part.text)
        if output.kind == "text":
            for word in words:
                yield Step(_TEXT_STEP, self._letters(output, word), delta=True)
            return
        assert isinstance(part, Speech)  # noqa: S101 - only speech is aloud
        size = self._switches.audio_delta_ms * BYTES_PER_MS
        pcm = await self._sound(part)
        chars = 0
        for start in range(0, max(len(pcm), 1), size):
            due = start / BYTES_PER_MS / 1000 * self._switches.characters_per_second
            while words and chars < due + self._switches.text_lead:
                word = words.pop(0)
                chars += len(word)
                yield Step(0, self._letters(output, word), delta=True)
            chunk = pcm[start : start + size]
            if chunk:
                pace = len(chunk) / BYTES_PER_MS / 1000 / self._switches.audio_speed
                yield Step(pace, self._audio(output, chunk), delta=True)
        for word in words:
            yield Step(0, self._letters(output, word), delta=True)

    async def _sound(self, part: Speech) -> bytes:
        """Return the PCM of a speech."""
        if part.pcm is not None:
            return part.pcm
        if part.ms is not None:
            return tone(part.ms)
        return await self._session.brain.speak(part.text)

    def _letters(self, output: OutputItem, letters: str) -> Callable[[], None]:
        """Return what sends letters and counts them."""

        def act() -> None:
            self._text_out += text_tokens(letters)
            output.text(letters)

        return act

    def _audio(self, output: OutputItem, chunk: bytes) -> Callable[[], None]:
        """Return what sends audio and counts it: 20 tokens a second."""

        def act() -> None:
            self._audio_out += -(-len(chunk) * 20 // (BYTES_PER_MS * 1000))
            output.sound(chunk)

        return act


def views(items: list[Item]) -> tuple[ItemView, ...]:
    """Return items as a model sees them: no ids, no transcripts, outputs with the name of their call."""
    names = {item.call_id: item.name for item in items if item.type == "function_call"}
    kinds: dict[str, Literal["message", "call", "output"]] = {
        "function_call": "call",
        "function_call_output": "output",
    }
    return tuple(
        ItemView(
            kind=kinds.get(item.type, "message"),
            role=item.role,
            text=item.text,
            audio=item.audio,
            name=item.name or names.get(item.call_id, ""),
            arguments=item.arguments,
            output=item.output,
        )
        for item in items
    )
