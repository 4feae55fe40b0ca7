"""Proxy: stands between a bot and the server, and treats all messages for the bot with an ailment."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from botdrome.doctor.ailments import AILMENTS, Ailment, ProtocolName, asks, halves, rewritten, whole
from botdrome.doctor.framing import (
    HttpFraming,
    LengthFraming,
    LineFraming,
    MessageFraming,
    SocketFraming,
    WireMessage,
    fragmented,
)

FRAMINGS: dict[ProtocolName, type[MessageFraming]] = {
    "battlebot": SocketFraming,
    "duel": LengthFraming,
    "boats": LineFraming,
    "bomber": HttpFraming,
    "battlecube": HttpFraming,
}
QUIET = 0.05
"""Seconds without a byte after which joined messages are sent."""
RETRY = 0.05
"""Seconds between two attempts to reach a bot that starts."""
DROPS: dict[ProtocolName, int] = {"battlebot": 5, "duel": 5, "boats": 12, "bomber": 5, "battlecube": 2}
"""The number of the message in the middle of which the connection is lost: after the bot's first move."""
MOST_TREATED = 60
"""Messages of one trial that are treated, so that pauses do not add up."""
KEPT = 80
"""Bytes of the bot's first message that a report may show."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Accepts bots and connects to the server; with `calls` it accepts the server's calls and connects to the bot."""

    def __init__(self, protocol: ProtocolName, host: str, port: int) -> None:
        """`host` and `port`: the address to connect to."""
        self._protocol, self._host, self._port = protocol, host, port
        self._calls = protocol == "battlecube"
        self._ailment, self._treated = AILMENTS[0], 0
        self.dropped = self.returned = False
        """Whether the connection was lost, and whether the bot has connected again."""
        self.on_return: Callable[[], None] = lambda: None
        self._writers, self._tasks = set[asyncio.StreamWriter](), set[asyncio.Task[None]]()
        self.connections = 0
        """In this trial."""
        self.said = b""
        """The first bytes of the bot in this trial."""

    async def listen(self, port: int) -> int:
        """Listen on a port, or on any free one if it is 0, and return its number."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    def begin(self, ailment: Ailment) -> None:
        """Reset all connections, and treat the messages of new ones."""
        self.cut()
        self._ailment, self._treated, self.connections, self.said = ailment, 0, 0, b""
        self.dropped = self.returned = False

    def _return(self) -> None:
        if self.dropped and not self.returned:
            self.returned = True
            self.on_return()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def until_reached(self) -> None:
        """Wait until the other side listens."""
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(self._host, self._port)
                return writer.transport.abort()
            await asyncio.sleep(RETRY)

    async def close(self) -> None:
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, to_there = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        self.connections += 1
        self._return()
        self._writers |= {writer, to_there}
        bot, server = ((there, to_there), (reader, writer)) if self._calls else ((reader, writer), (there, to_there))
        for work in (self._to_bot(server, bot), self._to_server(bot, server)):
            task = asyncio.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _to_server(self, bot: Streams, server: Streams) -> None:
        with suppress(OSError):
            while data := await bot[0].read(1 << 16):
                self.said = (self.said + data)[:KEPT]
                server[1].write(data)
                await server[1].drain()
        self._end(server[1])

    async def _to_bot(self, server: Streams, bot: Streams) -> None:
        framing, buffer = FRAMINGS[self._protocol](), bytearray()
        with suppress(OSError):
            while data := await self._received(server[0]):
                buffer += data
                messages = []
                while message := framing.cut(buffer):
                    messages.append(message)
                await self._send(framing, messages, bot[1])
            bot[1].write(bytes(buffer))
        self._end(bot[1])

    def _end(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        with suppress(OSError, RuntimeError):
            writer.close()

    async def _received(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next bytes; with joined messages, all bytes until it is quiet."""
        data = await reader.read(1 << 16)
        while self._ailment.joined and data:
            try:
                more = await asyncio.wait_for(reader.read(1 << 16), QUIET)
            except TimeoutError:
                break
            if not more:
                break
            data += more
        return data

    async def _send(self, framing: MessageFraming, messages: list[WireMessage], writer: asyncio.StreamWriter) -> None:
        if self._ailment.joined:
            writer.write(b"".join(framing.write(message) for message in messages))
            return await writer.drain()
        for message in messages:
            await self._send_one(framing, message, writer)
        return None

    async def _send_one(self, framing: MessageFraming, message: WireMessage, writer: asyncio.StreamWriter) -> None:
        self._treated += 1
        ailment = self._ailment if self._treated <= MOST_TREATED else AILMENTS[0]
        data = self._treatment(framing, message, ailment)
        drops = ailment.drop and not self.dropped and self._treated >= DROPS[self._protocol]
        if self._calls and (drops or ailment.repeat):
            await self._call_before(data, drops)
        elif drops:
            self.dropped = True
            writer.write(halves(data)[0])
            await writer.drain()
            writer.transport.abort()
            return
        elif ailment.repeat and asks(message.body, self._protocol):
            data += data
        await _send_pieces(data, ailment, writer)

    def _treatment(self, framing: MessageFraming, message: WireMessage, ailment: Ailment) -> bytes:
        """The bytes of a message with its changes."""
        if not message.body:
            return framing.write(message)
        if ailment.rewrite is not None:
            message = message._replace(body=rewritten(message.body, ailment.rewrite))
        return fragmented(message.body) if ailment.fragments else framing.write(message)

    async def _call_before(self, request: bytes, drops: bool) -> None:
        """Make the same call on a connection of its own: half of it if the connection gets lost, else the whole."""
        reader, writer = await asyncio.open_connection(self._host, self._port)
        writer.write(halves(request)[0] if drops else request)
        await writer.drain()
        if not drops:
            await reader.read(1)
        writer.transport.abort()
        self.dropped = drops
        self._return()


async def _send_pieces(data: bytes, ailment: Ailment, writer: asyncio.StreamWriter) -> None:
    pieces = ailment.pieces(data)
    for number, piece in enumerate(pieces, 1):
        writer.write(piece)
        await writer.drain()
        if ailment.pieces is not whole and number < len(pieces):
            await asyncio.sleep(ailment.pause)
