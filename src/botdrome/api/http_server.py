"""HTTP server: a port for HTTP and WebSockets, and the ASGI application behind its HTTP
connections.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import unquote_to_bytes

import structlog
from starlette.types import ASGIApp, Message, Scope

from botdrome.api.requests import LARGEST_BODY
from botdrome.server.network.dispatcher import (
    Dispatcher,
    Entrance,
    Forwarding,
    MakeHttp,
    OpenWebSocket,
)
from botdrome.server.network.http import (
    DirectService,
    Exchange,
    HttpConnection,
    HttpLimits,
    HttpResponse,
    HttpService,
    HttpSite,
)
from botdrome.server.network.http_request import HttpRequest, LeavesNode
from botdrome.server.network.limits import ConnectionLimits, body_units
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.origins import Origins
from botdrome.server.settings import Settings
from botdrome.server.workers.jobs import JobFailed

log = structlog.get_logger()

APP_LIMITS = HttpLimits(timeout=30.0, idle=5.0)
WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


def http_factory(
    app: ASGIApp,
    open_websocket: OpenWebSocket,
    connection_limits: ConnectionLimits,
    settings: Settings,
    origins: Origins,
    direct: Sequence[DirectService] = (),
    body_limits: Mapping[bytes, int] | None = None,
    forwarding: Forwarding | None = None,
) -> MakeProtocol:
    """`forwarding`: some requests are answered by another node."""
    entrance = Entrance(open_websocket, connection_limits, settings, origins, forwarding)
    dispatcher = partial(Dispatcher, entrance)
    leaves = None if forwarding is None else forwarding.leaves
    return partial(
        dispatcher, http_stack(app, connection_limits, dispatcher, direct, body_limits, leaves)
    )


def http_stack(
    app: ASGIApp,
    connection_limits: ConnectionLimits,
    dispatcher: Callable[[], asyncio.Protocol],
    direct: Sequence[DirectService] = (),
    body_limits: Mapping[bytes, int] | None = None,
    leaves: LeavesNode | None = None,
) -> MakeHttp:
    """Return the maker of HTTP connections.

    The `direct` services answer their targets, the application all others.

    `body_limits`: limits in bytes other than LARGEST_BODY, by the beginning of the target.
    """
    pages = AppService(app, body_limits or {})

    def find(target: bytes) -> HttpService:
        for service in direct:
            if service.serves(target):
                return service
        return pages

    site = HttpSite(find, connection_limits, dispatcher, body_units(), leaves)
    return cast(MakeHttp, partial(HttpConnection, site))


class AppService:
    """Runs an ASGI application for each request.

    Of a body that is too long it gets the beginning, and refuses it.
    """

    limits, player = APP_LIMITS, False

    def __init__(self, app: ASGIApp, body_limits: Mapping[bytes, int]) -> None:
        self._app, self._body_limits = app, body_limits
        self._tasks: set[asyncio.Task[None]] = set()

    def longest_body(self, target: bytes) -> int:
        return next(
            (most for start, most in self._body_limits.items() if target.startswith(start)),
            LARGEST_BODY,
        )

    def streams(self, target: bytes) -> bool:
        """A socket.io session ends if a client leaves in the middle of a body."""
        return target.startswith(b"/socket.io/")

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        return (
            None
            if request.target.isascii()
            else self.refuse(400, "BAD_REQUEST", "a target is ASCII text")
        )

    def refuse(self, status: int, word: str, sentence: str) -> HttpResponse:
        return HttpResponse(status, sentence.encode(), "text/plain")

    def handle(self, exchange: Exchange) -> None:
        answer = AsgiAnswer(exchange)
        task = asyncio.get_running_loop().create_task(answer.run_asgi(self._app))
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, answer))

    def _done(self, answer: "AsgiAnswer", task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled():  # only the end of the server does that
            answer.fail(503, "the server is stopping")


class AsgiAnswer:
    """An exchange as an ASGI application sees it."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange, self._read = exchange, False
        self._head = b""
        """The head of the answer, until it is sent."""
        self._begun = self._chunked = self._bodiless = False
        self._over = asyncio.Event()
        exchange.on_lost = self._lose

    def _lose(self) -> None:
        self._over.set()
        if self._exchange.request.stream is not None:
            self._exchange.request.stream.add(b"", more=True)

    async def run_asgi(self, app: ASGIApp) -> None:
        try:
            await app(_scope(self._exchange), self._receive, self._send)
            if not self._over.is_set():
                raise RuntimeError("the application has not completed its answer")
        except JobFailed:  # in the middle of an answer, and its worker has nothing more to send
            self.fail()
        except Exception:
            log.exception("a request could not be answered", path=self._exchange.target)
            self.fail(500, "Internal Server Error")

    def fail(self, status: int = 500, words: str = "") -> None:
        """Answer with these words.

        Where an answer has begun, or without words, cut the connection.
        """
        exchange, connection = self._exchange, self._exchange.connection
        if connection is None:
            return None
        exchange.keep = False
        if words and not self._begun:
            return exchange.answer(HttpResponse(status, words.encode(), "text/plain"))
        if connection.transport is not None:
            connection.transport.abort()
        return None

    async def _receive(self) -> Message:
        request = self._exchange.request
        if not self._read and not self._over.is_set():
            stream = request.stream
            body = self._exchange.body if stream is None else await stream.next()
            more = request.stream is not None and request.stream.more
            self._read = not more
            if not self._over.is_set():
                return {"type": "http.request", "body": body, "more_body": more}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        """The head is sent with the beginning of the body.

        Without a known length it goes first, since the body may take long.
        """
        exchange, connection = self._exchange, self._exchange.connection
        if connection is None:
            return
        await connection.drain()
        if message["type"] == "http.response.start":
            self._head = self._packed_head(message)
            if self._chunked:
                exchange.send(self._head, last=False)
                self._head, self._begun = b"", True
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        data = self._head + self._part(body, more)
        self._head, self._begun = b"", True
        if not more:
            self._over.set()
        if data or not more:
            exchange.send(data, last=not more)

    def _packed_head(self, start: Message) -> bytes:
        exchange, status = self._exchange, start["status"]
        headers: list[tuple[bytes, bytes]] = list(start.get("headers", ()))
        names = {name.lower(): value.lower() for name, value in headers}
        self._bodiless = exchange.request.method == "HEAD" or status in WITHOUT_BODY
        old = exchange.request.version != "1.1"
        self._chunked = not self._bodiless and b"content-length" not in names
        exchange.keep = (
            exchange.keep
            and b"close" not in names.get(b"connection", b"")
            and not (old and self._chunked)
        )
        if exchange.request.stream is not None and exchange.request.stream.more:
            exchange.keep = False
        if b"connection" not in names and (old or not exchange.keep):
            headers.append((b"connection", b"keep-alive" if exchange.keep else b"close"))
        if self._chunked and not old:
            headers.append((b"transfer-encoding", b"chunked"))
        lines = [
            b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode()),
            b"date: " + formatdate(usegmt=True).encode(),
        ]
        lines += [name.lower() + b": " + value for name, value in headers]
        return b"\r\n".join([*lines, b"", b""])

    def _part(self, body: bytes, more: bool) -> bytes:
        if self._bodiless:
            return b""
        if not self._chunked or self._exchange.request.version != "1.1":
            return body
        return (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (
            b"" if more else b"0\r\n\r\n"
        )


def _scope(exchange: Exchange) -> Scope:
    request, connection = exchange.request, exchange.connection
    path, _, query = exchange.target.partition(b"?")
    about: Callable[[str], Any] = (
        connection.transport.get_extra_info
        if connection and connection.transport
        else lambda _: None
    )
    server, client = about("sockname"), about("peername")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": request.version,
        "method": request.method,
        "scheme": "https" if about("sslcontext") else "http",
        "path": unquote_to_bytes(path).decode(errors="replace"),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": list(request.headers.items()),
        "client": (str(client[0]), int(client[1])) if client else None,
        "server": (str(server[0]), int(server[1])) if server else None,
        "state": {},
    }
