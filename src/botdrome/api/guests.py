"""Guests of the HTTP stack: uvicorn's protocols, with limits where they have none.

Connections are counted. A request has to be here within its time, its head is bounded, and whoever does not read the answer
is not waited for.
"""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from httptools import HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from botdrome.server import metrics
from botdrome.server.bucket import Bucket
from botdrome.server.door import Crowd

LONGEST_HEAD = 64 << 10
SENDING = 30.0
"""Seconds for a request, from its first byte to its last, and from the end of one to the beginning of the next."""
READING = 60.0
"""Seconds for some of an answer to be read."""
PIECE = 4096
"""Bytes that a WebSocket reads at a time."""
FRAMES_RATE, FRAMES_BURST = 200.0, 1000
"""Frames a second from one WebSocket, in the long run, and at once."""
MOST_AT_ONCE = 32
"""Requests on one connection that wait for the answer to the one before. Few clients ever send two."""
TICK = 5.0
"""Seconds between two looks at a connection."""


class Place:
    """A guest's place in the crowd."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._address: str | None = None

    def take(self, transport: asyncio.BaseTransport) -> str:
        """Why there is none; nothing: it is taken."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        refusal = self._crowd.admit(address)
        self._address = None if refusal else address
        return refusal

    def leave(self) -> None:
        address, self._address = self._address, None
        if address is not None:
            self._crowd.leave(address)


class HttpGuest(HttpToolsProtocol):
    def __init__(self, crowd: Crowd, door: Callable[[], asyncio.Protocol], *args: Any) -> None:
        super().__init__(*args)
        self._place, self._door = Place(crowd), door
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0
        """Bytes since the last request ended."""
        self._in_head = self._in_request = True
        self._since = self._full_since = self.loop.time()
        """When the request began that is being read, or the last one ended; and when nothing more could be written."""
        self._answering: RequestResponseCycle | None = None
        """What is being answered; `cycle` is what was asked last."""
        self._leaving = self._sated = False
        """It is told no more; or it is told all that it asked for so far, and listened to no more."""
        self._piece = self._again = b""
        """What came last, and what of it is to be read once more."""
        self._upgrade: bytes | None = None
        """A request for a WebSocket, and what came after it: what was asked before is answered first."""

    # What the network does.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(TICK, self._tick)
        refusal = self._place.take(transport)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            self._refuse("503 Service Unavailable", refusal)

    def connection_lost(self, exc: Exception | None) -> None:
        self._go()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._leaving or self._sated:
            return
        self._head += len(data)
        if self._upgrade is not None:
            self._upgrade += data
        else:
            self._read(data)
        if (self._in_head or self._upgrade is not None) and self._head > LONGEST_HEAD and not self.transport.is_closing():
            self._refuse("431 Request Header Fields Too Large", f"the head of a request has at most {LONGEST_HEAD} bytes")

    def _read(self, data: bytes) -> None:
        while data:
            self._piece, self._again = data, b""
            super().data_received(data)
            data = self._again

    def send_400_response(self, msg: str) -> None:
        if not self._sated:
            super().send_400_response(msg)

    def pause_writing(self) -> None:
        self._full_since = self.loop.time()
        super().pause_writing()

    # Who wants to go on in another protocol.

    def handle_websocket_upgrade(self) -> None:
        """Who has asked for something else before, and now wants a WebSocket, may be a bot: that is not for this stack to say."""
        if self.cycle is None:
            self._go()
            return super().handle_websocket_upgrade()
        self._upgrade = self._request() + self._rest()
        return self._return_to_the_door() if self.cycle.response_complete else None

    def _return_to_the_door(self) -> None:
        upgrade, self._upgrade = self._upgrade or b"", None
        self._go()
        self._unset_keepalive_if_required()
        self.connections.discard(self)
        door = self._door()
        self.transport.set_protocol(door)
        door.connection_made(self.transport)
        door.data_received(upgrade)

    def _unsupported_upgrade_warning(self) -> None:
        """The parser takes what follows for that other protocol: the request is read again without the offer."""
        if self._offers_another():
            self._again = self._request(without=b"upgrade") + self._rest()
            self.parser = HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does

    def _offers_another(self) -> bool:
        """HTTP/2 most often, which Java offers with every request. None of these is spoken here."""
        return self.parser.should_upgrade() and not self._should_upgrade() and any(name == b"upgrade" for name, _ in self.headers)

    def _request(self, without: bytes = b"") -> bytes:
        """The head of the present request, written anew."""
        first = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        fields = [b"%b: %b" % (name, value) for name, value in self.headers if name != without]
        return b"\r\n".join([first, *fields, b"", b""])

    def _rest(self) -> bytes:
        """What came after the present request. Called where the parser's exception is handled, which knows where that is."""
        upgrade = sys.exception()
        assert isinstance(upgrade, HttpParserUpgrade)
        return self._piece[upgrade.args[0] :]

    def _go(self) -> None:
        self._place.leave()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What the parser finds.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = self._in_request = True
        self._since = self.loop.time()

    def on_headers_complete(self) -> None:
        self._in_head = False
        if len(self.pipeline) >= MOST_AT_ONCE:
            self._sated = True
            self.pipeline[0][0].keep_alive = False  # the connection ends with the answer to the last of them
            raise ConnectionAbortedError  # ends the parser's work on what came with it
        if not self._offers_another():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        if not self._offers_another():
            super().on_message_complete()
        self._in_request = False
        self._head, self._since = 0, self.loop.time()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        if self._upgrade is not None and self.cycle.response_complete and not self.transport.is_closing():
            self._return_to_the_door()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    # Who is not waited for.

    def _tick(self) -> None:
        self._timer = self.loop.call_later(TICK, self._tick)
        now = self.loop.time()
        if self._leaving or (self.flow.write_paused and now - self._full_since > READING):
            self.transport.abort()
        elif self.transport.is_closing():
            self._leaving = True
        elif now - self._since > SENDING and not self.flow.read_paused and self._awaited():
            self._refuse("408 Request Timeout", f"a request has to be here within {SENDING:g} seconds")

    def _awaited(self) -> bool:
        """Whether it is for the client to do something."""
        return self._in_request or self.cycle is None or self.cycle.response_complete

    def _refuse(self, status: str, words: str) -> None:
        """Unless it is being answered already, it is told why. What it still sends must not cut that short."""
        self._leaving = True
        answering = self._answering
        if answering is None or not answering.response_started or answering.response_complete:
            head = f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: {len(words)}\r\n\r\n"
            self.transport.write((head + words).encode())
        self.pipeline.clear()
        if answering is not None:  # its answer is not wanted any more
            answering.disconnected = True
            answering.message_event.set()
        self.transport.write_eof() if self.transport.can_write_eof() else self.transport.close()


class SocketGuest(WebSocketsSansIOProtocol):
    """A WebSocket that was a request before, and was counted as such: its place is free."""

    crowd: Crowd

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._place = Place(self.crowd)
        self._frames = Bucket(FRAMES_RATE, FRAMES_BURST)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._place.take(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._place.leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """In small pieces, so that a flood of tiny frames is noticed before much work was done for it."""
        for at in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            super().data_received(data[at : at + PIECE])
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.write(b"".join(self.conn.data_to_send()))  # uvicorn forgets to, and waits for more
            self.transport.close()

    def handle_events(self) -> None:
        if all(self._frames.take() for _ in self.conn.events):
            return super().handle_events()
        metrics.REFUSED.labels("flood").inc()
        return self.transport.abort()


def socket_guests(crowd: Crowd) -> type[SocketGuest]:
    """uvicorn makes the protocols of WebSockets by itself: the class has to know the crowd."""
    return type("SocketGuestOfTheCrowd", (SocketGuest,), {"crowd": crowd})
