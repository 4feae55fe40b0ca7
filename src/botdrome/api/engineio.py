"""Engine.IO, on which socket.io is built: its requests, errors, transports and connections."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple
from urllib.parse import parse_qs

import structlog

from botdrome.server import metrics
from botdrome.server.network.connection import MALFORMED, NORMAL, Receiver, Traffic
from botdrome.server.network.websocket import Socket
from botdrome.server.rooms.cube import MUCH_UNREAD
from botdrome.server.session import Session
from botdrome.wire.conversation import Removed
from botdrome.wire.cube import CubeEvent
from botdrome.wire.framing.socketio import (
    CLOSE,
    NOOP,
    PING,
    PONG,
    PROBE,
    UPGRADE,
    BadPacket,
    Engine,
    EngineIo3,
    EngineIo4,
    Handshake,
)
from botdrome.wire.framing.websocket import BINARY

ENGINES: dict[str, Engine] = {"3": EngineIo3(), "4": EngineIo4()}
PATH = "/socket.io/"
POLLING, WEBSOCKET = "polling", "websocket"
MOST_FIELDS = 50
MESSAGES = (
    "Transport unknown",
    "Session ID unknown",
    "Bad handshake method",
    "Bad request",
    "Forbidden",
    "Unsupported protocol version",
)
UNKNOWN_TRANSPORT, UNKNOWN_SID, BAD_HANDSHAKE, BAD_REQUEST, FORBIDDEN, UNSUPPORTED_VERSION = range(
    6
)


class EngineError(Exception):
    """One of Engine.IO's errors; `context` says what is wrong where its message alone does not."""

    def __init__(self, code: int, context: str = "", status: int = 400) -> None:
        super().__init__(context or MESSAGES[code])
        self.status = status
        self.answer = {"code": code, "message": MESSAGES[code]} | (
            {"context": context} if context else {}
        )


class EngineQuery(NamedTuple):
    engine: Engine
    transport: str
    sid: str | None
    script: str | None
    """The number of the function to call, for clients that poll with script elements (JSONP)."""


def read_query(query: str) -> EngineQuery:
    """Without EIO, the version is 3."""
    try:
        fields = {
            key: values[0]
            for key, values in parse_qs(
                query, keep_blank_values=True, max_num_fields=MOST_FIELDS
            ).items()
        }
    except ValueError:
        raise EngineError(BAD_REQUEST, f"more than {MOST_FIELDS} fields") from None
    engine = ENGINES.get(fields.get("EIO", "3"))
    if engine is None:
        raise EngineError(UNSUPPORTED_VERSION)
    if fields.get("transport") not in (POLLING, WEBSOCKET):
        raise EngineError(UNKNOWN_TRANSPORT)
    script = fields.get("j")
    if script is not None and not (script.isascii() and script.isdecimal()):
        raise EngineError(BAD_REQUEST, "j is a number")
    return EngineQuery(engine, fields["transport"], fields.get("sid"), script)


CLOSED, NOTHING = CLOSE.encode(), NOOP.encode()

LONGEST_ANSWER = 1 << 20
"""Bytes, roughly: the rest goes with the next answer."""
PROBING = 0.1
"""Seconds that a poll may take while the client tries a WebSocket."""
CLOSE_TIMEOUT = 10.0
"""Seconds for the client to fetch the last packets."""


class PollingTransport:
    def __init__(self) -> None:
        self.unsent = 0
        self.on_read: Callable[[], None] | None = None
        self._packets: deque[bytes] = deque()
        self._poll: asyncio.Future[None] | None = None
        self._probing = self._retired = False
        self._done: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def send(self, packets: list[bytes]) -> None:
        self._packets.extend(packets)
        self.unsent += sum(map(len, packets))
        self._wake()

    def close(self, done: Callable[[], None]) -> None:
        """`done` is called when the client has fetched all packets, or has taken too long."""
        self._done = done
        self._timer = asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, self._finish)
        self.send([CLOSED])

    def drop(self) -> None:
        self._packets.clear()
        self._packets.append(CLOSED)
        self.unsent = 0
        self._wake()

    def probe(self, probing: bool) -> None:
        """The client can change to the WebSocket only when none of its polls waits."""
        self._probing = probing
        self._wake()

    def retire(self) -> list[bytes]:
        """The packets that are left, for the WebSocket."""
        rest = list(self._packets)
        self._packets.clear()
        self.unsent, self._retired = 0, True
        self._wake()
        return rest

    async def fetch(self) -> list[bytes]:
        """Wait for packets. Only one poll may wait."""
        if self._poll is not None:
            raise EngineError(BAD_REQUEST, "there is a poll already")
        if not self._packets and not self._retired:
            await self._wait()
        return self._take() or [NOTHING]

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._poll = loop.create_future()
        timer = loop.call_later(PROBING, self._wake) if self._probing else None
        try:
            await self._poll
        finally:
            self._poll = None
            if timer is not None:
                timer.cancel()

    def _take(self) -> list[bytes]:
        """The close goes alone: some clients ignore packets that come with it."""
        taken: list[bytes] = []
        length = 0
        while (
            self._packets and length < LONGEST_ANSWER and not (taken and self._packets[0] == CLOSED)
        ):
            packet = self._packets.popleft()
            length += len(packet)
            taken.append(packet)
        self.unsent -= min(length, self.unsent)
        if not self._packets:
            self._finish()
        if self.on_read is not None:
            self.on_read()
        return taken

    def _wake(self) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(None)

    def _finish(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            done()
        if self._timer is not None:
            self._timer.cancel()


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


class UpgradeProbe:
    """The session of a WebSocket until the client changes to it."""

    def __init__(
        self, socket: EngineWebSocket, connection: "EngineConnection", patience: float
    ) -> None:
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


log = structlog.get_logger()

BACKLOG = 16 * MUCH_UNREAD
"""Bytes that a client may leave unread before it is dropped. A game waits for its organiser long
before that, but each may have a whole state of megabytes on its way.
"""


class EngineConnection:
    """Nothing here waits or raises."""

    session: Session

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

    def emit(self, events: Sequence[CubeEvent]) -> int:
        try:
            packets = [event.packet for event in events]
        except Exception:
            log.exception("an event could not be encoded", names=[event.name for event in events])
            packets = []
        self.traffic.sent += len(packets)  # went(), without the call
        self.traffic.asked = monotonic()
        return self._sent(packets)

    def network_time(self) -> float:
        return 0.0

    def delay(self) -> float:
        return 0.0

    def send(self, messages: list[bytes]) -> None:
        self._sent(messages)

    def _sent(self, messages: list[bytes]) -> int:
        """Return the bytes that the client has not read. Drop one that reads far too slowly."""
        self.transport.send(messages)
        unsent = self.transport.unsent
        if unsent > BACKLOG:
            metrics.REFUSED.labels("backlog").inc()
            self.drop()
        return unsent

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
