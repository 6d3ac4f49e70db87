"""One turn on the wire, when events come twice, late, mixed or not at all."""

import asyncio

import pytest

from custom_components.realtime_assist.realtime.assembly import Assembly, Message
from custom_components.realtime_assist.realtime.events import (
    AudioDelta,
    CallDone,
    ItemKind,
    ReplyItem,
    TextDelta,
)
from custom_components.realtime_assist.realtime.exchange import Exchange
from custom_components.realtime_assist.realtime.listening import Loudness
from custom_components.realtime_assist.realtime.recording import Recording
from custom_components.realtime_assist.realtime.replies import (
    FirstAudio,
    Replies,
    Reply,
    ReplyCalls,
    ReplyEnd,
    ReplyText,
)
from custom_components.realtime_assist.realtime.speech import Speech
from tests import loopback
from tests.loopback import (
    Call,
    Duplicate,
    Fault,
    LoopbackServer,
    RealClock,
    Reorder,
    ScriptedBrain,
    Swallow,
    Switches,
)

from .rig import Rig, quiet, rig, speech

pytestmark = pytest.mark.usefixtures("socket_enabled")


async def read(replies: Replies) -> list[Reply]:
    """Return all replies up to the end."""
    async with asyncio.timeout(2):
        return [reply async for reply in replies]


async def test_words_that_nobody_takes_are_joined() -> None:
    """A slow reader costs no memory beyond the words, and loses none."""
    replies = Replies()
    for letter in "hello":
        replies.put(ReplyText(index=0, text=letter))
    replies.put(FirstAudio())
    replies.put(ReplyText(index=0, text="!"))
    replies.put(ReplyText(index=1, text="?"))
    replies.put(ReplyEnd())
    replies.put(ReplyText(index=2, text="too late"))
    assert await read(replies) == [
        ReplyText(index=0, text="hello"),
        FirstAudio(),
        ReplyText(index=0, text="!"),
        ReplyText(index=1, text="?"),
        ReplyEnd(),
    ]


async def test_an_endless_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that never stops fills no memory; what is left out is counted."""
    monkeypatch.setattr("custom_components.realtime_assist.realtime.replies.MAX_CHARACTERS", 10)
    replies = Replies()
    for _ in range(10):
        replies.put(ReplyText(index=0, text="1234"))
    replies.put(ReplyEnd())
    assert replies.dropped_characters == 32
    assert (await read(replies))[0] == ReplyText(index=0, text="12341234")

    stream = Speech(24_000, seconds=1)
    assert stream.append(bytes(48_000))
    assert not stream.append(bytes(2))
    assert stream.dropped_bytes == 2
    stream.end()
    assert not stream.append(bytes(2))
    assert [len(pcm) async for pcm in stream] == [48_000]


def test_an_endless_question_is_bounded() -> None:
    """Only a minute of speech is kept for another session, and counted beyond."""
    recording = Recording(24_000)
    for _ in range(70):
        recording.feed(speech(1000))
    recording.finish()
    assert round(recording.ms) == 60_000
    assert recording.dropped_bytes > 9 * 48_000
    first = b"".join(recording.take())
    assert not recording.take()
    recording.rewind()
    assert b"".join(recording.take()) == first
    assert len(first) == 60 * 48_000


@pytest.mark.parametrize(
    ("pcm", "spoke"), [(speech(300), True), (quiet(3000), False), (speech(60), False)]
)
def test_a_crude_ear(pcm: bytes, *, spoke: bool) -> None:
    """A voice is told from a silent room and from a click, in pieces of any size."""
    ear = Loudness()
    for start in range(0, len(pcm), 333):
        ear.feed(pcm[start : start + 333])
    assert ear.spoke is spoke
    ear.feed(quiet(600))
    assert ear.quiet


def test_messages_that_are_made_in_turns_are_not_mixed() -> None:
    """A preamble and an answer are heard one after the other, with the call between them."""
    got: list[tuple[str, str | bytes]] = []

    def pass_on(message: Message, part: str | bytes) -> None:
        got.append((message.item_id, part))

    made = Assembly(pass_on)

    def item(name: str, index: int, kind: ItemKind = ItemKind.ASSISTANT) -> None:
        made.item(ReplyItem(response_id="r", item_id=name, output_index=index, kind=kind))

    def text(name: str, index: int, words: str) -> None:
        made.text(
            TextDelta(response_id="r", item_id=name, output_index=index, text=words, spoken=True)
        )

    item("one", 0)
    item("call", 1, ItemKind.CALL)
    item("two", 2)
    text("two", 2, "B1")
    text("one", 0, "A1")
    made.call(
        CallDone(
            response_id="r", item_id="call", output_index=1, call_id="c", name="x", arguments="{}"
        )
    )
    made.audio(AudioDelta(response_id="r", item_id="two", output_index=2, pcm=b"bb"))
    made.audio(AudioDelta(response_id="r", item_id="one", output_index=0, pcm=b"aa"))
    assert got == [("one", "A1"), ("one", b"aa")]
    item("one", 0)
    text("two", 2, "B2")
    text("one", 0, "late")
    made.finish()
    assert got[2:] == [("two", "B1"), ("two", b"bb"), ("two", "B2"), ("one", "late")]
    assert [call.call_id for call in made.calls] == ["c"]


EVENTS = [
    "session.created",
    "session.updated",
    "conversation.item.added",
    "conversation.item.done",
    "input_audio_buffer.committed",
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.added",
    "response.function_call_arguments.done",
    "conversation.item.input_audio_transcription.completed",
    "response.done",
]


@pytest.mark.parametrize("kind", EVENTS)
async def test_events_that_come_twice(kind: str) -> None:
    """Whatever a server repeats: one question, one tool, one answer."""
    fault = Fault(kind, Duplicate(), times=0)
    await _tool_turn(fault)


@pytest.mark.parametrize("kind", EVENTS[3:-1])
async def test_events_that_come_late(kind: str) -> None:
    """Whatever a server sends out of order: one question, one tool, one answer."""
    fault = Fault(kind, Reorder(by=1), times=0)
    await _tool_turn(fault)


@pytest.mark.parametrize(
    "kind",
    [
        "session.created",
        "session.updated",
        "conversation.item.added",
        "conversation.item.done",
        "input_audio_buffer.committed",
        "response.created",
        "response.output_item.added",
        "response.content_part.*",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "rate_limits.updated",
    ],
)
async def test_events_that_never_come(kind: str) -> None:
    """Whatever a server leaves out that others send: one question, one tool, one answer."""
    fault = Fault(kind, Swallow(), times=0)
    await _tool_turn(fault)


async def test_an_echo_of_the_last_response() -> None:
    """Events of an answer that is long over neither end nor begin the next one."""
    brain = ScriptedBrain(default=loopback.Speech("Yes.", ms=2000))
    async with LoopbackServer(brain, clock=RealClock(8)) as server, rig(server) as house:
        await house.voice_turn()
        done = server.session.sent_of("response.done")[0]["response"]
        exchange = house.begin()
        await house.speak(exchange)
        server.session.push("response.created", response=done)
        exchange.end_of_speech(respond=True)
        server.session.push("response.done", response=done)
        result = await house.take(exchange)
        assert result.text == "Yes."
        assert round(len(result.audio) / 48) == 2000
        assert not server.session.count("response.cancel")


async def test_a_commit_that_is_lost_while_another_answer_comes() -> None:
    """Half an answer is never begun again from the start; the new question is not lost."""
    brain = ScriptedBrain(replies=[loopback.Speech("First.", ms=20_000)], default="Second.")
    faults = [Fault("client:input_audio_buffer.commit", Swallow(), nth=2)]
    server = LoopbackServer(brain, faults=faults, clock=RealClock(1))
    async with server, rig(server) as house:
        first = house.begin()
        await house.speak(first)
        first.end_of_speech(respond=True)
        await house.until(lambda: bool(first.record.said))
        second = house.begin()
        await house.speak(second)
        second.end_of_speech(respond=True)
        one, two = await asyncio.gather(house.take(first), house.take(second))
        assert one.text.count("First.") <= 1
        assert one.end.failure is not None
        assert two.text == "Second."


async def _tool_turn(fault: Fault) -> None:
    brain = ScriptedBrain(
        replies=[[loopback.Speech("One moment."), Call("HassTurnOn", "{}")], "Done."]
    )
    async with LoopbackServer(brain, faults=[fault]) as server, rig(server) as house:
        house.record.facts["cat"] = "Minka"
        result = await house.voice_turn()
        assert result.end.failure is None
        assert result.text == "One moment.Done."
        assert [call.name for call in result.calls] == ["HassTurnOn"]
        assert round(len(result.audio) / 48) == round(
            sum(said.received_ms for said in result.exchange.record.said)
        )
        assert len(server.sessions) == 1
        assert server.session.count("response.create") == 2
        creates = server.session.received_of("conversation.item.create")
        assert len(creates) == 2
        assert (await house.voice_turn()).text == "OK."


@pytest.mark.parametrize("echo", [True, False])
async def test_a_server_that_is_quicker_with_an_answer_of_its_own(*, echo: bool) -> None:
    """The tool's answer is spoken once and soon, though the server began to speak by itself."""
    brain = ScriptedBrain(replies=[[Call("HassTurnOn", "{}")]], default="The lamp is on.")
    switches = Switches().but(metadata_echo=echo)
    server = LoopbackServer(brain, switches=switches, clock=RealClock(4))
    async with server, rig(server) as house:

        def tool(_: object) -> str:
            made = loopback.Reply.of(loopback.Speech("Out of turn.", ms=4000))
            server.session.responder.create({}, made)
            return "done"

        result = await house.voice_turn(tool=tool)
        assert result.end.failure is None
        assert result.text.endswith("The lamp is on.")
        assert result.text.count("The lamp is on.") == 1


async def test_two_tools_answered_in_reverse() -> None:
    """Tools may end in any order; each is answered once, then the answer is asked for."""
    brain = ScriptedBrain(replies=[[Call("a", "{broken"), Call("b", "{}")]], default="Both.")
    async with LoopbackServer(brain) as server, rig(server) as house:
        exchange = house.begin()
        await house.speak(exchange)
        exchange.end_of_speech(respond=True)
        replies: list[Reply] = []
        async for reply in exchange.replies():
            replies.append(reply)
            if isinstance(reply, ReplyCalls):
                assert [call.arguments for call in reply.calls] == ["{broken", "{}"]
                for call in reversed(reply.calls):
                    exchange.answer(call.call_id, f"{call.name} done")
                    exchange.answer(call.call_id, "again")
                    exchange.answer("unheard of", "nothing")
                    await asyncio.sleep(0.02)
        assert "".join(r.text for r in replies if isinstance(r, ReplyText)) == "Both."
        outputs = [i.output for i in server.session.items if i.type == "function_call_output"]
        assert sorted(outputs) == ["a done", "b done"]
        assert server.session.count("response.create") == 2


@pytest.mark.parametrize("method", ["interrupt", "cancel", "close"])
@pytest.mark.parametrize("moment", ["before", "speaking", "asked", "answering", "calling", "over"])
async def test_a_turn_can_be_stopped_at_any_moment(method: str, moment: str) -> None:
    """A pipeline that is cancelled anywhere leaves a session that answers the next question."""
    brain = ScriptedBrain(
        replies=[[loopback.Speech("One moment.", ms=2000), Call("HassTurnOn", "{}")]],
        default="Yes.",
    )
    async with LoopbackServer(brain, clock=RealClock(8)) as server, rig(server) as house:
        exchange = house.begin()
        await _come_to(house, exchange, moment)
        stop = {
            "interrupt": lambda: exchange.interrupt(0),
            "cancel": exchange.cancel,
            "close": exchange.close,
        }
        stop[method]()
        stop[method]()
        result = await house.take(exchange, lambda _: None)
        await exchange.heard()
        await exchange.speech_ended()
        for call in result.calls:
            exchange.answer(call.call_id, "late")
        exchange.append(speech(100))
        exchange.end_of_speech(respond=True)
        exchange.close()
        house.session.settle(exchange.turn_id)
        if moment in {"before", "speaking"}:
            brain.replies = []
        assert (await house.voice_turn()).text == "Yes."
        assert len(server.sessions) <= 2


async def _come_to(house: Rig, exchange: Exchange, moment: str) -> None:
    if moment == "before":
        return
    await house.speak(exchange)
    if moment == "speaking":
        return
    exchange.end_of_speech(respond=True)
    if moment == "answering":
        await house.until(lambda: bool(exchange.record.said))
    elif moment == "calling":
        await house.until(lambda: bool(exchange.record.calls))
    elif moment == "over":
        await house.until(lambda: bool(exchange.record.calls))
        exchange.answer(exchange.record.calls[0].call_id, "done")
        await house.until(lambda: exchange.answers.replies.ended)
