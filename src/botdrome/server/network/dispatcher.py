"""Dispatcher: the first request of a connection decides whether it becomes a WebSocket or stays HTTP."""

import asyncio
import re
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

from botdrome.server import metrics
from botdrome.server.network.connection_limits import ConnectionLimits, address_of
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Peer
from botdrome.server.network.websocket import MakeSession, Socket, end_writing
from botdrome.server.settings import Settings
from botdrome.wire.framing.websocket import BadHandshake, accepted
from botdrome.wire.safe_headers import plain_answer

LONGEST_HEAD = 16 << 10

EMPTY_LINE = b"\r\n\r\n"
UPGRADE = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
FORWARDED = re.compile(rb"\r\nx-forwarded-for:([^\r]*)", re.IGNORECASE)
HEAD_TOO_LONG = BadHandshake(f"the head has at most {LONGEST_HEAD} bytes", "431 Request Header Fields Too Large")
BEGINNING = re.compile(rb"[A-Z]{1,16}( [^ \r\n]*)?")
"""The start of a request whose target is not complete yet."""


class MakeHttp(Protocol):
    """Makes the protocol for a connection whose first request has this target."""

    def __call__(self, target: bytes = b"") -> asyncio.Protocol: ...


class SocketOptions(NamedTuple):
    """Options for opening a WebSocket that does not belong to a bot."""

    make_session: MakeSession
    longest: int
    """Maximum bytes per message."""
    kind: type[Socket]
    open_to_all: bool = False
    """Whether pages of any origin may open it. Bot connections allow this, since a bot logs in with its own credential."""
    player: bool = True
    """Whether it may use the connections reserved for players."""
    subprotocol: bytes | None = None
    """The subprotocol of the answer; None: the first one the client offers."""
    refusal: Callable[[str], bytes] | None = None
    """Return the answer that refuses a client at this address; empty: the client is accepted."""


OpenWebSocket = Callable[[str, bytes], MakeSession | SocketOptions | bytes]
"""Open a WebSocket, given the target and the head of its request. Bytes are the answer that refuses it."""


LeavesNode = Callable[[bytes], bool]
"""Whether requests for a target are answered by another node."""


class Forwarding(NamedTuple):
    """Which connections go to another node, and how."""

    leaves: LeavesNode
    forward: Callable[[asyncio.Transport, bytes, bytes], None]
    """Give away a connection, with the bytes that were read and the target of its next request."""


class Dispatcher(asyncio.Protocol):
    """Reads the head of the first request, then hands the connection over."""

    __slots__ = ("_forwarding", "_limits", "_make_http", "_open_websocket", "_origins", "_seen", "_settings", "_transport")

    def __init__(
        self,
        open_websocket: OpenWebSocket,
        make_http: MakeHttp,
        limits: ConnectionLimits,
        settings: Settings,
        origins: Origins,
        forwarding: Forwarding | None = None,
    ) -> None:
        self._open_websocket, self._make_http, self._limits, self._settings = (
            open_websocket,
            make_http,
            limits,
            settings,
        )
        self._origins, self._forwarding = origins, forwarding
        self._seen = b""
        """The received part of an incomplete head."""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._limits.head_timeouts.begin(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._limits.head_timeouts.end(self._transport)
            self._transport = None

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        if transport is None:
            return
        seen = self._seen + data if self._seen else data
        if seen[:1] in (b"\r", b"\n"):
            seen = seen.lstrip(b"\r\n")  # empty lines before a request are allowed
        end = seen.find(EMPTY_LINE)
        if end < 0 and len(seen) <= LONGEST_HEAD and _may_tell_more(seen):
            self._seen = seen
        else:
            self._transport, self._seen = None, b""
            self._limits.head_timeouts.end(transport)
            self._receive(transport, seen, end)

    def _receive(self, transport: asyncio.Transport, seen: bytes, end: int) -> None:
        """Handle the first request. `end` is the end of its head; negative: not received, and not needed."""
        head = seen if end < 0 else seen[:end]  # a body or the next request follows
        words = head.partition(b"\r\n")[0].split(b" ")
        target = words[1] if len(words) > 1 else b""
        if self._forwarding is not None and self._forwarding.leaves(target):
            return self._forwarding.forward(transport, seen, target)
        if not wants_websocket(head):
            return _hand_over(transport, seen, self._make_http(target))
        half = end < 0 and words[0] != b"GET"
        if half or len(words) != 3:
            return _hand_over(transport, seen, self._make_http())
        if not 0 <= end <= LONGEST_HEAD:
            return self._refuse(transport, HEAD_TOO_LONG.answer)
        found = self._open_websocket(target.decode("latin-1"), head)
        if isinstance(found, bytes):
            return self._refuse(transport, found)
        return self._let_in(transport, found, head, seen[end + 4 :])

    def _let_in(self, transport: asyncio.Transport, found: MakeSession | SocketOptions, head: bytes, rest: bytes) -> None:
        options = (
            found if isinstance(found, SocketOptions) else SocketOptions(found, self._settings.message.longest, Socket, True)
        )
        try:
            answer = accepted(head, options.subprotocol)
        except BadHandshake as problem:
            return self._refuse(transport, problem.answer)
        refused = self._origins.refusal_in(head, options.open_to_all)
        if refused is not None:
            return self._refuse(transport, plain_answer(f"{refused.status} {refused.reason}", refused.words))
        claimed = FORWARDED.findall(head)
        if claimed and isinstance(transport, Peer):
            transport.adopt(transport.client_of(b",".join(claimed).decode("latin-1")))
        address = address_of(transport)
        if options.refusal is not None and (limited := options.refusal(address)):
            return self._refuse(transport, limited)
        refusal = self._limits.admit(address, options.player)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            return self._refuse(transport, plain_answer("503 Service Unavailable", refusal))
        socket = options.kind(options.longest, self._limits.close_timeouts, self._limits.leave, address)
        transport.set_protocol(socket)
        socket.open(transport, answer, options.make_session)
        if rest:
            socket.data_received(rest)
        return None

    def _refuse(self, transport: asyncio.Transport, answer: bytes) -> None:
        """Send the answer and discard further input, so that the client can read the answer."""
        transport.write(answer)
        self._limits.close_timeouts.begin(transport)
        end_writing(transport)


def wants_websocket(head: bytes) -> bool:
    return UPGRADE.search(head) is not None


def _may_tell_more(head: bytes) -> bool:
    """Return whether the rest of the head is needed to choose the protocol.

    Only a GET can open a WebSocket; for other methods the target is enough. A head with wrong line ends has no empty line.
    """
    return (head[:4] == b"GET "[: len(head)] and b"\n\n" not in head) or BEGINNING.fullmatch(head) is not None


def _hand_over(transport: asyncio.Transport, seen: bytes, protocol: asyncio.Protocol) -> None:
    protocol.connection_made(transport)
    transport.set_protocol(protocol)
    protocol.data_received(seen)
