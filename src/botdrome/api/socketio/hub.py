"""Hub: all sessions of socket.io."""

import secrets

from botdrome.api.socketio.asking import (
    BAD_HANDSHAKE,
    BAD_REQUEST,
    FORBIDDEN,
    POLLING,
    UNKNOWN_SID,
    WEBSOCKET,
    Ask,
    Refusal,
)
from botdrome.api.socketio.limits import Limits
from botdrome.api.socketio.mailbox import Mailbox
from botdrome.api.socketio.session import Carrier, Session
from botdrome.server.cube.connection import Organiser
from botdrome.server.network.connection import GOING
from botdrome.server.network.door import Crowd
from botdrome.wire.framing.engineio import Engine


class Hub:
    def __init__(self, organiser: Organiser, limits: Limits, crowd: Crowd) -> None:
        self.limits = limits
        self._organiser, self._crowd = organiser, crowd
        self._sessions: dict[str, Session] = {}
        self._closing = False

    def __contains__(self, sid: str) -> bool:
        return sid in self._sessions

    def poll(self, ask: Ask, method: str, address: str) -> Session:
        """The session that an HTTP request is about, perhaps a new one."""
        if ask.sid is None and method != "GET":
            raise Refusal(BAD_HANDSHAKE)
        if ask.transport != POLLING or method not in ("GET", "POST"):
            raise Refusal(BAD_REQUEST)
        if ask.sid is not None:
            return self._polling(ask.sid)
        self._check_open()
        refusal = self._crowd.admit(address)
        if refusal:
            raise Refusal(FORBIDDEN, refusal, 403)
        return self._begin(ask.engine, Mailbox(), address)

    def probed(self, ask: Ask) -> Session | None:
        """The session that a WebSocket is to take over; None: it begins one."""
        self._check_open()
        if ask.transport != WEBSOCKET:
            raise Refusal(BAD_REQUEST)
        if ask.sid is None:
            return None
        session = self._polling(ask.sid)
        if session.probing or not session.present:
            raise Refusal(BAD_REQUEST, "there is a WebSocket already")
        return session

    def connect(self, ask: Ask, carrier: Carrier) -> Session:
        """A session on a WebSocket, which the door has counted."""
        return self._begin(ask.engine, carrier)

    def close(self) -> None:
        self._closing = True
        for session in list(self._sessions.values()):
            session.close(GOING, "the server is stopping")

    def _begin(self, engine: Engine, carrier: Carrier, address: str | None = None) -> Session:
        sid = secrets.token_urlsafe(15)
        session = self._sessions[sid] = Session(sid, engine, self.limits, carrier, lambda: self._forget(sid, address))
        session.start(self._organiser)
        return session

    def _polling(self, sid: str) -> Session:
        session = self._sessions.get(sid)
        if session is None:
            raise Refusal(UNKNOWN_SID)
        if session.carrier.name != POLLING:
            raise Refusal(BAD_REQUEST, "this session is on a WebSocket")
        return session

    def _check_open(self) -> None:
        if self._closing:
            raise Refusal(FORBIDDEN, "the server is stopping", 403)

    def _forget(self, sid: str, address: str | None) -> None:
        if self._sessions.pop(sid, None) is not None and address is not None:
            self._crowd.leave(address)
