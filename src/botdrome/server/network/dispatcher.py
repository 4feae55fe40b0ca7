"""Dispatcher: the first request of a connection decides whether it becomes a WebSocket or stays
HTTP.
"""

import asyncio
import re
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

from botdrome.server import metrics
from botdrome.server.network.http_request import (
    EMPTY_LINE,
    FORWARDED_FOR,
    LONGEST_HEAD,
    NO_REQUEST,
    NOT_ONE_HOST,
    LeavesNode,
    RequestHeaders,
    RequestLine,
    read_handshake,
    read_line,
    wants_websocket,
)
from botdrome.server.network.limits import ConnectionLimits, address_of
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Peer
from botdrome.server.network.websocket import MakeSession, Socket, end_writing
from botdrome.server.settings import Settings
from botdrome.wire.framing.websocket import BadHandshake, accepted
from botdrome.wire.safe_headers import plain_answer

HEAD_TOO_LONG = BadHandshake(
    f"the head has at most {LONGEST_HEAD} bytes", "431 Request Header Fields Too Large"
)
NO_HANDSHAKE = BadHandshake("a WebSocket begins with a GET of HTTP/1.1")
BEGINNING = re.compile(rb"[A-Z-]{1,20}( [!-~]*( [HTP/1.0]{0,8}\r?)?)?")
"""The start of a request whose line is not complete yet."""


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
    """Whether pages of any origin may open it.

    Bot connections allow this, since a bot logs in with its own credential.
    """
    player: bool = True
    """Whether it may use the connections reserved for players."""
    subprotocol: bytes | None = None
    """The subprotocol of the answer; None: the first one the client offers."""
    refusal: Callable[[str], bytes] | None = None
    """Return the answer that refuses a client at this address; empty: the client is accepted."""


OpenWebSocket = Callable[[str, RequestHeaders], MakeSession | SocketOptions | bytes]
"""Open a WebSocket, given the target and the headers of its request.

Bytes are the answer that refuses it.
"""


class Forwarding(NamedTuple):
    """Which connections go to another node, and how."""

    leaves: LeavesNode
    forward: Callable[[asyncio.Transport, bytes, bytes], None]
    """Give away a connection, with the bytes that were read and the target of its next request."""


class Dispatcher(asyncio.Protocol):
    """Reads the head of the first request, then hands the connection over."""

    __slots__ = (
        "_forwarding",
        "_limits",
        "_make_http",
        "_open_websocket",
        "_origins",
        "_seen",
        "_settings",
        "_transport",
    )

    def __init__(
        self,
        open_websocket: OpenWebSocket,
        make_http: MakeHttp | None,
        limits: ConnectionLimits,
        settings: Settings,
        origins: Origins,
        forwarding: Forwarding | None = None,
    ) -> None:
        """`make_http` is None if the HTTP server hands a connection back: it never gets the same
        request again.
        """
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
        """Handle the first request.

        `end` is the end of its head; negative: not received, and not needed.
        """
        line, head = (
            read_line(seen),
            seen if end < 0 else seen[: end + 2],
        )  # a body or the next request follows
        target = b"" if line is None else line.target
        if self._forwarding is not None and self._forwarding.leaves(target):
            return self._forwarding.forward(transport, seen, target)
        incomplete = end < 0 and (line is None or line.method != b"GET" or b"\n\n" in seen)
        if line is None or incomplete or not wants_websocket(head):
            return self._hand_over(transport, seen, target)
        if not 0 <= end <= LONGEST_HEAD:
            return self._refuse(transport, HEAD_TOO_LONG.answer)
        return self._upgrade(transport, line, seen, end)

    def _upgrade(
        self, transport: asyncio.Transport, line: RequestLine, seen: bytes, end: int
    ) -> None:
        headers = read_handshake(seen[seen.index(b"\r\n") : end + 4])
        if headers is None:
            return self._refuse(transport, _bad_request(NO_REQUEST))
        if headers.hosts > 1:
            return self._refuse(transport, _bad_request(NOT_ONE_HOST))
        if line.method != b"GET" or line.version != "1.1":
            return self._refuse(transport, NO_HANDSHAKE.answer)
        found = self._open_websocket(line.target.decode(), headers)
        if isinstance(found, bytes):
            return self._refuse(transport, found)
        return self._let_in(transport, found, headers, seen[end + 4 :])

    def _let_in(
        self,
        transport: asyncio.Transport,
        found: MakeSession | SocketOptions,
        headers: RequestHeaders,
        rest: bytes,
    ) -> None:
        options = (
            found
            if isinstance(found, SocketOptions)
            else SocketOptions(found, self._settings.message.longest, Socket, True)
        )
        try:
            answer = accepted(headers, options.subprotocol)
        except BadHandshake as problem:
            return self._refuse(transport, problem.answer)
        refused = self._origins.refusal(
            headers.get(b"host"), headers.get(b"origin"), options.open_to_all
        )
        if refused is not None:
            return self._refuse(
                transport, plain_answer(f"{refused.status} {refused.reason}", refused.words)
            )
        claimed = headers.get(FORWARDED_FOR)
        if claimed is not None and isinstance(transport, Peer):
            transport.adopt(transport.client_of(claimed.decode("latin-1")))
        address = transport.address if isinstance(transport, Peer) else address_of(transport)
        if options.refusal is not None and (limited := options.refusal(address)):
            return self._refuse(transport, limited)
        refusal = self._limits.admit(address, options.player)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            return self._refuse(transport, plain_answer("503 Service Unavailable", refusal))
        socket = options.kind(
            options.longest, self._limits.close_timeouts, self._limits.leave, address
        )
        transport.set_protocol(socket)
        socket.open(transport, answer, options.make_session)
        if rest:
            socket.data_received(rest)
        return None

    def _hand_over(self, transport: asyncio.Transport, seen: bytes, target: bytes) -> None:
        if self._make_http is None:
            return self._refuse(transport, _bad_request(NO_REQUEST))
        protocol = self._make_http(target)
        protocol.connection_made(transport)
        transport.set_protocol(protocol)
        return protocol.data_received(seen)

    def _refuse(self, transport: asyncio.Transport, answer: bytes) -> None:
        """Send the answer and discard further input, so that the client can read the answer."""
        transport.write(answer)
        self._limits.close_timeouts.begin(transport)
        end_writing(transport)


def _may_tell_more(head: bytes) -> bool:
    """Return whether more of the head is needed to choose the protocol.

    Only a GET can open a WebSocket; for other methods the line is enough. A head with wrong line
    ends has no empty line.
    """
    return (head[:4] == b"GET "[: len(head)] and b"\n\n" not in head) or BEGINNING.fullmatch(
        head
    ) is not None


def _bad_request(problem: tuple[int, str, str]) -> bytes:
    return plain_answer("400 Bad Request", problem[2])
