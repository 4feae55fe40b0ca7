"""socket.io for clients 2.x, 3.x and 4.x: its requests by HTTP, and the opening of its
WebSockets.
"""

import asyncio
from collections.abc import Callable
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from botdrome.api.engineio import (
    BAD_HANDSHAKE,
    BAD_REQUEST,
    CLOSED,
    FORBIDDEN,
    PATH,
    POLLING,
    UNKNOWN_SID,
    WEBSOCKET,
    EngineConnection,
    EngineError,
    EngineQuery,
    EngineWebSocket,
    PollingTransport,
    UpgradeProbe,
    read_query,
)
from botdrome.api.http_server import http_factory
from botdrome.api.pages import STATIC
from botdrome.api.request_checks import RequestChecks, RequestRate
from botdrome.api.requests import Problem, body_of, json_response
from botdrome.server.network.connection import GOING, Connection, Receiver
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.origins import Origins
from botdrome.server.protocol import ServedProtocol, ServerParts
from botdrome.server.rooms.cube import MUCH_UNREAD, CubeSection, Organisers
from botdrome.server.session import Session
from botdrome.server.settings import Settings
from botdrome.wire.conversation import CannotPlay
from botdrome.wire.framing.socketio import BadPacket, SocketIoLimits, from_jsonp, jsonp
from botdrome.wire.safe_headers import plain_answer

SCRIPTS = ("socket.io.js", "socket.io.min.js")
TEXT, SCRIPT = "text/plain; charset=UTF-8", "text/javascript; charset=UTF-8"
BYTES = "application/octet-stream"
UNREAD = (408, 413)
"""After these errors, the rest of the request is not read."""


class SocketIo:
    """The ASGI application at /socket.io/, and its connections.

    Its WebSockets come from the dispatcher, by `receive_socket`.
    """

    def __init__(
        self,
        make_session: Callable[[EngineConnection, SocketIoLimits], Session],
        settings: Settings,
        connection_limits: ConnectionLimits,
    ) -> None:
        cube = settings.of(CubeSection)
        self._limits = SocketIoLimits(
            ping_interval=cube.ping_interval,
            ping_timeout=cube.ping_timeout,
            longest=cube.longest_message,
            patience=settings.limits.login,
            rate=settings.message.rate,
            burst=settings.message.burst,
        )
        self.body_limits = {PATH.encode(): cube.longest_message}
        self._make_session, self._connection_limits = make_session, connection_limits
        self._connections: dict[str, EngineConnection] = {}
        self._closing = False

    async def close(self) -> None:
        self._closing = True
        for connection in tuple(self._connections.values()):
            connection.session.answer(CannotPlay({"error": "the server is stopping"}, GOING))

    def in_use(self) -> bool:
        return bool(self._connections)

    def has_session(self, sid: str) -> bool:
        return sid in self._connections

    # Connections.

    def _polled(self, query: EngineQuery, request: Request) -> EngineConnection:
        """The connection that an HTTP request is about, or a new one."""
        if query.sid is None and request.method != "GET":
            raise EngineError(BAD_HANDSHAKE)
        if query.transport != POLLING or request.method not in ("GET", "POST"):
            raise EngineError(BAD_REQUEST)
        if query.sid is not None:
            return self._polling(query.sid)
        self._check_open()
        address = request.client.host if request.client else ""
        refusal = self._connection_limits.admit(address)
        if refusal:
            raise EngineError(FORBIDDEN, refusal, 403)
        return self._open(
            EngineConnection(query.engine, address, PollingTransport()),
            lambda: self._connection_limits.leave(address),
        )

    def _upgradable(self, query: EngineQuery) -> EngineConnection | None:
        """The connection that may change to a WebSocket; None: the WebSocket begins a new one."""
        self._check_open()
        if query.transport != WEBSOCKET:
            raise EngineError(BAD_REQUEST)
        if query.sid is None:
            return None
        connection = self._polling(query.sid)
        if connection.probing or not connection.present:
            raise EngineError(BAD_REQUEST, "there is a WebSocket already")
        return connection

    def _polling(self, sid: str) -> EngineConnection:
        connection = self._connections.get(sid)
        if connection is None:
            raise EngineError(UNKNOWN_SID)
        if not isinstance(connection.transport, PollingTransport):
            raise EngineError(BAD_REQUEST, "this session is on a WebSocket")
        return connection

    def _check_open(self) -> None:
        if self._closing:
            raise EngineError(FORBIDDEN, "the server is stopping", 403)

    def _open(
        self, connection: EngineConnection, leave: Callable[[], None] = lambda: None
    ) -> EngineConnection:
        sid = connection.handshake.sid

        def forget() -> None:
            if self._connections.pop(sid, None) is not None:
                leave()

        connection.forget = forget
        self._connections[sid] = connection
        connection.session = self._make_session(connection, self._limits)
        return connection

    # Requests.

    def receive_socket(self, target: str) -> SocketOptions | bytes:
        """Open a WebSocket; bytes: the answer that refuses it."""
        path, _, text = target.partition("?")
        if path != PATH:
            return plain_answer(
                "404 Not Found", f"there is a WebSocket at {PATH}, and none at {path!a}"
            )
        try:
            query = read_query(text)
            before = self._upgradable(query)
        except EngineError as refusal:
            words = msgspec.json.encode(refusal.answer).decode()
            return plain_answer(f"{refusal.status} Bad Request", words, media="application/json")

        def make_session(socket: Connection) -> Receiver:
            assert isinstance(socket, EngineWebSocket)
            socket.bear(MUCH_UNREAD)
            if before is not None:
                socket.engine, before.probing = before.engine, True
                return UpgradeProbe(socket, before, self._limits.patience)
            socket.engine = query.engine
            new = self._open(EngineConnection(query.engine, socket.address, socket))
            socket.on_lost = new.forget  # the dispatcher counts the WebSocket
            return new.session

        return SocketOptions(make_session, self._limits.longest, EngineWebSocket)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        return await (await self._response(request))(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        if request.url.path != PATH:
            return script(request.url.path.removeprefix(PATH))
        if request.method == "OPTIONS":
            return Response(status_code=204)
        try:
            query = read_query(request.url.query)
            connection = self._polled(query, request)
            return await (self._get if request.method == "GET" else self._post)(
                request, query, connection
            )
        except EngineError as refusal:
            headers = {"connection": "close"} if refusal.status in UNREAD else None
            return json_response(refusal.answer, refusal.status, headers)

    async def _get(
        self, request: Request, query: EngineQuery, connection: EngineConnection
    ) -> Response:
        """Answer a poll as soon as there are packets."""
        fetching = asyncio.ensure_future(connection.polling.fetch())
        leaving = asyncio.ensure_future(departure(request))
        try:
            await asyncio.wait({fetching, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not fetching.done():
                connection.drop()
                return Response(status_code=400)
            payload = connection.engine.write_payload(fetching.result())
        except EngineError as refusal:
            connection.session.answer(CannotPlay({"error": str(refusal)}))
            raise
        finally:
            fetching.cancel()
            leaving.cancel()
        first = not query.sid and connection.engine.version == 3
        headers = (
            {"set-cookie": f"io={connection.handshake.sid}; Path=/; HttpOnly"} if first else None
        )
        if query.script is not None:
            return Response(jsonp(query.script, payload), headers=headers, media_type=SCRIPT)
        return Response(payload, headers=headers, media_type=TEXT)

    async def _post(
        self, request: Request, query: EngineQuery, connection: EngineConnection
    ) -> Response:
        """Receive packets. A client that breaks the rules is closed."""
        try:
            for packet in await self._packets(request, query, connection):
                if packet[:1] == CLOSED:
                    connection.drop()
                else:
                    connection.session.received(packet)
        except EngineError as refusal:
            connection.session.unreadable(str(refusal))
            raise
        except ClientDisconnect:
            connection.drop()
        return Response("ok", media_type="text/html")

    async def _packets(
        self, request: Request, query: EngineQuery, connection: EngineConnection
    ) -> list[bytes]:
        if connection.posting:
            raise EngineError(BAD_REQUEST, "there is a POST already")
        connection.posting = True
        try:
            async with asyncio.timeout(self._limits.patience):
                body = await body_of(request, self._limits.longest)
            return packets_in(body, request.headers.get("content-type", ""), query, connection)
        except Problem as problem:
            raise EngineError(BAD_REQUEST, problem.words, problem.status) from None
        except TimeoutError:
            raise EngineError(BAD_REQUEST, "the rest of the body did not come", 408) from None
        except BadPacket as problem:
            raise EngineError(BAD_REQUEST, str(problem)) from None
        finally:
            connection.posting = False


def packets_in(
    body: bytes, kind: str, query: EngineQuery, connection: EngineConnection
) -> list[bytes]:
    if kind.startswith(BYTES):
        return connection.engine.read_binary_payload(body)
    try:
        text = body.decode()
        if query.script is not None:
            text = from_jsonp(parse_qs(text, max_num_fields=5).get("d", [""])[0])
    except ValueError:
        raise BadPacket("a payload is UTF-8 text") from None
    return connection.engine.read_payload(text)


async def departure(request: Request) -> None:
    """Wait until the client leaves."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def script(name: str) -> Response:
    """The client for browsers, if it is installed."""
    file = STATIC / "socketio" / name
    if name in SCRIPTS and file.exists():
        return FileResponse(file, media_type=SCRIPT)
    return PlainTextResponse("not found\n", 404)


def socketio_factory(
    socketio: SocketIo, connection_limits: ConnectionLimits, settings: Settings, origins: Origins
) -> MakeProtocol:
    """A port with socket.io and nothing else."""
    app = Starlette(routes=[Mount(PATH.rstrip("/"), socketio)])
    checked = RequestChecks(app, origins, RequestRate(settings), socketio.has_session)
    return http_factory(
        checked,
        lambda target, _: socketio.receive_socket(target),
        connection_limits,
        settings,
        origins,
        body_limits=socketio.body_limits,
    )


async def open_cube(server: ServerParts) -> ServedProtocol:
    settings, connection_limits = server.settings, server.connection_limits
    host = Organisers(server.desk, server.callers)
    socketio = SocketIo(
        lambda one, limits: host.receive(one, one.handshake, limits), settings, connection_limits
    )

    return ServedProtocol(
        host,
        socketio.close,
        socketio_factory(socketio, connection_limits, settings, server.origins),
        apps={PATH.rstrip("/"): socketio},
        body_limits=socketio.body_limits,
        receive_socket=socketio.receive_socket,
        sockets=(PATH,),
        has_session=socketio.has_session,
        game=host.game,
        targets=(PATH, "/api/v1/operator/cube"),
        in_use=lambda: socketio.in_use() or host.in_use(),
    )
