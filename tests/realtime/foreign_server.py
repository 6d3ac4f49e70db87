"""Another maker's realtime server, for our client to get on with: `python foreign_server.py`.

It is Hugging Face's `speech-to-speech`, in an environment of its own, with stubs in place of what
needs models: an ear that knows three sentences by their pitch, and a mind that answers them. All
that keeps a conversation (the protocol, the items, the turns, the cancelling) is theirs.

Prints one line of JSON, with its address. `/held` shows the conversations as they are kept,
`/given` what each answer was made from.
"""

import array
import itertools
import json
import math
import socket
import sys
import threading
import time
from collections.abc import Iterator
from queue import Queue
from typing import Any, Final

# All of this is in an environment of its own.
import uvicorn  # type: ignore[import-not-found]
from openai.types.realtime.conversation_item import (  # type: ignore[import-not-found]
    RealtimeConversationItemFunctionCall,
)
from openai.types.responses import ResponseFunctionToolCall  # type: ignore[import-not-found]
from speech_to_speech.api.openai_realtime.pipeline_unit import (  # type: ignore[import-not-found]
    PipelineUnit,
)
from speech_to_speech.api.openai_realtime.service import (  # type: ignore[import-not-found]
    RealtimeService,
)
from speech_to_speech.api.openai_realtime.websocket_router import (  # type: ignore[import-not-found]
    create_app,
)
from speech_to_speech.LLM.chat import make_assistant_message  # type: ignore[import-not-found]
from speech_to_speech.pipeline.cancel_scope import CancelScope  # type: ignore[import-not-found]
from speech_to_speech.pipeline.control import is_control_message  # type: ignore[import-not-found]
from speech_to_speech.pipeline.events import (  # type: ignore[import-not-found]
    AssistantOutputEvent,
    AssistantResponseDoneEvent,
    SpeechStartedEvent,
    SpeechStoppedEvent,
    TranscriptionCompletedEvent,
)
from speech_to_speech.pipeline.history import ResponseHistory  # type: ignore[import-not-found]
from speech_to_speech.pipeline.messages import (  # type: ignore[import-not-found]
    AUDIO_RESPONSE_DONE,
    AudioOutput,
)
from speech_to_speech.pipeline.speculative_turns import (  # type: ignore[import-not-found]
    SpeculativeTurnTracker,
)

type Json = dict[str, Any]

UNITS: Final = 2
"""How many sessions it has room for."""
RATE: Final = 16_000
FRAME_SECONDS: Final = 512 / RATE
LOUD: Final = 1000
LOUD_FRAMES: Final = 3
QUIET_FRAMES: Final = 10
RECOGNITION_SECONDS: Final = 0.1
WORDS: Final = {
    330: "What do you know?",
    500: "Please turn on the lamp.",
    800: "Tell me a story.",
}
"""What is heard, by the pitch of the voice in Hz."""
NOTES: Final = ("[", "<")
"""How what our client tells it begins, that nobody said."""
STORY_SECONDS: Final = 6.0


class Stub:
    """The ear and the mind of one unit, a thread each."""

    def __init__(self, index: int, given: list[list[Json]]) -> None:
        """Build a unit with plain queues; `given` gets what each answer is made from."""
        self._turns = SpeculativeTurnTracker()
        prompts: Queue[Any] = Queue()
        listen = threading.Event()
        self.unit = PipelineUnit(
            index=index,
            service=RealtimeService(
                text_prompt_queue=prompts, should_listen=listen, speculative_turns=self._turns
            ),
            cancel_scope=CancelScope(),
            should_listen=listen,
            response_playing=threading.Event(),
            input_queue=Queue(),
            output_queue=Queue(),
            text_output_queue=Queue(),
            text_prompt_queue=prompts,
            handlers=[],
        )
        self._given = given
        self._calls = 0

    def start(self) -> None:
        """Start both threads; they end with the process."""
        for work in (self._hear, self._think):
            threading.Thread(target=work, daemon=True).start()

    def held(self) -> list[Json]:
        """Return what the conversations of this unit hold now."""
        states = list(self.unit.service._conns.values())
        return [item for state in states for item in _items(state.runtime_config.chat)]

    def _hear(self) -> None:
        heard: list[bytes] = []
        loud = quiet = 0
        tags: Json = {}
        while True:
            got = self.unit.input_queue.get()
            if is_control_message(got):
                self.unit.output_queue.put(got)
                heard, loud, quiet = [], 0, 0
                self._turns.reset()
                continue
            heard.append(got[0])
            if max(memoryview(got[0]).cast("h")) < LOUD:
                quiet += 1
            else:
                loud, quiet = loud + 1, 0
            if not loud:
                heard = []
            elif loud == LOUD_FRAMES and not quiet:
                name, revision, reopened = self._turns.speech_started(0)
                tags = {"turn_id": name, "turn_revision": revision}
                self._tell(SpeechStartedEvent(reopened=reopened, **tags))
            elif loud >= LOUD_FRAMES and quiet == QUIET_FRAMES:
                seconds = len(heard) * FRAME_SECONDS
                self._turns.segment_finalized(round(seconds * 1000))
                self._tell(SpeechStoppedEvent(duration_s=seconds, **tags))
                time.sleep(RECOGNITION_SECONDS)
                words = _words(b"".join(heard[:-QUIET_FRAMES]))
                self._tell(TranscriptionCompletedEvent(transcript=words, **tags))
                heard, loud = [], 0

    def _tell(self, event: Any) -> None:  # noqa: ANN401 - the server's own type
        self.unit.text_output_queue.put(event)

    def _think(self) -> None:
        while True:
            self._answer(self.unit.text_prompt_queue.get())

    def _answer(self, request: Any) -> None:  # noqa: ANN401 - the server's own type
        chat = request.runtime_config.chat
        tags = {
            "turn_id": request.turn_id,
            "turn_revision": request.turn_revision,
            "response_key": request.response_key,
            "cancel_generation": self.unit.cancel_scope.generation,
        }
        items = _items(chat)
        self._given.append(items)
        words, seconds, tool = self._decide(items)
        anchor = chat.history_anchor_id()
        output = self.unit.output_queue
        if tool is None:
            said = [make_assistant_message(words)]
        else:
            said = [
                RealtimeConversationItemFunctionCall(
                    type="function_call", call_id=tool.call_id, name=tool.name, arguments="{}"
                )
            ]
        history = ResponseHistory.capture(chat, said, after_item_id=anchor)
        what = {"tools": [tool]} if tool else {"text": words}
        output.put(AssistantOutputEvent(history=history, **what, **tags))
        self._speak(seconds, tags)
        whole = ResponseHistory.capture(chat, said, after_item_id=anchor, complete=True)
        output.put(AssistantResponseDoneEvent(history=whole, **tags))
        ending = {key: tags[key] for key in ("response_key", "cancel_generation")}
        output.put(AudioOutput(audio=AUDIO_RESPONSE_DONE, **ending))

    def _decide(self, items: list[Json]) -> tuple[str, float, Any]:
        """Return the words of an answer, how long they are, or the call in their place."""
        last = [item for item in items if not _text(item).startswith(NOTES)][-1]
        if last["type"] == "function_call_output":
            return f"The lamp is {last['output']}.", 0.4, None
        if "turn on" in _text(last):
            self._calls += 1
            name = f"call_{self.unit.index}_{self._calls}"
            call = ResponseFunctionToolCall(
                type="function_call", call_id=name, name="HassTurnOn", arguments="{}"
            )
            return "", 0.0, call
        if "story" in _text(last):
            return "Once there was a cat.", STORY_SECONDS, None
        return "I know what I was told.", 0.6, None

    def _speak(self, seconds: float, tags: Json) -> None:
        """Speak three times as fast as a voice, until somebody does not want to hear it."""
        generation = tags["cancel_generation"]
        for pcm in _tone(seconds):
            if self.unit.cancel_scope.is_stale(generation):
                return
            key = tags["response_key"]
            chunk = AudioOutput(audio=pcm, cancel_generation=generation, response_key=key)
            self.unit.output_queue.put(chunk)
            time.sleep(FRAME_SECONDS / 3)


def _items(chat: Any) -> list[Json]:  # noqa: ANN401 - the server's own type
    first = [chat.init_chat_message] if chat.init_chat_message else []
    return [item.model_dump(exclude_none=True) for item in (*first, *chat.buffer)]


def _text(item: Json) -> str:
    return "".join(part.get("text", "") for part in item.get("content", ()))


def _words(pcm: bytes) -> str:
    samples = memoryview(pcm).cast("h")
    crossings = sum((one < 0) != (two < 0) for one, two in itertools.pairwise(samples))
    pitch = crossings / 2 / (len(samples) / RATE)
    return WORDS[min(WORDS, key=lambda hertz: abs(hertz - pitch))]


def _tone(seconds: float) -> Iterator[bytes]:
    for start in range(0, int(seconds * RATE), 512):
        wave = (int(3000 * math.sin(n / 6)) for n in range(start, start + 512))
        yield array.array("h", wave).tobytes()


def main() -> None:
    """Serve until the process is ended."""
    given_all: list[list[Json]] = []
    stubs = [Stub(index, given_all) for index in range(UNITS)]
    for stub in stubs:
        stub.start()
    app = create_app(pool=[stub.unit for stub in stubs], stop_event=threading.Event())

    @app.get("/held")  # type: ignore[untyped-decorator]
    def held() -> list[Json]:
        return [item for stub in stubs for item in stub.held()]

    @app.get("/given")  # type: ignore[untyped-decorator]
    def given() -> list[list[Json]]:
        return given_all

    door = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{door.getsockname()[1]}"}) + "\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[door])


if __name__ == "__main__":
    main()
