"""The ports that all nodes of one machine share: the process that accepts, and each node."""

import asyncio
import os
import signal
import socket
import ssl
from contextlib import suppress
from functools import partial

import msgspec
import structlog

from botdrome.server.lobby.desk import Tasks
from botdrome.server.network.listening import BACKLOG, MakeProtocol, OpenPort, listen
from botdrome.server.settings import BadSetting, Settings

# The ports that all nodes of one machine share: the front accepts connections and hands the
# sockets to the nodes in turn, two at a time. The two players of a match that is over connect again
# one right after the other, often in the same order. If each of two nodes took one of them, one
# node would get all first players. If these are clients of one bot, they find nobody there, since a
# bot does not meet itself.
#
# The kernel would share a port too (SO_REUSEPORT), but by a hash of the addresses: of four
# clients, one node may get all. It would also reset the connections that wait for a node that
# dies; here they wait at the front.

log = structlog.get_logger()

MOST_UNTAKEN = 8
"""Sockets on their way to one node.

A frozen node gets no more; the kernel's queue may hold as few as 10.
"""
AT_ONCE = 64
"""Connections accepted in one turn of the loop."""
PAUSE = 1.0
"""Seconds until the next attempt if the system has no more descriptors."""


class ListenRequest(msgspec.Struct, tag="listen"):
    """A node takes connections on a port.

    `key` is the setting that has the port; 0 or -1: any free port.
    """

    name: str
    key: str
    port: int


class ListenAnswer(msgspec.Struct, tag="listening"):
    """The port that was opened; if none was, the reason."""

    name: str
    port: int
    problem: str = ""


class PortClosed(msgspec.Struct, tag="closed"):
    """A node takes no more connections on a port."""

    name: str


class SocketsTaken(msgspec.Struct, tag="taken"):
    """So many sockets have reached a node."""

    count: int


class NodeOpen(msgspec.Struct, tag="open"):
    """A node has started."""


class NodeAvoided(msgspec.Struct, tag="avoided"):
    """Whether a node gets connections only if no other node takes them.

    It is avoided until it is warm, and while it drains.
    """

    avoided: bool


NodeWords = ListenRequest | PortClosed | SocketsTaken | NodeOpen | NodeAvoided
_decoder = msgspec.json.Decoder(NodeWords)


class FrontNode:
    """A node, as the front sees it."""

    def __init__(
        self, writer: asyncio.StreamWriter, sockets: socket.socket, opened: asyncio.Event
    ) -> None:
        self._writer, self._sockets, self.opened = writer, sockets, opened
        self.untaken = 0
        self.avoided = True

    def say(self, words: msgspec.Struct) -> None:
        self._writer.write(msgspec.json.encode(words) + b"\n")

    def hand(self, port: str, connection: socket.socket) -> bool:
        """Return whether the socket is on its way."""
        try:
            socket.send_fds(self._sockets, [port.encode()], [connection.fileno()])
        except OSError:  # its queue is full, or it has ended
            return False
        self.untaken += 1
        return True


class SharedPort:
    def __init__(self, name: str, sockets: list[socket.socket]) -> None:
        self.name, self.sockets = name, sockets
        self.nodes: list[FrontNode] = []
        """Those that take connections, the next one first."""
        self._last: FrontNode | None = None
        """The node that has had one of its two connections."""
        self.accepting = False

    @property
    def number(self) -> int:
        return int(self.sockets[0].getsockname()[1])

    def hand(self, connection: socket.socket) -> bool:
        """Hand a connection to the node that has the fewest on their way; of several, to the one
        whose turn it is. In its turn a node gets two.

        Those on their way are counted in twos, so that the second one goes where the first one is.
        """
        for node in sorted(self.nodes, key=lambda node: (node.avoided, node.untaken // 2)):
            if node.untaken < MOST_UNTAKEN and node.hand(self.name, connection):
                second = node is self._last
                self.nodes.remove(node)
                self.nodes.insert(len(self.nodes) if second else 0, node)
                self._last = None if second else node
                return True
        return False

    @property
    def ready(self) -> bool:
        return any(node.untaken < MOST_UNTAKEN for node in self.nodes)


class Front:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ports: dict[str, SharedPort] = {}
        self._opening = asyncio.Lock()
        self._loop = asyncio.get_running_loop()

    async def serve(self, node: FrontNode, reader: asyncio.StreamReader) -> None:
        """Follow what a node says until it ends."""
        with suppress(ConnectionError):
            while line := await reader.readline():
                await self._follow(node, _decoder.decode(line))
        for port in self._ports.values():
            if node in port.nodes:
                port.nodes.remove(node)

    async def _follow(self, node: FrontNode, words: NodeWords) -> None:
        match words:
            case ListenRequest():
                node.say(await self._open(node, words))
            case PortClosed(name):
                self._leave(node, name)
            case SocketsTaken(count):
                node.untaken -= count
                for port in self._ports.values():
                    self._accept_from(port)
            case NodeAvoided(avoided):
                node.avoided = avoided
            case NodeOpen():
                node.opened.set()

    async def _open(self, node: FrontNode, wanted: ListenRequest) -> ListenAnswer:
        async with self._opening:
            if wanted.name not in self._ports:
                try:
                    self._ports[wanted.name] = SharedPort(wanted.name, await self._listen(wanted))
                except BadSetting as problem:
                    return ListenAnswer(wanted.name, 0, str(problem))
        port = self._ports[wanted.name]
        port.nodes.insert(0, node)
        self._accept_from(port)
        return ListenAnswer(wanted.name, port.number)

    async def _listen(self, wanted: ListenRequest) -> list[socket.socket]:
        server = await listen(
            self._settings, wanted.key, wanted.port, asyncio.Protocol, serving=False
        )
        sockets = [one.dup() for one in server.sockets]
        server.close()
        for one in sockets:
            one.setblocking(False)
            one.listen(BACKLOG)
        return sockets

    def _leave(self, node: FrontNode, name: str) -> None:
        port = self._ports.get(name)
        if port is not None and node in port.nodes:
            port.nodes.remove(node)
            if not port.nodes:
                self._close(port)

    def _close(self, port: SharedPort) -> None:
        del self._ports[port.name]
        self._pause(port)
        for one in port.sockets:
            one.close()

    def close(self) -> None:
        for port in list(self._ports.values()):
            self._close(port)

    def _accept_from(self, port: SharedPort) -> None:
        if not port.accepting and port.ready and self._ports.get(port.name) is port:
            port.accepting = True
            for one in port.sockets:
                self._loop.add_reader(one, self._accept, port, one)

    def _pause(self, port: SharedPort) -> None:
        """Let connections wait in the system's queue."""
        port.accepting = False
        for one in port.sockets:
            self._loop.remove_reader(one)

    def _accept(self, port: SharedPort, listening: socket.socket) -> None:
        for _ in range(AT_ONCE):
            if not port.ready:
                self._pause(port)
                return
            try:
                connection, _ = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                log.warning("a connection was not accepted", port=port.name, problem=error.strerror)
                self._pause(port)
                self._loop.call_later(PAUSE, self._accept_from, port)
                return
            with connection:
                port.hand(connection)


LONGEST_NAME = 1024
"""Bytes of the name of a port."""


class SharedPorts:
    """`control` is a stream to the front.

    Connections come over `sockets`, with the names of their ports.
    """

    def __init__(self, control: socket.socket, sockets: socket.socket) -> None:
        self._control, self._sockets = control, sockets
        self._writer: asyncio.StreamWriter
        self._made: dict[str, tuple[MakeProtocol, ssl.SSLContext | None]] = {}
        self._answers: dict[str, asyncio.Future[ListenAnswer]] = {}
        self._avoided = True
        self._loop = asyncio.get_running_loop()
        self._tasks = Tasks()

    async def open(self) -> None:
        reader, self._writer = await asyncio.open_connection(sock=self._control)
        self._sockets.setblocking(False)
        self._loop.add_reader(self._sockets, self._take)
        self._tasks.start(self._read(reader))

    def opened(self) -> None:
        """Tell the front that this node has started."""
        self._say(NodeOpen())

    def set_avoided(self, avoided: bool) -> None:
        """Tell the front whether other nodes should take new connections."""
        if avoided != self._avoided:
            self._avoided = avoided
            self._say(NodeAvoided(avoided))

    async def listen(
        self, name: str, key: str, port: int, make: MakeProtocol, secure: ssl.SSLContext | None
    ) -> OpenPort:
        """Take connections on a port. Raise BadSetting if the front cannot listen there."""
        self._made[name] = make, secure
        waiting = self._answers[name] = self._loop.create_future()
        self._say(ListenRequest(name, key, port))
        answer = await waiting
        if answer.problem:
            raise BadSetting(answer.problem)
        return OpenPort(answer.port, partial(self._close, name))

    def _close(self, name: str) -> None:
        self._made.pop(name, None)
        self._say(PortClosed(name))

    def _say(self, words: msgspec.Struct) -> None:
        self._writer.write(msgspec.json.encode(words) + b"\n")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while line := await reader.readline():
                answer = msgspec.json.decode(line, type=ListenAnswer)
                self._answers.pop(answer.name).set_result(answer)
        os.kill(os.getpid(), signal.SIGTERM)  # the front has ended, so no client can come

    def _take(self) -> None:
        taken = 0
        while True:
            try:
                name, handles, *_ = socket.recv_fds(self._sockets, LONGEST_NAME, 1)
            except BlockingIOError:
                break
            except OSError:
                self._loop.remove_reader(self._sockets)
                break
            for handle in handles:
                taken += 1
                self._accept(name.decode(), socket.socket(fileno=handle))
        if taken:
            self._say(SocketsTaken(taken))

    def _accept(self, name: str, connection: socket.socket) -> None:
        if name not in self._made:
            connection.close()
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tasks.start(self._serve(connection, *self._made[name]))

    async def _serve(
        self, connection: socket.socket, make: MakeProtocol, secure: ssl.SSLContext | None
    ) -> None:
        with suppress(OSError):  # the client has gone, or speaks no TLS
            await self._loop.connect_accepted_socket(make, connection, ssl=secure)

    def close(self) -> None:
        self._loop.remove_reader(self._sockets)
        self._sockets.close()
        self._tasks.cancel()
        self._writer.close()
