"""What passed on the wire is read back as evidence."""

import json
from pathlib import Path
from typing import Any

from . import wire
from .wire import Wire


def _write(path: Path, *events: tuple[int, str, dict[str, Any]]) -> None:
    with path.open("a") as log:
        for session, way, event in events:
            print(json.dumps({"at": 1.5, "session": session, way: event}), file=log)


def _response(*output: dict[str, Any], tokens: int) -> dict[str, Any]:
    return {
        "type": "response.done",
        "response": {"output": list(output), "usage": {"input_tokens": tokens}},
    }


def _item(name: str) -> dict[str, Any]:
    return {"type": "conversation.item.added", "item": {"id": name}}


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    """Each step shows its own frames, and a line that is being written does not spoil one."""
    log = Wire(tmp_path / "log")
    assert (log.mark(), log.since()) == (0, ())
    _write(tmp_path / "log", (0, "sent", {"type": "session.created"}))
    mark = log.mark()
    _write(tmp_path / "log", (0, "received", {"type": "response.create"}))
    with (tmp_path / "log").open("a") as half:
        half.write('{"at": 2.0, "sess')
    assert [frame.kind for frame in log.since()] == ["session.created", "response.create"]
    assert [(frame.kind, frame.way) for frame in log.since(mark)] == [
        ("response.create", "received")
    ]


def test_calls_tokens_and_words_come_from_finished_responses(tmp_path: Path) -> None:
    """The light step shows the tool that was called, the summary what was paid."""
    call = {"type": "function_call", "name": "HassTurnOn", "arguments": '{"name":"lamp"}'}
    said = {"type": "message", "content": [{"type": "output_audio", "transcript": "It is on."}]}
    _write(
        tmp_path / "log",
        (0, "sent", _response(call, tokens=100)),
        (0, "sent", _response(said, tokens=140)),
        (0, "sent", {"type": "response.done", "response": {"output": [], "usage": None}}),
    )
    frames = Wire(tmp_path / "log").since()
    assert [(one.name, one.arguments) for one in wire.calls(frames)] == [
        ("HassTurnOn", '{"name":"lamp"}')
    ]
    assert wire.input_tokens(frames) == (100, 140)
    assert wire.replies(frames) == "It is on."
    assert wire.count(frames, "response.done") == 3


def test_items_are_counted_where_they_are_now(tmp_path: Path) -> None:
    """An item count tells what the newest session holds, not what ever was created."""
    gone = {"type": "conversation.item.deleted", "item_id": "b"}
    _write(
        tmp_path / "log",
        *((0, "sent", _item(name)) for name in "xyz"),
        *((1, "sent", _item(name)) for name in "ab"),
        (1, "sent", _item("a")),
        (1, "sent", gone),
    )
    frames = Wire(tmp_path / "log").since()
    assert wire.items_held(frames) == 1
    assert wire.items_held(()) == 0
    assert wire.sessions(frames) == (0, 1)


def test_notes_and_instructions_are_what_the_client_sent(tmp_path: Path) -> None:
    """The resumed session's cost is counted from what was really sent."""
    note = {"role": "system", "content": [{"type": "input_text", "text": "Anna said hello."}]}
    output = {"type": "function_call_output", "output": "{}"}
    _write(
        tmp_path / "log",
        (0, "received", {"type": "session.update", "session": {"instructions": "old"}}),
        (0, "received", {"type": "session.update", "session": {"instructions": "new"}}),
        (0, "received", {"type": "conversation.item.create", "item": note}),
        (0, "received", {"type": "conversation.item.create", "item": output}),
        (0, "sent", {"type": "conversation.item.added", "item": {"id": "a", **note}}),
    )
    frames = Wire(tmp_path / "log").since()
    assert wire.notes(frames) == ("Anna said hello.",)
    assert wire.instructions(frames) == "new[]"
    assert wire.instructions(()) == ""
    assert wire.about_tokens("Anna said hello.") == 4
