"""A conversation in Socket.IO over Engine.IO: handshake, heartbeat, rate limit, the default namespace and its events.

A protocol on top of it subclasses it and reads the events. The transport may change from polling to a WebSocket meanwhile.
"""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.wire.conversation import CannotPlay, Close, Command, Conversation, Outs, Removed, Reply, Seconds, Unreadable
from botdrome.wire.framing.engineio import BAD_TYPE, BINARY, CLOSE, KINDS, MESSAGE, OPEN, PING, PONG, BadPacket
from botdrome.wire.framing.socketio import (
    BINARY_EVENT,
    CONNECT,
    DEFAULT,
    DISCONNECT,
    DISCONNECTED,
    ERROR,
    EVENT,
    Assembly,
    SocketPacket,
    connected,
    read_packet,
    refusal,
)
from botdrome.wire.framing.websocket import MALFORMED, NORMAL, NOT_UTF8, POLICY
from botdrome.wire.token_bucket import TokenBucket


class SocketIoLimits(Struct, frozen=True, kw_only=True):
    ping_interval: Seconds = 25.0
    ping_timeout: Seconds = 60.0
    patience: Seconds = 10.0
    """For a client to connect to the namespace, to complete a body or an event, and to change its transport."""
    longest: int = 100_000
    """Bytes of one message, or of one POST."""
    rate: float = 200.0
    burst: int = 400
    """Packets per second in the long run, and at once."""

    @property
    def silence(self) -> Seconds:
        """A client that sends nothing for so long is gone."""
        return self.ping_interval + self.ping_timeout


class Handshake(Struct, frozen=True):
    """What the server tells a new client. `sid` is secret, since it gives access to the session; `socket_id` is not."""

    sid: str
    socket_id: str
    version: int
    upgrades: tuple[str, ...] = ()
    """Transports to which the client may change."""


class SocketConnected(Struct, Command, frozen=True):
    """The client has joined the default namespace, and is called `sid` there."""

    sid: str


class SocketDisconnected(Struct, Command, frozen=True):
    """The client has left the namespace, and will close its connection."""


class SocketIoConversation(Conversation):
    def __init__(self, handshake: Handshake, limits: SocketIoLimits, now: Seconds) -> None:
        self._handshake, self._version, self._limits = handshake, handshake.version, limits
        self._rate = TokenBucket(limits.rate, limits.burst, now)
        self._connected = self._over = False
        self._joined = 0
        self._assembly: Assembly | None = None
        self._heard = now
        self._next_check = now + limits.silence
        self._next_ping = now + limits.ping_interval if self._version > 3 else None
        self.deadline: Seconds | None = None
        self._expected: tuple[Seconds, str] | None = None
        """What the client must do soon: until when, and the error if it does not."""

    def _planned(self, outs: Outs) -> Outs:
        """Set the deadline before the commands are executed."""
        due = self._next_check if self._expected is None else min(self._next_check, self._expected[0])
        due = due if self._next_ping is None else min(due, self._next_ping)
        self.deadline = None if self._over else due
        return outs

    def begin(self, now: Seconds) -> Outs:
        """Clients of Engine.IO 3 are connected to the default namespace without asking."""
        limits = self._limits
        greeting: dict[str, Any] = {
            "sid": self._handshake.sid,
            "upgrades": self._handshake.upgrades,
            "pingInterval": round(limits.ping_interval * 1000),
            "pingTimeout": round(limits.ping_timeout * 1000),
        }
        if self._version > 3:
            greeting["maxPayload"] = limits.longest
        opened = OPEN.encode() + msgspec.json.encode(greeting)
        if self._version == 3:
            return self._planned((opened, *self._join()))
        self._expect("the client did not connect to a namespace", now)
        return self._planned((opened,))

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        return () if self._over else self._planned(self._received(message, now))

    def _received(self, message: bytes, now: Seconds) -> Outs:
        self._heard = now
        if not self._rate.take(now):
            return self._fail("too many messages", POLICY)
        try:
            if message[:1] == BINARY:
                return self._act(self._attach(message[1:]), now)
            return self._read(message.decode(), now)
        except UnicodeDecodeError:
            return self._fail("text is UTF-8", NOT_UTF8)
        except BadPacket as problem:
            return self._fail(str(problem))

    def _read(self, text: str, now: Seconds) -> Outs:
        kind = text[:1]
        if kind == MESSAGE:
            return self._act(self._packet(text[1:], now), now)
        if kind == PING and self._version == 3:
            return ((PONG + text[1:]).encode(),)
        if kind == CLOSE:
            return self._close()
        if kind in (OPEN, PING):
            raise BadPacket("that is for the server to send")
        if not kind or kind not in KINDS:
            raise BadPacket(BAD_TYPE)
        return ()

    def _packet(self, text: str, now: Seconds) -> SocketPacket | None:
        """The packet, unless it waits for attachments."""
        if self._assembly is not None:
            raise BadPacket("an event came before the attachments of the last one")
        packet = read_packet(text)
        if not packet.attachments:
            return packet
        self._assembly = Assembly(packet)
        self._expect("the attachments of an event did not come", now)
        return None

    def _attach(self, data: bytes) -> SocketPacket | None:
        if self._assembly is None:
            raise BadPacket("an attachment came without its event")
        packet = self._assembly.add(data)
        if packet is not None:
            self._assembly = self._expected = None
        return packet

    def _act(self, packet: SocketPacket | None, now: Seconds) -> Outs:
        if packet is None:
            return ()
        if packet.kind == CONNECT:
            return self._connect(packet.namespace)
        if packet.namespace != DEFAULT or not self._connected:
            raise BadPacket(f"not connected to the namespace {packet.namespace}")
        if packet.kind in (EVENT, BINARY_EVENT):
            name, *args = packet.data
            return self.on_event(name, args)
        if packet.kind == DISCONNECT:
            self._connected = False
            self._expect("the client has disconnected", now)
            return (SocketDisconnected(),)
        if packet.kind == ERROR:
            raise BadPacket("that is for the server to send")
        return ()

    def _connect(self, namespace: str) -> Outs:
        if namespace != DEFAULT:
            return (refusal(self._version, "Invalid namespace", namespace),)
        if self._connected:
            return ()
        self._expected = None
        return self._join()

    def _join(self) -> Outs:
        """Clients of Engine.IO 3 use the id of the session as their own, others get a new one each time."""
        self._connected = True
        self._joined += 1
        sid = self._handshake.sid if self._version == 3 else f"{self._handshake.socket_id}{self._joined}"
        return connected(self._version, sid), SocketConnected(sid)

    def on_event(self, name: str, args: list[Any]) -> Outs:
        """The client sent an event."""
        raise NotImplementedError

    # What the server decides, and what does not happen in time.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        return () if self._over else self._planned(self._answered(reply))

    def _answered(self, reply: Reply) -> Outs:
        if isinstance(reply, Unreadable):
            return self._fail(reply.why)
        if isinstance(reply, Removed):
            return DISCONNECTED, *self._close()
        if isinstance(reply, CannotPlay):
            return self._close(reply.code, reply.message["error"])
        return ()

    def wake(self, now: Seconds) -> Outs:
        return () if self._over else self._planned(self._woken(now))

    def _woken(self, now: Seconds) -> Outs:
        if self._expected is not None and now >= self._expected[0]:
            return self._fail(self._expected[1])
        self._next_check = self._heard + self._limits.silence
        if now >= self._next_check:
            return self._close(reason="ping timeout")
        if self._next_ping is not None and now >= self._next_ping:
            self._next_ping = now + self._limits.ping_interval
            return (PING.encode(),)
        return ()

    def _expect(self, otherwise: str, now: Seconds) -> None:
        self._expected = now + self._limits.patience, otherwise

    # How it ends.

    def _fail(self, words: str, code: int = MALFORMED) -> Outs:
        """A connected client of Engine.IO 4 gets no error packet: it would never connect again."""
        told = (refusal(self._version, words),) if self._version == 3 or not self._connected else ()
        return *told, *self._close(code, words, "socketio")

    def _close(self, code: int = NORMAL, reason: str = "", refused: str = "") -> Outs:
        self._over = True
        return (Close(code, reason, refused),)
