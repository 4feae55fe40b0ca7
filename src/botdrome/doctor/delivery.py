"""Delivery: sends the messages of one connection to the bot, with the ailment of the trial."""

import asyncio
from collections.abc import Callable

from botdrome.doctor.ailments import AILMENTS, PATIENT, Ailment, ProtocolName, rewritten
from botdrome.doctor.framing import (
    HttpFraming,
    LengthFraming,
    LineFraming,
    MessageFraming,
    SocketFraming,
    WireMessage,
    fragmented,
)
from botdrome.doctor.message_kind import kind_of, may_repeat
from botdrome.doctor.unread import until_read

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

    def __init__(self, ailment: Ailment = AILMENTS[0], name: str = PATIENT) -> None:
        self.ailment, self.name = ailment, name
        self.connections = self.open = self.messages = self.questions = 0
        """All connections and those that are open, and the messages and questions that were sent to
        the bot.
        """
        self.said = b""
        """The first bytes of the bot."""
        self.dropped = self.returned = False
        """Whether the connection was lost, and whether the bot has connected again."""
        self.left = 0
        """The connections that the bot has closed while the server kept them open."""
        self.connected, self.changed = asyncio.Event(), asyncio.Event()
        self.on_return: Callable[[], None] = lambda: None

    def connect(self) -> None:
        self.connections += 1
        self.open += 1
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

    def hear(self, data: bytes) -> None:
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
    ) -> None:
        self._protocol, self._traffic, self._bot, self._slowness = protocol, traffic, bot, slowness
        self._framing, self._buffer, self._held = FRAMINGS[protocol](), bytearray(), b""

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
        traffic, name = self._traffic, self._traffic.name
        kind = kind_of(message.body, self._protocol, name) if message.body else "other"
        traffic.messages += 1
        traffic.questions += kind == "question"
        ailment = traffic.ailment if traffic.messages <= traffic.ailment.most else AILMENTS[0]
        data = self._treated(message, ailment)
        if ailment.drop and not traffic.dropped and traffic.questions == 2:
            await self._drop(data[: len(data) - (len(message.body) + 1) // 2])
            if self._protocol != "battlecube":
                return False
        if ailment.joined and kind == "news":
            self._held += data
            return True
        if ailment.repeat and self._protocol == "battlecube":
            await self._call(data)
        elif ailment.repeat and may_repeat(message.body, self._protocol, name):
            await self._write(data, ailment)
        held, self._held = self._held, b""
        await self._write(held + data, ailment)
        return True

    def _treated(self, message: WireMessage, ailment: Ailment) -> bytes:
        if not message.body:
            return self._framing.write(message)
        message = message._replace(body=rewritten(message.body, ailment))
        return fragmented(message.body) if ailment.fragments else self._framing.write(message)

    async def _write(self, data: bytes, ailment: Ailment) -> None:
        """Send each piece after the bot has read the one before, so that it cannot get two of them
        at once.
        """
        sent = 0
        try:
            for piece in ailment.pieces(data):
                if sent and ailment.slow:
                    await asyncio.sleep(self._slowness)
                self._bot.write(piece)
                sent += len(piece)
                await self._bot.drain()
                await until_read(self._bot)
        except asyncio.CancelledError:
            self._bot.write(data[sent:])  # the end of the trial cuts no message
            raise

    async def _drop(self, part: bytes) -> None:
        """Break the connection after a part of a message.

        A bot that is called loses another one: the call is made again.
        """
        calls = self._protocol == "battlecube"
        bot = (await self._connection())[1] if calls else self._bot
        try:
            bot.write(part)
            await bot.drain()
            await until_read(bot)
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
