"""The socket of GraphQL: subscriptions, in graphql-transport-ws and in the older graphql-ws."""

import asyncio
from contextlib import aclosing, suppress
from typing import Any

import msgspec
import structlog
from msgspec import Raw, Struct
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from botdrome.api.bodies import LARGEST_BODY, bearer
from botdrome.api.graphql.subscriptions import Subscriptions, Unanswerable
from botdrome.api.registration import refusal
from botdrome.api.watching import TooSlow
from botdrome.wire.framing.websocket import NORMAL, TOO_BIG

log = structlog.get_logger()

GREETING = 10.0
"""Seconds that a client has to begin."""
MOST_OPERATIONS = 20

Message = dict[str, Any]


class Heard(Struct, frozen=True):
    """A message from a client. Its payload is read by the process that answers it."""

    type: Any = None
    id: Any = None
    payload: Raw = Raw()


class Tongue(Struct, frozen=True):
    """What the two protocols call things."""

    name: str
    start: str
    stop: str
    data: str


TONGUES = {
    tongue.name: tongue
    for tongue in (Tongue("graphql-transport-ws", "subscribe", "complete", "next"), Tongue("graphql-ws", "start", "stop", "data"))
}


class Closing(Exception):
    """The conversation ends, with a code and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class GraphQLSocket:
    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        offered = [TONGUES[name] for name in scope.get("subprotocols", ()) if name in TONGUES]
        if not offered:
            await socket.accept()
            await socket.close(4406, "Subprotocol not acceptable")
            return
        await socket.accept(offered[0].name)
        await Conversation(socket, offered[0], self._subscriptions).hold()


class Conversation:
    def __init__(self, socket: WebSocket, tongue: Tongue, subscriptions: Subscriptions) -> None:
        self._socket, self._tongue, self._subscriptions = socket, tongue, subscriptions
        self._token = bearer(socket.headers.get("authorization", ""))
        self._greeted = False
        self._operations: dict[str, asyncio.Task[None]] = {}

    async def hold(self) -> None:
        try:
            await self._converse()
        except Closing as closing:
            with suppress(WebSocketDisconnect, RuntimeError):
                await self._socket.close(closing.code, closing.reason)
        except WebSocketDisconnect:
            pass
        finally:
            tasks = list(self._operations.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _converse(self) -> None:
        try:
            async with asyncio.timeout(GREETING):
                while not self._greeted:
                    await self._hear(await self._message())
        except TimeoutError:
            raise Closing(4408, "Connection initialisation timeout") from None
        while True:
            await self._hear(await self._message())

    async def _message(self) -> Heard:
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", 1005))
        text = received.get("text") or received.get("bytes") or ""
        if len(text) > LARGEST_BODY:
            raise Closing(TOO_BIG, f"a message may have {LARGEST_BODY} bytes at most")
        try:
            return msgspec.json.decode(text, type=Heard)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise Closing(4400, "Invalid message received") from None

    async def _hear(self, message: Heard) -> None:
        kind = message.type
        if kind == "connection_init":
            await self._greet()
        elif kind == "ping":
            await self._say("pong")
        elif kind == self._tongue.start:
            self._begin(message)
        elif kind == self._tongue.stop:
            await self._stop(message.id)
        elif kind == "connection_terminate":
            raise Closing(NORMAL, "")
        elif kind != "pong":
            raise Closing(4400, "Invalid message received")

    async def _greet(self) -> None:
        if self._greeted:
            raise Closing(4429, "Too many initialisation requests")
        self._greeted = True
        await self._say("connection_ack")

    def _begin(self, message: Heard) -> None:
        name, payload = message.id, bytes(message.payload)
        if not self._greeted:
            raise Closing(4401, "Unauthorized")
        if not isinstance(name, str) or not name or not payload.startswith(b"{"):
            raise Closing(4400, "Invalid message received")
        if name in self._operations:
            raise Closing(4409, f"Subscriber for {name[:40]} already exists")
        if len(self._operations) >= MOST_OPERATIONS:
            raise Closing(4429, f"Too many operations: {MOST_OPERATIONS} at once are allowed")
        self._operations[name] = asyncio.create_task(self._operate(name, payload))

    async def _stop(self, name: Any) -> None:
        task = self._operations.pop(name, None) if isinstance(name, str) else None
        if task is not None:
            task.cancel()
            if self._tongue.stop != "complete":
                await self._say("complete", name)

    async def _operate(self, name: str, payload: bytes) -> None:
        me = asyncio.current_task()
        try:
            async with aclosing(self._subscriptions.results(payload, self._token)) as results:
                async for result in results:
                    await self._say(self._tongue.data, name, result)
            await self._say("complete", name)
        except WebSocketDisconnect:
            pass
        except Exception as error:
            await self._fail(name, _errors(error))
        finally:
            if self._operations.get(name) is me:
                del self._operations[name]

    async def _fail(self, name: str, errors: list[Message]) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            await self._say("error", name, errors if self._tongue.name == "graphql-transport-ws" else errors[0])

    async def _say(self, kind: str, name: str | None = None, payload: Any = None) -> None:
        message: Message = {"type": kind}
        if name is not None:
            message["id"] = name
        if payload is not None:
            message["payload"] = payload
        await self._socket.send_text(msgspec.json.encode(message).decode())


def _errors(error: Exception) -> list[Message]:
    if isinstance(error, Unanswerable):
        return error.errors
    if isinstance(error, TooSlow):
        return [{"message": str(error)}]
    problem = refusal(error)
    if problem is None:
        log.error("a subscription failed", exc_info=error)
    return [{"message": problem.words if problem else "Something went wrong in the server."}]
