"""Dispatcher: the first request of a connection decides whether it becomes a WebSocket or stays
HTTP.
"""

import asyncio
import re
from collections.abc import Callable
from functools import lru_cache
from string import ascii_letters, digits
from typing import NamedTuple, Protocol, cast

from msgspec import Struct

from botdrome.server import metrics
from botdrome.server.network.connection import Connection, Receiver
from botdrome.server.network.http_request import (
    EMPTY_LINE,
    FORWARDED_FOR,
    KEY_LINE,
    LONGEST_CACHED,
    LONGEST_HEAD,
    MOST_FIELDS,
    NO_REQUEST,
    NOT_ONE_HOST,
    WEBSOCKET_KEY,
    LeavesNode,
    RequestHeaders,
    RequestLine,
    read_headers,
    read_line,
    wants_websocket,
)
from botdrome.server.network.limits import ConnectionLimits, address_of
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Peer
from botdrome.server.network.websocket import MakeSession, Socket, end_writing
from botdrome.server.settings import Settings
from botdrome.wire.framing.websocket import (
    BadHandshake,
    accepted,
    check_handshake,
    handshake_answer,
)
from botdrome.wire.safe_headers import plain_answer

HEAD_TOO_LONG = BadHandshake(
    f"the head has at most {LONGEST_HEAD} bytes", "431 Request Header Fields Too Large"
)
NO_HANDSHAKE = BadHandshake("a WebSocket begins with a GET of HTTP/1.1")
USUAL_KEY = b"\r\nSec-WebSocket-Key: "
BASE64 = ascii_letters.encode() + digits.encode() + b"+/="
BEGINNING = re.compile(rb"[A-Z-]{1,20}( [!-~]*( [HTP/1.0]{0,8}\r?)?)?")
"""The start of a request whose line is not complete yet."""


class MakeHttp(Protocol):
    """Makes the protocol for a connection whose first request has this target."""

    def __call__(self, target: bytes = b"") -> asyncio.Protocol: ...


class SocketOptions(Struct, frozen=True):
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


def _no_session(connection: Connection) -> Receiver:
    raise NotImplementedError


class Forwarding(NamedTuple):
    """Which connections go to another node, and how."""

    leaves: LeavesNode
    forward: Callable[[asyncio.Transport, bytes, bytes], None]
    """Give away a connection, with the bytes that were read and the target of its next request."""


class Entrance:
    """What the dispatchers of a port have in common."""

    __slots__ = ("forwarding", "limits", "open_websocket", "origins", "usual")

    def __init__(
        self,
        open_websocket: OpenWebSocket,
        limits: ConnectionLimits,
        settings: Settings,
        origins: Origins,
        forwarding: Forwarding | None = None,
    ) -> None:
        self.open_websocket, self.limits = open_websocket, limits
        self.origins, self.forwarding = origins, forwarding
        self.usual = SocketOptions(_no_session, settings.message.longest, Socket, True)
        """The options of the WebSockets of bots."""


class Head(Struct, frozen=True, gc=False):
    """A request for a WebSocket, without its key."""

    target: bytes
    text: str
    """The target as text."""
    headers: RequestHeaders
    offered: bytes
    """The first subprotocol that the client offers; empty: it offers none."""
    host: bytes = b""
    """The host, if no other field says whether and from where the client may come."""


def _key_and_rest(seen: bytes, end: int) -> tuple[bytes, bytes] | None:
    """Return the key of a handshake, and the head without its line; None: no line has the key.

    Nearly all clients spell the line in one way, which is found in a third of a pattern's time.
    """
    at = seen.find(USUAL_KEY, 0, end)
    if at > 0:
        start = at + len(USUAL_KEY)
        after = seen.find(b"\r\n", start)
        key = seen[start:after]
        if key and not key.translate(None, BASE64) and seen[after + 2] not in b" \t":
            return key, seen[:at] + seen[after : end + 4]
    found = KEY_LINE.search(seen, 0, end + 4)
    if found is None:
        return None
    return found[1], seen[: found.start()] + seen[found.end() - 2 : end + 4]


@lru_cache(maxsize=256)
def read_usual_head(head: bytes) -> Head | None:
    """Read a head from which the line of the key was taken: the heads of a client differ in that
    alone. None: the request has to be looked at with its key, since something is wrong or unusual.
    """
    line = read_line(head)
    if line is None or line.method != b"GET" or line.version != "1.1" or not wants_websocket(head):
        return None
    headers = read_headers(head[head.index(b"\r\n") + 2 :])
    if headers is None or headers.hosts > 1 or headers.count == MOST_FIELDS:
        return None
    try:
        offered = check_handshake(headers)
    except BadHandshake:
        return None
    if WEBSOCKET_KEY in headers:
        return None
    alone = b"origin" not in headers and FORWARDED_FOR not in headers
    host = headers.get(b"host", b"") if alone else b""
    return Head(line.target, line.target.decode(), headers, offered, host)


class Dispatcher(asyncio.Protocol):
    """Reads the head of the first request, then hands the connection over."""

    __slots__ = ("_entrance", "_make_http", "_seen", "_transport")

    def __init__(self, entrance: Entrance, make_http: MakeHttp | None = None) -> None:
        """`make_http` is None if the HTTP server hands a connection back: it never gets the same
        request again.
        """
        self._entrance, self._make_http = entrance, make_http
        self._seen = b""
        """The received part of an incomplete head."""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._entrance.limits.head_timeouts.begin(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._entrance.limits.head_timeouts.end(self._transport)
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
            self._entrance.limits.head_timeouts.end(transport)
            self._receive(transport, seen, end)

    def _receive(self, transport: asyncio.Transport, seen: bytes, end: int) -> None:
        """Handle the first request.

        `end` is the end of its head; negative: not received, and not needed.
        """
        forwarding = self._entrance.forwarding
        found = _key_and_rest(seen, end) if 0 < end < LONGEST_CACHED else None
        if found is not None:
            usual = read_usual_head(found[1])
            if usual is not None and (forwarding is None or not forwarding.leaves(usual.target)):
                return self._open(transport, usual, found[0], seen[end + 4 :])
        line, head = (
            read_line(seen),
            seen if end < 0 else seen[: end + 2],
        )  # a body or the next request follows
        target = b"" if line is None else line.target
        if forwarding is not None and forwarding.leaves(target):
            return forwarding.forward(transport, seen, target)
        incomplete = end < 0 and (line is None or line.method != b"GET" or b"\n\n" in seen)
        if line is None or incomplete or not wants_websocket(head):
            return self._hand_over(transport, seen, target)
        if not 0 <= end <= LONGEST_HEAD:
            return self._refuse(transport, HEAD_TOO_LONG.answer)
        return self._upgrade(transport, line, seen, end)

    def _upgrade(
        self, transport: asyncio.Transport, line: RequestLine, seen: bytes, end: int
    ) -> None:
        headers = read_headers(seen[seen.index(b"\r\n") + 2 : end + 4])
        if headers is None:
            return self._refuse(transport, _bad_request(NO_REQUEST))
        if headers.hosts > 1:
            return self._refuse(transport, _bad_request(NOT_ONE_HOST))
        if line.method != b"GET" or line.version != "1.1":
            return self._refuse(transport, NO_HANDSHAKE.answer)
        return self._open(
            transport, Head(line.target, line.target.decode(), headers, b""), b"", seen[end + 4 :]
        )

    def _open(self, transport: asyncio.Transport, head: Head, key: bytes, rest: bytes) -> None:
        """`key` is that of a head which was checked; empty: it is in the headers."""
        entrance, headers = self._entrance, head.headers
        found = entrance.open_websocket(head.text, headers)
        if isinstance(found, bytes):
            return self._refuse(transport, found)
        if isinstance(found, SocketOptions):
            options, make_session = found, found.make_session
        else:
            options, make_session = entrance.usual, found
        agreed = options.subprotocol
        try:
            answer = (
                handshake_answer(key, head.offered if agreed is None else agreed)
                if key
                else accepted(headers, agreed)
            )
        except BadHandshake as problem:
            return self._refuse(transport, problem.answer)
        usual = options.refusal is None and head.host and entrance.origins.knows(head.host)
        if not usual and (refusal := self._refusal(transport, headers, options)):
            return self._refuse(transport, refusal)
        address = transport.address if isinstance(transport, Peer) else address_of(transport)
        limits = entrance.limits
        if full := limits.admit(address, options.player):
            metrics.REFUSED.labels("crowd").inc()
            return self._refuse(transport, plain_answer("503 Service Unavailable", full))
        socket = options.kind(options.longest, limits.close_timeouts, limits.leave, address)
        transport.set_protocol(socket)
        socket.open(transport, answer, make_session)
        if rest:
            socket.data_received(rest)
        return None

    def _refusal(
        self, transport: asyncio.Transport, headers: RequestHeaders, options: SocketOptions
    ) -> bytes:
        """Return the answer that refuses a request; empty: it is accepted. The address of a client
        behind a proxy is set here.
        """
        refused = self._entrance.origins.refusal(
            headers.get(b"host"), headers.get(b"origin"), options.open_to_all
        )
        if refused is not None:
            return plain_answer(f"{refused.status} {refused.reason}", refused.words)
        claimed = headers.get(FORWARDED_FOR)
        if claimed is not None and isinstance(transport, Peer):
            transport.adopt(transport.client_of(claimed.decode("latin-1")))
        if options.refusal is None:
            return b""
        address = transport.address if isinstance(transport, Peer) else address_of(transport)
        return options.refusal(address)

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
        self._entrance.limits.close_timeouts.begin(transport)
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
