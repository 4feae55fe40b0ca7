"""Clients of the five protocols, as small as a bot's: they send what they are told to, and return
what comes.

`join`, rehearsals, tests and fault sweeps share them. How to play, and when to come back after a
lost connection, is the caller's part. Bytes may be written by hand.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlsplit

from msgspec import Struct, field
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

HERE = "127.0.0.1"


# Battlebot's protocol, which is the native one: JSON over a WebSocket.


class JsonSocket:
    """A WebSocket that is read message by message."""

    patience: float | None = None
    """Seconds to wait for a message; None: any number."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str, path: str = "/", **options: Any) -> AsyncIterator[Self]:
        """Connect to a server. Raise OSError, InvalidHandshake or InvalidURI if that fails."""
        wanted: dict[str, Any] = {"open_timeout": cls.patience, "proxy": None} | options
        async with connect(url.replace("http", "ws", 1) + path, **wanted) as socket:
            yield cls(socket)

    async def send(self, message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def receive(self) -> Any:
        return json.loads(await asyncio.wait_for(self.socket.recv(), self.patience))

    async def until_closed(self) -> tuple[list[Any], int | None, str | None]:
        """Return all that still comes, then the code and the reason of the close."""
        messages = []
        try:
            while True:
                messages.append(await self.receive())
        except ConnectionClosed:
            return messages, self.socket.close_code, self.socket.close_reason


class ServerMessage(NamedTuple):
    data: dict[str, Any]
    raw: str
    """As it came."""


class ConnectionLost(Exception):
    """The connection has ended; the text is the server's reason, where it gave one."""

    def __init__(self, code: int, words: str, complete: bool) -> None:
        """`code` is that of the close. `complete`: the contest is over for this bot."""
        super().__init__(words or f"the connection was lost (code {code})")
        self.code, self.complete = code, complete


class ServerLink(JsonSocket):
    """A connection that is read all the time, so that no message waits while the bot thinks."""

    def __init__(self, socket: ClientConnection) -> None:
        super().__init__(socket)
        self._unread: list[ServerMessage] = []
        self._changed = asyncio.Event()
        self._ended, self._complete = asyncio.Event(), False
        self._error = ""
        """The server's last notice of an error."""

    def wake(self) -> None:
        """Let `take` return at once, with or without messages."""
        self._changed.set()

    async def take(self) -> list[ServerMessage]:
        """Wait for messages or `wake`, and return all messages that have come.

        Raise ConnectionLost after the last one.
        """
        await self._changed.wait()
        self._changed.clear()
        messages, self._unread = self._unread, []
        if self._ended.is_set():
            self._changed.set()
            if not messages:
                raise self._lost()
        return messages

    async def take_one(self) -> ServerMessage:
        """Wait for the next message alone."""
        first, *others = await self.take()
        self._unread[:0] = others
        if others:
            self._changed.set()
        return first

    async def send(self, message: Any) -> None:
        """Send a value, or a text as it is."""
        try:
            await self.socket.send(message if isinstance(message, str) else json.dumps(message))
        except ConnectionClosed:
            await self._ended.wait()  # the reason may not have been read yet
            raise self._lost() from None

    def _lost(self) -> ConnectionLost:
        socket = self.socket
        return ConnectionLost(
            socket.close_code or 1006, self._error or socket.close_reason or "", self._complete
        )

    async def _read(self) -> None:
        try:
            async for text in self.socket:
                raw = text if isinstance(text, str) else text.decode()
                self._sort(ServerMessage(json.loads(raw), raw))
        except ConnectionClosed:
            pass
        finally:
            self._ended.set()
            self._changed.set()

    def _sort(self, message: ServerMessage) -> None:
        """Notices are for the link; all other messages are for the bot."""
        data = message.data
        if "error" in data:
            self._error = str(data["error"])
        elif data.get("complete") is True:
            self._complete = True
        else:
            self._unread.append(message)
            self._changed.set()


@asynccontextmanager
async def linked(url: str) -> AsyncIterator[ServerLink]:
    """Connect to a server. Raise OSError, InvalidHandshake or InvalidURI if that fails."""
    async with connect(url, max_size=None, compression=None) as socket:
        link = ServerLink(socket)
        reading = asyncio.create_task(link._read())
        try:
            yield link
        finally:
            reading.cancel()


# Duel arena and Xterm Boat Sinker: messages over TCP.


class StreamClient:
    """A TCP connection to this machine."""

    patience: float | None = None
    """Seconds to wait for a message; None: any number."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    @asynccontextmanager
    async def connected(cls, port: int, address: str = HERE) -> AsyncIterator[Self]:
        """Connect from an address of this machine."""
        one = cls(*await asyncio.open_connection(HERE, port, local_addr=(address, 0)))
        try:
            yield one
        finally:
            await one.close()

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


class DuelStream(StreamClient):
    """Duel arena: four bytes of length, then JSON."""

    raw = b""
    """The last message as it came."""

    async def send(self, message: Any) -> None:
        await self.send_frame(json.dumps(message).encode())

    async def send_frame(self, body: bytes) -> None:
        self.write(len(body).to_bytes(4, "big") + body)
        await self.writer.drain()

    async def receive(self) -> Any:
        """Return the next message; None: the server has closed the connection."""
        try:
            length = await asyncio.wait_for(self.reader.readexactly(4), self.patience)
        except (asyncio.IncompleteReadError, ConnectionResetError) as error:
            if getattr(error, "partial", b""):
                raise
            return None
        body = self.reader.readexactly(int.from_bytes(length, "big"))
        self.raw = await asyncio.wait_for(body, self.patience)
        return json.loads(self.raw)

    async def answer(self, question: Any, x: Any, y: Any, **extra: Any) -> None:
        await self.send({"event": "make_move", "id": question["id"], "x": x, "y": y} | extra)


class BoatsStream(StreamClient):
    """Xterm Boat Sinker: lines."""

    def send(self, *lines: str) -> None:
        self.write("".join(f"{line}\n" for line in lines).encode("latin-1"))

    async def receive(self) -> str:
        """Return the next line; empty: the server has closed the connection."""
        line = await asyncio.wait_for(self.reader.readline(), self.patience)
        if line and not line.endswith(b"\n"):
            raise asyncio.IncompleteReadError(line, None)
        return line.decode("latin-1").rstrip("\n")


# The Bomberman API: HTTP requests with JSON.


class BomberClient:
    """One user at a room. Each answer is returned, whatever its status."""

    def __init__(self, url: str, path: str = "/bomber/rest") -> None:
        self._base = url + path

    async def register(self, name: str, **more: Any) -> dict[str, Any]:
        return await post_json(self._base, {"user_name": name} | more)

    async def state(self, user: str = "", after: int = 0) -> dict[str, Any]:
        """Return the first state with a higher number."""
        return await post_json(f"{self._base}/state/{quote(user)}?after={after}")

    async def act(self, user: str, action: str, number: int) -> dict[str, Any]:
        message = {"user_id": user, "action": action, "state_number": number}
        return await post_json(self._base, message)


async def post_json(url: str, body: Any = None) -> dict[str, Any]:
    """Return the answer to POST, or to GET if there is no body."""
    parts, data = urlsplit(url), b"" if body is None else json.dumps(body).encode()
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    method = "GET" if body is None else "POST"
    async with StreamClient.connected(parts.port or 80) as one:
        head = f"{method} {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        one.write(head.encode() + data)
        answer = await _read_http(one.reader)
        return dict(json.loads(answer.body))


# Battlecube and bots with a URL: the server calls the bot. Its organiser speaks socket.io.


class HttpMessage(Struct):
    """A request or an answer."""

    line: str
    headers: dict[str, str]
    body: bytes


async def _read_http(reader: asyncio.StreamReader) -> HttpMessage:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.rstrip("\r\n").split("\r\n")
    pairs = (one.partition(":") for one in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return HttpMessage(line, headers, body)


class BotReply(Struct):
    """The answer of a bot that is called; without a status it closes the connection."""

    body: bytes = b""
    status: int | None = 200
    headers: dict[str, str] = field(default_factory=dict)


class UrlBotClient:
    """A bot with a URL."""

    def __init__(self, answer: Callable[[HttpMessage], Awaitable[BotReply]]) -> None:
        self.answer = answer
        self.connections = self.port = 0
        self._closed = False
        self._open: dict[asyncio.Task[Any] | None, asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.port}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        """Listen on a free port, and close all connections at the end, also those with a call."""
        server = await asyncio.start_server(self._serve, HERE, 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            self._closed, loop = True, asyncio.get_running_loop()
            for listening in server.sockets:
                loop.remove_reader(listening)
            loop.call_soon(server.close)  # asyncio loses what it accepted in this turn otherwise
            tasks = [task for task in self._open if task is not None]
            for writer in self._open.values():
                writer.transport.abort()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            return writer.transport.abort()
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
        return None

    async def _call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        reply = await self.answer(await _read_http(reader))
        if reply.status is None:
            return False
        lines = {"Content-Type": "application/json"} | reply.headers
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        head = f"HTTP/1.1 {reply.status} X\r\n{text}Content-Length: {len(reply.body)}\r\n\r\n"
        writer.write(head.encode() + reply.body)
        return True


class CubeOrganiser:
    """An organiser of Battlecube: socket.io over one WebSocket."""

    patience: float | None = None
    """Seconds to wait for an event; None: any number."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str) -> AsyncIterator[Self]:
        address = url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
        async with connect(address, open_timeout=cls.patience, proxy=None) as socket:
            await asyncio.wait_for(socket.recv(), cls.patience)
            await socket.send("40")
            await asyncio.wait_for(socket.recv(), cls.patience)
            yield cls(socket)

    async def emit(self, event: str, *args: Any) -> None:
        await self.socket.send("42" + json.dumps([event, *args]))

    async def receive(self) -> tuple[str, Any]:
        """Return the next event, and what it carries."""
        while True:
            packet = str(await asyncio.wait_for(self.socket.recv(), self.patience))
            if packet == "2":
                await self.socket.send("3")
            elif packet.startswith("42"):
                event, payload = json.loads(packet[2:])
                return event, payload
