"""GraphQL by HTTP, as the original spoke it, and over WebSockets; with GraphiQL for browsers."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
import structlog
from msgspec import Raw, Struct
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from botdrome.api.graphql.query import JSON_UTF8, HttpQuery, Subscription
from botdrome.api.live_tables import TableLists
from botdrome.api.pages import CSP, STATIC
from botdrome.api.requests import (
    LARGEST_BODY,
    PiecewiseResponse,
    Problem,
    ResponseHead,
    bearer,
    known_problem,
    whole_body,
)
from botdrome.api.spectators import SpectatorTooSlow, Viewing
from botdrome.games.reading import bounded
from botdrome.server import metrics
from botdrome.server.arena import Arena
from botdrome.server.network.connection import NORMAL, POLICY, Connection
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.network.limits import Bucket
from botdrome.server.network.websocket import PacedSocket
from botdrome.server.workers.jobs import JobFailed
from botdrome.server.workers.pool import Job

EXECUTOR = "botdrome.api.graphql.executor"
"""Named and not imported: the server itself does not need graphql-core in its memory."""
GRAPHIQL = STATIC / "graphiql"
GRAPHIQL_CSP = (
    f"{CSP}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' "
    "data:; connect-src 'self' ws: wss:"
)
"""GraphiQL writes styles into its page.

Some browsers do not count a WebSocket to the same server as 'self'.
"""


class GraphQLEndpoint:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method == "GET" and prefers_html(request.headers.get("accept", "")):
            return await graphiql()(scope, receive, send)
        return await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method not in ("GET", "POST"):
            return refused(
                Problem("GraphQL only supports GET and POST requests.", 405, {"allow": "GET, POST"})
            )
        by_get, headers = request.method == "GET", request.headers
        try:
            query = HttpQuery(
                query_string=request.url.query,
                content_type=headers.get("content-type", ""),
                encoding=headers.get("content-encoding", ""),
                body=b"" if by_get else await whole_body(request),
                by_get=by_get,
                token=bearer(headers.get("authorization", "")),
            )
            result = await self._arena.workers.read(self._arena.store, f"{EXECUTOR}:answer", query)
        except (Problem, JobFailed) as error:
            return refused(known_problem(error) or Problem(str(error)))
        return PiecewiseResponse(result)


def refused(problem: Problem) -> Response:
    body = msgspec.json.encode({"errors": [{"message": problem.words}]})
    return Response(body, problem.status, problem.headers, JSON_UTF8)


def graphiql() -> Response:
    """GraphiQL if it is installed, otherwise a plain page."""
    name = "graphiql.html" if (GRAPHIQL / "graphiql.min.js").exists() else "query.html"
    return FileResponse(
        STATIC / name, headers={"content-security-policy": GRAPHIQL_CSP, "vary": "accept"}
    )


def prefers_html(accept: str) -> bool:
    """Whether the client prefers a page to JSON."""
    likes: dict[str, float] = {}
    for kind in accept.split(","):
        name, _, parameters = kind.partition(";")
        likes[name.strip().lower()] = _quality(parameters)
    html, json = likes.get("text/html", 0.0), likes.get("application/json", 0.0)
    if html == json:
        names = list(likes)
        return html > 0 and names.index("text/html") < names.index("application/json")
    return html > json


def _quality(parameters: str) -> float:
    try:
        return float(parameters.replace(" ", "").partition("q=")[2] or 1)
    except ValueError:
        return 1.0


log = structlog.get_logger()

INIT_TIMEOUT = 10.0
"""Seconds for the client's connection_init."""
MOST_OPERATIONS = 20
MESSAGE_RATE, MESSAGE_BURST = 200.0, 1000
"""Messages a second from one client, in the long run, and at once."""
LARGEST_MESSAGE = 1 << 20
"""Bytes of an answer that is sent as one message."""
RESTART = 1012

Errors = list[dict[str, Any]]


class ClientMessage(Struct, frozen=True):
    """The worker process that answers it reads the payload."""

    type: Any = None
    id: Any = None
    payload: Raw = Raw()


class Subprotocol(Struct, frozen=True):
    """The names of the message types."""

    name: str
    start: str
    stop: str
    data: str


SUBPROTOCOLS = {
    one.name: one
    for one in (
        Subprotocol("graphql-transport-ws", "subscribe", "complete", "next"),
        Subprotocol("graphql-ws", "start", "stop", "data"),
    )
}


class Closing(Exception):
    """Ends the connection."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class QueryFailed(Exception):
    """A query that cannot be answered, with the errors for the client."""

    def __init__(self, errors: Errors) -> None:
        super().__init__(errors)
        self.errors = errors


class GraphQLSockets:
    """All open WebSockets of GraphQL."""

    def __init__(self, arena: Arena) -> None:
        self._arena, self._lists = arena, TableLists(arena.tables)
        self._open: set[GraphQLSession] = set()

    def receive(
        self, headers: Mapping[bytes, bytes], rate_refusal: Callable[[str], bytes] | None
    ) -> SocketOptions | None:
        """None: the client offers no protocol of GraphQL."""
        offered = headers.get(b"sec-websocket-protocol", b"").decode("latin-1")
        if not offered.lower().startswith("graphql"):
            return None
        names = [name.strip() for name in offered.split(",")]
        subprotocol = next((SUBPROTOCOLS[name] for name in names if name in SUBPROTOCOLS), None)
        token = bearer(headers.get(b"authorization", b"").decode("latin-1"))

        def open_session(connection: Connection) -> GraphQLSession:
            assert isinstance(connection, PacedSocket)
            session = GraphQLSession(
                connection, subprotocol, partial(self.results, token), self._open.discard
            )
            self._open.add(session)
            return session

        agreed = b"" if subprotocol is None else subprotocol.name.encode()
        return SocketOptions(
            open_session, LARGEST_BODY, PacedSocket, token is not None, False, agreed, rate_refusal
        )

    def close(self) -> None:
        for session in tuple(self._open):
            session.close(RESTART, "")

    async def results(self, token: str | None, payload: bytes) -> AsyncGenerator[Raw, None]:
        """The results of one operation, in the order of sending."""
        result = await self._run("begin", payload, token)
        if isinstance(result.value, list):
            raise QueryFailed(result.value)
        if isinstance(result.value, ResponseHead):
            yield Raw(await _whole(result))
            return
        found: Subscription = result.value
        plan, make = found.plan, partial(self._tables, payload)
        results = (
            self._lists.follow(found.key, make)
            if plan.match is None
            else self._match(plan.field, plan.match)
        )
        async with aclosing(results):
            async for message in results:
                yield Raw(message)

    async def _tables(self, payload: bytes) -> bytes:
        tables: bytes = (await self._run("tables", payload)).value
        return tables

    async def _run(self, job: str, *args: Any) -> Job:
        return await self._arena.workers.read(self._arena.store, f"{EXECUTOR}:{job}", *args)

    async def _match(self, field: str, match_id: str) -> AsyncGenerator[bytes, None]:
        begin = b'{"data":{' + msgspec.json.encode(field) + b":"
        async with aclosing(Viewing(self._arena, match_id).messages()) as messages:
            async for message in messages:
                yield begin + message + b"}}"


async def _whole(result: Job) -> bytes:
    length = result.value.length
    if length > LARGEST_MESSAGE:
        result.drop()
        raise Problem(
            f"The answer has {length} bytes, and a message at most {LARGEST_MESSAGE}: set a "
            "smaller limit, or use POST."
        )
    async with aclosing(result.pieces()) as pieces:
        return b"".join([piece async for piece in pieces])


class GraphQLSession:
    """One client. Its operations run until they are complete, or the client stops them."""

    def __init__(
        self,
        connection: PacedSocket,
        subprotocol: Subprotocol | None,
        results: Callable[[bytes], AsyncGenerator[Raw, None]],
        forget: Callable[["GraphQLSession"], None],
    ) -> None:
        self._connection, self._results, self._forget = connection, results, forget
        self._bucket = Bucket(MESSAGE_RATE, MESSAGE_BURST)
        self._operations: dict[str, asyncio.Task[None]] = {}
        self._acknowledged = False
        timeout = partial(self.close, 4408, "Connection initialisation timeout")
        self._timer = asyncio.get_running_loop().call_later(INIT_TIMEOUT, timeout)
        if subprotocol is None:
            self.close(4406, "Subprotocol not acceptable")
        self._protocol = subprotocol or SUBPROTOCOLS["graphql-ws"]

    def received(self, message: bytes) -> None:
        try:
            if not self._bucket.take():
                metrics.REFUSED.labels("flood").inc()
                raise Closing(POLICY, "too many messages")
            self._take(msgspec.json.decode(bounded(message), type=ClientMessage))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self.close(4400, "Invalid message received")
        except Closing as closing:
            self.close(closing.code, closing.reason)

    def lost(self) -> None:
        self._timer.cancel()
        self._forget(self)
        for task in tuple(self._operations.values()):
            task.cancel()

    def close(self, code: int, reason: str) -> None:
        self.lost()
        self._connection.close(code, reason)

    def _take(self, message: ClientMessage) -> None:
        kind = message.type
        if kind == "connection_init":
            self._acknowledge()
        elif kind == "ping":
            self._send("pong")
        elif kind == self._protocol.start:
            self._begin(message)
        elif kind == self._protocol.stop:
            self._stop(message.id)
        elif kind == "connection_terminate":
            raise Closing(NORMAL, "")
        elif kind != "pong":
            raise Closing(4400, "Invalid message received")

    def _acknowledge(self) -> None:
        if self._acknowledged:
            raise Closing(4429, "Too many initialisation requests")
        self._acknowledged = True
        self._timer.cancel()
        self._send("connection_ack")

    def _begin(self, message: ClientMessage) -> None:
        name, payload = message.id, bytes(message.payload)
        if not self._acknowledged:
            raise Closing(4401, "Unauthorized")
        if not isinstance(name, str) or not name or not payload.startswith(b"{"):
            raise Closing(4400, "Invalid message received")
        if name in self._operations:
            raise Closing(4409, f"Subscriber for {name[:40]} already exists")
        if len(self._operations) >= MOST_OPERATIONS:
            raise Closing(4429, f"Too many operations: {MOST_OPERATIONS} at once are allowed")
        self._operations[name] = asyncio.create_task(self._operate(name, payload))

    def _stop(self, name: Any) -> None:
        task = self._operations.pop(name, None) if isinstance(name, str) else None
        if task is not None:
            task.cancel()
            if self._protocol.stop != "complete":
                self._send("complete", name)

    async def _operate(self, name: str, payload: bytes) -> None:
        me = asyncio.current_task()
        try:
            async with aclosing(self._results(payload)) as results:
                async for result in results:
                    self._send(self._protocol.data, name, result)
                    await self._connection.drained()
            self._send("complete", name)
        except Exception as error:
            errors = _errors(error)
            self._send(
                "error",
                name,
                errors if self._protocol.name == "graphql-transport-ws" else errors[0],
            )
        finally:
            if self._operations.get(name) is me:
                del self._operations[name]

    def _send(self, kind: str, name: str | None = None, payload: Any = None) -> None:
        message: dict[str, Any] = {"type": kind}
        if name is not None:
            message["id"] = name
        if payload is not None:
            message["payload"] = payload
        self._connection.send([msgspec.json.encode(message)])


def _errors(error: Exception) -> Errors:
    if isinstance(error, QueryFailed):
        return error.errors
    if isinstance(error, SpectatorTooSlow):
        return [{"message": str(error)}]
    problem = known_problem(error)
    if problem is None:
        log.error("a subscription failed", exc_info=error)
    return [{"message": problem.words if problem else "Something went wrong in the server."}]
