"""A client on a plain TCP connection. A framing splits the stream into messages."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Final, Protocol, cast

import structlog

from botdrome.server import metrics
from botdrome.server.network.connection import NORMAL, Receiver, Traffic, acknowledge
from botdrome.server.network.connection_limits import ConnectionLimits, address_of
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.network_meter import NetworkMeter, is_local, unread_for
from botdrome.server.network.peer import DetachedSocket, pack_up, pause_reading
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


class Tcp:
    """An asyncio protocol by duck typing."""

    def __init__(
        self,
        make_framing: Callable[[], Framing],
        make_session: MakeSession,
        limits: ConnectionLimits,
    ) -> None:
        self._framing, self._make_session, self._limits = make_framing(), make_session, limits
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._session: StreamReceiver | None = None
        self._inside = self._closing = self._heard_all = self._unreadable = False
        self.address = ""
        """The address of the client."""
        self.traffic = Traffic()
        self._meter: NetworkMeter | None = None

    # Called by the session.

    def send(self, messages: list[bytes]) -> None:
        if self._transport is not None and not self._closing and messages:
            traffic = self.traffic  # went(), without the call
            traffic.sent += len(messages)
            traffic.asked = monotonic()
            self._transport.write(self._framing.pack(messages))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Flush and close.

        Input is discarded meanwhile, since unread input would reset the connection.
        """
        transport = self._transport
        if transport is not None and not self._closing:
            self._closing = True
            try:
                if self._heard_all or not transport.can_write_eof():
                    transport.close()
                else:
                    transport.write_eof()
            except OSError:
                return transport.abort()
            asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, transport.abort)
        return None

    def network_time(self) -> float:
        if self._transport is None or is_local(self._transport, self.address):
            return 0.0
        if self._meter is None:
            self._meter = NetworkMeter(self._transport)
        return self._meter.seconds(asyncio.get_running_loop().time())

    def delay(self) -> float:
        return 0.0 if self._transport is None else unread_for(self._transport)

    # Called to move the connection to another node.

    @property
    def secure(self) -> bool:
        return False

    def redirect(self, receiver: StreamReceiver) -> None:
        self._session = receiver

    def replay(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            if self._session is not None and not self._closing:
                self.traffic.came()
                self._session.received(message)

    def pack_up(self) -> DetachedSocket | None:
        return None if self._closing else pack_up(self._transport, bytes(self._framing.rest))

    def pause(self, paused: bool) -> None:
        pause_reading(self._transport, paused)

    def abandon(self) -> None:
        self._session = None
        if self._transport is not None:
            self._transport.abort()

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
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
        else:
            metrics.REFUSED.labels("crowd").inc()
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Handle input in small pieces, so that a flood of tiny messages is noticed early."""
        if len(data) <= PIECE:
            return self._read(data)
        for at in range(0, len(data), PIECE):
            self._read(data[at : at + PIECE])
        return None

    def _read(self, data: bytes) -> None:
        if self._closing or self._unreadable:
            return
        framing = self._framing
        try:
            messages = framing.feed(data)
            if not messages:
                acknowledge(self._socket)
            while messages:
                self.replay(messages)
                messages = framing.feed(b"") if framing.rest else []
        except BadFrame as problem:
            self._deliver_bad(str(problem))

    def eof_received(self) -> bool:
        """Keep the connection open for an answer: a client such as `nc -N` still reads
        after EOF.
        """
        self._heard_all = True
        return self._session is not None and self._session.heard_all()

    def _deliver_bad(self, why: str) -> None:
        log.info("invalid input on a stream", address=self.address, why=why)
        self._unreadable = True
        if self._session is None or not self._session.unreadable(why):
            self._lose()
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose()
        self._transport = None
        if self._inside:
            self._limits.leave(self.address)

    def pause_writing(self) -> None:
        """Drop a client that reads too slowly."""
        if self._session is not None:
            self._session.cut_off()
        if self._transport is not None:
            self._transport.abort()

    def resume_writing(self) -> None:
        pass

    def _lose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.lost()


def tcp_factory(
    make_framing: Callable[[], Framing], make_session: MakeSession, limits: ConnectionLimits
) -> MakeProtocol:
    """Return the protocol factory of a TCP port."""
    return cast(MakeProtocol, partial(Tcp, make_framing, make_session, limits))
