"""What is sent to OpenAI and its kind."""

import base64
from types import MappingProxyType
from typing import Any

import orjson
import pytest

from custom_components.realtime_assist.items import hear_key, note, output
from custom_components.realtime_assist.realtime.commands import (
    AppendAudio,
    CancelResponse,
    ClearAudio,
    Command,
    CommitAudio,
    Configure,
    CreateItem,
    CutItem,
    DeleteItem,
    Respond,
)
from custom_components.realtime_assist.realtime.config import SessionConfig, ToolSpec
from custom_components.realtime_assist.realtime.model import Cut, NoteRole, Verbatim
from custom_components.realtime_assist.realtime.providers.openai import OpenAIModel

KEY = "sk-secret"
OPENAI = OpenAIModel(base_url="https://api.openai.com/v1", api_key=KEY, compatible=False)
COMPATIBLE = OpenAIModel(base_url="http://192.168.1.2:8080/v1/", api_key="", compatible=True)
CONFIG = SessionConfig(
    model="gpt-realtime-2.1",
    instructions="Be kind.",
    voice="marin",
    language="de",
    tools=(
        ToolSpec(
            name="light", description="Switches.", parameters=MappingProxyType({"type": "object"})
        ),
    ),
)


def sent(command: Command, model: OpenAIModel = OPENAI) -> dict[str, Any]:
    """Return a command's frame; every frame has its event id."""
    frame = orjson.loads(model.encode(command, "e1"))
    assert isinstance(frame, dict)
    assert frame.pop("event_id") == "e1"
    return frame


def session(config: SessionConfig, model: OpenAIModel = OPENAI) -> dict[str, Any]:
    """Return the session of an update."""
    frame = sent(Configure(config), model)
    assert frame["type"] == "session.update"
    update = frame["session"]
    assert isinstance(update, dict)
    return update


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.openai.com/v1", "wss://api.openai.com/v1/realtime?model=m%2F1"),
        ("https://api.openai.com/v1/", "wss://api.openai.com/v1/realtime?model=m%2F1"),
        ("http://localhost:8080/v1", "ws://localhost:8080/v1/realtime?model=m%2F1"),
        ("https://x.test/v1?tenant=a", "wss://x.test/v1/realtime?tenant=a&model=m%2F1"),
    ],
)
def test_the_address_of_the_socket_is_derived(base_url: str, url: str) -> None:
    """One address is enough to type in."""
    model = OpenAIModel(base_url=base_url, api_key=KEY, compatible=False)
    assert model.handshake(SessionConfig(model="m/1", instructions="")).url == url


def test_the_key_is_sent_and_the_beta_header_is_not() -> None:
    """The server knows who asks, and does not refuse for an old header."""
    assert OPENAI.handshake(CONFIG).headers == {"Authorization": f"Bearer {KEY}"}
    assert COMPATIBLE.handshake(CONFIG).headers == {}


def test_a_session_is_configured_at_once() -> None:
    """Nobody but us asks for answers, and nothing is left to a server's habits."""
    pcm = {"type": "audio/pcm", "rate": 24_000}
    assert session(CONFIG) == {
        "type": "realtime",
        "instructions": "Be kind.",
        "output_modalities": ["audio"],
        "audio": {
            "input": {
                "format": pcm,
                "turn_detection": None,
                "transcription": {"model": "gpt-realtime-whisper", "language": "de"},
                "noise_reduction": {"type": "far_field"},
            },
            "output": {"format": pcm, "voice": "marin"},
        },
        "tools": [
            {
                "type": "function",
                "name": "light",
                "description": "Switches.",
                "parameters": {"type": "object"},
            }
        ],
        "tool_choice": "auto",
        "truncation": {"type": "retention_ratio", "retention_ratio": 0.8},
    }


@pytest.mark.parametrize("kind", ["server_vad", "semantic_vad"])
def test_a_server_that_detects_turns_does_not_answer_them(kind: str) -> None:
    """The answer comes when the pipeline asks for it, and is not cut off by a cough."""
    config = SessionConfig(model="m", instructions="", turn_detection=kind)
    assert session(config)["audio"]["input"]["turn_detection"] == {
        "type": kind,
        "create_response": False,
        "interrupt_response": False,
    }


def test_a_typed_turn_is_answered_in_text() -> None:
    """Typing in the dashboard costs no speech."""
    config = SessionConfig(model="m", instructions="", audio=False)
    assert session(config)["output_modalities"] == ["text"]


def test_only_what_is_common_is_sent_to_other_servers() -> None:
    """A local server is not asked for what it does not know."""
    config = SessionConfig(model="m", instructions="i")
    assert session(config, COMPATIBLE) == {
        "type": "realtime",
        "instructions": "i",
        "output_modalities": ["audio"],
        "audio": {
            "input": {"format": {"type": "audio/pcm", "rate": 24_000}, "turn_detection": None},
            "output": {"format": {"type": "audio/pcm", "rate": 24_000}},
        },
        "tools": [],
        "tool_choice": "auto",
    }
    hinted = SessionConfig(model="m", instructions="i", language="nl")
    assert session(hinted, COMPATIBLE)["audio"]["input"]["transcription"] == {"language": "nl"}


def test_confidence_is_asked_for_where_the_recogniser_can_tell() -> None:
    """What was not understood well is not learned."""
    config = SessionConfig(model="m", instructions="", transcription_model="gpt-4o-transcribe")
    assert session(config)["include"] == ["item.input_audio_transcription.logprobs"]
    assert "include" not in session(config, COMPATIBLE)


def test_equal_configurations_are_equal_bytes() -> None:
    """A prompt that did not change is paid for once."""
    again = SessionConfig(
        model=CONFIG.model,
        instructions=CONFIG.instructions,
        voice=CONFIG.voice,
        language=CONFIG.language,
        tools=tuple(CONFIG.tools),
    )
    assert OPENAI.encode(Configure(CONFIG), "e") == OPENAI.encode(Configure(again), "e")


def test_audio_is_sent_as_it_is() -> None:
    """The model hears every sample."""
    pcm = bytes(range(256)) * 4
    frame = sent(AppendAudio(pcm))
    assert frame["type"] == "input_audio_buffer.append"
    assert base64.b64decode(frame["audio"]) == pcm


@pytest.mark.parametrize(
    ("command", "frame"),
    [
        (CommitAudio(), {"type": "input_audio_buffer.commit"}),
        (ClearAudio(), {"type": "input_audio_buffer.clear"}),
        (DeleteItem("a"), {"type": "conversation.item.delete", "item_id": "a"}),
        (
            CutItem("a", 1200),
            {
                "type": "conversation.item.truncate",
                "item_id": "a",
                "content_index": 0,
                "audio_end_ms": 1200,
            },
        ),
        (CancelResponse(), {"type": "response.cancel"}),
        (CancelResponse("r"), {"type": "response.cancel", "response_id": "r"}),
    ],
)
def test_simple_commands(command: Command, frame: dict[str, Any]) -> None:
    """What we mean is what the server reads."""
    assert sent(command) == frame


@pytest.mark.parametrize(
    ("model", "key", "role"),
    [
        (OPENAI, "facts", "system"),
        (COMPATIBLE, "facts", "user"),
        (OPENAI, hear_key("7"), "user"),
        (COMPATIBLE, hear_key("7"), "user"),
    ],
)
def test_notes_have_the_role_that_the_provider_understands(
    model: OpenAIModel, key: str, role: str
) -> None:
    """Memory does not speak as you, and what you type does."""
    assert sent(CreateItem("ra_1", note(key, "text")), model) == {
        "type": "conversation.item.create",
        "item": {
            "id": "ra_1",
            "type": "message",
            "role": role,
            "content": [{"type": "input_text", "text": "text"}],
        },
    }


def test_the_answer_to_a_call_names_the_call() -> None:
    """The model knows which of its wishes came true."""
    item = sent(CreateItem("ra_1", output("call_1", '{"ok":true}')))["item"]
    assert item == {
        "id": "ra_1",
        "type": "function_call_output",
        "call_id": "call_1",
        "output": '{"ok":true}',
    }


def test_a_response_has_exactly_one_modality_and_the_name_of_its_turn() -> None:
    """The model does not fall silent after long histories, and finds the turn that asked."""
    response = sent(Respond(turn_id="7", instructions="Briefly."))["response"]
    assert response == {
        "output_modalities": ["audio"],
        "metadata": {"turn": "7"},
        "instructions": "Briefly.",
    }
    text = sent(Respond(turn_id="7", audio=False))["response"]
    assert text == {"output_modalities": ["text"], "metadata": {"turn": "7"}}


def test_an_isolated_response_touches_nothing() -> None:
    """A summary is made without anybody hearing of it, and without switching anything."""
    assert sent(Respond(turn_id="s1", isolated_input="Summarise this."))["response"] == {
        "output_modalities": ["text"],
        "metadata": {"turn": "s1", "isolated": "true"},
        "conversation": "none",
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Summarise this."}],
            }
        ],
        "tools": [],
    }


def test_what_a_schema_may_hold_can_be_sent() -> None:
    """A tool with an unusual schema does not break the session."""
    tool = ToolSpec(name="t", description="", parameters={"enum": {"b", "a"}, 1: ("x",)})  # type: ignore[dict-item]  # odd
    config = SessionConfig(model="m", instructions="", tools=(tool,))
    assert session(config)["tools"][0]["parameters"] == {"enum": ["a", "b"], "1": ["x"]}
    odd = ToolSpec(name="t", description="", parameters={"default": object()})
    with pytest.raises(TypeError):
        OPENAI.encode(Configure(SessionConfig(model="m", instructions="", tools=(odd,))), "e")


def test_openai_says_exactly_what_it_is_told() -> None:
    """An alarm is not paraphrased."""
    request = OPENAI.speech("Smoke in the kitchen.", "cedar")
    assert request is not None
    assert request.url == "https://api.openai.com/v1/audio/speech"
    assert request.headers == {"Authorization": f"Bearer {KEY}"}
    assert request.sample_rate == 24_000
    assert request.body == {
        "model": "gpt-4o-mini-tts",
        "voice": "cedar",
        "input": "Smoke in the kitchen.",
        "response_format": "pcm",
    }
    assert OPENAI.speech("x" * 4097, None) is None
    assert COMPATIBLE.speech("Smoke.", None) is None


def test_of_other_servers_little_is_expected() -> None:
    """What nobody has seen work is not relied on."""
    caps = COMPATIBLE.capabilities
    assert (caps.cut, caps.note_role, caps.verbatim) == (Cut.REPLACE, NoteRole.USER, Verbatim.NONE)
    assert not caps.ack_ids
    assert not caps.error_ids
    own = OPENAI.capabilities
    assert (own.cut, own.verbatim) == (Cut.TRUNCATE, Verbatim.SPEECH_ENDPOINT)


def test_the_key_is_in_no_frame() -> None:
    """Frames may be looked at without giving the account away."""
    assert KEY not in OPENAI.encode(Configure(CONFIG), "e")
    assert KEY not in repr(OPENAI)
