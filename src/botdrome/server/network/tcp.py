"""A client on a plain TCP connection. A framing splits the stream into messages."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Final, Protocol, cast

import structlog

from botdrome.server import metrics
from botdrome.server.network.client_connection import ClientConnection, nothing
from botdrome.server.network.connection import NORMAL, Receiver, acknowledge
from botdrome.server.network.limits import ConnectionLimits, address_of
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.websocket import BACKLOG
from botdrome.wire.framing.streams import BadFrame, Framing

log = structlog.get_logger()

PIECE: Final = 4096
"""Bytes handled at a time."""
CLOSE_TIMEOUT = 2.0
"""Seconds for the client to read the last bytes."""


class StreamReceiver(Receiver, Protocol):
    """The receiver of a stream, which can become invalid or reach EOF."""

    def unreadable(self, why: str) -> bool:
        """Handle invalid input.

        Return True if an answer is pending, after which the session closes.
        """

    def cut_off(self) -> None:
        """Note that the client reads too slowly and is about to be dropped."""
        return

    def heard_all(self) -> bool:
        """Handle EOF.

        Return True if an answer is pending, after which the session closes; otherwise the client
        has left.
        """


MakeSession = Callable[["Tcp"], StreamReceiver]


class Tcp(ClientConnection):
    def __init__(
        self,
        make_framing: Callable[[], Framing],
        make_session: MakeSession,
        limits: ConnectionLimits,
    ) -> None:
        super().__init__()
        self._framing, self._make_session, self._limits = make_framing(), make_session, limits
        self._socket: socket.socket | None = None
        self._session: StreamReceiver | None = None
        self._inside = self._heard_all = self._unreadable = False

    # Called by the session.

    def send(self, messages: list[bytes]) -> None:
        if messages:
            self.sent += len(messages)  # went(), without the call
            self.asked = monotonic()
            write = self._write  # calling a slot itself is slower
            write(self._framing.pack(messages))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Flush and close.

        Input is discarded meanwhile, since unread input would reset the connection.
        """
        transport = self._transport
        if transport is not None and not self._closing:
            self._closing, self._whole, self._write = True, nothing, nothing
            try:
                if self._heard_all or not transport.can_write_eof():
                    transport.close()
                else:
                    transport.write_eof()
            except OSError:
                return transport.abort()
            asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, transport.abort)
        return None

    # Called to move the connection to another node.

    def replay(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            if self._session is not None and not self._closing:
                self.came()
                self._session.received(message)

    def unread(self) -> bytes:
        return bytes(self._framing.rest)

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._write = self._transport.write
        self._transport.set_write_buffer_limits(high=BACKLOG)
        self.address = address_of(transport)
        self._socket = transport.get_extra_info("socket")
        if self._socket is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._inside = not self._limits.admit(self.address)
        if self._inside:
            session = self._make_session(self)
            if self._session is None:  # otherwise it was moved at once
                self._session = session
            if not self._closing:
                self._whole = self._framing.whole
        else:
            metrics.REFUSED.labels("crowd").inc()
            self._transport.abort()

    def _read(self, data: bytes) -> None:
        """Handle input in small pieces, so that a flood of tiny messages is noticed early."""
        for at in range(0, len(data), PIECE):
            if self._closing or self._unreadable:
                return
            try:
                self._deliver(self._framing.feed(data[at : at + PIECE]))
            except BadFrame as problem:
                self._deliver_bad(str(problem))

    def _deliver(self, messages: list[bytes]) -> None:
        if not messages:
            acknowledge(self._socket)
        while messages:
            self.replay(messages)
            messages = self._framing.feed(b"") if self._framing.rest else []

    def eof_received(self) -> bool:
        """Keep the connection open for an answer: a client such as `nc -N` still reads
        after EOF.
        """
        self._heard_all = True
        return self._session is not None and self._session.heard_all()

    def _deliver_bad(self, why: str) -> None:
        log.info("invalid input on a stream", address=self.address, why=why)
        self._unreadable, self._whole = True, nothing
        if self._session is None or not self._session.unreadable(why):
            self._lose()
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose()
        self._transport, self._write = None, nothing
        if self._inside:
            self._limits.leave(self.address)

    def pause_writing(self) -> None:
        """Drop a client that reads too slowly."""
        if self._session is not None:
            self._session.cut_off()
        self.abort()


def tcp_factory(
    make_framing: Callable[[], Framing], make_session: MakeSession, limits: ConnectionLimits
) -> MakeProtocol:
    """Return the protocol factory of a TCP port."""
    return partial(Tcp, make_framing, make_session, limits)
