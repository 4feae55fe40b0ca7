"""Guests on WebSockets of the HTTP stack: uvicorn's protocol, with limits where it has none, and without its mistakes."""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from botdrome.api.guests import Place
from botdrome.server import metrics
from botdrome.server.network.door import Crowd
from botdrome.server.network.rate_limit import Bucket

PIECE = 4096
"""Bytes that are read at a time."""
NOT_TEXT = 1007
FRAMES_RATE, FRAMES_BURST = 200.0, 1000
"""Frames a second from one WebSocket, in the long run, and at once."""


class SocketGuest(WebSocketsSansIOProtocol):
    """A WebSocket that was a request before, and was counted as such: its place is free."""

    crowd: Crowd

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._place = Place(self.crowd)
        self._frames = Bucket(FRAMES_RATE, FRAMES_BURST)
        self._early = b""
        """What came before the request was accepted."""
        self._app, self.app = self.app, self._attend

    # What the network does.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._place.take(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._place.leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """In small pieces, so that a flood of tiny frames is noticed before much work was done for it."""
        if self.handshake_initiated and not self.handshake_complete:
            return self._keep(data)
        for at in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return None
            super().data_received(data[at : at + PIECE])
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.write(b"".join(self.conn.data_to_send()))  # uvicorn forgets to, and waits for more
            self.transport.close()
        return None

    def handle_events(self) -> None:
        if all(self._frames.take() for _ in self.conn.events):
            return super().handle_events()
        metrics.REFUSED.labels("flood").inc()
        return self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        """Text that is no UTF-8 ends the connection; uvicorn would log it as an error of the server."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                self.conn.send_close(NOT_TEXT)
                return self.handle_parser_exception()
        return super().send_receive_event_to_app()

    # Who does not wait until it is accepted.

    def _keep(self, data: bytes) -> None:
        """An answer to it must not go before that to the request."""
        self._early += data
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    def _read_early(self) -> None:
        early, self._early = self._early, b""
        self.data_received(early)
        if self.read_paused and self.queue.empty() and not self.transport.is_closing():
            self.read_paused = False
            self.transport.resume_reading()

    # What the application does.

    async def send(self, message: Any) -> None:
        """The client may have broken the protocol or gone at any time: to uvicorn a later message is the application's fault."""
        await self.writable.wait()
        if self.close_sent or self.transport.is_closing():
            raise ClientDisconnected
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # uvicorn forgets it, and takes a refusal for an error
        elif self._early and self.handshake_complete:
            self._read_early()

    async def _attend(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Nobody cancels it but the end of the server."""
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if not self.transport.is_closing():
                self.shutdown()
            raise ClientDisconnected from None


def socket_guests(crowd: Crowd) -> type[SocketGuest]:
    """uvicorn makes the protocols of WebSockets by itself: the class has to know the crowd."""
    return type("SocketGuestOfTheCrowd", (SocketGuest,), {"crowd": crowd})
