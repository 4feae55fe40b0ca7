"""A server with socket.io alone, whose host repeats events."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import httpx
from msgspec import Struct
from websockets.asyncio.client import ClientConnection, connect

from botdrome.api.engineio import EngineConnection
from botdrome.api.socketio import SocketIo, socketio_factory
from botdrome.protocols import load_settings
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import stop
from botdrome.server.network.origins import Origins
from botdrome.server.session import Session
from botdrome.wire.conversation import Command, Outs
from botdrome.wire.cube import CubeEvent
from botdrome.wire.framing.socketio import (
    SocketConnected,
    SocketDisconnected,
    SocketIoConversation,
    SocketIoLimits,
    units,
)
from tests.patience import PATIENCE as PATIENCE


class EchoEvent(Struct, Command, frozen=True):
    name: str
    args: list[Any]


class EchoConversation(SocketIoConversation):
    def on_event(self, name: str, args: list[Any]) -> Outs:
        return (EchoEvent(name, args),)


class Caller:
    """A client of the server under test, as its host sees it."""

    def __init__(self, session: Session) -> None:
        assert isinstance(session.connection, EngineConnection)
        self.connection = session.connection

    def emit(self, name: str, payload: Any) -> None:
        self.emit_all([(name, payload)])

    def emit_all(self, events: list[tuple[str, Any]]) -> None:
        self.connection.emit([CubeEvent(name, payload) for name, payload in events])


class Echo:
    """A host that repeats events, keeps a diary, and can be waited for."""

    protocol = "echo"

    def __init__(self) -> None:
        self.diary: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        self.callers: dict[str, Caller] = {}
        self.numbers = count()
        self._sids: dict[Session, str] = {}
        self._desk = cast(Desk, SimpleNamespace(deadlines={}))

    def receive(self, connection: EngineConnection, limits: SocketIoLimits) -> Session:
        now = asyncio.get_running_loop().time()
        return Session(
            connection, EchoConversation(connection.handshake, limits, now), self, self._desk
        )

    def act(self, session: Session, command: Command) -> None:
        match command:
            case SocketConnected(sid):
                self._sids[session] = sid
                session.release = partial(self.left, session)
                self.callers[sid] = Caller(session)
                self.diary.put_nowait(("connected", sid))
            case SocketDisconnected():
                self.left(session)
            case EchoEvent(name, args):
                self.event(self.callers[self._sids[session]], name, args)

    def left(self, session: Session) -> None:
        sid = self._sids.pop(session, None)
        if sid is not None:
            del self.callers[sid]
            self.diary.put_nowait(("gone", sid))

    def event(self, caller: Caller, name: str, args: list[Any]) -> None:
        self.diary.put_nowait((name, *args))
        if name == "ECHO":
            caller.emit("ECHO", args[0] if args else None)
        elif name == "ECHO_LENGTH":
            caller.emit("ECHO", len(args[0]))
        elif name == "COUNT":
            for _ in range(args[0]):
                caller.emit("NUMBER", next(self.numbers))
        elif name == "TELL":
            caller.emit("TOLD", "x" * args[0])
        elif name == "LEAVE_ME":
            caller.emit("LAST", "goodbye")
            caller.connection.disconnect()

    async def next(self) -> tuple[Any, ...]:
        return await asyncio.wait_for(self.diary.get(), PATIENCE)

    async def until_gone(self) -> str:
        while (entry := await self.next())[0] != "gone":
            pass
        return str(entry[1])


class Rig:
    """A server that runs, and clients of it that speak without any library of socket.io."""

    def __init__(self, port: int, socketio: SocketIo, echo: Echo, http: httpx.AsyncClient) -> None:
        self.port, self.socketio, self.echo, self.http = port, socketio, echo, http

    def url(self, query: str, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}/socket.io/?{query}"

    async def get(self, query: str) -> httpx.Response:
        return await self.http.get(self.url(query))

    async def post(
        self, query: str, body: str | bytes, kind: str = "text/plain;charset=UTF-8"
    ) -> httpx.Response:
        return await self.http.post(self.url(query), content=body, headers={"content-type": kind})

    async def poller(self, version: int) -> "Poller":
        return await Poller(self, version).open()

    @asynccontextmanager
    async def socket(self, version: int, sid: str = "") -> AsyncIterator[ClientConnection]:
        query = f"EIO={version}&transport=websocket" + (f"&sid={sid}" if sid else "")
        async with connect(self.url(query, "ws"), open_timeout=PATIENCE, max_size=None) as socket:
            yield socket

    @asynccontextmanager
    async def caller(self, version: int) -> AsyncIterator[ClientConnection]:
        """A WebSocket that is connected to the default namespace."""
        async with self.socket(version) as socket:
            assert str(await said(socket)).startswith("0{")
            if version == 4:
                await socket.send("40")
            assert str(await said(socket)).startswith("40")
            yield socket


class Poller:
    """A client that polls."""

    def __init__(self, rig: Rig, version: int) -> None:
        self.rig, self.version, self.sid = rig, version, ""
        self.query = f"EIO={version}&transport=polling"
        self.greeting: dict[str, Any] = {}
        self._got: list[str] = []

    async def open(self) -> "Poller":
        answer = await self.rig.get(self.query)
        assert answer.status_code == 200, answer.text
        self._got = self.packets(answer.text)
        self.greeting = json.loads(self._got.pop(0)[1:])
        self.sid = self.greeting["sid"]
        self.query += f"&sid={self.sid}"
        if self.version == 4:
            await self.say("40")
        assert (await self.packet()).startswith("40")
        return self

    async def say(self, *packets: str) -> httpx.Response:
        body = (
            "\x1e".join(packets)
            if self.version == 4
            else "".join([f"{units(each)}:{each}" for each in packets])
        )
        return await self.rig.post(self.query, body)

    async def poll(self) -> httpx.Response:
        return await self.rig.get(self.query)

    async def packet(self) -> str:
        while not self._got:
            answer = await self.poll()
            assert answer.status_code == 200, answer.text
            self._got = self.packets(answer.text)
        return self._got.pop(0)

    def packets(self, text: str) -> list[str]:
        if self.version == 4:
            return text.split("\x1e")
        packets = []
        while text:
            length, _, rest = text.partition(":")
            end = (
                next(
                    number for number in range(len(rest) + 1) if units(rest[:number]) == int(length)
                )
                if not rest.isascii()
                else int(length)
            )
            packets.append(rest[:end])
            text = rest[end:]
        return packets


async def said(socket: ClientConnection) -> str | bytes:
    return await asyncio.wait_for(socket.recv(), PATIENCE)


@asynccontextmanager
async def rig(**changes: Any) -> AsyncIterator[Rig]:
    settings = load_settings(changes)
    echo, connection_limits = Echo(), ConnectionLimits(settings)
    socketio = SocketIo(echo.receive, settings, connection_limits)
    protocol_factory = socketio_factory(socketio, connection_limits, settings, Origins(settings))
    server = await asyncio.get_running_loop().create_server(protocol_factory, "127.0.0.1", 0)
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        try:
            yield Rig(server.sockets[0].getsockname()[1], socketio, echo, http)
        finally:
            await socketio.close()
            stop(server)
