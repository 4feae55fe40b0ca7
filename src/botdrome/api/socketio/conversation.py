"""Conversation: Socket.IO with one client, and the organiser that it is talking to."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import structlog

from botdrome.server.cube.connection import Caller, Organiser
from botdrome.server.network.traffic import Traffic
from botdrome.wire.framing.engineio import BadPacket, Engine
from botdrome.wire.framing.socketio import (
    BINARY_EVENT,
    CONNECT,
    DEFAULT,
    DISCONNECT,
    ERROR,
    EVENT,
    Assembly,
    SocketPacket,
    event,
    farewell,
    read_packet,
    refusal,
    welcome,
)

log = structlog.get_logger()


class Line(Protocol):
    """What a conversation needs of the session below it."""

    sid: str
    engine: Engine

    @property
    def unread(self) -> int: ...

    def when_read(self, tell: Callable[[], None]) -> None: ...

    def send(self, *packets: str) -> None: ...

    def close(self) -> None: ...

    def fail(self, words: str) -> None: ...


class SocketCaller:
    """The client, as its organiser sees it."""

    def __init__(self, sid: str, line: Line, dismiss: Callable[[], None]) -> None:
        self.sid = sid
        self._line: Line | None = line
        self._dismiss = dismiss
        self.traffic = Traffic()

    @property
    def unread(self) -> int:
        return 0 if self._line is None else self._line.unread

    def when_read(self, tell: Callable[[], None]) -> None:
        if self._line is not None:
            self._line.when_read(tell)

    def emit(self, event_name: str, payload: Any) -> None:
        self.emit_all([(event_name, payload)])

    def emit_all(self, events: Sequence[tuple[str, Any]]) -> None:
        if self._line is not None:
            try:
                packets = [event(name, payload) for name, payload in events]
            except Exception:
                log.exception("an event could not be written", names=[name for name, _ in events])
            else:
                self.traffic.went(len(packets))
                self._line.send(*packets)

    def disconnect(self) -> None:
        if self._line is not None:
            self._dismiss()

    def hang_up(self) -> None:
        self._line = None


class Conversation:
    def __init__(self, line: Line, organiser: Organiser, patience: float) -> None:
        self._line, self._organiser, self._patience = line, organiser, patience
        self._caller: SocketCaller | None = None
        self._assembly: Assembly | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """A client of Engine.IO 3 is connected to the default namespace without asking."""
        if self._line.engine.version == 3:
            self._join()
        else:
            self._expect("the client did not connect to a namespace")

    def received(self, data: str | bytes) -> None:
        try:
            packet = self._read(data)
            if packet is not None:
                self._act(packet)
        except BadPacket as problem:
            self._line.fail(str(problem))

    def complain(self, words: str) -> None:
        """Clients of Engine.IO 4 that are connected take an error for the end of all their attempts: they are just closed."""
        version = self._line.engine.version
        if version == 3 or self._caller is None:
            self._line.send(refusal(version, words))

    def end(self) -> None:
        self._expect_nothing()
        self._leave()

    def _read(self, data: str | bytes) -> SocketPacket | None:
        """The packet, if it is whole."""
        if isinstance(data, bytes):
            return self._attach(data)
        if self._assembly is not None:
            raise BadPacket("an event came before the attachments of the last one")
        packet = read_packet(data)
        if not packet.attachments:
            return packet
        self._assembly = Assembly(packet)
        self._expect("the attachments of an event did not come")
        return None

    def _attach(self, data: bytes) -> SocketPacket | None:
        if self._assembly is None:
            raise BadPacket("an attachment came without its event")
        packet = self._assembly.add(data)
        if packet is not None:
            self._assembly = None
            self._expect_nothing()
        return packet

    def _act(self, packet: SocketPacket) -> None:
        if packet.kind == CONNECT:
            self._connect(packet.namespace)
        elif packet.namespace != DEFAULT or self._caller is None:
            raise BadPacket(f"not connected to the namespace {packet.namespace}")
        elif packet.kind in (EVENT, BINARY_EVENT):
            name, *args = packet.data
            self._caller.traffic.came()
            self._tell(self._organiser.event, self._caller, name, args)
        elif packet.kind == DISCONNECT:
            self._leave()
            self._expect("the client has disconnected")
        elif packet.kind == ERROR:
            raise BadPacket("that is for the server to send")

    def _connect(self, namespace: str) -> None:
        if namespace != DEFAULT:
            self._line.send(refusal(self._line.engine.version, "Invalid namespace", namespace))
        elif self._caller is None:
            self._expect_nothing()
            self._join()

    def _join(self) -> None:
        """The id of a session is a secret, but clients of Engine.IO 3 take it for their own."""
        sid = self._line.sid if self._line.engine.version == 3 else secrets.token_urlsafe(15)
        self._caller = SocketCaller(sid, self._line, self._dismiss)
        self._line.send(welcome(self._line.engine.version, sid))
        self._tell(self._organiser.connected, self._caller)

    def _dismiss(self) -> None:
        self._line.send(farewell())
        self._leave()
        self._line.close()

    def _leave(self) -> None:
        caller, self._caller = self._caller, None
        if caller is not None:
            caller.hang_up()
            self._tell(self._organiser.gone, caller)

    def _tell(self, what: Callable[..., None], caller: Caller, *words: Any) -> None:
        """What goes wrong at the organiser's is not the client's fault, and no reason to stop."""
        try:
            what(caller, *words)
        except Exception:
            log.exception("an organiser failed", caller=caller.sid)

    def _expect(self, words: str) -> None:
        """Something must happen soon, or else."""
        self._expect_nothing()
        self._timer = asyncio.get_running_loop().call_later(self._patience, self._line.fail, words)

    def _expect_nothing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
