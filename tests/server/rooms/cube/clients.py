"""Battlecube as its users know it: bots that answer over HTTP, and an organiser on socket.io."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct, field
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE

NOOP = [{"task": "NOOP"}]


class Asked(Struct):
    """One call of the server."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Reply(Struct):
    """A bot's answer; without a status it closes the connection."""

    body: bytes = b""
    status: int | None = 200
    headers: dict[str, str] = field(default_factory=dict)


Answering = Callable[[Asked], Awaitable[Reply]]


def saying(*plans: Any) -> Answering:
    """Answers one by one, the last one for ever."""
    left = list(plans)

    async def answer(_: Asked) -> Reply:
        return Reply(json.dumps(left.pop(0) if len(left) > 1 else left[0]).encode())

    return answer


class Bot:
    """A bot with a URL."""

    def __init__(self, answer: Answering) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        self.connections = 0
        self.port = 0
        self._open: dict[asyncio.Task[Any] | None, asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open[asyncio.current_task()] = writer
        try:
            while await self._call(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            del self._open[asyncio.current_task()]
            writer.close()

    async def close(self) -> None:
        """Close all connections, also those with a call."""
        tasks = [task for task in self._open if task is not None]
        for writer in self._open.values():
            writer.transport.abort()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])
        }
        asked = Asked(
            method,
            path,
            headers,
            json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or "null"),
        )
        self.asked.append(asked)
        reply = await self._answer(asked)
        if reply.status is None:
            return False
        lines = (
            {"Content-Type": "application/json"}
            | reply.headers
            | {"Content-Length": len(reply.body)}
        )
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {reply.status} X\r\n{text}\r\n".encode() + reply.body)
        return True


@asynccontextmanager
async def bot(answer: Answering) -> AsyncIterator[Bot]:
    one = Bot(answer)
    served = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    one.port = served.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        served.close()
        await one.close()


class Organiser:
    """A client of socket.io over one WebSocket, as small as it can be."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def emit(self, event: str, *args: Any) -> None:
        await self.socket.send("42" + json.dumps([event, *args]))

    async def receive(self) -> tuple[str, Any]:
        """The next event."""
        while True:
            packet = str(await asyncio.wait_for(self.socket.recv(), PATIENCE))
            if packet == "2":
                await self.socket.send("3")
            elif packet.startswith("42"):
                event, payload = json.loads(packet[2:])
                return event, payload

    async def until(self, wanted: str) -> list[tuple[str, Any]]:
        """All events up to this one."""
        events = [await self.receive()]
        while events[-1][0] != wanted:
            events.append(await self.receive())
        return events

    async def new_game(self, *players: tuple[str, str], **setup: Any) -> str:
        """The id of a game that was started."""
        await self.emit("NEW_GAME", game(*players, **setup))
        event, payload = await self.receive()
        assert event == "GAME_STARTED", payload
        return str(payload["id"])

    async def error(self) -> Any:
        event, payload = await self.receive()
        assert event == "ERROR", payload
        return payload

    async def closed(self) -> None:
        """Until the server hangs up."""
        try:
            while True:
                await asyncio.wait_for(self.socket.recv(), PATIENCE)
        except ConnectionClosed:
            pass


async def fence(one: Organiser) -> list[tuple[str, Any]]:
    """All that came before the answer to a question that is asked now."""
    await one.emit("LIST_GAMES")
    return (await one.until("GAMES"))[:-1]


def game(*players: tuple[str, str], **setup: Any) -> dict[str, Any]:
    """The payload of NEW_GAME."""
    whole = {"maxNumOfTicks": 3, "edgeLength": 4, "speed": 0, "numOfTasksPerTick": 1} | setup
    return {"setup": whole, "players": [{"name": name, "url": url} for name, url in players]}


def starts(**cells: tuple[int, int, int]) -> list[dict[str, Any]]:
    """The value of playerStartPositions."""
    return [{"name": name, "x": x, "y": y, "z": z} for name, (x, y, z) in cells.items()]


@asynccontextmanager
async def organiser(house: RunningServer) -> AsyncIterator[Organiser]:
    address = house.url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
    async with connect(address, open_timeout=PATIENCE) as socket:
        await asyncio.wait_for(socket.recv(), PATIENCE)
        await socket.send("40")
        await asyncio.wait_for(socket.recv(), PATIENCE)
        yield Organiser(socket)
