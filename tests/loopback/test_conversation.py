"""A real conversation: items in their order, found, shown, cut, taken out, dropped."""

import base64

from . import Call, LoopbackServer, Request, ScriptedBrain, Speech, duration_ms, tone
from .wire import Wire


async def test_order_root_and_previous() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        assert (await wire.add("b", id="b"))["previous_item_id"] is None
        assert (await wire.add("d", id="d"))["previous_item_id"] == "b"
        assert (await wire.add("a", id="a", previous_item_id="root"))["previous_item_id"] is None
        assert (await wire.add("c", id="c", previous_item_id="b"))["previous_item_id"] == "b"
        assert [item.id for item in server.session.items] == ["a", "b", "c", "d"]


async def test_created_items_are_added_and_done() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.add("hello", role="system")
        done = await wire.next()
        assert done["type"] == "conversation.item.done"
        assert done["item"]["status"] == "completed"
        assert done["item"]["id"].startswith("item_")


async def test_delete_and_create_again() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.add("one", id="a")
        await wire.add("two", id="b")
        await wire.send("conversation.item.delete", item_id="b")
        assert (await wire.until("conversation.item.deleted"))["item_id"] == "b"
        assert (await wire.add("three", id="b"))["previous_item_id"] == "a"
        assert server.session.texts() == ["one", "three"]


async def test_acknowledgements_come_in_the_order_of_the_events() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        for number in range(20):
            item = {
                "id": f"i{number}",
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": str(number)}],
            }
            await wire.send("conversation.item.create", item=item)
            await wire.send("conversation.item.delete", item_id=f"i{number - 1}")
        await wire.until("error")
        while len(wire.of("conversation.item.deleted")) < 19:
            await wire.next()
        order = [
            event["item"]["id"] if "item" in event else f"-{event['item_id']}"
            for event in wire.events
            if event["type"] in {"conversation.item.added", "conversation.item.deleted"}
        ]
        expected = ["i0"]
        for number in range(1, 20):
            expected += [f"i{number}", f"-i{number - 1}"]
        assert order == expected
        assert server.session.texts() == ["19"]


async def test_user_audio_is_kept_and_shown() -> None:
    async with LoopbackServer() as server, Wire.to(server) as wire:
        pcm = tone(300)
        audio = {"type": "input_audio", "audio": base64.b64encode(pcm).decode()}
        item = {"type": "message", "role": "user", "content": [audio], "id": "a"}
        await wire.send("conversation.item.create", item=item)
        added = await wire.until("conversation.item.added")
        assert "audio" not in added["item"]["content"][0]
        await wire.send("conversation.item.retrieve", item_id="a")
        shown = await wire.until("conversation.item.retrieved")
        assert base64.b64decode(shown["item"]["content"][0]["audio"]) == pcm


async def test_truncate_cuts_audio_and_erases_the_transcript() -> None:
    brain = ScriptedBrain(replies=["The quick brown fox jumps over the lazy dog."])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        said = (await wire.respond())["output"][0]["id"]
        await wire.send(
            "conversation.item.truncate", item_id=said, content_index=0, audio_end_ms=700
        )
        await wire.until("conversation.item.truncated")
        await wire.send("conversation.item.retrieve", item_id=said)
        part = (await wire.until("conversation.item.retrieved"))["item"]["content"][0]
        assert part["transcript"] is None
        assert duration_ms(base64.b64decode(part["audio"])) == 700
        brain.replies = [lambda request: brain.words(request.context[0])]
        again = await wire.respond()
        heard = again["output"][0]["content"][0]["transcript"]
        assert heard == "The quick "
        assert heard in "The quick brown fox"


async def test_a_mind_holds_only_what_is_held_now() -> None:
    def name(request: Request) -> str:
        known = [text for text in request.texts() if "Anna" in text]
        return "Anna" if known else "I do not know."

    brain = ScriptedBrain(default=name)
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.update(output_modalities=["text"])
        await wire.add("The user's name is Anna.", role="system", id="note")
        assert (await wire.respond())["output"][0]["content"][0]["text"] == "Anna"
        for item in [*server.session.items]:
            await wire.send("conversation.item.delete", item_id=item.id)
            await wire.until("conversation.item.deleted")
        assert (await wire.respond())["output"][0]["content"][0]["text"] == "I do not know."


async def test_a_response_sees_what_was_there_when_it_was_asked_for() -> None:
    brain = ScriptedBrain(default=lambda request: " ".join(request.texts()) or "nothing")
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.update(output_modalities=["text"])
        await wire.add("one", id="a")
        await wire.send("response.create")
        await wire.send("conversation.item.delete", item_id="a")
        await wire.add("two")
        done = await wire.until("response.done")
        assert done["response"]["output"][0]["content"][0]["text"] == "one"


async def test_old_items_are_dropped_silently_and_stay_held() -> None:
    brain = ScriptedBrain(default=lambda request: str(len(request.context)))
    async with LoopbackServer(brain, context_tokens=120) as server, Wire.to(server) as wire:
        await wire.update(output_modalities=["text"])
        for number in range(10):
            await wire.add("x" * 80, id=f"i{number}")
        done = await wire.respond()
        assert done["output"][0]["content"][0]["text"] == "5"
        assert len(server.session.items) == 11
        assert server.session.seen[0].id == "i5"
        assert done["usage"]["input_tokens"] < 200
        assert not wire.of("conversation.item.deleted")


async def test_retention_ratio_drops_more_at_once_and_disabled_fails() -> None:
    retention = {
        "type": "retention_ratio",
        "retention_ratio": 0.5,
        "token_limits": {"post_instructions": 120},
    }
    async with LoopbackServer() as server, Wire.to(server) as wire:
        await wire.update(output_modalities=["text"], truncation=retention)
        for _ in range(6):
            await wire.add("x" * 80)
        await wire.respond()
        assert len(server.session.seen) == 3
    async with LoopbackServer(context_tokens=50) as server, Wire.to(server) as wire:
        await wire.update(output_modalities=["text"], truncation="disabled")
        for _ in range(6):
            await wire.add("x" * 80)
        done = await wire.respond()
        assert done["status"] == "failed"
        assert done["status_details"]["error"]["code"] == "input_tokens_exceeded"


async def test_tokens_are_counted_per_item() -> None:
    brain = ScriptedBrain(replies=[Speech("Hi.", ms=2000)])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        await wire.manual()
        await wire.update(instructions="x" * 40)
        await wire.hear(tone(3000))
        await wire.send("input_audio_buffer.commit")
        usage = (await wire.respond())["usage"]
        assert usage["input_token_details"]["audio_tokens"] == 30
        assert usage["input_token_details"]["text_tokens"] == 10 + 3
        assert usage["output_token_details"]["audio_tokens"] == 40
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
        again = (await wire.respond())["usage"]["input_token_details"]
        assert again["audio_tokens"] == 30 + 40


async def test_unanswered_calls_make_the_model_ask_again() -> None:
    brain = ScriptedBrain(replies=[Call("light", '{"on":true}'), "Done."])
    async with LoopbackServer(brain) as server, Wire.to(server) as wire:
        first = (await wire.respond())["output"][0]
        again = (await wire.respond())["output"][0]
        assert again["type"] == "function_call"
        assert again["call_id"] != first["call_id"]
        for call in (first, again):
            item = {"type": "function_call_output", "call_id": call["call_id"], "output": "ok"}
            await wire.send("conversation.item.create", item=item)
        assert (await wire.respond())["output"][0]["type"] == "message"
        outputs = [view for view in brain.requests[-1].context if view.kind == "output"]
        assert [view.name for view in outputs] == ["light", "light"]
        assert len(server.session.items) == 5
