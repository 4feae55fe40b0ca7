"""A node's side of the ports that all nodes of one machine share: see `front.py`."""

import asyncio
import os
import signal
import socket
import ssl
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from botdrome.server.network.listening import MakeProtocol, OpenPort
from botdrome.server.nodes.front import (
    ListenAnswer,
    ListenRequest,
    NodeAvoided,
    NodeOpen,
    PortClosed,
    SocketsTaken,
)
from botdrome.server.settings import BadSetting

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
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        reader, self._writer = await asyncio.open_connection(sock=self._control)
        self._sockets.setblocking(False)
        self._loop.add_reader(self._sockets, self._take)
        self._start(self._read(reader))

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
        self._start(self._serve(connection, *self._made[name]))

    async def _serve(
        self, connection: socket.socket, make: MakeProtocol, secure: ssl.SSLContext | None
    ) -> None:
        with suppress(OSError):  # the client has gone, or speaks no TLS
            await self._loop.connect_accepted_socket(make, connection, ssl=secure)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        self._loop.remove_reader(self._sockets)
        self._sockets.close()
        for task in self._tasks:
            task.cancel()
        self._writer.close()
