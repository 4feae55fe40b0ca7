"""An HTTP request with its answer, and the services that answer requests."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol

from msgspec import Struct

from botdrome.server.network.connection_limits import ConnectionLimits
from botdrome.server.network.dispatcher import LeavesNode
from botdrome.server.network.http_request import HttpRequest
from botdrome.server.workers.limits import SharedSlots
from botdrome.wire.safe_headers import SAFE_HEADERS

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
        head, body, rest = _head(self.status, self.content_type, self.headers, connection), self.body, self.rest
        length = len(body) + len(rest)
        if head_only or self.status == NO_CONTENT:
            return head + (b"\r\n" if self.status == NO_CONTENT else b"Content-Length: %d\r\n\r\n" % length)
        return b"%bContent-Length: %d\r\n\r\n%b%b" % (head, length, body, rest)


@lru_cache(maxsize=256)
def _head(status: int, content_type: str, headers: ResponseHeaders, connection: str) -> bytes:
    """Return the head up to the Content-Length value."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in (*headers, *SAFE_HEADERS)]
    lines += [f"Content-Type: {content_type}"] if content_type else []
    lines += [f"Connection: {connection}"] if connection else []
    return "".join([f"{line}\r\n" for line in lines]).encode()


class Exchange(Struct, eq=False):
    """A request, and the connection that takes its answer."""

    request: HttpRequest
    target: bytes
    address: str
    connection: "AnswerSink | None"
    """None: the request is answered, or the client has disconnected."""
    keep: bool = True
    """Whether the connection stays open."""
    on_lost: Callable[[], None] | None = None
    """Called when the client disconnects before the answer."""

    def answer(self, response: HttpResponse) -> None:
        """Send the answer. A second answer is ignored."""
        said = ("" if self.request.version == "1.1" else "keep-alive") if self.keep else "close"
        self.send(response.packed(self.request.method == "HEAD", said))

    def send(self, data: bytes, last: bool = True) -> None:
        """Send bytes of the answer."""
        connection = self.connection
        if connection is not None:
            if last:
                self.connection = self.on_lost = None
            connection.send(self, data, last)

    def lose(self) -> None:
        """Handle a disconnect of the client."""
        forget, self.connection, self.on_lost = self.on_lost, None, None
        if forget is not None:
            forget()


class AnswerSink(Protocol):
    """The connection of an exchange."""

    @property
    def transport(self) -> asyncio.Transport | None: ...

    async def drain(self) -> None:
        """Wait until the client has read enough."""

    def send(self, exchange: "Exchange", data: bytes, last: bool) -> None: ...


class HttpService(Protocol):
    """Answers the requests for some targets."""

    limits: HttpLimits
    player: bool
    """Whether its clients may use the connections reserved for players."""

    def longest_body(self, target: bytes) -> int: ...

    def streams(self, target: bytes) -> bool:
        """Whether requests are handled before their bodies are complete."""

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        """Return the answer to a request that must be refused and ends the connection, or None."""

    def handle(self, exchange: Exchange) -> None: ...

    def refuse(self, status: int, word: str, sentence: str) -> HttpResponse:
        """Return the answer to a malformed request, or to one that cannot be answered."""


class DirectService(HttpService, Protocol):
    """Answers by a plain function, without the ASGI application."""

    def serves(self, target: bytes) -> bool: ...


class HttpSite(Struct, frozen=True):
    """The state shared by all connections of a port."""

    find: Callable[[bytes], HttpService]
    """Return the service for the target of a request."""
    connection_limits: ConnectionLimits
    dispatcher: Callable[[], asyncio.Protocol]
    """Take over a connection whose request asks for a WebSocket, or for something at another node."""
    body_units: SharedSlots
    leaves: LeavesNode | None = None

    def longest_body(self, target: bytes) -> int:
        return self.find(target).longest_body(target)

    def streams(self, target: bytes) -> bool:
        return self.find(target).streams(target)
