"""A client on a WebSocket."""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

import structlog

from botdrome.server import metrics
from botdrome.server.network.client_connection import ClientConnection, nothing
from botdrome.server.network.connection import (
    INTERNAL,
    NORMAL,
    POLICY,
    Connection,
    NetworkMeter,
    Receiver,
    acknowledge,
)
from botdrome.server.network.limits import Bucket, ConnectionTimeouts
from botdrome.wire.framing import websocket as wire

log = structlog.get_logger()

BACKLOG = 1 << 20
"""Bytes that a client may leave unread before it is dropped."""
UNREAD = 64 << 10
"""The same limit for sessions that wait for the client to read."""
READING = 60.0
"""Seconds for such a client to read a part of it."""
MOST_IGNORED = 4096
"""Frames accepted after the server's close frame."""
PINGS_RATE, PINGS_BURST = 20.0, 200
"""Pings and pongs per second from one client on average, and in one burst."""

MakeSession = Callable[[Connection], Receiver]


def end_writing(transport: asyncio.Transport) -> None:
    """Shut down the sending side only: closing while the client still sends would discard unread
    output.
    """
    try:
        transport.write_eof() if transport.can_write_eof() else transport.close()
    except OSError:
        transport.abort()


class LastFrames:
    """The frames of the last messages: the players of a table often get the same list."""

    __slots__ = ("frames", "messages")

    def __init__(self) -> None:
        self.messages, self.frames = list[bytes](), b""


LAST = LastFrames()


class Socket(ClientConnection):
    """A WebSocket connection after the handshake. Rarely needed objects are created on demand."""

    __slots__ = ("_close_timeouts", "_ignored", "_leave", "_longest", "_pings", "_reader")

    def __init__(
        self,
        longest: int,
        close_timeouts: ConnectionTimeouts,
        leave: Callable[[str], None],
        address: str,
    ) -> None:
        super().__init__(address)
        self._longest, self._close_timeouts, self._leave = longest, close_timeouts, leave
        self._reader: wire.Reader | None = None
        """Holds an incomplete message; None: there is none."""
        self._pings: Bucket | None = None
        self._ignored = 0
        """Frames received after the server's close frame."""

    def open(self, transport: asyncio.Transport, answer: bytes, make_session: MakeSession) -> None:
        """Take over the connection. `answer` is the answer to the handshake."""
        self._transport, self._write = transport, transport.write
        transport.set_write_buffer_limits(high=BACKLOG)
        transport.write(answer)
        try:
            session = make_session(self)
            if self._session is None:  # otherwise it was moved at once
                self._session = session
            if not self._closing:
                self._whole = wire.text_reader(self._longest)
        except Exception as problem:
            self._break_off(problem)

    # Called by the session.

    def send(self, messages: list[bytes]) -> None:
        """Send the messages in one write."""
        if messages:
            self.sent += len(messages)  # went(), without the call
            self.asked = monotonic()
            last, write = LAST, self._write  # calling a slot itself is slower
            if messages is not last.messages:  # nobody changes a list that was sent
                last.messages, last.frames = messages, wire.packed(messages)
            write(last.frames)

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        self._say_goodbye(wire.close(code, reason))

    def make_meter(self, transport: asyncio.Transport) -> NetworkMeter:
        return NetworkMeter(transport, self._ping)

    def _ping(self, word: bytes) -> None:
        if self._transport is not None:
            self._transport.write(wire.ping(word))

    def bear(self, backlog: int) -> None:
        """Set the bytes that the client may leave unread. The default is BACKLOG."""
        if self._transport is not None:
            self._transport.set_write_buffer_limits(high=backlog)

    # Called to move the connection to another node.

    def replay(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            self.deliver(wire.TEXT, message)

    def unread(self) -> bytes:
        return b"" if self._reader is None else self._reader.rest

    # Called by the transport.

    def connection_lost(self, exc: Exception | None) -> None:
        transport, self._transport, self._write = self._transport, None, nothing
        if transport is not None and self._closing:
            self._close_timeouts.end(transport)
        self._leave(self.address)
        self._lose()

    # Frames.

    def _read(self, data: bytes) -> None:
        if self._session is None:
            return None
        try:
            payload = wire.whole(data, self._longest) if self._reader is None else None
            if payload is not None:
                return self._take(data[0] & 0xF, payload)
            return self._read_frames(data)
        except wire.Violation as violation:
            return self._fail(violation.code, str(violation))

    def _read_frames(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            reader, self._whole = wire.Reader(self._longest), nothing
            self._reader = reader
        reader.feed(data)
        while self._session is not None and (frame := reader.next()) is not None:
            self._take(*frame)
        if self._session is None:
            self._reader = None
        elif reader.idle:
            self._reader = None
            if not self._closing:
                self._whole = wire.text_reader(self._longest)
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
            if opcode == wire.TEXT:
                wire.check_text(payload)
            self.deliver(opcode, payload)

    def deliver(self, opcode: int, message: bytes) -> None:
        """Deliver a message that did not take the fast path."""
        if self._session is not None:
            self.came()
            self._session.received(message)

    def _answer_ping(self, opcode: int, payload: bytes) -> None:
        """Answer a ping. Unsolicited pongs are ignored, beside their rate."""
        if self._pings is None:
            self._pings = Bucket(PINGS_RATE, PINGS_BURST)
        if not self._pings.take():
            metrics.REFUSED.labels("flood").inc()
            self._fail(POLICY, "too many pings")
        elif opcode == wire.PONG:
            if self._meter is not None:
                self._meter.pong(payload, asyncio.get_running_loop().time())
        elif self._transport is not None:
            self._transport.write(wire.pong(payload))

    def _pass_over(self) -> None:
        """Ignore input after the server's close frame.

        A client that sends too much of it is dropped.
        """
        self._ignored += 1
        if self._ignored == MOST_IGNORED:
            self.abort()

    # The end.

    def _answer_close(self, payload: bytes) -> None:
        answer = wire.close_answer(payload)
        self._lose()
        self._say_goodbye(answer)
        if self._transport is not None:
            self._transport.close()

    def _say_goodbye(self, close: bytes) -> None:
        if self._transport is not None and not self._closing:
            self._closing, self._whole, self._write = True, nothing, nothing
            self._close_timeouts.begin(self._transport)
            self._transport.write(close)

    def _break_off(self, problem: Exception) -> None:
        """Log the exception and close."""
        log.exception("a session failed")
        self._fail(INTERNAL)

    def _fail(self, code: int, reason: str = "") -> None:
        """Close and end the session.

        Further input is discarded, so that the client can read the reason.
        """
        self._lose()
        self.close(code, reason)
        self._reader = None
        if self._transport is not None:
            end_writing(self._transport)


class PacedSocket(Socket):
    """A WebSocket whose session can wait until the client has read its output."""

    def open(self, transport: asyncio.Transport, answer: bytes, make_session: MakeSession) -> None:
        self._writable = asyncio.Event()
        self._writable.set()
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
        """Wait until the client has read most of the output.

        A client that reads nothing for a minute is dropped.
        """
        try:
            async with asyncio.timeout(READING):
                await self._writable.wait()
        except TimeoutError:
            self.abort()
