"""Door: the first request of a connection decides whether it becomes a WebSocket or stays HTTP."""

import asyncio
import re
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple, Protocol, cast

import structlog

from botdrome.server import metrics
from botdrome.server.network.open_files import for_clients
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Peer
from botdrome.server.network.timeouts import ConnectionTimeouts
from botdrome.server.network.websocket import FAREWELL, MakeSession, Socket, end_writing
from botdrome.server.settings import Settings
from botdrome.server.workers.asker import source_of
from botdrome.wire.framing.websocket import BadHandshake, accepted
from botdrome.wire.safe_headers import plain_answer

log = structlog.get_logger()

RESERVED = 8
"""One in this many connections is reserved for players."""
TELL_AGAIN = 60.0
"""Seconds between two log lines about refused connections."""
LONGEST_HEAD = 16 << 10
HEAD_LIMIT = 10.0
"""Seconds for the head of the first request."""

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


Reception = Callable[[str, bytes], MakeSession | SocketOptions | bytes]
"""Open a WebSocket, given the target and the head of its request. Bytes are the answer that refuses it."""


def address_of(transport: asyncio.BaseTransport) -> str:
    """Return the address of the client; empty if it has already disconnected."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


class ConnectionLimits:
    """The open connections, counted in total and per address."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._most = min(settings.limits.connections, for_clients())
        self._told = -TELL_AGAIN
        self._by_address: dict[str, int] = {}
        self._inside = 0
        self.heads, self.farewells = ConnectionTimeouts(HEAD_LIMIT), ConnectionTimeouts(FAREWELL)
        """The timeout for connections that are not counted yet, and for those being closed."""
        metrics.CONNECTIONS.set_function(lambda: self._inside)

    def admit(self, address: str, player: bool = True) -> str:
        """Count a connection and return an empty text, or return the reason to refuse it."""
        if self._inside >= (self._most if player else self._most - self._most // RESERVED):
            self._report(player)
            return "too many connections"
        address = source_of(address)[0]
        here = self._by_address.get(address, 0)
        if here >= self._settings.limits.connections_per_address:
            return "too many connections from your address"
        self._inside += 1
        self._by_address[address] = here + 1
        return ""

    def _report(self, player: bool) -> None:
        now = monotonic()
        if now - self._told >= TELL_AGAIN:
            self._told = now
            log.warning(
                "connections are refused: see the setting limits.connections, and the limit of open files (ulimit -n)",
                connections=self._inside, most=self._most, players_too=player,
            )  # fmt: skip

    def leave(self, address: str) -> None:
        self._inside -= 1
        address = source_of(address)[0]
        others = self._by_address[address] - 1
        if others:
            self._by_address[address] = others
        else:
            del self._by_address[address]


class Door(asyncio.Protocol):
    """Reads the head of the first request, then hands the connection over."""

    __slots__ = ("_crowd", "_make_http", "_origins", "_reception", "_seen", "_settings", "_transport")

    def __init__(
        self,
        reception: Reception,
        make_http: MakeHttp,
        crowd: ConnectionLimits,
        settings: Settings,
        origins: Origins,
    ) -> None:
        self._reception, self._make_http, self._crowd, self._settings = reception, make_http, crowd, settings
        self._origins = origins
        self._seen = b""
        """The received part of an incomplete head."""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._crowd.heads.begin(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._crowd.heads.end(self._transport)
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
            self._crowd.heads.end(transport)
            self._receive(transport, seen, end)

    def _receive(self, transport: asyncio.Transport, seen: bytes, end: int) -> None:
        """Handle the first request. `end` is the end of its head; negative: not received, and not needed."""
        head = seen if end < 0 else seen[:end]  # a body or the next request follows
        words = head.partition(b"\r\n")[0].split(b" ")
        target = words[1] if len(words) > 1 else b""
        if not wants_websocket(head):
            return _hand_over(transport, seen, self._make_http(target))
        half = end < 0 and words[0] != b"GET"
        if half or len(words) != 3:
            return _hand_over(transport, seen, self._make_http())
        if not 0 <= end <= LONGEST_HEAD:
            return self._refuse(transport, HEAD_TOO_LONG.answer)
        found = self._reception(target.decode("latin-1"), head)
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
        refusal = self._crowd.admit(address, options.player)
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            return self._refuse(transport, plain_answer("503 Service Unavailable", refusal))
        socket = options.kind(options.longest, self._crowd.farewells, self._crowd.leave, address)
        transport.set_protocol(socket)
        socket.open(transport, answer, options.make_session)
        if rest:
            socket.data_received(rest)
        return None

    def _refuse(self, transport: asyncio.Transport, answer: bytes) -> None:
        """Send the answer and discard further input, so that the client can read the answer."""
        transport.write(answer)
        self._crowd.farewells.begin(transport)
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
