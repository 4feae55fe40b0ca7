"""The connection pool: keep-alive connections to each endpoint, and limits on the number of concurrent calls."""

import asyncio
import ssl
from collections import deque
from functools import cached_property
from weakref import WeakValueDictionary

from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.bot_connection import BotConnection
from botdrome.server.network.client_source import source_of
from botdrome.server.settings import BadSetting, Settings

MOST_WAITING = 10_000
IDLE_TIMEOUT = 10.0
"""Seconds that an idle connection is kept at least; twice as long at most."""
NO_KEEP_ALIVE = 60.0
"""Seconds without keep-alive at an endpoint that failed on an idle connection."""


class CallLimit:
    """A limit on concurrent calls. Further calls wait in a queue."""

    __slots__ = ("__weakref__", "most", "running", "waiting")

    def __init__(self, most: int) -> None:
        self.most, self.running = most, 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        if self.running < self.most:
            self.running += 1
            return
        if len(self.waiting) >= MOST_WAITING:
            raise CallFailed("too many calls wait for that host")
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """The call that waited longest runs next."""
        waiting = self.waiting
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                return turn.set_result(None)
        self.running -= 1
        return None


class BotEndpoint:
    """One port of one address that passed the address filter, with its idle connections and call limits."""

    def __init__(self, address: str, port: int, name: str, limits: tuple[CallLimit, CallLimit]) -> None:
        """`name` is the one on the certificate; empty: no TLS."""
        self.address, self.port, self.name = address, port, name
        self.idle: list[BotConnection] = []
        self.keep_alive = True
        self._limits = self._port_limit, self._host_limit = limits

    def acquire_idle(self) -> BotConnection | None:
        """An idle connection, if a call can start at once; it then counts as running."""
        port, host = self._port_limit, self._host_limit
        if not self.idle or port.running >= port.most or host.running >= host.most:
            return None
        connection = self.idle.pop() if self.idle[-1].usable else self.pop_idle()
        if connection is not None:
            port.running += 1
            host.running += 1
        return connection

    def pop_idle(self) -> BotConnection | None:
        """The connection that was used last."""
        idle = self.idle
        while idle:
            connection = idle.pop()
            if connection.usable:
                return connection
        return None

    def close_idle(self) -> None:
        """A new connection gets no answer: a bot with one thread may be waiting for more on an idle connection."""
        if self.idle:
            self.stop_keep_alive()

    def stop_keep_alive(self) -> None:
        idle, self.idle = self.idle, []
        for connection in idle:
            connection.abort()
        if self.keep_alive:
            self.keep_alive = False
            asyncio.get_running_loop().call_later(NO_KEEP_ALIVE, self._resume_keep_alive)

    def _resume_keep_alive(self) -> None:
        self.keep_alive = True

    async def acquire(self) -> None:
        await self._port_limit.acquire()
        try:
            await self._host_limit.acquire()
        except BaseException:
            self._port_limit.release()
            raise

    def release(self) -> None:
        for limit in self._limits:
            if limit.waiting:
                limit.release()
            else:
                limit.running -= 1


class ConnectionPool:
    def __init__(self, settings: Settings) -> None:
        """Raise BadSetting if the trusted certificates cannot be read."""
        self._settings = settings
        self._endpoints: WeakValueDictionary[tuple[str, int, str], BotEndpoint] = WeakValueDictionary()
        self._limits: WeakValueDictionary[tuple[str, int], CallLimit] = WeakValueDictionary()
        self._connections: dict[BotConnection, BotEndpoint] = {}
        self._round = 0
        self._sweep: asyncio.TimerHandle | None = None
        self._closed = False
        try:
            _ = settings.calls.ca and self._tls
        except OSError as error:
            raise BadSetting(f"calls.ca: {error}") from None

    def endpoint(self, address: str, port: int, name: str) -> BotEndpoint:
        """An endpoint exists as long as something refers to it."""
        found = self._endpoints.get((address, port, name))
        if found is None:
            limits = (
                self._limit(address, port, self._settings.calls.per_port),
                self._limit(address, 0, self._settings.calls.per_host),
            )
            found = self._endpoints[address, port, name] = BotEndpoint(address, port, name, limits)
        return found

    def _limit(self, address: str, port: int, most: int) -> CallLimit:
        limit = self._limits.get((address, port))
        if limit is None:
            limit = self._limits[address, port] = CallLimit(most)
        return limit

    async def connect(self, endpoint: BotEndpoint) -> BotConnection:
        """A new connection to exactly this address, or OSError."""
        loop = asyncio.get_running_loop()
        connection = BotConnection(self._settings.message.longest, self._forget)
        tls, began = self._tls if endpoint.name else None, loop.time()
        transport, _ = await loop.create_connection(
            lambda: connection, endpoint.address, endpoint.port, ssl=tls, server_hostname=endpoint.name or None
        )
        if not source_of(endpoint.address)[1]:
            connection.connecting = loop.time() - began
        self._connections[connection] = endpoint
        if transport.get_extra_info("peername")[0].partition("%")[0] != endpoint.address:
            connection.abort()
            raise CallFailed("the connection went astray")
        return connection

    def put_back(self, connection: BotConnection, endpoint: BotEndpoint) -> None:
        """After a call: keep the connection for the next one, or close it."""
        if not connection.usable or self._closed or not endpoint.keep_alive:
            return connection.abort()
        connection.round = self._round
        endpoint.idle.append(connection)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(IDLE_TIMEOUT, self._close_idle)
        return None

    def close(self) -> None:
        self._closed = True
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in tuple(self._connections):
            connection.abort()

    def _forget(self, connection: BotConnection) -> None:
        endpoint = self._connections.pop(connection, None)
        if endpoint is not None and connection in endpoint.idle:
            endpoint.idle.remove(connection)

    def _close_idle(self) -> None:
        """Close the connections that were not used since the last round."""
        for connection, endpoint in tuple(self._connections.items()):
            if connection.round < self._round and connection in endpoint.idle:
                endpoint.idle.remove(connection)
                connection.abort()
        self._round += 1
        self._sweep = asyncio.get_running_loop().call_later(IDLE_TIMEOUT, self._close_idle) if self._connections else None

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._settings.calls.ca:
            context.load_verify_locations(self._settings.calls.ca)
        return context
