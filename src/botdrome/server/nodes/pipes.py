"""Pipes: the bytes of a client between two nodes. `wire/pipe.py` is their pure part.

The node that has the client's socket is the front. It does not parse the bytes of the client. At
the other node, a `PipedTransport` takes the place of the socket, so neither protocols nor sessions
know of pipes. Each side stops reading while the other one's buffer is full: a client that reads too
slowly fills the buffer of its session, which drops it.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from hmac import compare_digest
from time import monotonic
from typing import Any, Protocol, cast

import msgspec
import structlog
from msgspec import Struct

from botdrome.server.network.connection import PIPE, tcp_round_trip
from botdrome.server.network.listening import (
    EVERYWHERE,
    listen,
    network_address,
    secured,
    stop,
)
from botdrome.server.network.peer import Origin, pause_reading
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.session import AdmittedClient, Transfer
from botdrome.server.settings import Settings
from botdrome.wire.framing.streams import BadFrame
from botdrome.wire.pipe import (
    DATA,
    END,
    EOF,
    GIVE_BACK,
    HELD,
    HELLO,
    HOLD,
    NETWORK,
    OPEN,
    PROOF,
    SECONDS,
    STOPS,
    VERSION,
    PipeDelay,
    PipeReader,
    data_frames,
    frame,
    proof,
)

log = structlog.get_logger()

PATIENCE = 5.0
"""Seconds for the other node to open a pipe."""
UNPROVEN = 256
"""Connections that may wait for the proof of the other node."""
UNKNOWN = -1.0
"""In place of a network time."""
QUIET = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1, "TCP_KEEPCNT": 3}
"""Seconds, and times: a lost machine is noticed while nothing is sent."""


class Header(Struct, frozen=True, array_like=True):
    """What goes with a connection to another node."""

    transfer: Transfer
    origin: Origin
    messages: list[bytes] = []
    """They go to the session first."""
    rest: bytes = b""
    """Then comes this input, as the client sent it."""
    client: AdmittedClient | None = None
    """The client need not log in again; None: it has not logged in."""
    tls: bool = False


class Opening(Struct, frozen=True, array_like=True):
    """Opens a pipe. The front has the client's socket."""

    front: NodeId
    network: float
    """The network time of the client, in seconds."""
    header: Header


class Return(Struct, frozen=True, array_like=True):
    """Gives a connection back to its front: it goes to another node."""

    to: NodeId
    header: Header


encode = msgspec.msgpack.Encoder().encode
_opening = msgspec.msgpack.Decoder(Opening).decode
read_return = msgspec.msgpack.Decoder(Return).decode


class PipeUser(Protocol):
    """Either end of a pipe: a `FrontConnection`, or a `PipedTransport`."""

    def pipe_frame(self, kind: int, body: bytes) -> None: ...

    def pipe_full(self, full: bool) -> None:
        """The other node reads too slowly, or again."""

    def pipe_lost(self) -> None: ...


class Pipe(asyncio.Protocol):
    """The connection between two nodes, on either side."""

    transport: asyncio.Transport

    def __init__(self, secret: bytes, accept: Callable[["Pipe", bytes], None] | None) -> None:
        """`accept` sets the user of a pipe that another node opens; None: this node opens it."""
        self._secret, self._accept = secret, accept
        self._nonce, self._theirs, self._seen = os.urandom(HELLO - 1), b"", b""
        self._reader: PipeReader | None = None
        """None: the other node has proved nothing yet."""
        self.user: PipeUser | None = None
        self.closed: Callable[[], None] = lambda: None
        self.proved: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, kind: int, body: bytes = b"") -> None:
        self.transport.write(frame(kind, body))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        line: socket.socket = transport.get_extra_info("socket")
        with suppress(AttributeError, OSError):  # not all systems have all options
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in QUIET.items():
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        if self._accept is None:
            self.transport.write(bytes([VERSION]) + self._nonce)

    def data_received(self, data: bytes) -> None:
        try:
            if self._reader is None:
                self._seen += data
                self._prove()
            else:
                self._read(data)
        except (BadFrame, msgspec.MsgspecError) as problem:
            log.warning("a pipe between nodes is closed", problem=str(problem))
            self.transport.abort()

    def _read(self, data: bytes) -> None:
        assert self._reader is not None
        for kind, body in self._reader.feed(data):
            if self.user is not None:
                self.user.pipe_frame(kind, body)
            elif self._accept is not None and kind == OPEN:
                self._accept(self, body)

    def _take(self, size: int) -> bytes:
        found, self._seen = self._seen[:size], self._seen[size:]
        return found

    def _prove(self) -> None:
        dials, version = self._accept is None, bytes([VERSION])
        if not self._theirs:
            if self._seen[:1] != version:
                raise BadFrame("the other end is no node of this version")
            if len(self._seen) < HELLO:
                return
            self._theirs = self._take(HELLO)[1:]
            if not dials:
                self.transport.write(version + self._nonce + self._proof(b"home"))
        if len(self._seen) < PROOF:
            return
        if not compare_digest(self._take(PROOF), self._proof(b"home" if dials else b"front")):
            raise BadFrame("the other end does not know the secret of this cluster")
        if dials:
            self.transport.write(self._proof(b"front"))
        self._reader = PipeReader()
        if not self.proved.done():
            self.proved.set_result(None)
        self._read(self._seen)

    def _proof(self, role: bytes) -> bytes:
        both = self._nonce, self._theirs
        return proof(self._secret, role, *(both if self._accept is None else both[::-1]))

    def pause_writing(self) -> None:
        if self.user is not None:
            self.user.pipe_full(True)

    def resume_writing(self) -> None:
        if self.user is not None:
            self.user.pipe_full(False)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.proved.done():
            self.proved.set_exception(exc or ConnectionError("the other node closed the pipe"))
            self.proved.exception()  # if nobody waits for it, that is no error
        self.closed()
        user, self.user = self.user, None
        if user is not None:
            user.pipe_lost()


# PipedTransport: a connection whose socket is at another node, as an asyncio transport.


class PipedTransport(asyncio.Transport):
    def __init__(
        self, pipe: Pipe, opening: Opening, delay: PipeDelay, forget: Callable[[], None]
    ) -> None:
        super().__init__()
        self._pipe, self.front, self._tls = pipe, opening.front, opening.header.tls
        self._network, self._delay, self._arrived = opening.network, delay, monotonic()
        self._forget = forget
        self._protocol: asyncio.Protocol
        self._closing = False
        self._back: tuple[NodeId, Header, list[bytes]] | None = None
        """Where the connection goes next, and the input that came meanwhile."""
        self.front_stops: Callable[[], None] = lambda: None

    def begin(self, make: Callable[[], asyncio.BaseProtocol]) -> None:
        self._protocol = cast(asyncio.Protocol, make())
        try:
            self._protocol.connection_made(self)
        except Exception:
            log.exception("a session failed")
            self.abort()

    def round_trip(self) -> float | None:
        """Return the network time of the client, the way between the nodes included."""
        if self._network == UNKNOWN:
            return None
        return self._network + (tcp_round_trip(self._pipe.transport) or 0.0)

    def unread_for(self) -> float:
        """Return the seconds since the last input arrived at the front, beyond the shortest way."""
        return monotonic() - self._arrived

    # Called by the protocol.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == PIPE:
            return self
        return (self._tls or default) if name == "sslcontext" else default

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = cast(asyncio.Protocol, protocol)

    def get_protocol(self) -> asyncio.Protocol:
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return self._pipe.transport.is_reading()

    def pause_reading(self) -> None:
        pause_reading(self._pipe.transport, True)

    def resume_reading(self) -> None:
        pause_reading(self._pipe.transport, False)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._pipe.transport.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        return self._pipe.transport.get_write_buffer_size()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closing and data:
            self._pipe.transport.write(data_frames(bytes(data)))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return not self._tls

    def write_eof(self) -> None:
        if not self._closing:
            self._pipe.send(EOF)

    def close(self) -> None:
        if not self._closing:
            self._pipe.send(END)
            self._end()

    def abort(self) -> None:
        if not self._closing or self._back is not None:
            self._end()
        self._pipe.transport.abort()

    def _end(self) -> None:
        self._closing, self._back, self._pipe.user = True, None, None
        self._pipe.transport.close()
        asyncio.get_running_loop().call_soon(self._lose)

    def _lose(self) -> None:
        self._forget()
        self._protocol.connection_lost(None)

    def give_back(self, to: NodeId, header: Header) -> None:
        """Let the front bring the connection to another node, with the input that is on the way."""
        if not self._closing:
            self._closing, self._back = True, (to, header, [header.rest])
            self._pipe.send(HOLD)
            self.resume_reading()

    # Called by the pipe.

    def pipe_frame(self, kind: int, body: bytes) -> None:
        if self._back is not None:
            self._hold(kind, body, *self._back)
        elif self._closing:
            return
        elif kind == DATA:
            now = monotonic()
            self._arrived = now - self._delay.of(SECONDS.unpack_from(body)[0], now)
            self._protocol.data_received(body[SECONDS.size :])
        elif kind == NETWORK:
            (self._network,) = SECONDS.unpack(body)
        elif kind == EOF:
            if not self._protocol.eof_received():
                self.close()
        elif kind == STOPS:
            self.front_stops()

    def _hold(self, kind: int, body: bytes, to: NodeId, header: Header, seen: list[bytes]) -> None:
        if kind == DATA:
            seen.append(body[SECONDS.size :])
        elif kind == HELD:
            header = msgspec.structs.replace(header, rest=b"".join(seen))
            self._pipe.send(GIVE_BACK, encode(Return(to, header)))
            self._end()

    def pipe_full(self, full: bool) -> None:
        if not self._closing:
            self._protocol.pause_writing() if full else self._protocol.resume_writing()

    def pipe_lost(self) -> None:
        if not self._closing or self._back is not None:
            self._closing, self._back = True, None
            self._lose()


# PipePort: where a node takes pipes from others, and opens those to them.

Accept = Callable[[PipedTransport, Header], None]


class PipePort:
    def __init__(self, here: NodeId, secret: str, accept: Accept) -> None:
        """`accept` gets each client of another node."""
        self._here, self._secret, self._take = here, secret.encode(), accept
        self._server: asyncio.Server | None = None
        self._unproven = 0
        self._delays: dict[NodeId, PipeDelay] = {}
        self.piped: set[PipedTransport] = set()
        self._open: set[Pipe] = set()
        """All pipes at either end, until their connections are closed."""

    async def open(self, settings: Settings) -> str:
        """Take pipes, and return the address for other nodes. Raise BadSetting."""
        secure, host = secured(settings), settings.host
        usual = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        port = settings.cluster.pipes
        self._server = await listen(settings, "cluster.pipes", port, self._make, secure)
        pin = _fingerprint(settings.tls.cert) if secure is not None else ""
        number = self._server.sockets[0].getsockname()[1]
        return f"{network_address(host) or usual}:{number}#{pin}"

    def close(self) -> None:
        if self._server is not None:
            stop(self._server)
            self._server = None
        for pipe in self._open:
            _give_up(pipe)

    def _make(self) -> Pipe:
        pipe = self._new(self._accept)
        self._unproven += 1
        loop = asyncio.get_running_loop()
        limit = loop.call_later(0.0 if self._unproven > UNPROVEN else PATIENCE, _give_up, pipe)

        def proved(_: object) -> None:
            self._unproven -= 1
            limit.cancel()

        pipe.proved.add_done_callback(proved)
        return pipe

    def _new(self, accept: Callable[[Pipe, bytes], None] | None) -> Pipe:
        pipe = Pipe(self._secret, accept)
        self._open.add(pipe)
        pipe.closed = lambda: self._open.discard(pipe)
        return pipe

    def _accept(self, pipe: Pipe, body: bytes) -> None:
        opening = _opening(body)
        delay = self._delays.setdefault(opening.front, PipeDelay())
        piped = PipedTransport(pipe, opening, delay, lambda: self.piped.discard(piped))
        self.piped.add(piped)
        pipe.user = piped
        try:
            self._take(piped, opening.header)
        except BaseException:
            pipe.user = None
            self.piped.discard(piped)
            raise

    def opening(self, network: float, header: Header) -> bytes:
        return encode(Opening(self._here, network, header))

    def drop(self, live: Iterable[NodeId]) -> None:
        """Only these nodes live."""
        for piped in [one for one in self.piped if one.front not in live]:
            piped.abort()
        self._delays = {node: one for node, one in self._delays.items() if node in live}

    async def dial(self, address: str) -> Pipe:
        """Open a pipe to a node. Raise OSError or TimeoutError."""
        place, _, pin = address.partition("#")
        host, _, port = place.rpartition(":")
        context = None
        if pin:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        pipe = self._new(None)
        async with asyncio.timeout(PATIENCE):
            await asyncio.get_running_loop().create_connection(
                lambda: pipe, host.strip("[]"), int(port), ssl=context
            )
            try:
                if pin:
                    secure: ssl.SSLObject = pipe.transport.get_extra_info("ssl_object")
                    if sha256(secure.getpeercert(True) or b"").hexdigest() != pin:
                        raise ConnectionError("its certificate is not that of the node")
                await pipe.proved
            except BaseException:
                pipe.transport.abort()
                raise
        return pipe


def _give_up(pipe: Pipe) -> None:
    if hasattr(pipe, "transport"):
        pipe.transport.abort()


def _fingerprint(file: str) -> str:
    """Return the hash of the first certificate in a file."""
    with open(file) as text:  # noqa: PTH123
        found = text.read().partition("-----END CERTIFICATE-----")
    begin = found[0].index("-----BEGIN CERTIFICATE-----")
    return sha256(ssl.PEM_cert_to_DER_cert(found[0][begin:] + found[1])).hexdigest()
