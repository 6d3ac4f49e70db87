"""Every refusal has its reach: none, this turn, this session, or until a person acts."""

import logging

import pytest

from custom_components.realtime_assist.realtime import failures
from custom_components.realtime_assist.realtime.config import SessionConfig
from custom_components.realtime_assist.realtime.errors import (
    AuthenticationFailed,
    ConnectionLost,
    QuotaExceeded,
    RateLimited,
    RealtimeError,
    ResponseFailed,
)
from custom_components.realtime_assist.realtime.failures import Severity
from custom_components.realtime_assist.realtime.session import SessionState
from tests.loopback import (
    Call,
    Error,
    Failure,
    Fault,
    Garbage,
    Insert,
    LoopbackServer,
    RealClock,
    Reply,
    Request,
    ScriptedBrain,
    Speech,
    Switches,
)
from tests.loopback.brain import Answer
from tests.loopback.faults import Passage

from .rig import CONFIG, Record, changed, quiet, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")


@pytest.mark.parametrize(
    ("code", "reach"),
    [
        ("response_cancel_not_active", Severity.BENIGN),
        ("conversation_already_has_active_response", Severity.BENIGN),
        ("input_audio_buffer_commit_empty", Severity.BENIGN),
        ("inference_rate_limit_exceeded", Severity.TURN),
        ("server_error", Severity.TURN),
        ("never heard of it", Severity.TURN),
        ("session_expired", Severity.SESSION),
        ("max_duration", Severity.SESSION),
        ("insufficient_quota", Severity.FATAL),
        ("invalid_api_key", Severity.FATAL),
        ("model_not_found", Severity.FATAL),
        ("beta_api_shape_disabled", Severity.FATAL),
    ],
)
def test_the_table_of_codes(code: str, reach: Severity) -> None:
    """A harmless refusal harms nobody, and a serious one is not tried again for ever."""
    assert failures.severity(code) is reach
    assert " " not in str(failures.failure(code))


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize(
    "code", ["response_cancel_not_active", "item_delete_invalid_item_id", "server_error"]
)
async def test_an_error_between_turns_harms_nothing(code: str, *, ids: bool) -> None:
    """A complaint that comes when nobody speaks leaves the session and the next turn alone."""
    async with LoopbackServer() as server, rig(server) as house:
        await house.voice_turn()
        error = {"type": "invalid_request_error", "code": code, "message": "secret"}
        server.session.push("error", error=error | ({"event_id": "unheard of"} if ids else {}))
        assert (await house.voice_turn()).end.failure is None
        assert len(server.sessions) == 1


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Failure(code="insufficient_quota"), QuotaExceeded),
        (Failure(code="inference_rate_limit_exceeded"), RateLimited),
        (Failure(code="server_error"), ResponseFailed),
        (Failure("incomplete"), ResponseFailed),
        (None, ResponseFailed),
    ],
)
async def test_a_response_that_fails(failure: Failure | None, error: type[RealtimeError]) -> None:
    """A failed answer is told as such, never as silence; the next turn works."""
    brain = ScriptedBrain(replies=[Reply(failure=failure)], default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn()
        assert type(result.end.failure) is error
        assert (await house.voice_turn()).text == "Yes."
        assert house.session.last_failure is None


async def test_a_call_of_a_failed_response_is_not_run() -> None:
    """A lamp is not switched by an answer that the model did not finish."""
    call = Call("HassTurnOn", "{}")
    brain = ScriptedBrain(replies=[Reply((call,), failure=Failure())], default="Yes.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn()
        assert not result.calls
        assert isinstance(result.end.failure, ResponseFailed)
        assert (await house.voice_turn()).text == "Yes."


async def test_an_answer_that_is_cut_by_the_provider() -> None:
    """Half an answer is spoken, and known to be half."""
    brain = ScriptedBrain(replies=[Reply((Speech("Once upon a"),), failure=Failure("incomplete"))])
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.text == "Once upon a"
        assert result.end.incomplete
        assert result.end.failure is None


async def test_a_refused_request_for_a_response() -> None:
    """An error in place of an answer ends the turn with that error."""
    fault = Fault("client:response.create", Error("rate_limit_exceeded"))
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        assert isinstance((await house.voice_turn()).end.failure, RateLimited)
        assert (await house.voice_turn()).end.failure is None


@pytest.mark.parametrize("ids", [True, False])
async def test_a_refused_configuration(*, ids: bool) -> None:
    """A configuration that the server refuses ends the turn at once, with the reason."""
    fault = Fault("client:session.update", Error("invalid_value", names_event=ids), times=0)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, ResponseFailed)
        assert result.end.failure.code == "invalid_value"
        assert len(server.sessions) == 1


async def test_a_key_that_is_withdrawn_in_the_middle() -> None:
    """A key that stops working is named, and not tried again in this turn."""
    error = {"type": "invalid_request_error", "code": "invalid_api_key", "message": "no"}
    fault = Fault("response.created", Insert({"type": "error", "error": error}))
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, AuthenticationFailed)
        assert house.session.state is SessionState.CLOSED
        assert len(server.sessions) == 1


async def test_an_empty_commit_is_no_speech() -> None:
    """Where the server heard nothing at all, nothing is answered."""
    fault = Fault("client:input_audio_buffer.commit", Error("input_audio_buffer_commit_empty"))
    brain = ScriptedBrain(default=Speech("Hm?", ms=2000))
    async with (
        LoopbackServer(brain, faults=[fault], clock=RealClock(4)) as server,
        rig(server) as house,
    ):
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        heard = await exchange.heard()
        assert heard.text is None
        assert (await house.take(exchange)).text == ""
        exchange.close()
        assert (await house.voice_turn()).text == "Hm?"


async def test_garbage_on_the_wire() -> None:
    """Bytes that mean nothing are ignored."""
    faults = [
        Fault("response.output_audio.delta", Garbage(b"\x00\xff"), nth=2),
        Fault("response.output_audio.delta", Garbage("{broken"), nth=3),
        Fault("response.created", Garbage('["a", 1]')),
    ]
    async with LoopbackServer(faults=faults) as server, rig(server) as house:
        assert (await house.voice_turn()).end.failure is None


@pytest.mark.parametrize("where", ["prepare", "compose", "fresh_view"])
async def test_a_fault_of_our_own(where: str, caplog: pytest.LogCaptureFixture) -> None:
    """A bug ends the turn with an apology, and says where it is but not what was said."""

    class Broken(Record):
        """A record that fails in one place."""

    def fail(*_: object) -> object:
        raise KeyError("secret words")

    async def fail_later(*_: object) -> SessionConfig:
        raise KeyError("secret words")

    setattr(Broken, where, fail_later if where == "prepare" else fail)
    async with LoopbackServer() as server, rig(server, record=Broken()) as house:
        result = await house.voice_turn_unclosed()
        assert isinstance(result.end.failure, ConnectionLost)
    assert "KeyError at" in caplog.text
    assert "secret" not in caplog.text


async def test_nothing_that_was_said_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """No key, word, argument or memory is in any log, at any level."""
    caplog.set_level(logging.DEBUG)
    brain = ScriptedBrain(replies=["My secret answer."], hears=["a secret question"])
    async with (
        LoopbackServer(brain, key="sk-secret") as server,
        rig(server, key="sk-secret") as house,
    ):
        house.record.facts["code"] = "secret fact"
        await house.voice_turn()
        server.session.close(1006)
        house.record.config = changed(CONFIG, instructions="secret prompt")
        await house.voice_turn()
        await house.session.refresh(full=True)
    ours = [r.getMessage() for r in caplog.records if "realtime_assist" in r.name]
    assert not [message for message in ours if "secret" in message]


@pytest.mark.parametrize("seed", range(6))
async def test_what_is_not_known_of_openai(seed: int) -> None:
    """A turn with speech, silence and an error between works, whatever the guesses are worth."""
    brain = ScriptedBrain(hears=["one", "", "two"], default="Yes.")
    async with (
        LoopbackServer(brain, switches=Switches.mixed(seed), seed=seed) as server,
        rig(server) as house,
    ):
        assert (await house.voice_turn()).text == "Yes."
        exchange = house.begin()
        await house.speak(exchange, quiet(700))
        exchange.end_of_speech(respond=True)
        await exchange.heard()
        exchange.close()
        assert (await house.voice_turn(speech(500))).text == "Yes."
        assert len(brain.requests[-1].context) == 3


def limited(*, says: str = "Too much.") -> Reply:
    """Return an answer that is refused since it was too much at once."""
    return Reply(failure=Failure(code="rate_limit_exceeded", says=says))


def used_up(seconds: float) -> Fault:
    """Let the provider tell, behind a response, when there is more of what was used up."""
    limits = [
        {"name": "requests", "limit": 9, "remaining": 3, "reset_seconds": 900},
        {"name": "tokens", "limit": 9, "remaining": 0, "reset_seconds": seconds},
    ]
    told = {"type": "rate_limits.updated", "event_id": "x", "rate_limits": limits}
    return Fault("response.done", Insert(told, "after"))


@pytest.mark.parametrize(
    "how", ["Please try again in 0.1s.", "Try again in 90ms. Visit us.", "announced behind it"]
)
async def test_an_announced_wait_is_waited_once(how: str) -> None:
    """Too much at once costs a moment, where the provider says that a moment is enough."""
    brain = ScriptedBrain([limited(says=how), "Here I am."])
    async with LoopbackServer(brain) as server, rig(server) as house:
        if how.startswith("announced"):
            server.faults.add(used_up(0.1))
        result = await house.voice_turn()
        assert (result.text, result.end.failure) == ("Here I am.", None)
        assert server.total("response.create") == 2
        assert len(result.exchange.record.usage) == 1
        assert (await house.voice_turn()).end.failure is None


@pytest.mark.parametrize(
    "says", ["Please try again in 2s.", "Please try again in 7m12s.", "Too much.", ""]
)
async def test_a_longer_wait_is_told(says: str) -> None:
    """Nobody stands and waits for an answer that may come in a minute."""
    brain = ScriptedBrain([limited(says=says), "Here I am."])
    async with LoopbackServer(brain) as server, rig(server) as house:
        result = await house.voice_turn()
        assert isinstance(result.end.failure, RateLimited)
        assert server.total("response.create") == 1
        assert (await house.voice_turn()).text == "Here I am."


async def test_a_wait_is_waited_only_once() -> None:
    """A provider that is never ready is not asked for ever."""
    brain = ScriptedBrain([limited(says="Please try again in 0.05s.")] * 2)
    async with LoopbackServer(brain) as server, rig(server) as house:
        assert isinstance((await house.voice_turn()).end.failure, RateLimited)
        assert server.total("response.create") == 2


async def test_who_interrupts_a_wait_is_not_answered_late() -> None:
    """An answer that is not wanted any more is not asked for again."""
    brain = ScriptedBrain([limited(says="Please try again in 1s."), "Here I am."])
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        await house.until(lambda: server.session.sent_of("response.done") != [])
        exchange.interrupt(0)
        house.close(await house.take(exchange))
        assert (await house.voice_turn()).text == "Here I am."
        assert server.total("response.create") == 2


async def test_a_refused_request_waits_as_well() -> None:
    """It is the same whether the response failed, or was not even begun."""
    refusal = Error("rate_limit_exceeded", "Please try again in 0.1s.")
    fault = Fault("client:response.create", refusal)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        assert (await house.voice_turn()).end.failure is None
        assert server.total("response.create") == 2


class AboutTheFirst:
    """An error that comes late: it names the first request for a response."""

    def __init__(self, server: LoopbackServer) -> None:
        """Look its name up in what this server received."""
        self._server = server

    def bend(self, passage: Passage) -> None:
        """Put the error before an event."""
        asked = self._server.session.received_of("response.create")[0]["event_id"]
        error = {"type": "invalid_request_error", "code": "server_error", "event_id": asked}
        passage.before.append({"type": "error", "event_id": "late", "error": error})


async def test_an_error_about_an_earlier_request_harms_no_later_one() -> None:
    """What a server says late of one request does not end the answer to the next."""
    brain = ScriptedBrain([[Call("HassTurnOn")], "It is on."])
    async with LoopbackServer(brain) as server, rig(server) as house:
        server.faults.add(Fault("response.created", AboutTheFirst(server), nth=2))
        result = await house.voice_turn()
        assert (result.text, result.end.failure) == ("It is on.", None)


@pytest.mark.parametrize("ids", [True, False])
async def test_a_refused_commit_leaves_nothing_to_the_next_question(*, ids: bool) -> None:
    """What a server would not take does not become part of what is said next."""
    brain = ScriptedBrain()
    refusal = Error("invalid_value", instead=True, names_event=ids)
    fault = Fault("client:input_audio_buffer.commit", refusal)
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn(speech(900))
        assert result.end.failure is not None
        assert result.end.failure.code == "invalid_value"
        assert (await house.voice_turn(speech(500))).end.failure is None
        assert abs(len(brain.requests[-1].context[-1].audio) / 48 - 500) < 5
        assert len(server.sessions) == 1


async def test_an_unexplained_error_ends_what_was_asked_for_at_once() -> None:
    """After a refusal that names nothing the next question needs no other session."""
    refusal = Error("server_error", instead=True, names_event=False)
    fault = Fault("client:response.create", refusal)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert result.end.failure is not None
        assert result.end.failure.code == "server_error"
        assert (await house.voice_turn()).end.failure is None
        assert len(server.sessions) == 1


@pytest.mark.parametrize("ids", [True, False])
async def test_a_refused_outcome_runs_nothing_twice(*, ids: bool) -> None:
    """A lamp is not switched again because the provider would not take the first report of it."""

    def answer(request: Request) -> Answer:
        known = any(item.kind == "output" for item in request.context)
        return "It is on." if known else Call("HassTurnOn", "{}")

    refusal = Error("invalid_value", instead=True, names_event=ids)
    output = Fault(
        "client:conversation.item.create",
        refusal,
        where=lambda event: event["item"]["type"] == "function_call_output",
    )
    brain = ScriptedBrain(default=answer)
    async with LoopbackServer(brain, faults=[output]) as server, rig(server) as house:
        result = await house.voice_turn()
        assert (result.end.failure, result.text) == (None, "It is on.")
        assert len(result.calls) == 1


async def test_typed_words_that_were_refused_are_not_answered_without_them() -> None:
    """Nobody gets an answer to a question that the model did not read."""
    fault = Fault("client:conversation.item.create", Error("invalid_value", instead=True))
    brain = ScriptedBrain(default=lambda request: f"You wrote: {request.texts()}")
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        result = await house.text_turn("Is it warm?")
        assert result.text == "You wrote: ['Is it warm?']"


async def test_an_item_that_is_never_taken_ends_the_turn() -> None:
    """A provider that refuses the question again and again is not asked for ever."""
    fault = Fault("client:conversation.item.create", Error("invalid_value", instead=True), times=0)
    async with LoopbackServer(faults=[fault]) as server, rig(server) as house:
        result = await house.text_turn("Is it warm?")
        assert result.end.failure is not None or result.text
        assert server.total("response.create") <= 4
