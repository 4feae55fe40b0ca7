"""Proxy: stands between a bot and the server, and delivers all messages for the bot with the
condition of the trial.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from botdrome.kit.traffic import (
    CONDITIONS,
    HttpFraming,
    LengthFraming,
    LineFraming,
    MessageFraming,
    ProtocolName,
    SocketFraming,
    WireCondition,
    WireMessage,
    fragmented,
    kind_of,
    may_repeat,
    rewritten,
)
from botdrome.server.network.listening import stop

# Waits until a bot on this machine has read what was sent to it, as far as the system tells.

LOOK = 0.0005
"""Seconds between two questions."""
GUESS = 0.02
"""Seconds after which the bytes count as read where the system does not tell."""
WAITS = 3.0
"""Seconds after which a bot that sleeps and reads nothing waits for more bytes: with FIONREAD,
available(), MSG_PEEK or SO_RCVLOWAT. One that spins while it waits never sleeps.
"""
SPINS, LATER = 3.0, 0.1
"""How many times as long that takes for a bot that does not sleep (perhaps it gets no processor),
and for one that has waited before.
"""
SOCK_DIAG, SOCK_DIAG_BY_FAMILY, REQUEST = 4, 20, 1
HEADER, ANY = struct.Struct("=IHHII"), 0xFFFFFFFF
QUEUES = HEADER.size + 56
"""Where an answer has the number of unread bytes."""


async def until_read(
    writer: asyncio.StreamWriter, asleep: Callable[[], bool], waits: float
) -> bool:
    """Return whether the bot reads what it gets, and does not wait for more bytes.

    `asleep`: whether it sleeps now. `waits`: seconds after which it waits for more if it sleeps.
    """
    left = unread(writer)
    if left is None:
        await asyncio.sleep(GUESS)
        return True
    loop = asyncio.get_running_loop()
    began = loop.time()
    while left:
        waited = loop.time() - began
        if waited >= waits and (asleep() or waited >= SPINS * waits):
            return not unread(writer)
        await asyncio.sleep(LOOK if waited < waits else waits / 50)
        left = unread(writer)
    return True


def unread(writer: asyncio.StreamWriter) -> int | None:
    """Return the bytes that the program at the other end of a connection has not read.

    None: the system does not tell.
    """
    here, there = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
    if sys.platform != "linux" or not here or not there:
        return None
    family = socket.AF_INET6 if ":" in here[0] else socket.AF_INET
    addresses = [socket.inet_pton(family, one[0]).ljust(16, b"\0") for one in (there, here)]
    ask = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, ANY)
    ask += struct.pack(">HH16s16s", there[1], here[1], *addresses) + struct.pack(
        "=III", 0, ANY, ANY
    )
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
            kernel.send(
                HEADER.pack(HEADER.size + len(ask), SOCK_DIAG_BY_FAMILY, REQUEST, 1, 0) + ask
            )
            answer = kernel.recv(4096)
    except OSError:
        return None
    known = len(answer) >= QUEUES + 4 and HEADER.unpack_from(answer)[1] == SOCK_DIAG_BY_FAMILY
    return int(struct.unpack_from("=I", answer, QUEUES)[0]) if known else None


# Delivery: sends the messages of one connection to the bot, with the condition of the trial.

FRAMINGS: dict[ProtocolName, type[MessageFraming]] = {
    "battlebot": SocketFraming,
    "duel": LengthFraming,
    "boats": LineFraming,
    "bomber": HttpFraming,
    "battlecube": HttpFraming,
}
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
KEPT = 200
"""Bytes of the bot's first message that a report may show."""


class TrialTraffic:
    """The traffic of one trial so far."""

    def __init__(self, condition: WireCondition = CONDITIONS[0]) -> None:
        self.condition = condition
        self.connections = self.open = self.carried = self.messages = self.questions = 0
        """All connections, those that are open, and those of which the server may not yet have read
        everything; the messages and questions that were sent to the bot.
        """
        self.moved = 0.0
        """When bytes were last carried to or from the bot, on the loop's clock."""
        self.said = b""
        """The first bytes of the bot."""
        self.breaking = self.dropped = self.returned = False
        """Whether the connection is being broken, whether it was lost, and whether the bot has
        connected again.
        """
        self.left = 0
        """The connections that the bot has closed while the server kept them open."""
        self.error: Exception | None = None
        """An error of the proxy itself."""
        self.asleep: Callable[[], bool] = lambda: True
        """Whether the bot sleeps; its author may have started it, then nothing else is known."""
        self.connected, self.changed = asyncio.Event(), asyncio.Event()
        self.on_return: Callable[[], None] = lambda: None

    def connect(self) -> None:
        self.connections += 1
        self.open += 1
        self.carried += 1
        self.note_move()
        self.come_back()
        self.connected.set()
        self.changed.set()

    def come_back(self) -> None:
        if self.dropped and not self.returned:
            self.returned = True
            self.on_return()

    def disconnect(self, by_bot: bool) -> None:
        self.open -= 1
        self.left += by_bot
        self.changed.set()

    def fail(self, error: Exception) -> None:
        self.error = error
        self.changed.set()

    def end(self) -> None:
        self.carried -= 1
        self.changed.set()

    def note_move(self) -> None:
        self.moved = asyncio.get_running_loop().time()

    def hear(self, data: bytes) -> None:
        self.note_move()
        if len(self.said) < KEPT:
            self.said = (self.said + data)[:KEPT]
            self.changed.set()


class Delivery:
    def __init__(
        self,
        protocol: ProtocolName,
        traffic: TrialTraffic,
        bot: asyncio.StreamWriter,
        slowness: float,
        hang_up: Callable[[], Awaitable[None]],
    ) -> None:
        """`hang_up` ends the connection to the server."""
        self._protocol, self._traffic, self._bot, self._slowness = protocol, traffic, bot, slowness
        self._hang_up = hang_up
        self._framing, self._buffer, self._held = FRAMINGS[protocol](), bytearray(), b""
        self._waits = WAITS

    async def take(self, data: bytes) -> bool:
        """Send the messages that are complete, and return whether the connection goes on."""
        self._buffer += data
        while message := self._framing.cut(self._buffer):
            if not await self._send(message):
                return False
        return True

    async def end(self) -> None:
        """Send what is left."""
        self._bot.write(self._held + bytes(self._buffer))
        await self._bot.drain()

    async def _send(self, message: WireMessage) -> bool:
        traffic, name = self._traffic, self._traffic.condition.bot
        kind = kind_of(message.body, self._protocol, name) if message.body else "other"
        traffic.messages += 1
        traffic.questions += kind == "question"
        condition = (
            traffic.condition if traffic.messages <= traffic.condition.most else CONDITIONS[0]
        )
        data = self._treated(message, condition)
        if condition.drop and not traffic.dropped and traffic.questions == 2:
            await self._drop(data[: len(data) - (len(message.body) + 1) // 2])
            if self._protocol != "battlecube":
                return False
        if condition.joined and kind == "news":
            self._held += data
            return True
        if condition.repeat and self._protocol == "battlecube":
            await self._call(data)
        elif condition.repeat and may_repeat(message.body, self._protocol, name):
            await self._write(data, condition)
        held, self._held = self._held, b""
        await self._write(held + data, condition)
        return True

    def _treated(self, message: WireMessage, condition: WireCondition) -> bytes:
        if not message.body:
            return self._framing.write(message)
        message = message._replace(body=rewritten(message.body, condition))
        return fragmented(message.body) if condition.fragments else self._framing.write(message)

    async def _write(self, data: bytes, condition: WireCondition) -> None:
        """Send each piece after the bot has read the one before, so that it cannot get two of them
        at once, unless it waits for the second one.
        """
        sent, reads = 0, True
        try:
            for piece in condition.pieces(data):
                if sent and condition.slow:
                    await asyncio.sleep(self._slowness)
                self._bot.write(piece)
                sent += len(piece)
                await self._bot.drain()
                reads = reads and await self._until_read(self._bot)
            self._traffic.note_move()
        except asyncio.CancelledError:
            self._bot.write(data[sent:])  # the end of the trial cuts no message
            raise

    async def _until_read(self, bot: asyncio.StreamWriter) -> bool:
        """False: the bot waits for more, so it gets the rest of this message at once."""
        reads = await until_read(bot, self._traffic.asleep, self._waits)
        if not reads:
            self._waits = WAITS * LATER
        return reads

    async def _drop(self, part: bytes) -> None:
        """Break the connection after a part of a message.

        The server notices it before the bot does, which may come back at once. A bot that is called
        loses another connection: the call is made again.
        """
        calls = self._protocol == "battlecube"
        self._traffic.breaking = True
        bot = (await self._connection())[1] if calls else self._bot
        try:
            bot.write(part)
            await bot.drain()
            await self._until_read(bot)
            if not calls:
                await self._hang_up()
            self._traffic.dropped = True
        finally:
            bot.transport.abort()
        if calls:
            self._traffic.come_back()

    async def _call(self, request: bytes) -> None:
        """Make the same call on a connection of its own."""
        reader, writer = await self._connection()
        try:
            writer.write(request)
            framing, buffer = HttpFraming(), bytearray()
            while framing.cut(buffer) is None and (data := await reader.read(1 << 16)):
                buffer += data
        finally:
            writer.close()

    async def _connection(self) -> Streams:
        return await asyncio.open_connection(*self._bot.get_extra_info("peername")[:2])


RETRY = 0.02
"""Seconds between two attempts to reach a bot that starts."""


class Proxy:
    """Accepts bots and connects to the server; with Battlecube it accepts the server's calls and
    connects to the bot.
    """

    def __init__(
        self, protocol: ProtocolName, host: str, port: int, slowness: float, by_hand: bool
    ) -> None:
        """`host` and `port`: the address to connect to.

        `slowness`: seconds between two pieces of slow HTTP.

        `by_hand`: the bot outlives a trial, so between two trials its new connections wait for the
        next one.
        """
        self._protocol, self._host, self._port, self._slowness = protocol, host, port, slowness
        self._calls, self._by_hand = protocol == "battlecube", by_hand
        self._traffic = TrialTraffic()
        self._resumed = asyncio.Event()
        """Not set between two trials."""
        self._closed = False
        self._reached: Streams | None = None
        """The first connection to a bot that is called. The first call uses it."""
        self._tasks = set[asyncio.Task[Any]]()

    async def listen(self, port: int) -> int:
        """Listen on a port, or on any free one if it is 0, and return its number."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    def begin(self, traffic: TrialTraffic) -> None:
        self._traffic = traffic
        self._resumed.set()

    async def rest(self) -> None:
        """Close all connections, until the next trial begins."""
        self._resumed.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._reached is not None:
            self._reached[1].close()
            self._reached = None

    async def refuse_waiting(self) -> None:
        """Refuse the connections that have not been accepted so far: the last one of a bot that has
        ended would count in the next trial. They are accepted in their order, so a further one
        comes after them.
        """
        reader, writer = await asyncio.open_connection(*self._server.sockets[0].getsockname()[:2])
        with suppress(OSError):
            await reader.read()
        writer.close()

    async def close(self) -> None:
        self._closed = True
        stop(self._server)
        await self.rest()

    async def until_reached(self) -> None:
        """Wait until the bot listens."""
        while self._reached is None:
            with suppress(OSError):
                self._reached = await asyncio.open_connection(self._host, self._port)
                return
            await asyncio.sleep(RETRY)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry a connection in a task that is known from its first moment, so that no connection
        outlives the proxy.
        """
        if self._closed or not (self._by_hand or self._resumed.is_set()):
            return writer.transport.abort()
        task = asyncio.create_task(self._carry((reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.add_done_callback(lambda _: writer.close())

    async def _carry(self, caller: Streams) -> None:
        await self._resumed.wait()
        called, self._reached = self._reached, None
        try:
            called = called or await asyncio.open_connection(self._host, self._port)
            bot, server = (called, caller) if self._calls else (caller, called)
            await self._connect(bot, server)
        except OSError:
            caller[1].transport.abort()
        except Exception as problem:
            self._traffic.fail(problem)

    async def _connect(self, bot: Streams, server: Streams) -> None:
        """Carry everything in both directions until both sides have closed the connection."""
        traffic = self._traffic
        traffic.connect()
        to_bot = asyncio.create_task(self._to_bot(server, bot))
        both = to_bot, asyncio.create_task(self._to_server(bot, server))
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # an error of the proxy is not the bot's
            traffic.disconnect(
                by_bot=not (server[0].at_eof() or (to_bot.done() and to_bot.result()))
            )
            await asyncio.gather(*both)
        finally:
            traffic.end()
            for task in both:
                task.cancel()
            try:
                await asyncio.gather(*both, return_exceptions=True)
            finally:
                bot[1].close()
                server[1].close()

    async def _to_server(self, bot: Streams, server: Streams) -> None:
        """Read on if the connection to the server has ended: the bot has not left."""
        with suppress(OSError):
            while data := await bot[0].read(1 << 16):
                self._traffic.hear(data)
                with suppress(OSError, RuntimeError):
                    server[1].write(data)
                    await server[1].drain()
        _end(server[1])

    async def _to_bot(self, server: Streams, bot: Streams) -> bool:
        """Return whether the server ended the connection, or the trial did."""
        delivery = Delivery(
            self._protocol, self._traffic, bot[1], self._slowness, partial(_hang_up, server)
        )
        goes_on = True
        with suppress(OSError):
            while goes_on and (data := await server[0].read(1 << 16)):
                goes_on = await delivery.take(data)
            if goes_on:
                await delivery.end()
        _end(bot[1])
        return not goes_on or server[0].at_eof() or server[0].exception() is not None


async def _hang_up(server: Streams) -> None:
    """End a connection, and wait until the other side has closed it."""
    _end(server[1])
    with suppress(OSError):
        while await server[0].read(1 << 16):
            pass


def _end(writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, RuntimeError):
        writer.write_eof()
