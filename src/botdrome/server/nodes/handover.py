"""Handover: passes the sockets of clients to other processes of this machine, and takes those that
they pass.

A socket goes over a Unix socket (SCM_RIGHTS) in one packet with what the other process has to know.
The queue of such a socket holds some 170 of them. When a process ends, the system closes the
sockets that are on the way to it.
"""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from botdrome.server.network.peer import Origin
from botdrome.server.session import AdmittedClient, Errand

log = structlog.get_logger()

LONGEST = 60_000
"""Bytes of a parcel."""
BACKLOG = 64
AT_ONCE = 16
"""Parcels taken in one turn of the loop from one node."""
CLOSE_ON_EXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
"""0 on systems without this flag."""


class Parcel(Struct, frozen=True, array_like=True):
    """What goes with a socket."""

    errand: Errand
    origin: Origin
    messages: list[bytes]
    """They go to the session first."""
    rest: bytes
    """Then comes this input, as the client sent it."""
    client: AdmittedClient | None = None
    """The client need not log in again.

    Its login is the first message, for nodes that do not know this field.
    """


TakeSocket = Callable[[socket.socket, Parcel], None]
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(Parcel)


class CannotPass(Exception):
    """The socket cannot be passed to that node, now or later."""


class Handover:
    def __init__(self, take: TakeSocket) -> None:
        self._take, self._loop = take, asyncio.get_running_loop()
        self._folder: str | None = None
        self._port: socket.socket | None = None
        self._from: set[socket.socket] = set()
        self._to: dict[str, socket.socket] = {}

    def open(self) -> str:
        """Take sockets, and return the path to which other nodes pass them; empty: this system
        cannot pass sockets.
        """
        if not hasattr(socket, "SOCK_SEQPACKET") or not hasattr(socket, "send_fds"):
            return ""
        self._folder = tempfile.mkdtemp(prefix="botdrome-")  # for this user alone
        path = str(Path(self._folder, "handover"))
        port = self._port = _unix_socket()
        try:
            port.bind(path)
            port.listen(BACKLOG)
        except OSError as problem:
            log.warning(
                "connections are carried between the nodes of this machine", problem=str(problem)
            )
            self.close()
            return ""
        self._loop.add_reader(port.fileno(), self._accept, port)
        return path

    def close(self) -> None:
        for one in (*self._from, *((self._port,) if self._port is not None else ())):
            self._loop.remove_reader(one.fileno())
            one.close()
        for other in self._to.values():
            other.close()
        self._from, self._to, self._port = set(), {}, None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    # To other nodes.

    def give(self, path: str, client: socket.socket, parcel: Parcel) -> bool:
        """Pass a socket on.

        Return False if the queue is full. Raise CannotPass if that node takes no sockets.
        """
        data = ENCODER.encode(parcel)
        if len(data) > LONGEST:
            raise CannotPass(f"{len(data)} bytes go with it, at most {LONGEST} can")
        try:
            socket.send_fds(self._to.get(path) or self._connect(path), [data], [client.fileno()])
        except BlockingIOError:
            return False
        except OSError as problem:
            if (line := self._to.pop(path, None)) is not None:
                line.close()
            raise CannotPass(str(problem)) from None
        return True

    def _connect(self, path: str) -> socket.socket:
        line = _unix_socket()
        try:
            line.connect(path)
        except OSError:
            line.close()
            raise
        self._to[path] = line
        return line

    # From other nodes.

    def _accept(self, port: socket.socket) -> None:
        with suppress(BlockingIOError):
            line = port.accept()[0]
            line.setblocking(False)
            self._from.add(line)
            self._loop.add_reader(line.fileno(), self._receive, line)

    def _receive(self, line: socket.socket) -> None:
        data = b""
        for _ in range(AT_ONCE):
            try:
                data, found, _, _ = socket.recv_fds(line, LONGEST, 1, CLOSE_ON_EXEC)
            except BlockingIOError:
                return None
            except ConnectionError:
                data = b""
            if not data:
                self._loop.remove_reader(line.fileno())
                self._from.discard(line)
                return line.close()
            self._unpack(data, [socket.socket(fileno=one) for one in found])
        return None

    def _unpack(self, data: bytes, found: list[socket.socket]) -> None:
        try:
            (client,) = found
            client.setblocking(False)
            self._take(client, DECODER.decode(data))
        except Exception:
            log.exception("a connection from another node was not understood")
            for one in found:
                one.close()


def _unix_socket() -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.setblocking(False)
    return line
