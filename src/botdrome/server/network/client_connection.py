"""The connection to a client, on a WebSocket or plain TCP."""

import asyncio
from collections.abc import Callable
from time import monotonic

import structlog

from botdrome.server.network.connection import (
    NetworkMeter,
    Receiver,
    Traffic,
    is_local,
    unread_for,
)
from botdrome.server.network.peer import Peer

log = structlog.get_logger()


def nothing(data: bytes) -> None:
    """Ignore the data. Stands for `_whole` and `_write` while a connection is not open."""


class ClientConnection(asyncio.Protocol, Traffic):
    """The connection to a client, on a WebSocket or plain TCP, and its traffic.

    It can move to another node.
    """

    __slots__ = ("_closing", "_meter", "_session", "_transport", "_whole", "_write", "address")

    def __init__(self, address: str = "") -> None:
        self.address = address
        self.others = self.sent = self.answers = 0  # as in Traffic, without the call
        self.waited = self.asked = 0.0
        self._transport: asyncio.Transport | None = None
        self._session: Receiver | None = None
        """None: input is no longer read."""
        self._whole: Callable[[bytes], bytes | None] = nothing
        """Returns the message if the data is exactly one; None: `_read` takes the data."""
        self._write: Callable[[bytes], None] = nothing
        """The transport's, until the server has said goodbye."""
        self._meter: NetworkMeter | None = None
        self._closing = False
        """Whether the server has said goodbye."""

    @property
    def traffic(self) -> Traffic:
        return self

    def unread(self) -> bytes:
        """Return the input of an incomplete message."""
        raise NotImplementedError

    def make_meter(self, transport: asyncio.Transport) -> NetworkMeter:
        return NetworkMeter(transport)

    # Called by the transport.

    def data_received(self, data: bytes) -> None:
        """Nearly all input is one whole message, and takes the short way."""
        whole = self._whole  # calling a slot itself is slower
        try:
            message = whole(data)
            if message is None:
                return self._read(data)
            if asked := self.asked:  # came(), without the call
                self.answers += 1
                self.waited += monotonic() - asked
                self.asked = 0.0
            else:
                self.others += 1
            self._session.received(message)  # type: ignore[union-attr]  # see `_lose`
        except Exception as problem:
            self._break_off(problem)

    def _read(self, data: bytes) -> None:
        """Handle all other input."""
        raise NotImplementedError

    def _break_off(self, problem: Exception) -> None:
        """Handle an exception of the session. Call it in an exception handler."""
        raise problem

    # Called by the session.

    def network_time(self) -> float:
        transport = self._transport
        if transport is None or self._closing:
            return 0.0
        if transport.local if isinstance(transport, Peer) else is_local(transport, self.address):
            return 0.0
        if self._meter is None:
            self._meter = self.make_meter(transport)
        return self._meter.seconds(asyncio.get_running_loop().time())

    def delay(self) -> float:
        return 0.0 if self._transport is None else unread_for(self._transport)

    # Called to move the connection to another node.

    @property
    def transport(self) -> asyncio.Transport | None:
        """None: the connection is lost, or about to be closed."""
        return None if self._closing else self._transport

    @property
    def session(self) -> Receiver | None:
        return self._session

    def redirect(self, receiver: Receiver) -> None:
        self._session = receiver

    def abandon(self) -> None:
        """Forget the connection, which another protocol has."""
        self._session = None
        self.connection_lost(None)

    # The end.

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def pause_writing(self) -> None:
        """Drop a client that reads too slowly."""
        self.abort()

    def _lose(self) -> None:
        session, self._session, self._whole = self._session, None, nothing
        if session is not None:
            try:
                session.lost()
            except Exception:
                log.exception("a session failed while closing")
