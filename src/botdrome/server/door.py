"""Door: who comes in at the port. WebSockets go to picows, targets with a shortcut past the HTTP stack, all else to it."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from botdrome.server import metrics
from botdrome.server.settings import Settings
from botdrome.server.websocket import MakeSession, Socket, socket_protocol

LONGEST_HEAD = 16 << 10
HEAD_LIMIT = 10.0
"""Seconds for the head of the first request."""

UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
BEGINNING = re.compile(rb"[A-Z]{1,16}( [^ \r\n]*)?")
"""Of a request whose target is not known yet."""

MakeHttp = Callable[[], asyncio.Protocol]
Shortcut = Callable[[bytes], asyncio.Protocol | None]
"""Who serves a target that does not need the HTTP stack; None: the HTTP stack."""


class Welcome(NamedTuple):
    """How a WebSocket is received, where not like a bot's."""

    make_session: MakeSession
    longest: int
    """Bytes of one message."""
    kind: type[Socket]


Reception = Callable[[str], MakeSession | Welcome | None]
"""Who receives a WebSocket, by the target of its request; None: the HTTP stack. GraphQL's are always the HTTP stack's."""


def address_of(transport: asyncio.BaseTransport) -> str:
    """Where the other side is; nothing: it is gone already."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


class Crowd:
    """How many are inside, and from where."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._by_address: Counter[str] = Counter()
        self._inside = 0
        metrics.CONNECTIONS.set_function(lambda: self._inside)

    def admit(self, address: str) -> str:
        """Why somebody cannot come in; nothing: it is in."""
        if self._inside >= self._settings.connections:
            return "too many connections"
        if self._by_address[address] >= self._settings.connections_per_address:
            return "too many connections from your address"
        self._inside += 1
        self._by_address[address] += 1
        return ""

    def leave(self, address: str) -> None:
        self._inside -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


class Door(asyncio.Protocol):
    """Reads the head of the first request, then hands the connection over."""

    def __init__(
        self,
        reception: Reception,
        make_http: MakeHttp,
        crowd: Crowd,
        settings: Settings,
        shortcut: Shortcut = lambda _: None,
    ) -> None:
        self._reception, self._make_http, self._crowd, self._settings = reception, make_http, crowd, settings
        self._shortcut = shortcut
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
        if b"\r\n\r\n" in self._head or len(self._head) > LONGEST_HEAD or not _may_tell_more(self._head):
            self._stop_timer()
            self._hand_over(self._receiver())

    def _receiver(self) -> asyncio.BaseProtocol | None:
        """Who takes the connection; None: nobody, it is closed."""
        head = self._head.partition(b"\r\n\r\n")[0]  # what follows is a body, or the next request
        words = head.partition(b"\r\n")[0].split(b" ")
        target = words[1] if len(words) > 1 else b""
        if not wants_websocket(head):
            return self._shortcut(target) or self._make_http()
        graphql = b"\r\nsec-websocket-protocol: graphql" in head.lower()
        found = None if graphql or len(words) != 3 else self._reception(target.decode("latin-1"))
        return self._make_http() if found is None else self._let_in(found)

    def _let_in(self, found: MakeSession | Welcome) -> asyncio.BaseProtocol | None:
        assert self._transport is not None
        address = address_of(self._transport)
        refusal = self._crowd.admit(address)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            answer = f"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: {len(refusal)}\r\n\r\n{refusal}"
            self._transport.write(answer.encode())
            self._transport.close()
            return None
        welcome = found if isinstance(found, Welcome) else Welcome(found, self._settings.longest_message, Socket)
        return socket_protocol(*welcome, lambda: self._crowd.leave(address))

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


def wants_websocket(head: bytes) -> bool:
    return UPGRADE.search(head) is not None


def _may_tell_more(head: bytes) -> bool:
    """Only a GET can be a WebSocket: of all else no more than the target need be waited for."""
    return head[:4] == b"GET "[: len(head)] or BEGINNING.fullmatch(head) is not None


def _feed(protocol: asyncio.BufferedProtocol, data: bytes) -> None:
    """What has been read already, through the buffer of the one who reads on."""
    while data:
        buffer: Any = memoryview(cast(Any, protocol.get_buffer(len(data))))
        taken = min(len(buffer), len(data))
        buffer[:taken] = data[:taken]
        protocol.buffer_updated(taken)
        data = data[taken:]
