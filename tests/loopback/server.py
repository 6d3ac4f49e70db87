"""The loopback server: HTTP and WebSocket on 127.0.0.1, and the sessions that came."""

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from .audio import wav
from .brain import Brain, ScriptedBrain
from .clock import Clock, RealClock
from .faults import Fault, FaultPlan
from .models import MODELS, Model
from .personalities import OPENAI, Personality
from .refusal import RefusedError
from .session import LoopbackSession
from .setting import Setting, Witness
from .signals import Signal
from .switches import Switches

type Json = dict[str, Any]

_SESSION_SECONDS = 3_600.0
_LARGEST_FRAME = 32 * 1024 * 1024


class LoopbackServer:
    """A realtime server for tests, to be used with `async with`.

    `brain` thinks (default: a scripted one that says "OK."), `personality` and `switches` choose
    the behaviour, `clock` its pace (default: twenty times real time), `faults` what goes wrong.
    `key` is the only accepted API key, if there is one. `lifetime` is how many seconds a session
    may last, `context_tokens` how much a model sees (0: as much as the model does). With
    `any_model` models of any name exist; without `keep_audio` the events that are written down
    hold no audio, for long runs.

    Attributes to change at run time: `key`, `refuse_connections` (True: connections are cut; a
    number: refused with that HTTP status), `hang_handshake` (nothing is answered), `faults`.
    """

    def __init__(
        self,
        brain: Brain | None = None,
        *,
        personality: Personality = OPENAI,
        switches: Switches | None = None,
        clock: Clock | None = None,
        faults: Sequence[Fault] = (),
        key: str | None = None,
        lifetime: float = _SESSION_SECONDS,
        context_tokens: int = 0,
        models: dict[str, Model] | None = None,
        any_model: bool = False,
        keep_audio: bool = True,
        seed: int = 0,
        port: int = 0,
        witness: Witness | None = None,
    ) -> None:
        """Prepare the server; it listens once it is entered."""
        self.brain: Brain = brain or ScriptedBrain()
        self.personality = personality
        self.switches = switches or personality.switches
        self.clock = clock or RealClock(20)
        self.faults = FaultPlan(list(faults))
        self.key = key
        self.lifetime = lifetime
        self.context_tokens = context_tokens
        self.models = models or MODELS
        self.any_model = any_model
        self.keep_audio = keep_audio
        self.refuse_connections: bool | int = False
        self.hang_handshake = False
        self.sessions: list[LoopbackSession] = []
        self.handshakes = 0
        self.speech_requests: list[Json] = []
        self._seed = seed
        self._port = port
        self._witness = witness
        self._changed = Signal()
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None

    # Where it is

    @property
    def base_url(self) -> str:
        """The address of the API, ending in /v1."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def ws_url(self) -> str:
        """The address of the realtime endpoint, without a model."""
        return f"ws://127.0.0.1:{self._port}/v1/realtime"

    # What happened

    @property
    def session(self) -> LoopbackSession:
        """The newest session; there must be one."""
        return self.sessions[-1]

    @property
    def open_sessions(self) -> list[LoopbackSession]:
        """The sessions that are connected now."""
        return [session for session in self.sessions if not session.closed]

    def total(self, kind: str) -> int:
        """Return how many client events of that type came, over all sessions."""
        return sum(session.count(kind) for session in self.sessions)

    async def wait_for[T](
        self,
        predicate: Callable[[LoopbackServer], T],
        timeout: float = 5.0,  # noqa: ASYNC109
    ) -> T:
        """Wait until `predicate(server)` is true after some event, and return what it returned.

        Raises TimeoutError after `timeout` real seconds.
        """
        async with asyncio.timeout(timeout):
            while not (found := predicate(self)):
                await self._changed.wait()
            return found

    # Living

    async def __aenter__(self) -> Self:
        """Listen on 127.0.0.1."""
        app = web.Application(client_max_size=_LARGEST_FRAME)
        for root in ("/v1", "/openai/v1"):  # the second is Azure's
            app.router.add_get(f"{root}/realtime", self._realtime)
            app.router.add_get(f"{root}/models", self._models)
            app.router.add_post(f"{root}/audio/speech", self._speech)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all sessions and tasks. Raises what went wrong inside, if nothing else was raised."""
        self._closing.set()
        for session in self.open_sessions:
            session.close(1001, "server is shutting down")
        try:
            async with asyncio.timeout(0.5):
                while self.open_sessions:
                    await self._changed.wait()
        except TimeoutError:
            pass
        assert self._runner is not None
        await self._runner.cleanup()
        failures = [failure for session in self.sessions for failure in session.failures]
        if raised is None and failures:
            raise failures[0]

    # Requests

    async def _realtime(self, request: web.Request) -> web.StreamResponse:
        """Open a session, or refuse to in one of the known ways."""
        self.handshakes += 1
        self._changed.fire()
        if self.hang_handshake:
            await self._closing.wait()
        if (refused := self._refused(request)) is not None:
            return refused
        problem, code = self._problem(request)
        form = self.switches.auth_refusal if code == 3000 else self.switches.model_refusal
        if problem is not None and form == "http" and code != 4000:
            return _http_error(problem, 401 if code == 3000 else 404)
        socket = web.WebSocketResponse(max_msg_size=_LARGEST_FRAME, compress=True, timeout=1.0)
        await socket.prepare(request)
        if problem is not None:
            event = {"type": "error", "event_id": "event_refused", "error": problem.wire(None)}
            await socket.send_json(event)
            reason = f"invalid_request_error.{problem.code}"
            await socket.close(code=code, message=reason.encode())
            return socket
        session = self._open(str(request.query.get("model", "")))
        await session.run(socket, request.transport)
        return socket

    def _open(self, model: str) -> LoopbackSession:
        """Make a session and remember it."""
        setting = Setting(
            brain=self.brain,
            clock=self.clock,
            personality=self.personality,
            switches=self.switches,
            faults=self.faults,
            seed=self._seed,
            lifetime=self.lifetime,
            context_tokens=self.context_tokens,
            changed=self._changed.fire,
            keep_audio=self.keep_audio,
            witness=self._witness,
        )
        known = self.models.get(model) or Model(model, interleaves=False, reasons=False)
        session = LoopbackSession(setting, len(self.sessions), known)
        self.sessions.append(session)
        self._changed.fire()
        return session

    def _refused(self, request: web.Request) -> web.Response | None:
        """Return the refusal of a server that does not want to be connected to."""
        if self.refuse_connections is True:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=503)
        if self.refuse_connections:
            says = "The server is overloaded or not ready yet."
            refusal = RefusedError(code=None, says=says, kind="server_error")
            return _http_error(refusal, self.refuse_connections)
        return None

    def _problem(self, request: web.Request) -> tuple[RefusedError | None, int]:
        """Return what is wrong with a request for a session, and the close code for it."""
        if (refused := self._unauthorised(request)) is not None:
            return refused, 3000
        if "realtime=v1" in request.headers.get("OpenAI-Beta", ""):
            says = "The Realtime Beta API is no longer supported. Please use the GA API."
            return RefusedError(code="beta_api_shape_disabled", says=says), 4000
        model = request.query.get("model", "")
        if not model:
            says = "You must provide a model parameter."
            return RefusedError(code="missing_model", says=says), 4000
        if model not in self.models and not self.any_model:
            says = f"The model `{model}` does not exist or you do not have access to it."
            return RefusedError(code="model_not_found", says=says), 4004
        return None, 0

    def _unauthorised(self, request: web.Request) -> RefusedError | None:
        """Return the refusal of a wrong or missing key."""
        if self.key is None:
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        given = given or request.headers.get("api-key", "")
        if given == self.key:
            return None
        says = "Missing bearer or basic authentication in header"
        if given:
            says = "Incorrect API key provided: ***. You can find your API key in your account."
        return RefusedError(code="invalid_api_key", says=says)

    async def _models(self, request: web.Request) -> web.Response:
        """List the models."""
        if (refused := self._refused(request)) is not None:
            return refused
        if (wrong := self._unauthorised(request)) is not None:
            return _http_error(wrong, 401)
        owned = {"object": "model", "created": 1_750_000_000, "owned_by": "system"}
        data = [{"id": name} | owned for name in self.models]
        return web.json_response({"object": "list", "data": data})

    async def _speech(self, request: web.Request) -> web.Response:
        """Say a text verbatim, outside any conversation."""
        if (refused := self._refused(request)) is not None:
            return refused
        if (wrong := self._unauthorised(request)) is not None:
            return _http_error(wrong, 401)
        wanted = await request.json()
        self.speech_requests.append(wanted)
        self._changed.fire()
        for name in ("model", "input", "voice"):
            if name not in wanted:
                return _http_error(RefusedError.missing(name), 400)
        form = wanted.get("response_format", "mp3")
        if form not in {"wav", "pcm"}:
            refusal = RefusedError.value("response_format", form, "Value must be 'wav' or 'pcm'.")
            return _http_error(refusal, 400)
        pcm = await self.brain.speak(wanted["input"])
        if form == "pcm":
            return web.Response(body=pcm, content_type="audio/pcm")
        return web.Response(body=wav(pcm), content_type="audio/wav")


def _http_error(refused: RefusedError, status: int) -> web.Response:
    """Return a refusal as the HTTP endpoints word it."""
    body = {name: value for name, value in refused.wire(None).items() if name != "event_id"}
    return web.json_response({"error": body}, status=status)
