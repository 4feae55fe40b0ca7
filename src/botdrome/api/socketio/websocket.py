"""The WebSocket transport of Engine.IO, and the change from polling to it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from botdrome.server.network.connection import MALFORMED, NORMAL, Receiver
from botdrome.server.network.websocket import Socket
from botdrome.wire.framing.socketio import PING, PONG, PROBE, UPGRADE, BadPacket, Engine
from botdrome.wire.framing.websocket import BINARY

PROBED, PROBE_ANSWER, UPGRADED = (PING + PROBE).encode(), (PONG + PROBE).encode(), UPGRADE.encode()


class EngineWebSocket(Socket):
    """A client that reads slowly is not cut off here: its connection looks after that."""

    engine: Engine | None = None
    on_read: Callable[[], None] | None = None
    """Called when the client has read most of what was waiting for it."""
    on_lost: Callable[[], None] | None = None

    @property
    def unsent(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def pause_writing(self) -> None:
        """Much is unread."""

    def resume_writing(self) -> None:
        if self.on_read is not None:
            self.on_read()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    def deliver(self, opcode: int, message: bytes) -> None:
        if opcode == BINARY and self.engine is not None:
            try:
                message = self.engine.read_frame(message)
            except BadPacket as problem:
                return self._fail(MALFORMED, str(problem))
        return super().deliver(opcode, message)

    def hand_over(self, session: Receiver) -> None:
        """From now on, this session gets the messages."""
        self._session = session


class Upgradable(Protocol):
    """A connection that polls."""

    @property
    def session(self) -> Receiver: ...

    @property
    def present(self) -> bool: ...

    def probe(self, probing: bool) -> None: ...

    def upgrade(self, socket: EngineWebSocket) -> None: ...


class UpgradeProbe:
    """The session of a WebSocket until the client changes to it."""

    def __init__(self, socket: EngineWebSocket, connection: Upgradable, patience: float) -> None:
        self._socket, self._connection = socket, connection
        self._timer: asyncio.TimerHandle | None = asyncio.get_running_loop().call_later(
            patience, self._give_up
        )

    def received(self, message: bytes) -> None:
        if not self._connection.present:
            self._socket.close()
        elif message == PROBED:
            self._socket.send([PROBE_ANSWER])
            self._connection.probe(True)
        elif message[:1] == UPGRADED:
            self._stop()
            self._socket.hand_over(self._connection.session)
            self._connection.upgrade(self._socket)
        else:
            self._give_up(MALFORMED, "a probe was expected")

    def lost(self) -> None:
        self._stop()

    def _give_up(self, code: int = NORMAL, words: str = "") -> None:
        """The client stays with polling."""
        self._stop()
        self._socket.close(code, words)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            if self._connection.present:
                self._connection.probe(False)
