"""A client of Engine.IO, on the transport that it uses at the moment; and all clients, by their
session ids.
"""

import secrets
from collections.abc import Callable, Sequence
from typing import Protocol

import structlog

from botdrome.api.socketio.polling import PollingTransport
from botdrome.api.socketio.query import (
    BAD_HANDSHAKE,
    BAD_REQUEST,
    FORBIDDEN,
    POLLING,
    UNKNOWN_SID,
    WEBSOCKET,
    EngineError,
    EngineQuery,
)
from botdrome.api.socketio.websocket import EngineWebSocket
from botdrome.server import metrics
from botdrome.server.network.connection import GOING, NORMAL, Traffic
from botdrome.server.network.connection_limits import ConnectionLimits
from botdrome.server.rooms.cube_game import MUCH_UNREAD
from botdrome.wire.conversation import CannotPlay, Removed, Reply
from botdrome.wire.cube.writer import CubeEvent
from botdrome.wire.framing.socketio import Engine, Handshake

log = structlog.get_logger()

BACKLOG = 16 * MUCH_UNREAD
"""Bytes that a client may leave unread before it is dropped. A game waits for its organiser long
before that, but each may have a whole state of megabytes on its way.
"""


class EngineSession(Protocol):
    """The session that drives the client's conversation."""

    closed: bool

    def received(self, message: bytes) -> None: ...

    def unreadable(self, why: str) -> bool: ...

    def answer(self, reply: Reply) -> None: ...

    def lost(self) -> None: ...


class EngineConnection:
    """Nothing here waits or raises."""

    session: EngineSession

    def __init__(
        self, engine: Engine, address: str, transport: PollingTransport | EngineWebSocket
    ) -> None:
        self.engine, self.address, self.transport = engine, address, transport
        self.handshake = Handshake(
            secrets.token_urlsafe(15),
            secrets.token_urlsafe(15),
            engine.version,
            (WEBSOCKET,) if isinstance(transport, PollingTransport) else (),
        )
        self.traffic = Traffic()
        self.posting = self.probing = False
        self.forget: Callable[[], None] = lambda: None
        """Called when the session id is not valid any more."""
        self._when_read: list[Callable[[], None]] = []
        transport.on_read = self._was_read

    @property
    def present(self) -> bool:
        return not self.session.closed

    # To the client.

    def emit(self, events: Sequence[CubeEvent]) -> None:
        try:
            packets = [event.packet for event in events]
        except Exception:
            log.exception("an event could not be encoded", names=[event.name for event in events])
        else:
            self.traffic.went(len(packets))
            self.send(packets)

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def send(self, messages: list[bytes]) -> None:
        self.transport.send(messages)
        if self.transport.unsent > BACKLOG:
            metrics.REFUSED.labels("backlog").inc()
            self.drop()

    @property
    def unread(self) -> int:
        return self.transport.unsent

    def when_read(self, tell: Callable[[], None]) -> None:
        self._when_read.append(tell)

    def _was_read(self) -> None:
        if self._when_read and self.unread <= MUCH_UNREAD:
            waiting, self._when_read = self._when_read, []
            for tell in waiting:
                tell()

    # The change from polling to a WebSocket.

    @property
    def polling(self) -> PollingTransport:
        assert isinstance(self.transport, PollingTransport)
        return self.transport

    def probe(self, probing: bool) -> None:
        """The client tries a WebSocket, or has given it up."""
        self.probing = probing
        self.polling.probe(probing)

    def upgrade(self, socket: EngineWebSocket) -> None:
        rest = self.polling.retire()
        self.transport, self.probing = socket, False
        socket.on_read, socket.on_lost = self._was_read, self.forget
        socket.send(rest)
        self._was_read()

    # The end.

    def disconnect(self) -> None:
        self.session.answer(Removed(""))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Close the connection, after the packets that were sent before."""
        if isinstance(self.transport, PollingTransport):
            self.transport.close(self.forget)
        else:
            self.transport.close(code, reason)
            self.forget()

    def drop(self) -> None:
        """The client is gone, or reads far too slowly."""
        if self.present:
            self.session.lost()
            if isinstance(self.transport, PollingTransport):
                self.transport.drop()
            else:
                self.transport.close()
            self.forget()


MakeSession = Callable[[EngineConnection], EngineSession]


class EngineConnections:
    def __init__(self, make_session: MakeSession, limits: ConnectionLimits) -> None:
        self._make_session, self._limits = make_session, limits
        self._connections: dict[str, EngineConnection] = {}
        self._closing = False

    def __len__(self) -> int:
        return len(self._connections)

    def __contains__(self, sid: str) -> bool:
        return sid in self._connections

    def poll(self, query: EngineQuery, method: str, address: str) -> EngineConnection:
        """The connection that an HTTP request is about, or a new one."""
        if query.sid is None and method != "GET":
            raise EngineError(BAD_HANDSHAKE)
        if query.transport != POLLING or method not in ("GET", "POST"):
            raise EngineError(BAD_REQUEST)
        if query.sid is not None:
            return self._polling(query.sid)
        self._check_open()
        refusal = self._limits.admit(address)
        if refusal:
            raise EngineError(FORBIDDEN, refusal, 403)
        return self._open(
            EngineConnection(query.engine, address, PollingTransport()),
            lambda: self._limits.leave(address),
        )

    def upgradable(self, query: EngineQuery) -> EngineConnection | None:
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

    def connect(self, engine: Engine, socket: EngineWebSocket) -> EngineConnection:
        """A connection that begins on a WebSocket, which the dispatcher has counted."""
        connection = EngineConnection(engine, socket.address, socket)
        self._open(connection, lambda: None)
        socket.on_lost = connection.forget
        return connection

    def close(self) -> None:
        self._closing = True
        for connection in list(self._connections.values()):
            connection.session.answer(CannotPlay({"error": "the server is stopping"}, GOING))

    def _open(self, connection: EngineConnection, leave: Callable[[], None]) -> EngineConnection:
        sid = connection.handshake.sid

        def forget() -> None:
            if self._connections.pop(sid, None) is not None:
                leave()

        connection.forget = forget
        self._connections[sid] = connection
        connection.session = self._make_session(connection)
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
