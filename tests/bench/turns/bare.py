"""The floor: a client that does nothing but send speech and take what comes."""

import asyncio
import base64
import json
import time
from dataclasses import dataclass
from typing import Any, Final, Self

from aiohttp import ClientSession, ClientWebSocketResponse

from .declared import END_OF_TURN, FRAME_MS, SPEECH_FRAMES

MODEL: Final = "gpt-realtime-2.1"
_LOUD: Final = b"\x00\x40\x00\xc0" * (24 * FRAME_MS // 2)
_TRANSCRIBED: Final = "conversation.item.input_audio_transcription.completed"


@dataclass(frozen=True, slots=True)
class Floor:
    """Seconds after the last frame of speech."""

    audio: float
    """The first audio came."""
    transcript: float
    """The transcript was complete: Home Assistant goes on only then."""
    last: float
    """The last audio came."""

    @property
    def first(self) -> float:
        """When a reply can begin in Home Assistant at the earliest."""
        return max(self.audio, self.transcript)


class Bare:
    """An open session, on the same kind of socket as ours."""

    def __init__(self, http: ClientSession, socket: ClientWebSocketResponse) -> None:
        """Use an open socket."""
        self._http = http
        self._socket = socket

    @classmethod
    async def to(cls, ws_url: str) -> Self:
        """Connect and configure."""
        http = ClientSession(headers={"Authorization": "Bearer key"})
        socket = await http.ws_connect(f"{ws_url}?model={MODEL}", compress=15, max_msg_size=0)
        bare = cls(http, socket)
        hearing = {
            "turn_detection": None,
            "transcription": {"model": "gpt-realtime-whisper"},
        }
        await bare._send(
            "session.update", session={"type": "realtime", "audio": {"input": hearing}}
        )
        await bare._until("session.updated")
        return bare

    async def close(self) -> None:
        """Disconnect."""
        await self._socket.close()
        await self._http.close()

    async def turn(self) -> Floor:
        """Speak, ask, and take the answer."""
        since = 0.0
        frame = base64.b64encode(_LOUD).decode()
        for _ in range(SPEECH_FRAMES):
            await asyncio.sleep(FRAME_MS / 1000)
            await self._send("input_audio_buffer.append", audio=frame)
        since = time.perf_counter()
        await asyncio.sleep(END_OF_TURN)
        await self._send("input_audio_buffer.commit")
        await self._send("response.create", response={})
        audio = transcript = last = 0.0
        done = False
        while not (done and transcript):
            event = await self._next()
            now = time.perf_counter() - since
            match event["type"]:
                case "response.output_audio.delta":
                    audio, last = audio or now, now
                case kind if kind == _TRANSCRIBED:
                    transcript = now
                case "response.done":
                    done = True
        return Floor(audio=audio, transcript=transcript, last=last)

    async def _send(self, kind: str, **fields: Any) -> None:  # noqa: ANN401 - any JSON
        await self._socket.send_str(json.dumps({"type": kind, **fields}))

    async def _next(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            return dict(json.loads((await self._socket.receive()).data))

    async def _until(self, kind: str) -> None:
        while (await self._next())["type"] != kind:
            pass
