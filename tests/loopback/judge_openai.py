"""OpenAI's own client as a judge of this server: `python judge_openai.py BASE_URL`.

It runs in an environment of its own and knows nothing of this package. Every event that comes is
validated against the published types (the client itself builds them without looking). Prints one
line of JSON for each step; ends with an AssertionError or a ValidationError if it does not agree.
"""

import asyncio
import base64
import json
import sys
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI  # type: ignore[import-not-found]  # in an environment of its own

type Json = dict[str, Any]

_PATIENCE = 20.0


class Judge:
    """A connection of the official client, and every event it got."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - the client's own type
        """Judge what comes over `connection`."""
        self.connection = connection
        self.kinds: set[str] = set()

    async def next(self) -> Json:
        """Return the next event, valid by the published type of its name."""
        async with asyncio.timeout(_PATIENCE):
            raw = await self.connection.recv_bytes()
        event = self.connection.parse_event(raw)
        found = json.loads(raw)
        assert found["type"] in str(type(event).model_fields["type"].annotation), found["type"]
        type(event).model_validate(found)
        self.kinds.add(found["type"])
        return dict(found)

    async def until(self, *kinds: str) -> Json:
        """Return the next event of one of these types."""
        while (event := await self.next())["type"] not in kinds:
            pass
        return event

    async def item(self, item: Json, **fields: object) -> Json:
        """Create an item and return its acknowledgement."""
        await self.connection.conversation.item.create(item=item, **fields)
        return await self.until("conversation.item.added", "error")

    async def respond(self, **response: object) -> Json:
        """Ask for a response and return it once it is done."""
        await self.connection.response.create(response=response)
        done = await self.until("response.done", "error")
        assert done["type"] == "response.done", done
        return dict(done["response"])


def text(words: str, role: str = "user", **fields: object) -> Json:
    """Return a message of one text."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": words}]
    return {"type": "message", "role": role, "content": content, **fields}


async def session(judge: Judge) -> None:
    """Configure a session."""
    await judge.until("session.created")
    tool = {
        "type": "function",
        "name": "get_weather",
        "description": "Look up the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    hearing = {
        "turn_detection": None,
        "transcription": {"model": "gpt-realtime-whisper"},
        "noise_reduction": {"type": "far_field"},
    }
    await judge.connection.session.update(
        session={
            "type": "realtime",
            "instructions": "Be brief.",
            "tools": [tool],
            "audio": {"input": hearing},
            "truncation": {"type": "retention_ratio", "retention_ratio": 0.8},
        }
    )
    updated = await judge.until("session.updated", "error")
    assert updated["session"]["tools"][0]["name"] == "get_weather", updated


async def items(judge: Judge) -> None:
    """Create, place, retrieve and delete items."""
    assert (await judge.item(text("b", id="b")))["previous_item_id"] is None
    first = await judge.item(text("a", "system", id="a"), previous_item_id="root")
    assert first["previous_item_id"] is None
    last = await judge.item(text("c", "assistant", id="c"), previous_item_id="b")
    assert last["previous_item_id"] == "b"
    await judge.connection.conversation.item.retrieve(item_id="a")
    shown = await judge.until("conversation.item.retrieved")
    assert shown["item"]["content"][0]["text"] == "a"
    for name in "abc":
        await judge.connection.conversation.item.delete(item_id=name)
        assert (await judge.until("conversation.item.deleted"))["item_id"] == name
    await judge.connection.conversation.item.delete(item_id="a", event_id="mine")
    error = await judge.until("error")
    assert error["error"]["event_id"] == "mine"


async def speech(judge: Judge) -> None:
    """Speak, commit, hear the answer, cut it, look at what is left."""
    audio = base64.b64encode(b"\x00\x20" * 24_000).decode()
    await judge.connection.input_audio_buffer.append(audio=audio)
    await judge.connection.input_audio_buffer.commit()
    await judge.until("input_audio_buffer.committed")
    done = await judge.respond()
    assert done["usage"]["input_token_details"]["audio_tokens"] == 10, done["usage"]
    said = done["output"][0]["id"]
    await judge.connection.conversation.item.truncate(
        item_id=said, content_index=0, audio_end_ms=300
    )
    await judge.until("conversation.item.truncated")
    await judge.connection.conversation.item.retrieve(item_id=said)
    part = (await judge.until("conversation.item.retrieved"))["item"]["content"][0]
    assert len(base64.b64decode(part["audio"])) == 300 * 48
    await judge.connection.conversation.item.truncate(
        item_id=said, content_index=0, audio_end_ms=301
    )
    assert (await judge.until("error"))["error"]["code"] == "invalid_value"


async def tools(judge: Judge) -> None:
    """Let the model call a tool and answer it."""
    await judge.item(text("What is the weather in London?"))
    call = (await judge.respond())["output"][-1]
    assert json.loads(call["arguments"]) == {"city": "London"}, call
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "foggy"}
    await judge.item(output)
    assert (await judge.respond(output_modalities=["text"]))["status"] == "completed"


async def out_of_band(judge: Judge) -> None:
    """Ask beside the conversation."""
    done = await judge.respond(
        conversation="none",
        input=[text("Summarise this.")],
        output_modalities=["text"],
        metadata={"purpose": "summary"},
        instructions="Summarise.",
        tools=[],
    )
    assert done["conversation_id"] is None, done
    assert done["metadata"] == {"purpose": "summary"}, done


async def cancel(judge: Judge) -> None:
    """Stop an answer."""
    await judge.connection.response.create()
    await judge.until("response.output_audio.delta")
    await judge.connection.response.cancel()
    done = await judge.until("response.done")
    assert done["response"]["status_details"]["reason"] == "client_cancelled", done
    await judge.connection.response.cancel()
    assert (await judge.until("error"))["error"]["code"] == "response_cancel_not_active"


async def main(base_url: str, say: Callable[[str], object]) -> None:
    """Judge the server at `base_url`."""
    client = AsyncOpenAI(base_url=base_url, api_key="judge")
    async with client.realtime.connect(model="gpt-realtime-2.1") as connection:
        judge = Judge(connection)
        for step in (session, items, speech, tools, out_of_band, cancel):
            await step(judge)
            say(json.dumps({"step": step.__name__, "ok": True}) + "\n")
        say(json.dumps({"step": "events", "ok": True, "kinds": sorted(judge.kinds)}) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.stdout.write))
