"""Sockets: handshakes that fail, frames of every kind and ends of every kind, over real
connections.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from botdrome.protocols import load_settings
from botdrome.server.network import websocket
from botdrome.server.network.connection import Connection
from botdrome.server.network.dispatcher import Dispatcher, Entrance, MakeHttp, OpenWebSocket
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import stop
from botdrome.server.network.origins import Origins
from tests.patience import until
from tests.server.clients import PATIENCE

pytestmark = pytest.mark.anyio

HEAD = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
    b"Connection: keep-alive, Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
GOODBYE = b"\x88\x02\x03\xe8"


@pytest.fixture(
    params=[
        False,
        pytest.param(
            True, marks=pytest.mark.skipif(sys.platform == "win32", reason="it has no uvloop")
        ),
    ]
)
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """On both loops: they differ in how connections end."""
    return "asyncio", {"use_uvloop": request.param}


def frame(first: int, payload: bytes = b"") -> bytes:
    """A small frame, masked with nothing."""
    return bytes((first, 0x80 | len(payload))) + bytes(4) + payload


class Diary:
    """A session that echoes messages and obeys commands in them."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.told: list[bytes] = []
        self.lost_times = 0
        self.gone = asyncio.Event()

    def received(self, message: bytes) -> None:
        self.told.append(message)
        if message == b"fail":
            raise RuntimeError("a session with a fault")
        if message == b"go":
            self.connection.send([b"last words"])
            self.connection.close(1000, "enough")
            self.connection.send([b"nobody gets this"])
            self.connection.close(1011, "nor this")
        elif message == b"flood":
            for _ in range(64):
                self.connection.send([b"x" * 1_000_000])
        else:
            self.connection.send([message, b"!"])

    def lost(self) -> None:
        self.lost_times += 1
        self.gone.set()
        if b"fail at the end" in self.told:
            raise RuntimeError("a session with a fault at its end")


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, *pieces: bytes) -> None:
        """Each is read before the next comes, as far as that can be."""
        for piece in pieces:
            self._writer.write(piece)
            await self._writer.drain()
            await asyncio.sleep(0)

    async def leave(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def until(self, end: bytes) -> bytes:
        return await asyncio.wait_for(self._reader.readuntil(end), PATIENCE)

    async def take(self, size: int) -> bytes:
        return await asyncio.wait_for(self._reader.readexactly(size), PATIENCE)

    async def rest(self) -> bytes:
        """All bytes until the server closes."""
        return await asyncio.wait_for(self._reader.read(), PATIENCE)


class Post:
    """A server with diaries behind its dispatcher."""

    def __init__(
        self, port: int, connection_limits: ConnectionLimits, diaries: list[Diary]
    ) -> None:
        self._port, self.connection_limits, self.diaries = port, connection_limits, diaries
        self.lines: list[Line] = []

    async def line(self) -> Line:
        self.lines.append(Line(*await asyncio.open_connection("127.0.0.1", self._port)))
        return self.lines[-1]

    async def upgraded(self) -> tuple[Line, Diary]:
        line = await self.line()
        await line.send(HEAD)
        assert (await line.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
        return line, self.diaries[-1]


def no_http(target: bytes = b"") -> asyncio.Protocol:
    raise AssertionError("nothing here is for the HTTP stack")


@asynccontextmanager
async def post(
    open_websocket: OpenWebSocket | None = None, make_http: MakeHttp = no_http, **changes: int
) -> AsyncIterator[Post]:
    settings = load_settings({"message_longest": 1000} | changes)
    connection_limits, diaries = ConnectionLimits(settings), list[Diary]()

    def make(connection: Connection) -> Diary:
        diaries.append(Diary(connection))
        return diaries[-1]

    receive = open_websocket or (lambda *_: make)
    entrance = Entrance(receive, connection_limits, settings, Origins(settings))

    def dispatcher() -> Dispatcher:
        return Dispatcher(entrance, make_http)

    server = await asyncio.get_running_loop().create_server(dispatcher, "127.0.0.1", 0)
    one = Post(server.sockets[0].getsockname()[1], connection_limits, diaries)
    try:
        yield one
    finally:
        for line in one.lines:
            await line.leave()
        stop(server)


# The handshake.


@pytest.mark.parametrize(
    ("this", "that", "status", "why"),
    [
        (
            b"dGhlIHNhbXBsZSBub25jZQ==",
            b"two words",
            b"400",
            b"the field Sec-WebSocket-Key is missing, or not one word",
        ),
        (b"Version: 13", b"Version: 99", b"426", b"the field Sec-WebSocket-Version is not 13"),
        (b"keep-alive, Upgrade", b"close", b"400", b"the field Connection has no 'Upgrade'"),
        (b"GET", b"POST", b"400", b"a WebSocket begins with a GET of HTTP/1.1"),
        (
            b"Host: 127.0.0.1",
            b"Host: " + b"x" * 17_000,
            b"431",
            b"the head has at most 16384 bytes",
        ),
        (
            b"Version: 13\r\n",
            b"Version: 13\r\nMore: " + b"x" * 17_000,
            b"431",
            b"the head has at most 16384 bytes",
        ),
    ],
)
async def test_a_handshake_that_fails_is_told_why(
    this: bytes, that: bytes, status: bytes, why: bytes
) -> None:
    async with post() as one:
        line = await one.line()
        await line.send(HEAD.replace(this, that), frame(TEXT, b"not heard"))
        answer = await line.rest()
        assert answer.startswith(b"HTTP/1.1 " + status) and answer.endswith(b"\r\n\r\n" + why)
        assert not one.diaries
        await one.upgraded()


@pytest.mark.parametrize(
    "begun",
    [
        b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n",
        HEAD.replace(b"\r\n", b"\n"),
    ],
)
async def test_what_is_not_let_in_here_is_for_the_http_stack_however_long_it_is(
    begun: bytes,
) -> None:
    handed: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    class Http(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            handed.set_result(data)

    async with post(make_http=lambda target=b"": Http()) as one:
        await (await one.line()).send(begun)
        assert await asyncio.wait_for(handed, PATIENCE) == begun


async def test_a_handshake_in_pieces_and_frames_right_after_it() -> None:
    async with post() as one:
        line = await one.line()
        await line.send(*[HEAD[at : at + 9] for at in range(0, len(HEAD), 9)])
        await line.until(b"\r\n\r\n")
        await line.send(frame(TEXT, b"one"))
        await line.until(b"\x81\x03one\x81\x01!")
        other = await one.line()
        await other.send(HEAD + frame(TEXT, b"two") + frame(TEXT, b"three")[:-1], b"e")
        assert (await other.until(b"\x81\x05three\x81\x01!")).count(b"HTTP/1.1 101") == 1
        assert one.diaries[1].told == [b"two", b"three"]


@pytest.mark.parametrize("pieces", [[b"\r\n" + HEAD], [b"\r\n", HEAD], [b"\r", b"\n" + HEAD]])
async def test_an_empty_line_before_the_handshake_does_no_harm(pieces: list[bytes]) -> None:
    async with post() as one:
        line = await one.line()
        await line.send(*pieces)
        assert (await line.until(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 Switching Protocols\r\n")


async def test_who_offers_subprotocols_is_given_the_first() -> None:
    async with post() as one:
        line = await one.line()
        await line.send(
            HEAD.replace(
                b"Host: 127.0.0.1", b"Host: 127.0.0.1\r\nSec-WebSocket-Protocol: battlebot, json"
            )
        )
        assert b"\r\nSec-WebSocket-Protocol: battlebot\r\n\r\n" in await line.until(b"\r\n\r\n")


async def test_a_session_that_cannot_begin() -> None:
    def fail(connection: Connection) -> Diary:
        raise RuntimeError("no session today")

    async with post(lambda *_: fail) as one:
        line = await one.line()
        await line.send(HEAD, frame(TEXT, b"hello"))
        assert (await line.rest()).endswith(b"\r\n\r\n\x88\x02\x03\xf3")


# Frames.


async def test_messages_of_all_kinds() -> None:
    """In one piece, at once, in parts with a ping between them, byte by byte, long, empty."""
    async with post() as one:
        line, diary = await one.upgraded()
        await line.send(
            frame(TEXT, b"a"),
            frame(BINARY, b"b"),
            frame(TEXT, b"c") + frame(TEXT, b"d"),
            frame(0x01, b"e"),
        )
        await line.send(
            frame(PING, b"?"),
            frame(0x80, b"f") + frame(PONG),
            *[bytes((byte,)) for byte in frame(TEXT, b"g")],
        )
        await line.send(
            frame(0x01, b"\xc3"),
            frame(0x80, b"\xa9"),
            frame(TEXT, "é".encode()),
            frame(BINARY, b"\xff"),
        )
        await line.send(b"\x81\xfe\x00\xc8\0\0\0\0" + b"h" * 200, frame(TEXT), frame(CLOSE))
        told = [
            b"a",
            b"b",
            b"c",
            b"d",
            b"ef",
            b"g",
            "é".encode(),
            "é".encode(),
            b"\xff",
            b"h" * 200,
            b"",
        ]
        assert (await line.rest()).endswith(b"\x81\x00\x81\x01!" + GOODBYE)
        assert (diary.told, diary.lost_times) == (told, 1)


async def test_a_ping_is_answered_with_its_words() -> None:
    async with post() as one:
        line, _ = await one.upgraded()
        await line.send(
            frame(PING, b"?"), frame(PING), frame(PONG, b"?"), frame(CLOSE, b"\x0f\xa1why")
        )
        assert await line.rest() == b"\x8a\x01?\x8a\x00\x88\x02\x0f\xa1"


async def test_half_a_message_is_acknowledged_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many a client holds back the other half until then."""
    acknowledged: list[object] = []
    monkeypatch.setattr(websocket, "acknowledge", acknowledged.append)
    async with post() as one:
        line, diary = await one.upgraded()
        whole = frame(TEXT, b"whole")
        for pieces, times in [
            ([whole], 0),
            ([whole * 2], 0),
            ([whole[:6], whole[6:]], 1),
            ([frame(1), frame(0x80)], 2),
        ]:
            diary.told.clear()
            await line.send(pieces[0])
            if len(pieces) > 1:
                await until(lambda: len(acknowledged) >= times)
                await line.send(pieces[1])
            await line.until(b"\x81\x01!")
            assert len(acknowledged) == times
