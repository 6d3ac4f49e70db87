"""What a test can make go wrong, and that time stands still until a test moves it."""

import asyncio

import pytest

from . import (
    Change,
    Delay,
    Drop,
    Duplicate,
    Error,
    Fault,
    Garbage,
    Hang,
    Insert,
    LoopbackServer,
    Reorder,
    ScriptedBrain,
    Speech,
    Swallow,
    VirtualClock,
)
from .wire import Wire

DELTA = "response.output_audio.delta"
LONG = ScriptedBrain(default=Speech("A story.", ms=3000))


async def play(*faults: Fault) -> Wire:
    """Return what a client sees of one spoken response under these faults."""
    async with LoopbackServer(LONG, faults=faults) as server, Wire.to(server) as wire:
        try:
            await wire.send("response.create")
            await wire.until("response.done")
            await wire.quiet(0.05)
        except EOFError:
            pass
        return wire


@pytest.mark.parametrize(("code", "seen"), [(1006, 1006), (1011, 1011), (1001, 1001)])
async def test_drop(code: int, seen: int) -> None:
    wire = await play(Fault(DELTA, Drop(code), nth=3))
    assert len(wire.of(DELTA)) == 2
    assert wire.socket.close_code == seen


async def test_swallow_duplicate_reorder() -> None:
    assert len((await play(Fault(DELTA, Swallow(), nth=2))).of(DELTA)) == 11
    assert len((await play(Fault(DELTA, Duplicate(2), nth=2))).of(DELTA)) == 14
    wire = await play(Fault(DELTA, Reorder(after="response.done"), nth=11, times=2))
    assert wire.kinds().index("response.done") < wire.kinds().index(DELTA) + 40
    after = wire.kinds()[wire.kinds().index("response.done") :]
    assert after.count(DELTA) == 2
    wire = await play(Fault("response.output_audio.done", Reorder(by=1)))
    done = wire.kinds().index("response.output_audio.done")
    assert wire.kinds()[done - 1] == "response.output_audio_transcript.done"


async def test_garbage_error_insert_change() -> None:
    wire = await play(
        Fault(DELTA, Garbage(b"\x00\xff"), nth=1),
        Fault(DELTA, Garbage("{no json", instead=True), nth=2),
        Fault(DELTA, Error("rate_limit_exceeded"), nth=3),
        Fault(DELTA, Insert({"type": "surprise"}), nth=4),
        Fault("response.done", Change({"later": True})),
    )
    assert b"\x00\xff" in wire.frames
    assert "{no json" in wire.frames
    assert wire.of("error")[0]["error"]["code"] == "rate_limit_exceeded"
    assert wire.of("surprise")
    assert wire.of("response.done")[0]["later"]


async def test_wildcards_counts_and_sessions() -> None:
    fault = Fault("response.*.delta", Swallow(), times=0, session=1)
    async with LoopbackServer(LONG, faults=[fault]) as server:
        for expected in (12, 0):
            async with Wire.to(server) as wire:
                await wire.respond()
                assert len(wire.of(DELTA)) == expected


async def test_faults_of_client_events() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        create = "client:conversation.item.create"
        server.faults.add(Fault(create, Swallow()))
        server.faults.add(Fault(create, Error("server_error", type="server_error"), nth=2))
        server.faults.add(Fault(create, Reorder(by=1), nth=3))
        server.faults.add(Fault(create, Duplicate(), nth=5))
        await wire.send("conversation.item.create", item={})
        error = (await wire.add("two", id="two"))["error"]
        assert (error["code"], error["type"]) == ("server_error", "server_error")
        for name in ("three", "four", "five"):
            item = {
                "id": name,
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": name}],
            }
            await wire.send("conversation.item.create", item=item)
        error = (await wire.until("error"))["error"]
        assert error["code"] == "item_create_duplicate_item_id"
        assert server.session.texts() == ["four", "three", "five"]


async def test_delay_and_overtaking_under_virtual_time() -> None:
    clock = VirtualClock()
    faults = [
        Fault("conversation.item.added", Delay(10), nth=1),
        Fault("conversation.item.added", Delay(10, overtake=True), nth=2),
    ]
    async with (
        LoopbackServer(clock=clock, faults=faults) as server,
        Wire.to(server) as wire,
    ):
        item = {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "x"}],
        }
        for _ in range(2):
            await wire.send("conversation.item.create", item=item)
        await server.wait_for(lambda s: s.total("conversation.item.create") == 2)
        await clock.advance(5)
        assert [event["type"] for event in server.session.sent] == ["session.created"]
        assert len(server.session.items) == 2
        await clock.advance(6)
        assert len(server.session.sent_of("conversation.item.done")) == 2
        assert len(server.session.sent_of("conversation.item.added")) == 1
        await clock.advance(10)
        assert len(server.session.sent_of("conversation.item.added")) == 2


async def test_hang_keeps_the_socket_open() -> None:
    async with (
        LoopbackServer(faults=[Fault("session.updated", Hang())]) as server,
        Wire.to(server) as wire,
    ):
        await wire.until("session.created")
        await wire.send("session.update", session={"type": "realtime"})
        assert await wire.quiet() == []
        assert not wire.socket.closed


async def test_virtual_time_is_repeatable() -> None:
    async def run() -> list[tuple[float, str]]:
        clock = VirtualClock()
        log: list[tuple[float, str]] = []
        witness = lambda _direction, _session, event: log.append(  # noqa: E731
            (round(clock.now(), 6), event["type"])
        )
        async with (
            LoopbackServer(LONG, clock=clock, seed=7, witness=witness) as server,
            Wire.to(server) as wire,
        ):
            await wire.send("response.create")
            await server.wait_for(lambda s: s.total("response.create"))
            await clock.run_until(lambda: server.session.sent_of("response.done"))
        return log

    first = await run()
    assert first == await run()
    assert 1.0 < first[-1][0] < 2.0


async def test_run_until_gives_up() -> None:
    clock = VirtualClock()
    with pytest.raises(TimeoutError):
        await clock.run_until(lambda: False)
    sleeper = asyncio.ensure_future(clock.sleep(100))
    with pytest.raises(TimeoutError):
        await clock.run_until(lambda: False, limit=50)
    sleeper.cancel()
