"""The spectators' doors: a WebSocket, and server-sent events for whoever cannot have one."""

import asyncio
from contextlib import suppress

import msgspec
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from botdrome.api.away import Away
from botdrome.api.problems import Problem
from botdrome.api.watching import TOO_SLOW, Viewing
from botdrome.server.network.connection import POLICY

NOTHING_TO_SEE = 4404
HEARTBEAT = 15.0
"""Seconds of silence after which a stream of events shows that it is still there."""
LAST_WORDS = 2.0
"""Seconds that a spectator who was cut off has to take the reason."""
HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]


class WatchSocket:
    """`/watch/{match}`: every message is a text frame; closed when the match is over."""

    def __init__(self, away: Away) -> None:
        self._away = away

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        viewing = Viewing(self._away, socket.path_params["match"])
        try:
            with suppress(WebSocketDisconnect):  # it may go at any time
                await socket.accept()
                await self._receive(socket, viewing)
        finally:
            viewing.leave()

    async def _receive(self, socket: WebSocket, viewing: Viewing) -> None:
        try:
            await viewing.enter()
            await self._show(socket, viewing)
        except Problem as problem:
            await socket.send_text(msgspec.json.encode({"error": problem.words}).decode())
            await socket.close(NOTHING_TO_SEE, "nothing to see")

    async def _show(self, socket: WebSocket, viewing: Viewing) -> None:
        async def write(message: bytes) -> None:
            await socket.send_text(message.decode())

        async def gone() -> None:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass

        ending = await viewing.attend(write, gone)
        if ending == "over":
            await socket.close()
        elif ending == "cut":
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await socket.close(POLICY, TOO_SLOW)


class WatchEvents:
    """`/watch/{match}/events`: every message is an event's data; an event `end` says how the stream ended."""

    def __init__(self, away: Away) -> None:
        self._away = away

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        viewing = Viewing(self._away, scope["path_params"]["match"])
        stream = EventStream(receive, send)
        try:
            await viewing.enter()
            ending = "over" if scope["method"] == "HEAD" else await viewing.attend(stream.data, stream.gone)
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_WORDS):
                    await stream.end({"over": "the match is over", "cut": TOO_SLOW, "gone": ""}[ending])
        except Problem as problem:
            if stream.begun:
                await stream.end(problem.words)
            else:
                await JSONResponse({"error": problem.words}, problem.status)(scope, receive, send)
        finally:
            viewing.leave()


class EventStream:
    """An answer that goes on."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.begun = False

    async def data(self, message: bytes) -> None:
        await self._write(b"data: " + message + b"\n\n")

    async def end(self, why: str) -> None:
        message = b"event: end\ndata: " + msgspec.json.encode({"end": why}) + b"\n\n"
        await self._write(message, more_body=False)

    async def gone(self) -> None:
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT):
                    message = await self._receive()
            except TimeoutError:
                await self._write(b": still here\n\n")
            else:
                if message["type"] == "http.disconnect":
                    return

    async def _write(self, body: bytes, more_body: bool = True) -> None:
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await self._send({"type": "http.response.body", "body": body, "more_body": more_body})
