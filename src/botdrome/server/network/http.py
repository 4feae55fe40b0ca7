"""HTTP/1.1 connections.

Requests of polling bots go to a plain function, all others to the ASGI application.

Theory of operation. A connection answers one request after the other; later bytes stay in the
buffer meanwhile. A request for a WebSocket, or for another node, goes back to the dispatcher,
together with all unread bytes.

Most requests of bots are plain, complete and alone, and have the head of an earlier one. They skip
the reader: what follows from a head is cached (see `KnownHead`).
"""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Protocol, cast

import structlog
from msgspec import Struct

from botdrome.server import metrics
from botdrome.server.network.connection import acknowledge, source_of
from botdrome.server.network.http_request import (
    EMPTY_LINE,
    FORWARDED_FOR,
    LONGEST_CACHED,
    BadHttpRequest,
    ForDispatcher,
    HttpRequest,
    LeavesNode,
    RequestReader,
    plain_head,
)
from botdrome.server.network.limits import BodyBudget, ConnectionLimits, address_of
from botdrome.server.network.peer import Peer
from botdrome.server.network.websocket import end_writing
from botdrome.server.workers.jobs import SharedSlots
from botdrome.wire.conversation import TokenBucket
from botdrome.wire.safe_headers import SAFE_HEADERS

# An HTTP request with its answer, and the services that answer requests.

NO_CONTENT = int(HTTPStatus.NO_CONTENT)

ResponseHeaders = tuple[tuple[str, str], ...]


class HttpLimits(Struct, frozen=True):
    body: int = 64 << 10
    """Bytes."""
    head_timeout: float = 10.0
    """Seconds for the head of a request, from its first byte."""
    timeout: float = 10.0
    """Seconds for the whole request."""
    idle: float = 75.0
    """Seconds between two requests."""
    reading: float = 60.0
    """Seconds for the client to read a part of an answer."""
    rate: float = 0.0
    """Requests per second on one connection, on average; 0: no limit."""
    burst: int = 0
    """Requests in one burst."""


class HttpResponse(Struct, frozen=True):
    status: int
    body: bytes = b""
    content_type: str = "application/json; charset=UTF-8"
    headers: ResponseHeaders = ()
    rest: bytes = b""
    """The end of the body. A part shared by many answers is copied only once for each."""

    def packed(self, head_only: bool = False, connection: str = "") -> bytes:
        """Return the response as bytes. `connection` is the value of the Connection header."""
        head, body, rest = (
            response_head(self.status, self.content_type, self.headers, connection),
            self.body,
            self.rest,
        )
        length = len(body) + len(rest)
        if head_only or self.status == NO_CONTENT:
            return head + (
                b"\r\n" if self.status == NO_CONTENT else b"Content-Length: %d\r\n\r\n" % length
            )
        return b"%bContent-Length: %d\r\n\r\n%b%b" % (head, length, body, rest)


@lru_cache(maxsize=256)
def response_head(
    status: int, content_type: str, headers: ResponseHeaders, connection: str = ""
) -> bytes:
    """Return the head up to the Content-Length line."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in (*headers, *SAFE_HEADERS)]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [f"Connection: {connection}"] if connection else []
    return "".join([f"{line}\r\n" for line in lines]).encode()


class Exchange(Struct, eq=False):
    """A request, and the connection that takes its answer."""

    request: HttpRequest
    target: bytes
    body: bytes
    head: "KnownHead"
    address: str
    connection: "HttpConnection | None"
    """None: the request is answered, or the client has disconnected."""
    keep: bool = True
    """Whether the connection stays open."""
    on_lost: Callable[[], None] | None = None
    """Called when the client disconnects before the answer."""
    read: float = 0.0
    """When the request was read, on the loop's clock."""
    waits: bool = False
    """Whether the answer did not follow at once."""

    def answer(self, response: HttpResponse) -> None:
        """Send the answer. A second answer is ignored."""
        connection, request = self.connection, self.request
        if connection is not None:
            said = ("" if request.version == "1.1" else "keep-alive") if self.keep else "close"
            connection.send(self, response.packed(request.method == "HEAD", said), True)

    def send(self, data: bytes, last: bool = True) -> None:
        """Send bytes of the answer."""
        if self.connection is not None:
            self.connection.send(self, data, last)

    def lose(self) -> None:
        """Handle a disconnect of the client."""
        forget, self.connection, self.on_lost = self.on_lost, None, None
        if forget is not None:
            forget()


class HttpService(Protocol):
    """Answers the requests for some targets."""

    limits: HttpLimits
    player: bool
    """Whether its clients may use the connections reserved for players."""

    def longest_body(self, target: bytes) -> int: ...

    def streams(self, target: bytes) -> bool:
        """Whether requests are handled before their bodies are complete."""

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        """Return the answer to a request that must be refused and ends the connection, or None.

        For whole requests with the same head it is always the same.
        """

    def handle(self, exchange: Exchange) -> None: ...

    def refuse(self, status: int, word: str, sentence: str) -> HttpResponse:
        """Return the answer to a malformed request, or to one that cannot be answered."""


class DirectService(HttpService, Protocol):
    """Answers by a plain function, without the ASGI application."""

    def serves(self, target: bytes) -> bool: ...


class KnownHead(Struct, eq=False):
    """A request, and what follows from its head. Those of plain requests are cached."""

    request: HttpRequest
    """Without its body, if it is plain."""
    length: int
    """The bytes of the body."""
    service: HttpService
    forwarded: bytes | None
    """The header X-Forwarded-For."""
    accepted: bool = False
    """Whether the service has not refused such a request."""
    note: Any = None
    """What the service has found out from the head, if the request is plain."""


def known_head(request: HttpRequest, service: HttpService, length: int = 0) -> KnownHead:
    return KnownHead(request, length, service, request.headers.get(FORWARDED_FOR))


MOST_KNOWN = 2048
"""Maximum number of cached heads."""


class HttpSite:
    """The state shared by all connections of a port."""

    def __init__(
        self,
        find: Callable[[bytes], HttpService],
        connection_limits: ConnectionLimits,
        dispatcher: Callable[[], asyncio.Protocol],
        body_units: SharedSlots,
        leaves: LeavesNode | None = None,
    ) -> None:
        """`find` returns the service for the target of a request.

        `dispatcher` takes over a connection whose request asks for a WebSocket, or for something at
        another node.
        """
        self.find, self.connection_limits, self.dispatcher = find, connection_limits, dispatcher
        self.body_units, self.leaves = body_units, leaves
        self.known = lru_cache(MOST_KNOWN)(self._known)

    def _known(self, head: bytes) -> KnownHead | None:
        """None: it is not the head of a plain request."""
        found = plain_head(head)
        if found is None:
            return None
        request, length = found
        return known_head(request, self.find(request.target), length)

    def longest_body(self, target: bytes) -> int:
        return self.find(target).longest_body(target)

    def streams(self, target: bytes) -> bool:
        return self.find(target).streams(target)


log = structlog.get_logger()

CLOSE_TIMEOUT = 5.0
"""Seconds for the client to read the last answer."""
LOOK = 5.0
"""Seconds between two timeout checks of a connection."""
LONGEST_HELD = 16 << 10
"""Bytes of later requests that are buffered while one is answered."""


class HttpConnection:
    """An asyncio protocol by duck typing."""

    def __init__(self, site: HttpSite, target: bytes = b"") -> None:
        """`target` is that of the first request."""
        self._site, self._service = site, site.find(target)
        self._known, self._leaves = site.known, site.leaves
        self._bucket: TokenBucket | None = None
        self._budget = BodyBudget(site.body_units)
        self._loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._address = ""
        self._inside = False
        self._reader = RequestReader(site.longest_body, site.streams, self._go_on)
        self._reader.leaves = site.leaves
        self._since = 0.0
        """The start of the current wait: for the rest of a request, for the next request, or for
        the client to read.
        """
        self._exchange: Exchange | None = None
        """The request being answered."""
        self._resumed: asyncio.Event | None = None
        """Set when the client reads again; None: the client is reading."""
        self._advancing = self._held = self._deaf = False

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._address = address_of(transport)
        self._since = self._loop.time()
        self._look_later()
        refusal = self._site.connection_limits.admit(self._address, self._service.player)
        self._inside = not refusal
        if refusal:
            metrics.REFUSED.labels("crowd").inc()
            self._refuse(503, "TOO_MANY_CONNECTIONS", refusal)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if self._deaf:
            return None
        begins = not reader.begun
        if begins and self._exchange is None and self._resumed is None:
            end = data.find(EMPTY_LINE) + 4
            known = self._known(data[:end]) if end <= LONGEST_CACHED else None
            if (
                known is not None
                and end + known.length == len(data)
                and (self._leaves is None or not self._leaves(known.request.target))
            ):
                return self._serve(known, data[end:])
        reader.feed(data)
        if self._exchange is None and not self._budget.add(len(data), source_of(self._address)[0]):
            metrics.REFUSED.labels("bodies").inc()
            return self._refuse(
                503, "TOO_BUSY", "too much is being sent at once: try again in a moment"
            )
        self._read_on()
        self._advance()
        if reader.begun and self._exchange is None and self.transport is not None:
            if begins:
                self._since = self._loop.time()
            acknowledge(self.transport.get_extra_info("socket"))

    def eof_received(self) -> bool:
        """A client may still read an answer in progress.

        A client that waits for an event counts as disconnected.
        """
        exchange = self._exchange
        if exchange is None or exchange.on_lost is not None:
            return False
        exchange.keep = False
        return True

    def pause_writing(self) -> None:
        self._resumed, self._since = asyncio.Event(), self._loop.time()

    def resume_writing(self) -> None:
        if self._resumed is not None:
            self._resumed.set()
            self._resumed = None
        self._advance()

    def connection_lost(self, exc: Exception | None) -> None:
        self._let_go()
        if self._resumed is not None:
            self._resumed.set()
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.lose()

    def _let_go(self) -> None:
        self.transport = None
        self._budget.drop()
        if self._timer is not None:
            self._timer.cancel()
        if self._inside:
            self._inside = False
            self._site.connection_limits.leave(self._address)

    # Timeouts.

    def _look_later(self) -> None:
        self._timer = self._loop.call_later(min(LOOK, self._service.limits.timeout), self._look)

    def _look(self) -> None:
        if self.transport is None:
            return
        self._look_later()
        quiet, limits = self._loop.time() - self._since, self._service.limits
        if self._resumed is not None:
            if quiet > limits.reading:
                self.transport.abort()
        elif self._exchange is None and not self._reader.begun:
            if quiet > limits.idle:
                self.transport.close()
        elif self._exchange is None and quiet > (
            limits.head_timeout if self._reader.in_head else limits.timeout
        ):
            words = (
                f"a request has to be here within {limits.timeout:g} seconds, and its head "
                f"within {limits.head_timeout:g}"
            )
            self._refuse(408, "TOO_SLOW", words)

    # Reading.

    def _read_on(self) -> None:
        """Read more of the body of the request being answered, if it is incomplete."""
        if self._reader.stream is not None and self._exchange is not None:
            try:
                self._reader.read_stream()
            except BadHttpRequest:
                if self.transport is not None:
                    self.transport.abort()

    def _advance(self) -> None:
        """Read requests until one is not answered at once."""
        if self._advancing:
            return
        self._advancing = True
        try:
            while self._exchange is None and self._resumed is None and self.transport is not None:
                request = self._reader.read()
                if request is None:
                    break
                self._budget.drop()
                self._serve(known_head(request, self._site.find(request.target)), request.body)
                self._read_on()
        except BadHttpRequest as problem:
            self._refuse(problem.status, problem.word, problem.sentence)
        except ForDispatcher:
            self._hand_over()
        self._advancing = False
        if self._reader.begun or self._held:
            self._hold_back()

    def _hold_back(self) -> None:
        if self.transport is not None:
            waiting = self._exchange is not None or self._resumed is not None
            if waiting and len(self._reader.unread) > LONGEST_HELD:
                self._held = True
                self.transport.pause_reading()
            elif self._held:
                self._held = False
                self.transport.resume_reading()

    def _go_on(self) -> None:
        if self.transport is not None:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    # Answering.

    def _serve(self, known: KnownHead, body: bytes) -> None:
        service = self._service = known.service
        request, limits, now = known.request, service.limits, self._loop.time()
        self._since, bucket = now, self._bucket
        if limits.rate:
            if bucket is not None and bucket.left >= 1:
                bucket.left -= 1  # take(), without the call
            elif not self._take(limits, now):
                metrics.REFUSED.labels("flood").inc()
                words = f"a connection may send {limits.rate:g} requests a second"
                return self._refuse(429, "TOO_MANY_REQUESTS", words)
        if not known.accepted:
            refusal = service.refusal(request)
            if refusal is not None:
                return self._say_goodbye(refusal)
            known.accepted = True
        address = self._address
        if known.forwarded is not None and isinstance(self.transport, Peer):
            address = self.transport.client_of(known.forwarded.decode("latin-1"))
        exchange = Exchange(
            request, request.target, body, known, address, self, request.keep, None, now
        )
        self._exchange = exchange
        try:
            service.handle(exchange)
        except Exception:
            log.exception("request handler failed")
            exchange.answer(service.refuse(500, "INTERNAL_ERROR", "the server has made a mistake"))
        if self._exchange is exchange:
            exchange.waits = True
        return None

    def _take(self, limits: HttpLimits, now: float) -> bool:
        if self._bucket is None:
            self._bucket = TokenBucket(limits.rate, limits.burst, now)
        return self._bucket.take(now)

    async def drain(self) -> None:
        """Wait until the client has read enough."""
        if self._resumed is not None:
            await self._resumed.wait()

    def send(self, exchange: Exchange, data: bytes, last: bool) -> None:
        """Called by the exchange."""
        if last:
            self._exchange = exchange.connection = None
            if exchange.on_lost is not None:
                exchange.on_lost = None
        if self.transport is None:
            return
        if exchange.waits:
            self._since = self._loop.time()
        self.transport.write(data)
        if not last:
            return
        if not exchange.keep or self._reader.stream is not None:
            self._close()
        elif self._reader.begun:
            self._advance()

    def _refuse(self, status: int, word: str, sentence: str) -> None:
        self._say_goodbye(self._service.refuse(status, word, sentence))

    def _say_goodbye(self, response: HttpResponse) -> None:
        if self.transport is not None:
            self.transport.write(response.packed(connection="close"))
            self._close()

    def _close(self) -> None:
        """Discard further input, so that the client can read the last answer."""
        transport = self.transport
        assert transport is not None
        self._deaf = True
        self._let_go()
        if not transport.is_reading():
            transport.resume_reading()
        end_writing(transport)
        self._timer = self._loop.call_later(CLOSE_TIMEOUT, transport.abort)

    def _hand_over(self) -> None:
        """Give the connection back to the dispatcher, with all unread bytes."""
        transport = self.transport
        assert transport is not None
        self._let_go()
        if not transport.is_reading():
            transport.resume_reading()
        dispatcher = self._site.dispatcher()
        transport.set_protocol(dispatcher)
        dispatcher.connection_made(transport)
        dispatcher.data_received(self._reader.unread)
