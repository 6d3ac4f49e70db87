"""Who may have a response, and what it is made from: the conversation, or input of its own."""

import copy
from typing import TYPE_CHECKING, Any, Literal

from .brain import Call, Failure, ItemView, Reply, Request
from .items import Item, unanswered_calls
from .refusal import RefusedError
from .respond import ResponseRun, Wanted
from .usage import Prompt, cached_tokens, prompt_of

if TYPE_CHECKING:
    from .session import LoopbackSession

type Json = dict[str, Any]

_OVERRIDABLE = (
    "instructions",
    "tools",
    "tool_choice",
    "output_modalities",
    "max_output_tokens",
)


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
            _refuse_out_of_band(options)
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
        config |= {name: options[name] for name in _OVERRIDABLE if name in options}
        config["audio"]["output"].update(options.get("audio", {}).get("output", {}))
        failure = None
        if "input" in options:
            items = self._input(options["input"])
        else:
            failure = self._trim(config)
            items = session.conversation.seen()
        calls = [] if aside or "input" in options else unanswered_calls(items)
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
        limit = session.window
        if truncation == "disabled":
            if sum(item.tokens() for item in session.conversation.seen()) <= limit:
                return None
            says = f"The conversation exceeds the model's input token limit of {limit}."
            if session.switches.over_limit == "error_event":
                raise RefusedError(code="input_tokens_exceeded", says=says)
            return Reply(failure=Failure("failed", "input_tokens_exceeded", says))
        keep = 1.0
        if isinstance(truncation, dict):
            keep = truncation["retention_ratio"]
            limits = truncation.get("token_limits") or {}
            limit = min(limit, limits.get("post_instructions") or limit)
        session.conversation.trim(limit, keep)
        return None


def _refuse_out_of_band(options: Json) -> None:
    """Refuse what a server without out-of-band responses does not know. Raises RefusedError."""
    for name in ("conversation", "input", "metadata"):
        if name in options:
            param = f"response.{name}"
            says = f"Unknown parameter: '{param}'."
            raise RefusedError(code="unknown_parameter", says=says, param=param)


def views(items: list[Item]) -> tuple[ItemView, ...]:
    """Return items as a model sees them.

    No ids, no transcripts, outputs with the name of their call.
    """
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
