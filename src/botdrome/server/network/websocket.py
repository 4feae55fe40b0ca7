"""Socket: a client on a WebSocket."""

import asyncio
from collections.abc import Callable

import structlog

from botdrome.server import metrics
from botdrome.server.network.connection import INTERNAL, NORMAL, POLICY, Connection, Receiver
from botdrome.server.network.patience import Patience
from botdrome.server.network.quick_ack import acknowledge
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.network.traffic import Traffic
from botdrome.wire.framing import websocket as wire

log = structlog.get_logger()

BACKLOG = 1 << 20
"""Bytes that a client may leave unread before it is cut off."""
UNREAD = 64 << 10
"""The same where the session waits for the client to read."""
READING = 60.0
"""Seconds for such a client to read some of it."""
FAREWELL = 2.0
"""Seconds for the other side to answer a close."""
MOST_IGNORED = 4096
"""Frames that may come after our close."""
PINGS_RATE, PINGS_BURST = 20.0, 200
"""Pings and pongs a second from one client, in the long run, and at once."""

MakeSession = Callable[[Connection], Receiver]


def end_writing(transport: asyncio.Transport) -> None:
    """A close would cut short what the other side has not read yet, if it is still sending."""
    try:
        transport.write_eof() if transport.can_write_eof() else transport.close()
    except OSError:
        transport.abort()


class Socket(asyncio.Protocol):
    """Takes over the connection when the handshake is done. What is seldom needed is made when it is."""

    __slots__ = (
        "_closing", "_farewells", "_ignored", "_leave", "_longest", "_pings", "_reader", "_session", "_transport", "address",
        "traffic",
    )  # fmt: skip

    def __init__(self, longest: int, farewells: Patience, leave: Callable[[str], None], address: str) -> None:
        self._longest, self._farewells = longest, farewells
        self._leave, self.address = leave, address
        self.traffic = Traffic()
        self._transport: asyncio.Transport | None = None
        self._session: Receiver | None = None
        """None: nothing more is read."""
        self._reader: wire.Reader | None = None
        """Has what is not whole yet; None: nothing."""
        self._pings: Bucket | None = None
        self._ignored = 0
        """Frames that came after our close."""
        self._closing = False
        """We have sent a close."""

    def open(self, transport: asyncio.Transport, answer: bytes, make_session: MakeSession) -> None:
        """`answer` is that to the handshake."""
        self._transport = transport
        transport.set_write_buffer_limits(high=BACKLOG)
        transport.write(answer)
        try:
            self._session = make_session(self)
        except Exception:
            self._break_off()

    # What the session does.

    def send(self, messages: list[bytes]) -> None:
        """Several go in one write."""
        if messages and self._transport is not None and not self._closing:
            self.traffic.went(len(messages))
            self._transport.write(wire.packed(messages))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        self._say_goodbye(wire.close(code, reason))

    def bear(self, backlog: int) -> None:
        """How many bytes may be unread; BACKLOG, if nothing is said."""
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=backlog)

    # What the network does.

    def data_received(self, data: bytes) -> None:
        """Nearly always it is one message in one piece: then little stands between the network and the session."""
        session = self._session
        if session is None:
            return None
        try:
            if self._reader is None:
                payload = wire.whole(data, self._longest)
                if payload is not None:
                    if data[0] != wire.WHOLE_TEXT or self._closing:
                        return self._take(data[0] & 0xF, payload)
                    self.traffic.came()
                    return session.received(payload)
            return self._read(data)
        except wire.Violation as violation:
            return self._fail(violation.code, str(violation))
        except Exception:
            return self._break_off()

    def connection_lost(self, exc: Exception | None) -> None:
        transport, self._transport = self._transport, None
        if transport is not None and self._closing:
            self._farewells.end(transport)
        self._leave(self.address)
        self._lose()

    def pause_writing(self) -> None:
        """Too much is unread: cut it off."""
        if self._transport is not None:
            self._transport.abort()

    # Frames.

    def _read(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            reader = self._reader = wire.Reader(self._longest)
        reader.feed(data)
        while self._session is not None and (frame := reader.next()) is not None:
            self._take(*frame)
        if self._session is None or reader.idle:
            self._reader = None
        elif self._transport is not None:
            acknowledge(self._transport.get_extra_info("socket"))

    def _take(self, opcode: int, payload: bytes) -> None:
        if opcode == wire.CLOSE:
            self._answer_close(payload)
        elif self._closing:
            self._pass_over()
        elif opcode in (wire.PING, wire.PONG):
            self._answer_ping(opcode, payload)
        else:
            self.deliver(opcode, payload)

    def deliver(self, opcode: int, message: bytes) -> None:
        """A message that did not come as most do."""
        if self._session is not None:
            self.traffic.came()
            self._session.received(message)

    def _answer_ping(self, opcode: int, payload: bytes) -> None:
        """A pong is not asked for, and does no harm."""
        if self._pings is None:
            self._pings = Bucket(PINGS_RATE, PINGS_BURST)
        if not self._pings.take():
            metrics.REFUSED.labels("flood").inc()
            self._fail(POLICY, "too many pings")
        elif opcode == wire.PING and self._transport is not None:
            self._transport.write(wire.pong(payload))

    def _pass_over(self) -> None:
        """What comes after our close is not for us; who sends too much of it is cut off."""
        self._ignored += 1
        if self._ignored == MOST_IGNORED and self._transport is not None:
            self._transport.abort()

    # The end.

    def _answer_close(self, payload: bytes) -> None:
        answer = wire.close_answer(payload)
        self._lose()
        self._say_goodbye(answer)
        if self._transport is not None:
            self._transport.close()

    def _say_goodbye(self, close: bytes) -> None:
        if self._transport is not None and not self._closing:
            self._closing = True
            self._farewells.begin(self._transport)
            self._transport.write(close)

    def _break_off(self) -> None:
        """Called where an exception is handled."""
        log.exception("a session has failed")
        self._fail(INTERNAL)

    def _fail(self, code: int, reason: str = "") -> None:
        """For its session the client is gone. What it still sends is thrown away, so that it gets to read why."""
        self._lose()
        self.close(code, reason)
        self._reader = None
        if self._transport is not None:
            end_writing(self._transport)

    def _lose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            try:
                session.lost()
            except Exception:
                log.exception("a session has failed at its end")


class PacedSocket(Socket):
    """A socket whose session can wait until the client has read: for answers that are made as fast as they are read."""

    def __init__(self, longest: int, farewells: Patience, leave: Callable[[str], None], address: str) -> None:
        super().__init__(longest, farewells, leave, address)
        self._writable = asyncio.Event()
        self._writable.set()

    def open(self, transport: asyncio.Transport, answer: bytes, make_session: MakeSession) -> None:
        super().open(transport, answer, make_session)
        transport.set_write_buffer_limits(high=UNREAD)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._writable.set()
        super().connection_lost(exc)

    async def drained(self) -> None:
        """Wait until most of what was sent is read. A client that reads nothing for a minute is disconnected."""
        try:
            async with asyncio.timeout(READING):
                await self._writable.wait()
        except TimeoutError:
            if self._transport is not None:
                self._transport.abort()
