"""Session: one client of Engine.IO, whatever carries it at the moment."""

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from botdrome.api.socketio.asking import WEBSOCKET
from botdrome.api.socketio.conversation import Conversation
from botdrome.api.socketio.limits import Limits
from botdrome.api.socketio.mailbox import Mailbox
from botdrome.server import metrics
from botdrome.server.cube.connection import MUCH, Organiser
from botdrome.server.network.connection import MALFORMED, NORMAL, POLICY
from botdrome.server.network.rate_limit import Bucket
from botdrome.wire.framing.engineio import CLOSE, MESSAGE, OPEN, PING, PONG, Engine, Packet


class Carrier(Protocol):
    """What brings packets to the client. Nothing here waits or raises."""

    on_read: Callable[[], None] | None
    """Called when the client has read some of them."""

    @property
    def name(self) -> str: ...

    @property
    def unsent(self) -> int:
        """Characters that wait for the client to fetch them."""

    def send(self, *packets: str) -> None: ...

    def close(self, code: int, reason: str, done: Callable[[], None]) -> None:
        """After what was sent; `done` is called when the client has nothing more to fetch."""

    def drop(self) -> None:
        """At once."""


class Session:
    def __init__(self, sid: str, engine: Engine, limits: Limits, carrier: Carrier, forget: Callable[[], None]) -> None:
        self.sid, self.engine, self.carrier = sid, engine, carrier
        self.posting = self.probing = False
        self._limits, self._forget = limits, forget
        self._bucket = Bucket(limits.rate, limits.burst)
        self._loop = asyncio.get_running_loop()
        self._heard = self._loop.time()
        self._watch = self._loop.call_later(limits.silence, self._check)
        self._ping: asyncio.TimerHandle | None = None
        self._conversation: Conversation | None = None
        self._when_read: list[Callable[[], None]] = []
        carrier.on_read = self._was_read

    def start(self, organiser: Organiser) -> None:
        upgrades = [] if self.carrier.name == WEBSOCKET else [WEBSOCKET]
        greeting = {
            "sid": self.sid,
            "upgrades": upgrades,
            "pingInterval": round(self._limits.ping_interval * 1000),
            "pingTimeout": round(self._limits.ping_timeout * 1000),
        }
        if self.engine.version > 3:
            greeting["maxPayload"] = self._limits.longest
            self._ping = self._loop.call_later(self._limits.ping_interval, self._send_ping)
        self._conversation = Conversation(self, organiser, self._limits.patience)
        self.send(OPEN + msgspec.json.encode(greeting).decode())
        self._conversation.begin()

    @property
    def present(self) -> bool:
        return self._conversation is not None

    # To the client.

    def send(self, *packets: str) -> None:
        if self._conversation is not None:
            self.carrier.send(*packets)
            if self.carrier.unsent > self._limits.backlog:
                metrics.REFUSED.labels("backlog").inc()
                self.lost()

    @property
    def unread(self) -> int:
        return self.carrier.unsent

    def when_read(self, tell: Callable[[], None]) -> None:
        self._when_read.append(tell)

    def _was_read(self) -> None:
        if self._when_read and self.unread <= MUCH:
            waiting, self._when_read = self._when_read, []
            for tell in waiting:
                tell()

    def _send_ping(self) -> None:
        self._ping = self._loop.call_later(self._limits.ping_interval, self._send_ping)
        self.send(PING)

    # From the client.

    def received(self, packet: Packet) -> None:
        if self._conversation is None:
            return
        self._heard = self._loop.time()
        if not self._bucket.take():
            self.fail("too many messages", POLICY)
        elif packet.kind == MESSAGE:
            self._conversation.received(packet.data)
        elif packet.kind == PING and self.engine.version == 3:
            self.send(f"{PONG}{packet.data!s}")
        elif packet.kind == CLOSE:
            self.lost()
        elif packet.kind in (OPEN, PING):
            self.fail("that is for the server to send")

    # The transport.

    def probe(self, probing: bool) -> None:
        """The client tries whether a WebSocket works, or has given it up."""
        self.probing = probing
        self.mailbox.probe(probing)

    def move(self, carrier: Carrier) -> None:
        """The client has moved to the WebSocket."""
        rest = self.mailbox.retire()
        self.carrier, self.probing = carrier, False
        carrier.on_read = self._was_read
        carrier.send(*rest)
        self._was_read()

    @property
    def mailbox(self) -> Mailbox:
        assert isinstance(self.carrier, Mailbox)
        return self.carrier

    # The end.

    def fail(self, words: str, code: int = MALFORMED) -> None:
        """The client did what it must not do, and is told."""
        if self._conversation is not None:
            metrics.REFUSED.labels("socketio").inc()
            self._conversation.complain(words)
            self.close(code, words)

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        """What was sent before still arrives."""
        if self._stop():
            self.carrier.close(code, reason, self._forget)

    def lost(self) -> None:
        """The client is gone, or is not to be spoken to any more."""
        if self._stop():
            self.carrier.drop()
            self._forget()

    def _stop(self) -> bool:
        conversation, self._conversation = self._conversation, None
        if conversation is None:
            return False
        self._watch.cancel()
        if self._ping is not None:
            self._ping.cancel()
        conversation.end()
        return True

    def _check(self) -> None:
        left = self._heard + self._limits.silence - self._loop.time()
        if left > 0:
            self._watch = self._loop.call_later(left, self._check)
        else:
            self.close(NORMAL, "ping timeout")
