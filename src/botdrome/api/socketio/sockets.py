"""EngineSocket: a session of Engine.IO on a WebSocket, from its first frame or from the client's change to it."""

import asyncio
from collections.abc import Callable

from botdrome.api.socketio.asking import WEBSOCKET, Ask
from botdrome.api.socketio.hub import Hub
from botdrome.api.socketio.session import Session
from botdrome.server.cube.connection import MUCH
from botdrome.server.network.connection import MALFORMED, NORMAL, Connection
from botdrome.server.network.websocket import MakeSession, Socket
from botdrome.wire.framing.engineio import PING, PONG, PROBE, UPGRADE, BadPacket, Engine, Packet, read_text
from botdrome.wire.framing.websocket import BINARY, NOT_UTF8


class FrameSocket(Socket):
    """A socket that knows whether it carries text or bytes."""

    binary = False
    on_resume: Callable[[], None] | None = None
    """Called when the client has read most of what was waiting for it."""

    @property
    def unsent(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def pause_writing(self) -> None:
        """Much is unread. The session looks after that."""

    def resume_writing(self) -> None:
        if self.on_resume is not None:
            self.on_resume()

    def deliver(self, opcode: int, message: bytes) -> None:
        self.binary = opcode == BINARY
        super().deliver(opcode, message)
        self.binary = False  # what comes in one piece without passing here is text


def engine_socket(hub: Hub, ask: Ask, probed: Session | None) -> MakeSession:
    def make(connection: Connection) -> EngineSocket:
        assert isinstance(connection, FrameSocket)
        connection.bear(MUCH)
        return EngineSocket(connection, hub, ask, probed)

    return make


class EngineSocket:
    """The carrier of a session, or a candidate for it."""

    name = WEBSOCKET

    def __init__(self, connection: FrameSocket, hub: Hub, ask: Ask, probed: Session | None) -> None:
        self._connection, self._probed = connection, probed
        self.on_read: Callable[[], None] | None = None
        connection.on_resume = self._was_read
        self._engine: Engine = ask.engine if probed is None else probed.engine
        self._timer: asyncio.TimerHandle | None = None
        self._session: Session | None = None
        if probed is None:
            self._session = hub.connect(ask, self)
        else:
            probed.probing = True
            self._timer = asyncio.get_running_loop().call_later(hub.limits.patience, self._give_up)

    # The carrier.

    @property
    def unsent(self) -> int:
        return self._connection.unsent

    def _was_read(self) -> None:
        if self.on_read is not None:
            self.on_read()

    def send(self, *packets: str) -> None:
        self._connection.send([packet.encode() for packet in packets])

    def close(self, code: int, reason: str, done: Callable[[], None]) -> None:
        self._connection.close(code, reason)
        done()

    def drop(self) -> None:
        self._connection.close()

    # What the client does.

    def received(self, message: bytes) -> None:
        try:
            packet = self._engine.read_frame(message) if self._connection.binary else read_text(message.decode())
        except UnicodeDecodeError:
            return self._refuse(NOT_UTF8, "text is UTF-8")
        except BadPacket as problem:
            return self._refuse(MALFORMED, str(problem))
        return self._probe(packet) if self._session is None else self._session.received(packet)

    def lost(self) -> None:
        self._stop_probing()
        if self._session is not None:
            self._session.lost()

    def _refuse(self, code: int, words: str) -> None:
        if self._session is not None:
            self._session.fail(words, code)
        else:
            self._give_up(code, words)

    # The change from polling.

    def _probe(self, packet: Packet) -> None:
        session = self._probed
        if session is None or not session.present:
            self._connection.close()
        elif packet == Packet(PING, PROBE):
            self.send(PONG + PROBE)
            session.probe(True)
        elif packet.kind == UPGRADE:
            self._stop_probing()
            self._session = session
            session.move(self)
        else:
            self._give_up(MALFORMED, "a probe was expected")

    def _give_up(self, code: int = NORMAL, words: str = "") -> None:
        """The session stays where it is."""
        self._stop_probing()
        self._connection.close(code, words)

    def _stop_probing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self._probed is not None and self._probed.present:
                self._probed.probe(False)
            self._probed = None
