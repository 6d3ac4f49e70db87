"""Home Assistant as anybody may talk to it: its REST and websocket API."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

import aiohttp

_ANSWER_SECONDS = 30.0
_CHANGED = "reconfigure_successful"


class CommandFailed(Exception):
    """Home Assistant refused a request; the message holds its own code and words."""


class Subscription:
    """What one websocket command goes on to tell, in order."""

    def __init__(self, number: int) -> None:
        """Collect the events of the command with this number."""
        self.number = number
        self._events: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def put(self, event: dict[str, Any] | None) -> None:
        """Add an event; None says that the connection is gone."""
        self._events.put_nowait(event)

    async def next(self, seconds: float) -> dict[str, Any]:
        """Return the next event.

        Raises:
            TimeoutError: none came within `seconds`.
            CommandFailed: the connection ended.

        """
        async with asyncio.timeout(seconds):
            event = await self._events.get()
        if event is None:
            raise CommandFailed("the connection to Home Assistant ended")
        return event


class Client:
    """One signed-in websocket and the REST API beside it."""

    def __init__(self, http: aiohttp.ClientSession, base: str, token: str) -> None:
        """Use `connect` instead, which also opens the websocket."""
        self.base = base
        self._http = http
        self._headers = {"Authorization": f"Bearer {token}"}
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._number = 0
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._subscriptions: dict[int, Subscription] = {}

    @classmethod
    @asynccontextmanager
    async def connect(
        cls, http: aiohttp.ClientSession, base: str, token: str
    ) -> AsyncIterator[Self]:
        """Sign in, and sign off at the end."""
        client = cls(http, base, token)
        async with http.ws_connect(f"{base}/api/websocket", max_msg_size=0) as socket:
            await socket.receive_json(timeout=_ANSWER_SECONDS)
            await socket.send_json({"type": "auth", "access_token": token})
            welcome = await socket.receive_json(timeout=_ANSWER_SECONDS)
            if welcome["type"] != "auth_ok":
                raise CommandFailed(f"Home Assistant refused the token: {welcome['type']}")
            client._socket = socket
            client._reader = asyncio.create_task(client._read(), name="demo websocket reader")
            try:
                yield client
            finally:
                client._reader.cancel()
                with suppress(asyncio.CancelledError):
                    await client._reader

    async def get(self, path: str) -> Any:  # noqa: ANN401  (JSON of any shape)
        """Return the JSON at `path`."""
        async with self._http.get(self.base + path, headers=self._headers) as response:
            return await _checked(response)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Send `body` as JSON and return the JSON that comes back."""
        url = self.base + path
        async with self._http.post(url, json=body, headers=self._headers) as response:
            return await _checked(response)

    async def command(self, kind: str, **fields: object) -> Any:  # noqa: ANN401
        """Send a websocket command and return its result.

        Raises:
            CommandFailed: Home Assistant refused it.
            TimeoutError: no answer within 30 seconds.

        """
        return await self._ask(self._next(), kind, fields)

    @asynccontextmanager
    async def subscribed(self, kind: str, **fields: object) -> AsyncIterator[Subscription]:
        """Send a command that goes on to tell things, and end it at the end."""
        subscription = Subscription(self._next())
        self._subscriptions[subscription.number] = subscription
        try:
            await self._ask(subscription.number, kind, fields)
            yield subscription
        finally:
            del self._subscriptions[subscription.number]
            with suppress(CommandFailed, TimeoutError, ConnectionError):
                await self.command("unsubscribe_events", subscription=subscription.number)

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary frame: audio for a running pipeline."""
        assert self._socket is not None
        await self._socket.send_bytes(data)

    async def act(
        self, domain: str, action: str, data: Mapping[str, Any], *, response: bool = False
    ) -> Any:  # noqa: ANN401
        """Call an action; return its response if one is asked for."""
        result = await self.command(
            "call_service",
            domain=domain,
            service=action,
            service_data=dict(data),
            return_response=response,
        )
        return result["response"] if response else None

    async def flow(
        self,
        handler: str | Sequence[str],
        *inputs: Mapping[str, Any],
        kind: str = "flow",
        **context: str,
    ) -> dict[str, Any]:
        """Go through a config flow, one input a form, and return its last answer.

        Args:
            handler: the integration; for other kinds of flow what they ask for.
            inputs: what is typed into each form.
            kind: `flow`, `options/flow` or `subentries/flow`.
            context: what else the flow begins with.

        Raises:
            CommandFailed: the flow was aborted, or wants more than was given.

        """
        path = f"config/config_entries/{kind}"
        answer: dict[str, Any] = await self.post(f"/api/{path}", {"handler": handler, **context})
        left = list(inputs)
        while answer["type"] in ("form", "menu") and left:
            answer = await self.post(f"/api/{path}/{answer['flow_id']}", left.pop(0))
        if answer["type"] != "create_entry" and answer.get("reason") != _CHANGED:
            told = {key: answer.get(key) for key in ("type", "step_id", "reason", "errors")}
            raise CommandFailed(f"the flow of {handler} ended with {told}")
        return answer

    def _next(self) -> int:
        self._number += 1
        return self._number

    async def _ask(self, number: int, kind: str, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401
        assert self._socket is not None
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            await self._socket.send_json({"id": number, "type": kind, **fields})
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await answer
        finally:
            del self._answers[number]

    async def _read(self) -> None:
        assert self._socket is not None
        try:
            async for message in self._socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    told = message.json()
                    for one in told if isinstance(told, list) else [told]:
                        self._take(one)
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(CommandFailed("the connection to Home Assistant ended"))
            for subscription in self._subscriptions.values():
                subscription.put(None)

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id", 0)
        if message["type"] == "event":
            if (subscription := self._subscriptions.get(number)) is not None:
                subscription.put(message["event"])
            return
        answer = self._answers.get(number)
        if message["type"] != "result" or answer is None or answer.done():
            return
        if message["success"]:
            answer.set_result(message["result"])
        else:
            error = message["error"]
            answer.set_exception(CommandFailed(f"{error['code']}: {error['message']}"))


async def _checked(response: aiohttp.ClientResponse) -> Any:  # noqa: ANN401
    if response.status >= 400:
        raise CommandFailed(f"HTTP {response.status}: {(await response.text())[:300]}")
    return await response.json()
