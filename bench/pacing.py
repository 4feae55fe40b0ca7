"""An event loop for the clients of a load, with microsecond timers.

Ordinary event loops round timers to milliseconds. Everything due in the same millisecond is sent in
a burst, which clients on separate machines would not cause. This loop waits to the microsecond,
handles one event at a time, and costs little.
"""

import gc
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Protocol


class Client(Protocol):
    def connected(self, line: "Line") -> None: ...

    def received(self, data: bytes) -> None: ...

    def lost(self) -> None: ...


class Line:
    """A connection with default socket options.

    Its messages are small, so they always fit the send buffer.
    """

    def __init__(self, port: int, client: Client) -> None:
        self.client, self.socket = client, socket.create_connection(("127.0.0.1", port))
        self.socket.setblocking(False)

    def send(self, data: bytes) -> None:
        with suppress(OSError):  # the connection may have been lost meanwhile
            self.socket.send(data)


class Loop:
    def __init__(self) -> None:
        gc.collect()
        gc.disable()  # a pause for garbage collection would cause a burst
        self._epoll = select.epoll()
        self._lines: dict[int, Line] = {}
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def connect(self, port: int, client: Client) -> None:
        line = Line(port, client)
        self._lines[line.socket.fileno()] = line
        self._epoll.register(line.socket, select.EPOLLIN)
        client.connected(line)

    def call_later(self, seconds: float, act: Callable[[], None]) -> None:
        heappush(self._due, (time.perf_counter() + seconds, next(self._numbers), act))

    def run(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        while (now := time.perf_counter()) < until:
            due = self._due[0][0] if self._due else until
            if due <= now:
                heappop(self._due)[2]()
            else:
                select.select((self._epoll,), (), (), min(due, until) - now)
            self._hear()

    def _hear(self) -> None:
        for number, _ in self._epoll.poll(0):
            line = self._lines[number]
            try:
                data = line.socket.recv(1 << 16)
            except ConnectionError:
                data = b""
            if data:
                line.client.received(data)
            else:
                del self._lines[number]
                line.socket.close()
                line.client.lost()
