"""Door: who comes in at the port. Bots on WebSockets go to picows, everything else to the HTTP stack."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from botdrome.server import metrics
from botdrome.server.settings import Settings
from botdrome.server.websocket import MakeSession, socket_protocol

LONGEST_HEAD = 16 << 10
HEAD_LIMIT = 10.0
"""Seconds for the head of the first request."""
FOR_HTTP = (b"/socket.io/", b"/watch/")
"""WebSockets at these paths are the HTTP stack's, and those that speak GraphQL wherever they come in."""

MakeHttp = Callable[[], asyncio.Protocol]


class Crowd:
    """How many are inside, and from where."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._by_address: Counter[str] = Counter()
        self._inside = 0

    def admit(self, address: str) -> str:
        """Why somebody cannot come in; nothing: it is in."""
        if self._inside >= self._settings.connections:
            return "too many connections"
        if self._by_address[address] >= self._settings.connections_per_address:
            return "too many connections from your address"
        self._inside += 1
        self._by_address[address] += 1
        metrics.CONNECTIONS.set(self._inside)
        return ""

    def leave(self, address: str) -> None:
        self._inside -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]
        metrics.CONNECTIONS.set(self._inside)


class Door(asyncio.Protocol):
    """Reads the head of the first request, then hands the connection over."""

    def __init__(self, make_session: MakeSession, make_http: MakeHttp, crowd: Crowd, settings: Settings) -> None:
        self._make_session, self._make_http, self._crowd, self._settings = make_session, make_http, crowd, settings
        self._head = b""
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._timer = asyncio.get_running_loop().call_later(HEAD_LIMIT, self._transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()

    def data_received(self, data: bytes) -> None:
        self._head += data
        if b"\r\n\r\n" in self._head or len(self._head) > LONGEST_HEAD or not _may_be_a_get(self._head):
            self._stop_timer()
            self._hand_over(self._to_bots() if self._wants_bots() else self._make_http())

    def _wants_bots(self) -> bool:
        line, _, headers = self._head.partition(b"\r\n")
        words = line.split(b" ")
        if len(words) != 3 or words[1].startswith(FOR_HTTP):
            return False
        lines = b"\r\n" + headers.lower()
        return b"\r\nupgrade: websocket" in lines and b"\r\nsec-websocket-protocol: graphql" not in lines

    def _to_bots(self) -> asyncio.BaseProtocol | None:
        assert self._transport is not None
        peer = self._transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        refusal = self._crowd.admit(address)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            answer = f"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: {len(refusal)}\r\n\r\n{refusal}"
            self._transport.write(answer.encode())
            self._transport.close()
            return None
        return socket_protocol(self._make_session, self._settings.longest_message, lambda: self._crowd.leave(address))

    def _hand_over(self, protocol: asyncio.BaseProtocol | None) -> None:
        head, self._head = self._head, b""
        if protocol is None:
            return
        assert self._transport is not None
        protocol.connection_made(self._transport)
        self._transport.set_protocol(protocol)
        if isinstance(protocol, asyncio.BufferedProtocol):
            _feed(protocol, head)
        else:
            cast(asyncio.Protocol, protocol).data_received(head)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _may_be_a_get(head: bytes) -> bool:
    """Only a GET can be a WebSocket: all else need not be waited for."""
    return head[:4] == b"GET "[: len(head)]


def _feed(protocol: asyncio.BufferedProtocol, data: bytes) -> None:
    """What has been read already, through the buffer of the one who reads on."""
    while data:
        buffer: Any = memoryview(cast(Any, protocol.get_buffer(len(data))))
        taken = min(len(buffer), len(data))
        buffer[:taken] = data[:taken]
        protocol.buffer_updated(taken)
        data = data[taken:]
