"""What a connection to a client reads and writes at its end, and within a message in pieces."""

import asyncio
from typing import Any, cast

import pytest

from botdrome.server.network.client_connection import ClientConnection
from botdrome.server.network.connection import Connection
from botdrome.server.network.limits import ConnectionLimits, ConnectionTimeouts
from botdrome.server.network.tcp import StreamReceiver, Tcp
from botdrome.server.network.websocket import Socket
from botdrome.server.settings import Settings
from botdrome.wire.framing.streams import Lines
from tests.server.network.test_websocket import BINARY, TEXT, Diary, frame

pytestmark = pytest.mark.anyio


class Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 5)})
        self.written = list[bytes]()

    def write(self, data: Any) -> None:
        self.written.append(data)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        pass

    def abort(self) -> None:
        pass


def on_tcp(wire: Wire) -> tuple[Tcp, Diary]:
    diaries = list[Diary]()

    def begin(connection: ClientConnection) -> StreamReceiver:
        diaries.append(Diary(cast(Connection, connection)))
        return cast(StreamReceiver, diaries[0])

    line = Tcp(Lines, begin, ConnectionLimits(Settings()))
    line.connection_made(wire)
    return line, diaries[0]


def on_websocket(wire: Wire) -> tuple[Socket, Diary]:
    diaries = list[Diary]()

    def begin(connection: Connection) -> Diary:
        diaries.append(Diary(connection))
        return diaries[0]

    timeouts = ConnectionTimeouts(1000, lambda transport: transport.abort())
    line = Socket(1000, timeouts, lambda address: None, "127.0.0.1")
    line.open(wire, b"", begin)
    return line, diaries[0]


async def test_a_tcp_connection_neither_reads_nor_writes_once_the_server_has_closed_it() -> None:
    wire = Wire()
    line, diary = on_tcp(wire)
    line.data_received(b"hello\n")
    line.data_received(b"go\n")
    line.data_received(b"not read\n")
    line.send([b"not written"])
    assert diary.told == [b"hello", b"go"]
    assert wire.written == [b"hello\n!\n", b"last words\n"]


@pytest.mark.parametrize("begin", [on_tcp, on_websocket])
async def test_an_abandoned_connection_reads_nothing(begin: Any) -> None:
    line, diary = begin(Wire())
    line.abandon()
    line.data_received(b"hello\n" if begin is on_tcp else frame(TEXT, b"hello"))
    assert (diary.told, diary.lost_times) == ([], 0)


async def test_a_piece_of_a_message_that_looks_like_a_message_is_none() -> None:
    line, diary = on_websocket(Wire())
    inner = frame(TEXT, b"inner")
    outer = frame(BINARY, inner)
    line.data_received(outer[: -len(inner)])
    line.data_received(inner)
    line.data_received(inner)
    assert diary.told == [inner, b"inner"]
