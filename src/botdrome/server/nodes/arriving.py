"""Arriving: takes up a client's socket that another process has passed on."""

import asyncio
from collections.abc import Callable
from typing import cast

from botdrome.server import metrics
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.network.connection_limits import ConnectionLimits
from botdrome.server.network.tcp import StreamReceiver, Tcp
from botdrome.server.network.websocket import Socket, end_writing
from botdrome.server.nodes.handover import Parcel
from botdrome.wire.framing import websocket as wire
from botdrome.wire.framing.streams import Framing

MakeReceiver = Callable[[Tcp | Socket], StreamReceiver]


class Arriving(asyncio.Protocol):
    """Gives the connection its protocol.

    The input that came with it is delivered before the socket is read.
    """

    def __init__(
        self,
        parcel: Parcel,
        make_framing: Callable[[], Framing] | None,
        longest: int,
        make_session: MakeReceiver,
        limits: ConnectionLimits,
    ) -> None:
        """`make_framing` is None for a WebSocket, whose messages have at most `longest` bytes."""
        self._parcel, self._make_framing, self._longest = parcel, make_framing, longest
        self._make_session, self._limits = make_session, limits

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        connection = (
            self._websocket(stream)
            if self._make_framing is None
            else self._tcp(stream, self._make_framing)
        )
        if connection is not None:
            connection.replay(self._parcel.messages)
            if self._parcel.rest:
                connection.data_received(self._parcel.rest)

    def _tcp(self, transport: asyncio.Transport, make_framing: Callable[[], Framing]) -> Tcp:
        connection = Tcp(make_framing, self._make_session, self._limits)
        transport.set_protocol(cast(asyncio.Protocol, connection))
        connection.connection_made(transport)
        return connection

    def _websocket(self, transport: asyncio.Transport) -> Socket | None:
        address = self._parcel.origin.address
        if refusal := self._limits.admit(address):
            metrics.REFUSED.labels("crowd").inc()
            transport.write(wire.close(TRY_LATER, refusal))
            self._limits.close_timeouts.begin(transport)
            end_writing(transport)
            return None
        connection = Socket(self._longest, self._limits.close_timeouts, self._limits.leave, address)
        transport.set_protocol(connection)
        connection.open(transport, b"", cast(Callable[..., StreamReceiver], self._make_session))
        return connection

    def data_received(self, data: bytes) -> None:
        """The connection was refused."""
